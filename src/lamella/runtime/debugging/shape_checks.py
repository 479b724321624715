"""What `infer_shape` promises, compared with the shapes of what a node computes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, final

import attrs
import numpy as np

from lamella.errors import BadInferredShape, MissingInputError, ShapeNotInferred
from lamella.ir import Apply, TensorType, Variable, as_tensor_variable, interpret
from lamella.runtime.debugging.node_checks import fail

__all__ = ["InferredShapes"]

_LENGTH = TensorType("int64", ())


@final
@attrs.frozen(eq=False)
class InferredShapes:
    """The inferred shapes of a node's outputs, as functions of the shapes and values of its inputs; made by `of`.

    Attributes
    ----------
    node
        The node.
    lengths
        The Variables that stand for the lengths of the inputs.
    shapes
        The inferred lengths of each output.
    """

    node: Apply[Any]
    lengths: tuple[tuple[Variable[Any], ...], ...]
    shapes: tuple[tuple[Variable[Any], ...], ...]

    @classmethod
    def of(cls, node: Apply[Any]) -> InferredShapes | None:
        """Infer the shapes of a node's outputs; None where the Op does not.

        Raises
        ------
        BadInferredShape
            What the Op says are no shapes of its outputs.
        """
        lengths = tuple([tuple([_LENGTH() for _ in range(getattr(v.type, "ndim", 0))]) for v in node.inputs])
        try:
            inferred = node.op.infer_shape(None, node, lengths)
        except ShapeNotInferred:
            return None
        if len(inferred) != len(node.outputs):
            fail(
                BadInferredShape,
                node,
                (),
                f"infer_shape of {node.op} gives {len(inferred)} shapes for {len(node.outputs)} outputs",
            )
        shapes: list[tuple[Variable[Any], ...]] = []
        for i, (variable, shape) in enumerate(zip(node.outputs, inferred, strict=True)):
            if isinstance(variable.type, TensorType) and len(shape) != variable.type.ndim:
                fail(
                    BadInferredShape,
                    node,
                    (),
                    f"infer_shape of {node.op} gives {len(shape)} lengths for output {i} of type {variable.type}",
                )
            shapes.append(tuple([as_tensor_variable(length) for length in shape]))
        return cls(node, lengths, tuple(shapes))

    def check(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        """Compare with the shapes of values.

        Parameters
        ----------
        inputs, outputs
            Values of the node's inputs, as they were before it ran, and of its outputs.

        Raises
        ------
        BadInferredShape
            A shape is another one.
        """
        if any([value is None for value in inputs]):
            return
        given: dict[Variable[Any], Any] = dict(zip(self.node.inputs, inputs, strict=True))
        for variables, value in zip(self.lengths, inputs, strict=True):
            given.update(
                {v: np.array(n, np.int64) for v, n in zip(variables, np.shape(value), strict=True)} if variables else {}
            )
        try:
            with np.errstate(all="ignore"):
                found = interpret(list(given), [n for shape in self.shapes for n in shape], list(given.values()))
        except MissingInputError:  # a length that is computed from what the inputs are computed from
            return
        lengths = iter([int(n) for n in found])
        for i, (shape, value) in enumerate(zip(self.shapes, outputs, strict=True)):
            inferred = tuple([next(lengths) for _ in shape])
            if isinstance(value, np.ndarray) and inferred != value.shape:
                fail(
                    BadInferredShape,
                    self.node,
                    inputs,
                    f"infer_shape of {self.node.op} gives the shape {inferred} for output {i}, but perform stored one of shape "
                    f"{value.shape}",
                )
