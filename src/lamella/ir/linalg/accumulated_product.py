"""`Gemm` and `Gemv`: a product with a matrix, scaled, and added to what is there, as routines of the BLAS do it.

They mean ``beta * z + alpha * dot(x, y)`` to the letter, with NaN and infinities: a factor of 0 makes NaN of an infinity, where the
routines of the BLAS would not look at it. Rewrites make them of `Dot`; nobody needs to write them.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.errors import BroadcastError, StaticShapeError
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.dot import Dot
from lamella.ir.tensor.inc_subtensor import inplace_map
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["BLAS_DTYPES", "AccumulatedProduct", "Gemm", "Gemv"]

BLAS_DTYPES: Final = ("float32", "float64", "complex64", "complex128")
"""The dtypes that the BLAS knows."""


@attrs.frozen(eq=False, repr=False)
class AccumulatedProduct(Op[[TensorLike, TensorLike, TensorLike, TensorLike, TensorLike], TensorVariable]):
    """``beta * z + alpha * dot(x, y)``: the inputs of a node are ``z, alpha, x, y, beta``.

    All are of one dtype, which the BLAS knows; ``alpha`` and ``beta`` are scalars. Nothing is broadcast.

    Parameters
    ----------
    inplace
        Write the result over ``z``.

    Raises
    ------
    TypeError
        On application: the dtypes differ, or numbers of dimensions are not those of the Op.
    StaticShapeError
        On application: known lengths differ.
    ValueError
        At run time: the lengths that are summed over differ.
    BroadcastError
        At run time: ``z`` has not the shape of the product.

    Attributes
    ----------
    ndims
        How many dimensions the inputs have.
    """

    ndims: ClassVar[tuple[int, int, int, int, int]]

    inplace: bool = False
    destroy_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(inplace_map, takes_self=True)
    )

    @abstractmethod
    def with_inplace(self) -> AccumulatedProduct:
        """Return the Op that writes the result over ``z``."""

    @override
    def make_node(
        self, z: TensorLike, alpha: TensorLike, x: TensorLike, y: TensorLike, beta: TensorLike
    ) -> Apply[TensorVariable]:
        inputs = [as_tensor_variable(v) for v in (z, alpha, x, y, beta)]
        dtype = inputs[0].dtype
        if dtype not in BLAS_DTYPES or any([v.dtype != dtype for v in inputs]):
            raise TypeError(f"{self} takes inputs of one of the dtypes {', '.join(BLAS_DTYPES)}; {_described(inputs)}")
        if any([v.ndim != ndim for v, ndim in zip(inputs, self.ndims, strict=True)]):
            raise TypeError(f"{self} takes inputs of {self.ndims} dimensions; {_described(inputs)}")
        array, _, first, second, _ = inputs
        pairs = [(first.type.shape[-1], second.type.shape[0])]
        pairs += list(zip(array.type.shape, (*first.type.shape[:-1], *second.type.shape[1:]), strict=True))
        if any([a is not None and b is not None and a != b for a, b in pairs]):
            raise StaticShapeError(f"{self}: lengths that must be equal are not; {_described(inputs)}")
        shape = [a if b is None else b for a, b in pairs[1:]]
        return Apply(self, inputs, [TensorType(dtype, shape)])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        z, alpha, x, y, beta = inputs
        wanted = (*x.shape[:-1], *y.shape[1:])
        if x.shape[-1] != y.shape[0] or z.shape != wanted:
            kind = (
                ValueError if x.shape[-1] != y.shape[0] else BroadcastError
            )  # as the product, and the sum, would raise
            raise kind(
                f"{self}: the product of {node.inputs[2]!r} of shape {x.shape} and {node.inputs[3]!r} of shape {y.shape} "
                f"does not fit {node.inputs[0]!r} of shape {z.shape}"
            )
        with np.errstate(all="ignore"):
            result = np.asarray(beta * z + alpha * np.matmul(x, y), dtype=z.dtype)
        if self.inplace:
            z[...] = result
            result = z
        output_storage[0][0] = result

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    @override
    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[TensorVariable],
    ) -> list[Variable[Any]]:
        _, alpha, _, _, beta = inputs
        kept, product, scaled, total = _written_out(inputs)
        g_kept, g_scaled = _pulled(total, output_grads[0])
        g_beta, g_z = _pulled(kept, g_kept)
        g_alpha, g_product = _pulled(scaled, g_scaled)
        g_x, g_y = _pulled(product, g_product)
        return [g_z, _like(g_alpha, alpha), g_x, g_y, _like(g_beta, beta)]

    @override
    def R_op(
        self, inputs: Sequence[TensorVariable], eval_points: Sequence[TensorVariable | None]
    ) -> list[Variable[Any] | None]:
        z = inputs[0]
        dz, dalpha, dx, dy, dbeta = eval_points
        kept, product, scaled, total = _written_out(inputs)
        d_kept = _pushed(kept, [_spread(dbeta, z), dz])
        d_product = _pushed(product, [dx, dy])
        d_scaled = _pushed(scaled, [_spread(dalpha, z), d_product])
        return [_pushed(total, [d_kept, d_scaled])]

    @override
    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        y = inputs[3]
        size = int(np.prod(outputs[0], dtype=np.int64))
        return 2 * size * int(y[0]) + 3 * size

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{inplace}}" if self.inplace else type(self).__name__


def _described(inputs: Sequence[TensorVariable]) -> str:
    return ", ".join([f"{v!r} is {v.type}" for v in inputs])


def _spread(scalar: TensorVariable | None, z: TensorVariable) -> TensorVariable | None:
    """Return a scalar with as many dimensions as an array."""
    return None if scalar is None else as_tensor_variable(scalar, ndim=z.ndim)


def _like(cotangent: TensorVariable, scalar: TensorVariable) -> TensorVariable:
    """Return the cotangent of what `_spread` made of a scalar as that of the scalar."""
    return cotangent if cotangent.ndim == scalar.ndim else cotangent.dimshuffle([])


def _written_out(inputs: Sequence[TensorVariable]) -> tuple[TensorVariable, ...]:
    """Return ``beta * z``, ``dot(x, y)``, ``alpha * dot(x, y)`` and their sum: what has gradients already."""
    z, alpha, x, y, beta = inputs
    kept = lt.mul(as_tensor_variable(beta, ndim=z.ndim), z)
    product = Dot()(x, y)
    scaled = lt.mul(as_tensor_variable(alpha, ndim=z.ndim), product)
    return kept, product, scaled, lt.add(kept, scaled)


def _pulled(result: TensorVariable, cotangent: TensorVariable) -> list[TensorVariable]:
    node = result.owner
    assert node is not None
    return [v for v in node.op.L_op(node.inputs, node.outputs, [cotangent]) if isinstance(v, TensorVariable)]


def _pushed(result: TensorVariable, tangents: Sequence[TensorVariable | None]) -> TensorVariable | None:
    node = result.owner
    assert node is not None
    if all([tangent is None for tangent in tangents]):
        return None
    (pushed,) = node.op.R_op(node.inputs, tangents)
    return pushed if isinstance(pushed, TensorVariable) else None


@final
class Gemm(AccumulatedProduct):
    """``beta * z + alpha * dot(x, y)`` of matrices ``z``, ``x`` and ``y``."""

    __slots__ = ()

    ndims = (2, 0, 2, 2, 0)

    @override
    def with_inplace(self) -> Gemm:
        return Gemm(inplace=True)


@final
class Gemv(AccumulatedProduct):
    """``beta * z + alpha * dot(x, y)`` of a matrix ``x`` and vectors ``z`` and ``y``."""

    __slots__ = ()

    ndims = (1, 0, 2, 1, 0)

    @override
    def with_inplace(self) -> Gemv:
        return Gemv(inplace=True)
