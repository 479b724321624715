"""`as_op`: an Op made of a Python function."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.type import Type

__all__ = ["FromFunctionOp", "InferShape", "as_op", "wrap_py"]


class InferShape(Protocol):
    """A function that says what `Op.infer_shape` says."""

    def __call__(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]], /
    ) -> Sequence[tuple[Any, ...]]:
        """Return the shapes of the outputs."""


def _types(given: Type[Any] | Sequence[Type[Any]]) -> tuple[Type[Any], ...]:
    types = (given,) if isinstance(given, Type) else tuple(given)
    for found in types:
        if not isinstance(found, Type):
            raise TypeError(f"itypes and otypes are Types, and {found!r} is a {type(found).__name__}")
    return types


@final
@attrs.frozen(eq=False, repr=False)
class FromFunctionOp(Op[..., Any]):
    """An Op whose `perform` calls a Python function; see `as_op`."""

    function: Callable[..., Any]
    itypes: tuple[Type[Any], ...] = attrs.field(converter=_types)
    otypes: tuple[Type[Any], ...] = attrs.field(converter=_types)
    _infer_shape: InferShape | None = None

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        returned = self.function(*inputs)
        results = tuple(returned) if isinstance(returned, list | tuple) else (returned,)
        if len(results) != len(node.outputs):
            raise ValueError(f"{self} returned {len(results)} values, but has {len(node.outputs)} outputs")
        for out, result, cell in zip(node.outputs, results, output_storage, strict=True):
            value = out.type.filter(result)
            # The function may hand back what it was given, which no view_map says.
            shares = any(out.type.may_share_memory(value, given) for given in inputs)
            cell[0] = out.type.copy_value(value) if shares else value

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        if self._infer_shape is None:
            return super().infer_shape(fgraph, node, shapes)
        return self._infer_shape(fgraph, node, shapes)

    @override
    def __str__(self) -> str:
        return f"FromFunctionOp{{{getattr(self.function, '__name__', self.function)}}}"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        name = getattr(self.function, "__qualname__", None)
        if name is None:  # a callable object: it pickles as it says itself
            return (FromFunctionOp, (self.function, self.itypes, self.otypes, self._infer_shape))
        module = self.function.__module__
        found = _imported(module, name)
        if found == self:  # the decorator has put the Op in the function's place
            return (_imported, (module, name))
        if found is not self.function and not _pickled_by_value():
            raise TypeError(
                f"{self} cannot be pickled: its function, {name} of {module}, is not found under that name. "
                "Define it with `def` at the top of a module, or use cloudpickle"
            )
        return (FromFunctionOp, (self.function, self.itypes, self.otypes, self._infer_shape))


def _imported(module: str, name: str) -> object:
    found: object = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _pickled_by_value() -> bool:
    # The pickler that is at work is not told to __reduce__; but those that can write functions down are written in Python.
    frame = sys._getframe(1)
    while frame is not None:
        package = frame.f_globals.get("__name__", "").split(".")
        if "cloudpickle" in package or "dill" in package:
            return True
        if frame.f_back is None:
            return False
        frame = frame.f_back
    return False


def as_op(
    itypes: Type[Any] | Sequence[Type[Any]],
    otypes: Type[Any] | Sequence[Type[Any]],
    infer_shape: InferShape | None = None,
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Make an Op of a Python function; a decorator.

    The function is called with a value for each input. It returns the value of the only output, or a tuple or list with a value for
    each output. What it returns is converted as `Type.filter` does, and copied where it shares memory with an input. The
    Op has no gradient; it pickles if the function stands at the top of a module.

    Parameters
    ----------
    itypes, otypes
        Types of the inputs and outputs.
    infer_shape
        Like `Op.infer_shape`: called with the graph, the node and the inputs' shapes, returns the outputs' shapes.

    Raises
    ------
    TypeError
        Something in `itypes` or `otypes` is no Type.
    """
    ins, outs = _types(itypes), _types(otypes)

    def make(function: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(function, ins, outs, infer_shape)

    return make


wrap_py = as_op
"""The newer name of `as_op`."""
