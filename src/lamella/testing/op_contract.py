"""`verify_op`: everything that an Op promises, checked by one call."""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt

from lamella.errors import NullTypeGradError, ShapeNotInferred
from lamella.ir import (
    FLOAT_DTYPES,
    DisconnectedType,
    Elemwise,
    FunctionGraph,
    NullType,
    Op,
    ScalarOp,
    TensorType,
    TensorVariable,
    Variable,
    constant,
    variable_depends_on,
)
from lamella.testing.backend_comparison import Backend, ComparedBackends
from lamella.testing.directional import check_rop_lop
from lamella.testing.gradient_check import verify_grad
from lamella.testing.op_subject import Subject
from lamella.testing.perform_contract import check_perform
from lamella.testing.shape_check import compare_shapes

__all__ = ["verify_op"]

Array = npt.NDArray[Any]


def verify_op(
    op: Op[Any, Any],
    *inputs: Any,
    gradient: bool | None = None,
    infers_shape: bool | None = None,
    backends: Sequence[Backend] = ("PerformLinker", "CLinker", "FAST_RUN"),
    max_ulps: float = 4.0,
    seed: int = 0,
) -> None:
    """Check all that an Op promises.

    These are the promises, in the order in which they are checked, by the names that `OpContractError.promise` has:

    - ``identity``: the Op equals itself, hashes and prints alike, and is frozen; applying it to the same inputs gives the same node.
    - ``pickling``: the Op and its node are what they were after a round trip (where its class stands at the top of a module).
    - ``make_node``: it accepts what it has made of its arguments, and gives the same node again.
    - ``types``: values are of the declared types.
    - ``view_map``, ``destroy_map``: outputs share memory with declared inputs only, and only declared inputs are overwritten.
    - ``purity``: the same inputs give the same outputs, and no call changes the result of an earlier one.
    - ``storage``: what `perform` finds in its output storage does not matter.
    - ``layouts``: `perform` gives the same for contiguous, Fortran-ordered, strided, reversed, unaligned and read-only arrays.
    - ``static shapes``: the declared types hold, and still do where all lengths of the inputs are known.
    - ``infer_shape``: it gives the shapes of the values, and does not compute them.
    - ``connection_pattern``, ``L_op``, ``R_op``: they fit the node, and the derivatives are what they are numerically (not of an Op
      that overwrites its inputs).
    - ``backends``: each gives what `perform` gives: for arrays in every layout, of other lengths, empty ones, and without dimensions;
      where `perform` raises, each raises an error of the same class.

    Parameters
    ----------
    op
        The Op; of a scalar Op, the Op that applies it to every element.
    inputs
        A value for each argument: an array or a number; or a pair of a Type and a value, where it is no tensor. At the values that are
        floats, derivatives are checked: there may be no kink.
    gradient
        Whether the Op must have a gradient; None to check it where there is one, False not to look at it.
    infers_shape
        Whether it must have `infer_shape`; None to check it where there is one, False not to look at it.
    backends
        Backends to compare with; see `compare_backends`.
    max_ulps
        By how many units in the last place floating-point numbers may differ between layouts and backends.
    seed
        Of the values for other lengths.

    Raises
    ------
    OpContractError
        A promise is broken: the first one, in the order above.

    Examples
    --------
    >>> import numpy as np
    >>> import lamella.tensor as lt
    >>> verify_op(lt.exp, np.array([[0.5, 1.0, -2.0], [0.1, 0.2, 0.3]]), backends=["PerformLinker"])
    """
    applied: Op[Any, Any] = Elemwise(op) if isinstance(op, ScalarOp) else op
    subject = Subject.of(applied, inputs)
    _check_identity(subject)
    _check_make_node(subject)
    check_perform(subject, max_ulps)
    _check_shapes(subject, infers_shape)
    _check_connections(subject)
    _check_derivatives(subject, gradient)
    _check_backends(subject, backends, max_ulps, seed)


def _check_identity(subject: Subject) -> None:
    op, node = subject.op, subject.node
    if op != op or hash(op) != hash(op):  # an __eq__ of its own may say anything
        raise subject.broken("identity", "it does not equal itself, or has no fixed hash")
    if subject.on(subject.arguments) is not node:
        raise subject.broken(
            "identity",
            "applied to the same inputs twice it makes two nodes: two Ops pass for different ones, or make_node is not a function of its "
            "arguments",
        )
    try:
        setattr(op, "a_new_attribute", 0)  # noqa: B010  # a type checker must not see it
    except AttributeError:
        pass
    else:
        raise subject.broken("identity", "its attributes can be set: an Op is frozen, or its equality means nothing")
    if f"{id(op):x}" in str(op):
        raise subject.broken("identity", "it prints its address in memory: equal Ops print alike, in every process")
    if "<locals>" in type(op).__qualname__:
        return
    try:
        copied = pickle.loads(pickle.dumps(op))
        node_again = pickle.loads(pickle.dumps(node))
    except Exception as error:
        raise subject.broken("pickling", f"it cannot be pickled: {error!r}") from error
    if copied != op or hash(copied) != hash(op) or str(copied) != str(op):
        raise subject.broken("pickling", f"after a round trip it is another one: {copied}")
    if node_again.op != op or [v.type for v in node_again.outputs] != [v.type for v in node.outputs]:
        raise subject.broken("pickling", f"after a round trip its node is another one: {node_again!r}")


def _check_make_node(subject: Subject) -> None:
    node = subject.node
    try:
        again = subject.on(node.inputs)
    except Exception as error:
        raise subject.broken("make_node", f"it does not accept the inputs that it made itself: {error!r}") from error
    same = again.inputs == node.inputs and [v.type for v in again.outputs] == [v.type for v in node.outputs]
    if not same:
        raise subject.broken(
            "make_node",
            f"applied to the inputs that it made itself it makes another node: {again!r} instead of {node!r}",
        )


def _check_shapes(subject: Subject, infers_shape: bool | None) -> None:
    known = [
        TensorType(x.dtype, x.shape)(v.name) if isinstance(x, np.ndarray) and isinstance(v, TensorVariable) else v
        for v, x in zip(subject.arguments, subject.values, strict=True)
    ]
    values = subject.perform(_fresh(subject.values))
    for i, (out, value) in enumerate(zip(subject.on(known).outputs, values, strict=True)):
        if not out.type.is_valid_value(value):
            raise subject.broken(
                "static shapes",
                f"where the lengths of the inputs are known, output {i} is declared as {out.type}, but the value is {_shown(value)}",
            )
    if infers_shape is False:
        return
    try:
        # What the shapes are does not matter here, only whether there are any.
        shapes = [
            tuple([constant(n, dtype="int64") for n in np.shape(x)]) for x in subject.inputs_of_node(subject.values)
        ]
        inferred = list(subject.op.infer_shape(None, subject.node, shapes))
    except ShapeNotInferred as error:
        if infers_shape:
            raise subject.broken("infer_shape", f"it has none: {error}") from None
        return
    if len(inferred) != len(subject.node.outputs):
        raise subject.broken(
            "infer_shape", f"it returns {len(inferred)} shapes for {len(subject.node.outputs)} outputs"
        )
    tensors = [v for v in subject.arguments if isinstance(v, TensorVariable)]
    if len(tensors) < len(subject.arguments):
        return
    banned = None if _is_applied_elsewhere(subject) else type(subject.op)
    try:
        compare_shapes(tensors, subject.node.outputs, _fresh(subject.values), banned, "FAST_COMPILE", warn=False)
    except (AssertionError, TypeError, ValueError) as error:
        raise subject.broken("infer_shape", str(error)) from error


def _is_applied_elsewhere(subject: Subject) -> bool:
    """Whether `make_node` itself applies the same class of Op to arguments: then the shapes may depend on that."""
    return any(v.owner is not None and type(v.owner.op) is type(subject.op) for v in subject.node.inputs)


def _fresh(values: Sequence[Any]) -> list[Any]:
    return [np.array(x) if isinstance(x, np.ndarray) else x for x in values]


def _shown(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) else repr(value)


def _check_connections(subject: Subject) -> None:
    pattern = subject.op.connection_pattern(subject.node)
    n, m = len(subject.node.inputs), len(subject.node.outputs)
    if len(pattern) != n or any(len(row) != m for row in pattern):
        raise subject.broken(
            "connection_pattern",
            f"it says {pattern}, where a row for each of {n} inputs is expected, with {m} truth values",
        )


def _check_derivatives(subject: Subject, gradient: bool | None) -> None:
    floats = [i for i, x in enumerate(subject.values) if isinstance(x, np.ndarray) and x.dtype.name in FLOAT_DTYPES]
    outputs = [v for v in subject.node.outputs if isinstance(v, TensorVariable) and v.dtype in FLOAT_DTYPES]
    # An Op that overwrites its inputs stands in no graph that is differentiated: in-place rewriting comes later.
    if gradient is False or (gradient is None and subject.destroyed):
        return
    if not floats or not outputs:
        if gradient:
            raise subject.broken("L_op", "there is no input, or no output, of floats, so there can be no gradient")
        return
    varied = _with_gradient(subject, floats, gradient)
    if not varied:
        return
    bound = _Bound(subject, varied)
    point = [subject.values[i] for i in varied]
    for promise, check in (("L_op", verify_grad), ("R_op", check_rop_lop)):
        try:
            check(bound, point, mode="FAST_COMPILE")
        except (AssertionError, TypeError, ValueError) as error:
            raise subject.broken(promise, str(error)) from error


@attrs.frozen(eq=False)
class _Bound:
    """The Op as a function of some of its arguments; the others have their values."""

    subject: Subject
    varied: Sequence[int]

    def __call__(self, *variables: TensorVariable) -> list[TensorVariable]:
        arguments: list[Variable[Any]] = [
            v.type.make_constant(x) for v, x in zip(self.subject.arguments, self.subject.values, strict=True)
        ]
        for i, variable in zip(self.varied, variables, strict=True):
            arguments[i] = variable
        made = self.subject.on(arguments).outputs
        return [out for out in made if isinstance(out, TensorVariable)]


def _with_gradient(subject: Subject, floats: Sequence[int], gradient: bool | None) -> list[int]:
    """Return which arguments there is a gradient for, having checked what `L_op` returns."""
    node = subject.node
    cotangents = [out.type() for out in node.outputs]
    try:
        pulled = list(subject.op.L_op(node.inputs, node.outputs, cotangents))
    except (NullTypeGradError, NotImplementedError) as error:
        if gradient:
            raise subject.broken("L_op", f"it has no gradient: {error}") from error
        return []
    if len(pulled) != len(node.inputs):
        raise subject.broken("L_op", f"it returns {len(pulled)} cotangents for {len(node.inputs)} inputs")
    undefined: set[Variable[Any]] = set()
    for i, (given, cotangent) in enumerate(zip(node.inputs, pulled, strict=True)):
        if isinstance(cotangent.type, NullType):
            undefined.add(given)
        elif not isinstance(cotangent.type, DisconnectedType) and isinstance(given, TensorVariable):
            _check_cotangent(subject, i, given, cotangent)
    return [i for i in floats if not any(variable_depends_on(v, subject.arguments[i]) for v in undefined)]


def _check_cotangent(subject: Subject, i: int, given: TensorVariable, cotangent: Variable[Any]) -> None:
    if not isinstance(cotangent, TensorVariable) or cotangent.ndim != given.ndim:
        raise subject.broken("L_op", f"the cotangent of input {i}, of type {given.type}, has the type {cotangent.type}")
    if given.dtype in FLOAT_DTYPES and cotangent.dtype != given.dtype:
        raise subject.broken(
            "L_op", f"the cotangent of input {i} has the dtype {cotangent.dtype}, the input {given.dtype}"
        )


def _check_backends(subject: Subject, backends: Sequence[Backend], max_ulps: float, seed: int) -> None:
    compiled: dict[Any, ComparedBackends] = {}
    for description, other in _variants(subject, seed):
        key = tuple([v.type for v in other.arguments])
        if key not in compiled:
            graph = FunctionGraph(other.arguments, other.node.outputs)
            compiled[key] = ComparedBackends.compile(graph, backends)
        compared = compiled[key]
        for layout, given in other.layouts():
            found = compared.mismatches(given, max_ulps)
            if found:
                raise subject.broken("backends", f"for {description}, {layout}: {found[0]}") from found[0]
            if description != _AS_GIVEN:
                break


_AS_GIVEN = "the given values"


def _variants(subject: Subject, seed: int) -> Iterator[tuple[str, Subject]]:
    """Give the Op applied to the values, to values of other lengths, to empty arrays, and to arrays without dimensions."""
    yield _AS_GIVEN, subject
    arrays = [x for x in subject.values if isinstance(x, np.ndarray)]
    lengths = sorted({n for x in arrays for n in x.shape if n > 1})
    rng = np.random.default_rng(seed)
    for _ in range(2):
        renamed = {n: int(rng.integers(2, 9)) for n in lengths}
        yield from _resized(subject, renamed, f"arrays whose lengths {renamed} are others")
    for n in lengths:
        yield from _resized(subject, {n: 0}, f"arrays with 0 in place of the length {n}")
    if any(x.ndim for x in arrays) and all(x.size for x in arrays):
        first = [np.asarray(x.flat[0]) if isinstance(x, np.ndarray) else x for x in subject.values]
        other = subject.with_values(first)
        if other is not None:
            yield "arrays without dimensions", other


def _resized(subject: Subject, renamed: dict[int, int], description: str) -> Iterator[tuple[str, Subject]]:
    values = [
        np.resize(x, [renamed.get(n, n) for n in x.shape]) if isinstance(x, np.ndarray) else x for x in subject.values
    ]
    other = subject.with_values(values)
    if other is not None:
        yield description, other
