"""`check_infer_shape` and `InferShapeTester`: inferred shapes, compared with those of computed values."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from lamella.ir import Op, TensorType, TensorVariable, Variable, applys_between
from lamella.runtime import In, Mode, function, get_mode
from lamella.typing_layer import symbolic_shape

__all__ = ["InferShapeTester", "check_infer_shape"]

Array = npt.NDArray[Any]


def check_infer_shape(
    fun: Callable[..., Any],
    values: Sequence[Any],
    op_class: type[Op[Any, Any]] | None = None,
    mode: Mode | str | None = None,
    warn: bool = True,
) -> None:
    """Check that the inferred shapes of what a function gives are the shapes it has, and that finding them does not compute it.

    The function is applied to variables of unknown lengths (but for those that are 1), and to variables of known ones.

    Parameters
    ----------
    fun
        Takes symbolic tensors, gives one or several: an Op, for example.
    values
        An array for each argument.
    op_class
        The class of Ops that must not be run to find the shapes; that of `fun` by default, where it is an Op.
    mode
        Mode to compile in.
    warn
        Warn of arrays with equal lengths: a shape with its axes exchanged would pass.

    Raises
    ------
    AssertionError
        A shape differs from the inferred one, contradicts the static one, or can only be found by computing the output.
    """
    arrays = [np.asarray(value) for value in values]
    inputs = [TensorType(a.dtype, [1 if n == 1 else None for n in a.shape])(f"x{i}") for i, a in enumerate(arrays)]
    made = fun(*inputs)
    outputs = [made] if isinstance(made, Variable) else list(made)
    banned = type(fun) if op_class is None and isinstance(fun, Op) else op_class
    computed = compare_shapes(inputs, outputs, arrays, banned, mode, warn)
    made = fun(*[TensorType(a.dtype, a.shape)(f"x{i}") for i, a in enumerate(arrays)])
    known = [made] if isinstance(made, Variable) else list(made)
    for i, (out, value) in enumerate(zip([v for v in known if isinstance(v, TensorVariable)], computed, strict=True)):
        if not out.type.is_valid_value(value):
            raise AssertionError(
                f"output {i}: where the lengths of the inputs are known, the value of shape {value.shape} is no {out.type}"
            )


class InferShapeTester:
    """A base for classes of tests of `Op.infer_shape`; its method also works alone.

    Attributes
    ----------
    mode
        Mode to compile in; the configured one by default.
    """

    mode: ClassVar[Mode | str | None] = None

    def _compile_and_check(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[Variable[Any]],
        numeric_inputs: Sequence[Any],
        cls: type[Op[Any, Any]] | None,
        excluding: Sequence[str] = (),
        warn: bool = True,
        check_topo: bool = True,
    ) -> None:
        """Compile the outputs and their inferred shapes, and compare.

        Parameters
        ----------
        inputs, outputs
            The graph.
        numeric_inputs
            Values of the inputs.
        cls
            The class of Ops that must not be needed to find the shapes.
        excluding
            Rewrites to leave out, by tag or name.
        warn
            Warn of arrays with equal lengths.
        check_topo
            Look for `cls` in the graph of the shapes.

        Raises
        ------
        AssertionError
            See `check_infer_shape`.
        """
        mode = get_mode(self.mode).excluding(*excluding) if excluding else self.mode
        compare_shapes(inputs, outputs, numeric_inputs, cls if check_topo else None, mode, warn)


def compare_shapes(
    inputs: Sequence[TensorVariable],
    outputs: Sequence[Variable[Any]],
    values: Sequence[Any],
    op_class: type[Op[Any, Any]] | None,
    mode: Mode | str | None,
    warn: bool,
) -> list[Array]:
    """Compare inferred shapes with those of computed values, and return the values of those outputs that are tensors.

    Parameters
    ----------
    inputs, outputs
        The graph.
    values
        Values of the inputs.
    op_class, mode, warn
        As in `check_infer_shape`.

    Raises
    ------
    AssertionError
        See `check_infer_shape`.
    """
    if warn:
        _warn_of_equal_lengths(values)
    tensors = [out for out in outputs if isinstance(out, TensorVariable)]
    shapes = [symbolic_shape(out) for out in tensors]
    lengths = [length for shape in shapes for length in shape]
    for node in applys_between(inputs, lengths):
        if op_class is not None and isinstance(node.op, op_class):
            raise AssertionError(
                f"the shapes can only be found by computing {node.op}: its infer_shape does not give them"
            )
    found = function(inputs, lengths, mode=mode, on_unused_input="ignore")(*values)
    # An Op that overwrites its inputs gets arrays of its own.
    overwrites = any(node.op.destroy_map for node in applys_between(inputs, tensors))
    specs = [In(v, mutable=overwrites) for v in inputs]
    given = [np.array(x) for x in values] if overwrites else list(values)
    computed = function(specs, list(tensors), mode=mode, on_unused_input="ignore")(*given)
    rest = [int(length) for length in found]
    for i, (out, shape, value) in enumerate(zip(tensors, shapes, computed, strict=True)):
        inferred, rest = tuple(rest[: len(shape)]), rest[len(shape) :]
        if inferred != value.shape:
            raise AssertionError(f"output {i}: the inferred shape is {inferred}, the value has {value.shape}")
        if not out.type.is_valid_value(value):
            raise AssertionError(
                f"output {i}: the value of shape {value.shape} and dtype {value.dtype} is no {out.type}"
            )
    return list(computed)


def _warn_of_equal_lengths(values: Sequence[Any]) -> None:
    for i, value in enumerate(values):
        lengths = [n for n in np.shape(value) if n != 1]
        if len(set(lengths)) != len(lengths):
            warnings.warn(
                f"argument {i} has the shape {np.shape(value)}: with equal lengths, exchanged axes would go unnoticed",
                stacklevel=4,
            )
