"""What the catalogue says of an Op: how to apply it, what NumPy computes, and values to try."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from lamella.ir import DTYPES, Elemwise, Op, ScalarOp, TensorType, TensorVariable, toposort

Array = npt.NDArray[Any]
Case = tuple[Array, ...]

BOOL = ("bool",)
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REALS = (*BOOL, *INTEGERS, *FLOATS)
ALL = tuple(DTYPES)


@attrs.frozen(eq=False)
class Entry:
    """What is known of an Op, with certain parameters.

    Attributes
    ----------
    name
        Of the test.
    op_class
        The class of the Op; it must occur in what `build` makes.
    build
        Applies the Op: tensors in, one or several tensors out.
    expected
        The same for arrays.
    cases
        Arrays to try; one for each input.
    gradient
        Points at which the gradient is verified: arrays of which those of floats are varied. Or why there is none.
    max_ulps, c_ulps
        How far from `expected` the interpreter may be, and C.
    scale
        The size of what is added up: as many units of that size are allowed too.
    raises
        Arrays with which a call must raise, and what.
    static
        Whether the shape of the result is known as soon as those of the inputs are.
    infers
        Whether the shape of the result can be found without computing it.
    """

    name: str
    op_class: type[Op[Any, Any]]
    build: Callable[..., TensorVariable | Sequence[TensorVariable]]
    expected: Callable[..., Any]
    cases: Sequence[Case] = attrs.field(repr=False)
    gradient: Sequence[Case] | str = attrs.field(repr=False)
    max_ulps: float = 0.0
    c_ulps: float | None = None
    scale: float = 0.0
    raises: Sequence[tuple[Case, type[Exception]]] = ()
    static: bool = True
    infers: bool = True

    @property
    def ulps_in_c(self) -> float:
        return self.max_ulps if self.c_ulps is None else self.c_ulps

    def applied(self, inputs: Sequence[TensorVariable]) -> list[TensorVariable]:
        """Apply the Op."""
        made = self.build(*inputs)
        return [made] if isinstance(made, TensorVariable) else list(made)

    def outputs(self, inputs: Sequence[TensorVariable]) -> list[TensorVariable]:
        """Apply the Op, and see that it is the one that the entry is about."""
        outputs = self.applied(inputs)
        assert any(self.is_meant(node.op) for node in toposort(outputs)), f"{self.name} builds no {self.op_class}"
        return outputs

    def is_meant(self, op: Op[Any, Any]) -> bool:
        """Whether an Op is one that the entry is about."""
        inner: object = op.scalar_op if isinstance(op, Elemwise) and issubclass(self.op_class, ScalarOp) else op
        return type(inner) is self.op_class

    def wanted(self, case: Case) -> list[Array]:
        """What NumPy computes."""
        with np.errstate(all="ignore"):
            result = self.expected(*case)
        several = result if isinstance(result, list | tuple) else [result]
        return [np.asarray(x) for x in several]


def variables_like(case: Case, known: bool = False) -> list[TensorVariable]:
    """Inputs for arrays; of their lengths only 1 is known, or all."""
    return [TensorType(a.dtype, [n if n == 1 or known else None for n in a.shape])(f"x{i}") for i, a in enumerate(case)]


def signature(case: Case) -> tuple[tuple[Any, ...], ...]:
    """What a graph for these arrays depends on."""
    return tuple([(v.dtype, v.type.shape) for v in variables_like(case)])


def numbers(shape: Sequence[int], dtype: str, seed: int = 0) -> Array:
    """Numbers of a dtype, hardly any of them twice, with halves and negative ones where there are such."""
    rng = np.random.default_rng([seed, *shape])
    size = int(np.prod(shape))
    kind = np.dtype(dtype).kind
    if kind == "b":
        return rng.integers(0, 2, tuple(shape)).astype(bool)
    order = rng.permutation(size).reshape(tuple(shape))
    if kind == "u":
        return (order + 1).astype(dtype)
    if kind == "i":
        return (order - size // 2).astype(dtype)
    reals = (order - size // 2) * 0.5 + 0.25
    if kind == "c":
        return (reals + 1j * rng.permutation(size).reshape(tuple(shape))).astype(dtype)
    return reals.astype(dtype)


def of_dtypes(dtypes: Iterable[str], *shapes: Sequence[int]) -> list[Case]:
    """A single array for each dtype and shape."""
    return [(numbers(shape, dtype),) for dtype in dtypes for shape in shapes]


def point(*shapes: Sequence[int], seed: int = 0) -> Case:
    """Floats that are far from 0 and from one another, one array for each shape."""
    made: list[Array] = []
    for i, shape in enumerate(shapes):
        rng = np.random.default_rng([seed, i])
        size = int(np.prod(shape))
        made.append(((rng.permutation(size) - size / 2 + 0.3) * 0.4 + 0.05 * rng.random(size)).reshape(tuple(shape)))
    return tuple(made)
