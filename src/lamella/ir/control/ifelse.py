"""`IfElse`: a choice between values, of which only the one that is taken is computed.

y = ifelse(c, exp(x), log(x))        log(x) is not computed where c is true
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, final, overload

import attrs
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.type import Type
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.dtypes import is_differentiable_dtype, result_dtype
from lamella.ir.scalar.op import is_literal
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.type import TensorType
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["IfElse", "ifelse"]


def _views(self: IfElse) -> Mapping[int, Sequence[int]]:
    return {i: (1 + i, 1 + self.n_outs + i) for i in range(self.n_outs)}


@final
@attrs.frozen(eq=False, repr=False)
class IfElse(Op[..., Any]):
    """Take the values of one of two branches, and compute only that one.

    Its inputs are the condition (a scalar, true where it is not 0), the values of the branch that is taken where it is true, and those of the
    other one. A result is the value itself: a view. Its Type is the narrowest that includes those of both values.

    Parameters
    ----------
    n_outs
        How many values a branch has.
    """

    n_outs: int = attrs.field(default=1, validator=attrs.validators.ge(1))
    view_map: Mapping[int, Sequence[int]] = attrs.field(
        init=False, eq=False, repr=False, default=attrs.Factory(_views, takes_self=True)
    )

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if len(args) != 1 + 2 * self.n_outs or kwargs:
            raise TypeError(
                f"{self} takes a condition and {self.n_outs} values for each branch, not {len(args) + len(kwargs)} inputs"
            )
        condition, *values = args
        pairs = [
            _common(then, otherwise, i)
            for i, (then, otherwise) in enumerate(zip(values[: self.n_outs], values[self.n_outs :], strict=True))
        ]
        inputs = [_as_condition(condition), *[then for then, _, _ in pairs], *[other for _, other, _ in pairs]]
        return Apply(self, inputs, [kind for _, _, kind in pairs])

    @override
    def required_inputs(self, node: Apply[Any], known: Mapping[int, Any]) -> Collection[int]:
        return self.branch(bool(known[0])) if known else [0]

    def branch(self, condition: bool) -> range:
        """Return the places of the inputs that are the values of a branch."""
        return range(1, 1 + self.n_outs) if condition else range(1 + self.n_outs, 1 + 2 * self.n_outs)

    def choose(self, condition: Variable[Any], then: Variable[Any], otherwise: Variable[Any]) -> Variable[Any]:
        """Return the choice between two single values."""
        return IfElse(1).make_node(condition, then, otherwise).outputs[0]

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        for cell, place in zip(output_storage, self.branch(bool(inputs[0])), strict=True):
            cell[0] = inputs[place]

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        condition = as_tensor_variable(node.inputs[0])
        return [
            tuple([a if a is b else ifelse(condition, a, b) for a, b in zip(shapes[then], shapes[other], strict=True)])
            for then, other in zip(self.branch(True), self.branch(False), strict=True)
        ]

    @override
    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        own = [[i == o for o in range(self.n_outs)] for i in range(self.n_outs)]
        return [[False] * self.n_outs, *own, *own]

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Variable[Any]]
    ) -> list[Variable[Any]]:
        then = [self._pulled(inputs, i, g, True) for i, g in zip(self.branch(True), output_grads, strict=True)]
        other = [self._pulled(inputs, i, g, False) for i, g in zip(self.branch(False), output_grads, strict=True)]
        return [DisconnectedType()(), *then, *other]

    def _pulled(self, inputs: Sequence[Any], place: int, g: Variable[Any], taken: bool) -> Variable[Any]:
        """Return the cotangent of a value: that of the result where its branch is taken, else zeros of its own shape."""
        value = inputs[place]
        if isinstance(g.type, DisconnectedType | NullType):
            return g
        if not isinstance(value, TensorVariable) or not isinstance(g, TensorVariable):
            return DisconnectedType()()
        zeros = lt.zeros_like(value, value.dtype if is_differentiable_dtype(value.dtype) else "float64")
        if not is_differentiable_dtype(value.dtype):
            return zeros
        return ifelse(inputs[0], g, zeros) if taken else ifelse(inputs[0], zeros, g)

    @override
    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Variable[Any] | None]) -> list[Variable[Any] | None]:
        tangents: list[Variable[Any] | None] = []
        for then, other in zip(self.branch(True), self.branch(False), strict=True):
            a, b = [_tangent(inputs[place], eval_points[place]) for place in (then, other)]
            if a is None and b is None:
                tangents.append(None)
            else:
                zeros = [lt.zeros_like(inputs[place]) for place in (then, other)]
                tangents.append(ifelse(inputs[0], zeros[0] if a is None else a, zeros[1] if b is None else b))
        return tangents


def _tangent(value: Variable[Any], point: Variable[Any] | None) -> TensorVariable | None:
    varies = isinstance(value, TensorVariable) and is_differentiable_dtype(value.dtype)
    return point if varies and isinstance(point, TensorVariable) else None


def _as_condition(condition: TensorLike) -> TensorVariable:
    variable = as_tensor_variable(condition)
    if variable.ndim != 0:
        raise TypeError(
            f"the condition of ifelse is a scalar; {variable!r} has {variable.ndim} dimensions: choose elements with switch, "
            "or reduce it with all or any"
        )
    return variable if variable.dtype == "bool" else lt.neq(variable, 0)


def _common(then: Any, otherwise: Any, place: int) -> tuple[Variable[Any], Variable[Any], Type[Any]]:
    """Return the values of two branches converted to what they have in common, and the narrowest Type that includes both."""
    if _is_tensor_like(then) and _is_tensor_like(otherwise):
        return _common_tensors(then, otherwise, place)
    a = then if isinstance(then, Variable) else otherwise.type.filter_variable(then)
    b = otherwise if isinstance(otherwise, Variable) else then.type.filter_variable(otherwise)
    for one, other in ((a, b), (b, a)):
        if one.type.is_super(other.type) is not None:
            return a, b, one.type
    raise TypeError(f"value {place} of the branches of ifelse is of the types {a.type} and {b.type}, which do not fit")


def _is_tensor_like(value: Any) -> bool:
    return isinstance(value, TensorVariable) or not isinstance(value, Variable)


def _common_tensors(then: Any, otherwise: Any, place: int) -> tuple[TensorVariable, TensorVariable, TensorType]:
    values = (then, otherwise)
    weak = [type(v) if is_literal(v) and not isinstance(v, bool) else None for v in values]
    variables = [as_tensor_variable(v) for v in values]
    kinds = [v.dtype if w is None or None not in weak else w for v, w in zip(variables, weak, strict=True)]
    dtype = result_dtype(*kinds)
    a, b = [lt.cast(v, dtype) if v.dtype != dtype else v for v in variables]
    if a.ndim != b.ndim:
        raise TypeError(
            f"value {place} of the branches of ifelse has {a.ndim} dimensions in one and {b.ndim} in the other; they have as many in both"
        )
    shape = [m if m == n else None for m, n in zip(a.type.shape, b.type.shape, strict=True)]
    return a, b, TensorType(dtype, shape)


@overload
def ifelse(condition: TensorLike, then_branch: TensorLike, else_branch: TensorLike) -> TensorVariable: ...


@overload
def ifelse(
    condition: TensorLike, then_branch: Sequence[TensorLike], else_branch: Sequence[TensorLike]
) -> list[TensorVariable]: ...


@overload
def ifelse(condition: TensorLike, then_branch: Any, else_branch: Any) -> Any: ...


def ifelse(condition: TensorLike, then_branch: Any, else_branch: Any) -> Any:
    """Return the values of one of two branches, of which only the one that is taken is computed.

    What the other branch alone needs does not run, in the interpreter, in C and in `VMLinker`. To choose element by element, see `switch`, which
    computes both.

    Parameters
    ----------
    condition
        A scalar; true where it is not 0.
    then_branch, else_branch
        A value, or a list or tuple of as many values in both. They have the same number of dimensions, and are cast to the dtype that NumPy
        promotes theirs to. Of a length, only what holds in both branches is known.

    Returns
    -------
    TensorVariable or list of TensorVariable
        The value, or a list of them.

    Raises
    ------
    TypeError
        The condition is no scalar, or the values of the branches do not fit each other.
    ValueError
        One branch has more values than the other.

    Notes
    -----
    The gradient goes to the branch that is taken, and computes nothing of the other one; with respect to what only that one depends on it is 0.
    """
    several = isinstance(then_branch, list | tuple)
    if several != isinstance(else_branch, list | tuple):
        raise TypeError("both branches of ifelse are single values, or both are lists of values")
    then = list(then_branch) if several else [then_branch]
    other = list(else_branch) if several else [else_branch]
    if len(then) != len(other) or not then:
        raise ValueError(
            f"the branches of ifelse have as many values, one at least; these have {len(then)} and {len(other)}"
        )
    # A node for each value: one that is not used is not computed.
    shared = _as_condition(condition)
    outputs = [_chosen(shared, a, b, place) for place, (a, b) in enumerate(zip(then, other, strict=True))]
    return outputs if several else outputs[0]


def _chosen(condition: TensorVariable, then: Any, otherwise: Any, place: int) -> Variable[Any]:
    a, b, _ = _common(then, otherwise, place)
    return IfElse(1).choose(condition, a, b)
