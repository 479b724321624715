"""`CffiArrayOp`: a function of arrays in a C library as an Op.

scale = cffi_op("void scale(double *out, const double *x, int64_t n, double a)", library, sizes={"n": "x.size"}, shapes={"out": "x"})
z = scale(x, 2)    ->    z = scale(x, 2, x.size, x.shape[0])          the node: what `out` and `n` are is a part of the graph
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt
from typing_extensions import override

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.cffi_library import CFunction, CParameter, bind
from lamella.codegen.c.interfaces.cffi_scalar_op import fits
from lamella.errors import GradientNotImplementedError
from lamella.ir import (
    Apply,
    DisconnectedType,
    FunctionGraph,
    Op,
    OutputStorage,
    TensorLike,
    TensorType,
    TensorVariable,
    Variable,
    as_length,
    as_tensor_variable,
    is_differentiable_dtype,
    known_integer,
)
from lamella.ir import lt as tensor

__all__ = ["ArrayGradient", "CffiArrayOp", "Shape", "Size"]

Size = int | str | Callable[..., TensorLike]
"""A number of elements: ``"x.size"``, ``"x.shape[0]"``, ``"x.ndim"``, the name of an integer operand, or a function of all operands."""

Shape = str | Sequence[Size] | Callable[..., Sequence[TensorLike]]
"""The shape of an output: the name of the operand that has it, a tuple of sizes, or a function of all operands."""

ArrayGradient = Callable[..., Sequence[TensorVariable | float | None]]
"""Given the operands, the outputs and the outputs' cotangents, three lists, returns the cotangents of the operands."""

_SIZE: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*(?:\.\s*(?:(size|ndim)|shape\s*\[\s*(-?\d+)\s*\])\s*)?")


def _pairs(mapping: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple([(name, tuple(value) if isinstance(value, list) else value) for name, value in mapping.items()])


@final
@attrs.frozen(repr=False)
class CffiArrayOp(Op[..., Any]):
    """A function of arrays in a C library; made by `cffi_op`.

    Its operands are the parameters that are constant pointers, those in `inout`, and the numbers that are no sizes, in the order of the
    declaration. A node has as further inputs the sizes, and the lengths of the outputs. Its outputs are the result, if the function
    has one that is no status, and then what the other pointers point to.

    Attributes
    ----------
    declaration
        The function's declaration, with types of fixed size.
    library
        Where it is; None for C's own functions.
    sizes, shapes
        What the parameters that tell sizes are, and the shapes of what is written, by the names of the parameters.
    inout
        Pointers to arrays that are operands and outputs.
    is_status
        Whether the result tells of errors.
    gradient
        What `cffi_op` was given as `grad`.
    """

    declaration: str
    library: str | None
    sizes: tuple[tuple[str, Size], ...]
    shapes: tuple[tuple[str, Shape], ...]
    inout: frozenset[str]
    is_status: bool
    gradient: ArrayGradient | None

    @classmethod
    def checked(
        cls,
        function: CFunction,
        library: str | None,
        sizes: Mapping[str, Size],
        shapes: Mapping[str, Shape],
        inout: Sequence[str],
        is_status: bool,
        gradient: ArrayGradient | None,
    ) -> CffiArrayOp:
        """Make the Op of a function, if every parameter is known to be something.

        Raises
        ------
        TypeError, ValueError
            Parameters have no names, are in no mapping or in the wrong one; the function gives nothing.
        """
        op = cls(function.declaration, library, _pairs(sizes), _pairs(shapes), frozenset(inout), is_status, gradient)
        names = [p.name for p in function.parameters]
        if "" in names or len(set(names)) != len(names):
            raise TypeError(f"the parameters of {op.declaration} need names, each another: they tell what is what")
        _check_names(op, "sizes", sizes, [p for p in function.parameters if _is_integer(p)], "integer")
        _check_names(
            op, "inout", inout, [p for p in function.parameters if _is_written(p)], "pointer to what is not constant"
        )
        outputs = [p for p in function.parameters if _is_written(p) and p.name not in op.inout]
        _check_names(op, "shapes", shapes, outputs, "pointer to what is written and not in `inout`")
        for p in outputs:
            if p.name not in shapes:
                raise TypeError(
                    f"`{p}` of {op.declaration} is an output, since it points to what is not constant: tell its shape, "
                    f'as in shapes={{"{p.name}": ...}}; or if it is read too, inout=["{p.name}"]; or declare it as `const`'
                )
        if is_status and not (function.result and C_DTYPES[function.result].kind in "iu"):
            raise TypeError(f"the result of {op.declaration} is no integer, and is to be a status")
        if not op.out_dtypes:
            raise TypeError(f"{op.declaration} gives nothing: it has neither a result nor a pointer to write to")
        return op

    @property
    def function(self) -> CFunction:
        """The function."""
        return bind(self.declaration, self.library)

    @property
    def operands(self) -> list[CParameter]:
        """The parameters that calls of the Op give."""
        sizes = dict(self.sizes)
        return [
            p for p in self.function.parameters if p.name not in sizes and (not _is_written(p) or p.name in self.inout)
        ]

    @property
    def written(self) -> list[CParameter]:
        """The parameters that point to outputs."""
        return [p for p in self.function.parameters if _is_written(p)]

    @property
    def has_result(self) -> bool:
        """Whether the result of the function is an output."""
        return bool(self.function.result) and not self.is_status

    @property
    def out_dtypes(self) -> list[str]:
        """The dtypes of the outputs."""
        return [*([self.function.result] if self.has_result else []), *[p.dtype for p in self.written]]

    @override
    def make_node(self, *args: TensorLike) -> Apply[Any]:
        parameters = self.operands
        if len(args) < len(parameters):
            raise TypeError(
                f"{self.declaration} takes {len(parameters)} operands ({', '.join([p.name for p in parameters])}), not {len(args)}"
            )
        operands = [self._operand(p, x) for p, x in zip(parameters, args, strict=False)]
        named = dict(zip([p.name for p in parameters], operands, strict=True))
        sizes = [self._size(name, size, named) for name, size in self.sizes]
        shapes = [self._shape(p.name, named) for p in self.written if p.name not in self.inout]
        derived = [*sizes, *[length for shape in shapes for length in shape]]
        given = args[len(parameters) :]
        if given and len(given) != len(derived):
            raise TypeError(f"{self.declaration} takes {len(parameters)} operands, not {len(args)}")
        return self._node(
            operands, [as_length(x) for x in given] if given else derived, [len(shape) for shape in shapes]
        )

    @override
    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        n = len(self.operands)
        fresh = [
            z.type.ndim for z, p in self.paired_outputs(node.outputs) if p is not None and p.name not in self.inout
        ]
        values: Sequence[Any] = inputs
        return self._node([as_tensor_variable(v) for v in values[:n]], [as_length(v) for v in values[n:]], fresh)

    def _node(
        self, operands: Sequence[TensorVariable], derived: Sequence[TensorVariable], ndims: Sequence[int]
    ) -> Apply[Any]:
        named = dict(zip([p.name for p in self.operands], operands, strict=True))
        lengths = iter(derived[len(self.sizes) :])
        counts = iter(ndims)
        types = [TensorType(self.function.result, ())] if self.has_result else []
        for p in self.written:
            if p.name in self.inout:
                types.append(named[p.name].type)
                continue
            static = [known_integer(next(lengths)) for _ in range(next(counts))]
            if any([n is not None and n < 0 for n in static]):
                raise ValueError(f"{p.name} of {self.declaration} is to have the shape {tuple(static)}")
            types.append(TensorType(p.dtype, static))
        return Apply(self, [*operands, *derived], types)

    def _operand(self, p: CParameter, given: TensorLike) -> TensorVariable:
        if isinstance(given, bool | int | float | complex) and fits(
            type(given) if not isinstance(given, bool) else "bool", p.dtype
        ):
            x = as_tensor_variable(np.asarray(given, p.dtype))
        else:
            x = as_tensor_variable(given)
        if not p.is_pointer and x.ndim != 0:
            raise TypeError(f"`{p}` of {self.declaration} is a number, and {x!r} has {x.ndim} dimensions")
        if x.dtype == p.dtype:
            return x
        if not np.can_cast(x.dtype, p.dtype, "safe"):
            raise TypeError(
                f"`{p}` of {self.declaration} is {p.dtype}, and {x.dtype} is not cast to it without loss: cast it first"
            )
        return tensor.cast(x, p.dtype)

    def _size(self, name: str, size: Size, operands: Mapping[str, TensorVariable]) -> TensorVariable:
        if callable(size):
            return as_length(size(*operands.values()))
        if isinstance(size, int):
            return as_length(size)
        found = _SIZE.fullmatch(size)
        x = None if found is None else operands.get(found[1])
        if found is None or x is None:
            raise ValueError(
                f"the size of {name} is {size!r}, and must be like 'x.size', 'x.shape[0]', 'x.ndim' or 'n', of an operand of {self.declaration} "
                f"({', '.join(operands)})"
            )
        if found[2] == "size":
            return as_length(x.size)
        if found[2] == "ndim":
            return as_length(x.ndim)
        if found[3] is None:
            return as_length(x)
        axis = int(found[3])
        if not -x.ndim <= axis < x.ndim:
            raise TypeError(
                f"the size of {name} is {size!r}, and {found[1]} of {self.declaration} has {x.ndim} dimensions here"
            )
        return as_length(x.shape[axis])

    def _shape(self, name: str, operands: Mapping[str, TensorVariable]) -> list[TensorVariable]:
        shape = dict(self.shapes)[name]
        if callable(shape):
            return [as_length(length) for length in shape(*operands.values())]
        if not isinstance(shape, str):
            return [self._size(name, size, operands) for size in shape]
        if shape not in operands:
            raise ValueError(
                f"{name} is to have the shape of {shape!r}, which is no operand of {self.declaration} ({', '.join(operands)}); "
                "of sizes write a tuple"
            )
        x = operands[shape]
        return [as_length(x.shape[axis]) for axis in range(x.ndim)]

    def paired_outputs(self, outputs: Sequence[Any]) -> list[tuple[Any, CParameter | None]]:
        """Pair each output with its parameter; the result has none.

        Parameters
        ----------
        outputs
            The outputs, or what stands for them.
        """
        return list(zip(outputs, [*([None] if self.has_result else []), *self.written], strict=True))

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        parameters, function = self.operands, self.function
        given = dict(zip([p.name for p in parameters], inputs, strict=False))
        sizes, lengths = self._derived(inputs)
        numbers = {name: int(value) for (name, _), value in zip(self.sizes, sizes, strict=True)}
        arrays: dict[str, npt.NDArray[Any]] = {}
        for output, p in self.paired_outputs(node.outputs):
            if p is None:
                continue
            if p.name in self.inout:
                arrays[p.name] = np.array(given[p.name], p.dtype, order="C")
                continue
            shape = tuple([int(next(lengths)) for _ in range(output.type.ndim)])
            if any([n < 0 for n in shape]):
                raise ValueError(f"{p.name} of {self.declaration} is to have the shape {shape}")
            arrays[p.name] = np.empty(shape, p.dtype)
        arguments: list[Any] = []
        for p in function.parameters:
            if p.is_pointer:
                if p.name not in arrays:
                    arrays[p.name] = np.require(given[p.name], p.dtype, ["C", "A"])
                arguments.append(function.ffi.cast("void *", arrays[p.name].ctypes.data))
            elif p.name in numbers:
                arguments.append(_checked(numbers[p.name], p, self))
            else:
                arguments.append(given[p.name].item())
        result = function.call(*arguments)
        if self.is_status and result != 0:
            raise RuntimeError(f"{function.name} returned {result}, which is to be 0")
        for storage, (_, p) in zip(output_storage, self.paired_outputs(node.outputs), strict=True):
            storage[0] = np.asarray(result, function.result) if p is None else arrays[p.name]

    def _derived(self, inputs: Sequence[Any]) -> tuple[Sequence[Any], Any]:
        """Return the sizes, and an iterator of the lengths, among the inputs of a node."""
        rest = inputs[len(self.operands) :]
        return rest[: len(self.sizes)], iter(rest[len(self.sizes) :])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        named = dict(zip([p.name for p in self.operands], shapes, strict=False))
        _, lengths = self._derived(node.inputs)
        found: list[tuple[Any, ...]] = []
        for output, p in self.paired_outputs(node.outputs):
            is_given = p is not None and p.name in self.inout
            found.append(
                named[p.name] if p is not None and is_given else tuple([next(lengths) for _ in range(output.type.ndim)])
            )
        return found

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        n = len(self.operands)
        return [[i < n] * len(node.outputs) for i in range(len(node.inputs))]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        if self.gradient is None:
            raise GradientNotImplementedError(f"{self.declaration} has no gradient: cffi_op was given no `grad`")
        operands = list(inputs[: len(self.operands)])
        returned = self.gradient(operands, list(outputs), list(output_grads))
        if not isinstance(returned, list | tuple) or len(returned) != len(operands):
            raise ValueError(
                f"the grad of {self.declaration} is to return {len(operands)} cotangents in a list, not {returned!r}"
            )
        found: list[Variable[Any]] = []
        for x, cotangent in zip(operands, returned, strict=True):
            if cotangent is None or not is_differentiable_dtype(x.dtype):
                found.append(tensor.zeros_like(x) if is_differentiable_dtype(x.dtype) else DisconnectedType()())
            else:
                found.append(as_tensor_variable(cotangent))
        return [*found, *[DisconnectedType()() for _ in inputs[len(operands) :]]]

    @override
    def __repr__(self) -> str:
        return f"CffiArrayOp({self.declaration!r})"

    @override
    def __str__(self) -> str:
        return self.function.name


def _is_written(p: CParameter) -> bool:
    return p.is_pointer and not p.is_const


def _is_integer(p: CParameter) -> bool:
    return not p.is_pointer and C_DTYPES[p.dtype].kind in "iu"


def _check_names(
    op: CffiArrayOp, title: str, names: Mapping[str, Any] | Sequence[str], fitting: Sequence[CParameter], kind: str
) -> None:
    for name in names:
        if name not in [p.name for p in fitting]:
            raise TypeError(f"{title} names {name!r}, which is no {kind} among the parameters of {op.declaration}")


def _checked(number: int, p: CParameter, op: CffiArrayOp) -> int:
    info = np.iinfo(p.dtype)
    if not info.min <= number <= info.max:
        raise OverflowError(f"`{p}` of {op.declaration} cannot be {number}")
    return number
