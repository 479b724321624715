"""What `mypy --strict` accepts, and what it takes the results for; it runs, too."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, assert_type

import attrs
import numpy as np
import numpy.typing as npt

import lamella as lm
import lamella.tensor as lt
from lamella import (
    Apply,
    CLinkerType,
    Constant,
    COp,
    EnumList,
    ExternalCOp,
    Function,
    FunctionGraph,
    Op,
    OutputStorage,
    Params,
    ParamsType,
    ScalarType,
    SharedVariable,
    Type,
    Variable,
)
from lamella.codegen import CompiledModule, lower_to_c
from lamella.ir import TensorConstant, TensorSharedVariable, TensorType
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    FromFunctionGraphRewriter,
    FromFunctionNodeRewriter,
    GraphRewriter,
    NodeRewriter,
    TransformResult,
    WalkingGraphRewriter,
    graph_rewriter,
    in2out,
    node_rewriter,
    rewrite_graph,
)
from lamella.runtime import CLinker, Executable, Linker, PerformLinker
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable
from lamella.testing import Draw, RewriteReport, RewriteTester, assert_rewrite, register_graphs, verify_rewrite
from lamella.typing_layer import ScheduledGraph, schedule

# Ops of one's own.


class Scaled(Op[[TensorLike, float], TensorVariable]):
    """As in the tutorial: ``__props__`` and an ``__init__``."""

    __props__ = ("power",)

    def __init__(self, power: int = 1) -> None:
        self.power = power

    def make_node(self, x: TensorLike, by: float) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable, as_tensor_variable(by)], [variable.type()])

    def perform(self, node: Apply, inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] * inputs[1] ** self.power

    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply, shapes: Sequence[tuple[Any, ...]]
    ) -> list[tuple[Any, ...]]:
        return [shapes[0]]

    def grad(self, inputs: Sequence[TensorVariable], output_grads: Sequence[TensorVariable]) -> list[Variable]:
        return [output_grads[0] * inputs[1] ** self.power, lm.grad_undefined(self, 1, inputs[1])]

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[TensorVariable | None]) -> list[Variable | None]:
        return [None if eval_points[0] is None else self(eval_points[0], 1.0)]


@attrs.frozen
class SumAndDifference(Op[[TensorLike, TensorLike], tuple[TensorVariable, TensorVariable]]):
    """With fields, and several outputs."""

    weight: float = 1.0

    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[tuple[TensorVariable, TensorVariable]]:
        a, b = as_tensor_variable(x), as_tensor_variable(y)
        return Apply(self, [a, b], [a.type(), a.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        x, y = inputs
        output_storage[0][0], output_storage[1][0] = x + y, x - y

    def L_op(
        self,
        inputs: Sequence[TensorVariable],
        outputs: Sequence[TensorVariable],
        output_grads: Sequence[Variable[Any]],
    ) -> Sequence[Variable[Any]]:
        return output_grads

    def connection_pattern(self, node: Apply[Any]) -> list[list[bool]]:
        return [[True, True], [True, True]]


class Named(Op[[TensorLike], TensorVariable]):
    """With Types in place of `make_node`, and in-place work."""

    __props__ = ()
    itypes = [lt.dvector]
    otypes = [lt.dvector]
    destroy_map = {0: [0]}
    view_map = {0: (0,)}

    def perform(self, node: Apply, inputs: Sequence[npt.NDArray[np.float64]], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]


@lm.as_op([lt.dvector, lt.dscalar], [lt.dvector], infer_shape=lambda fgraph, node, shapes: [shapes[0]])
def raised(x: npt.NDArray[np.float64], exponent: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return x**exponent


x, y, i, m = lt.dvector("x"), lt.dscalar("y"), lt.lvector("i"), lt.dmatrix("m")
assert_type(Scaled(2)(x, 3.0), TensorVariable)
assert_type(Scaled(2)(np.ones(3), 3), TensorVariable)
assert_type(Scaled().make_node(x, 2.0), Apply[TensorVariable])
assert_type(Scaled().power, int)
assert_type(SumAndDifference()(x, np.ones(3)), tuple[TensorVariable, TensorVariable])
assert_type(SumAndDifference(2.0).weight, float)
total, difference = SumAndDifference()(x, 1)
assert_type(difference, TensorVariable)
assert_type(Named()(x), TensorVariable)

# Tensor functions and operators.

assert_type(x, TensorVariable)
assert_type(x.type, TensorType)
assert_type(x.type.shape, tuple[int | None, ...])
assert_type(x.owner, Apply[Any] | None)
assert_type(x.named("z"), TensorVariable)
assert_type(lt.exp(x), TensorVariable)
assert_type(lt.exp(2.0), TensorVariable)
assert_type(lt.sum(m, axis=(0, 1)), TensorVariable)
assert_type(lt.switch(x > 0, x, 0.0), TensorVariable)
assert_type(lt.concatenate([x, x, np.ones(2)]), TensorVariable)
assert_type(lt.split(x, [1, 2], axis=0), tuple[TensorVariable, ...])
assert_type(x.nonzero(), tuple[TensorVariable, ...])
assert_type(lt.constant([1.0, 2.0]), TensorConstant)
assert_type(lt.as_tensor_variable([x, x]), TensorVariable)
assert_type(lt.tensor("t", dtype="int8", shape=(None, 3)), TensorVariable)
assert_type(2 * x + 1 - x / 3 // 2 % 5, TensorVariable)
assert_type(-(x**2), TensorVariable)
assert_type(m @ x, TensorVariable)
assert_type(x < y, TensorVariable)
assert_type((x > 0) & ~(x > 1) | (x > 2), TensorVariable)
assert_type(np.float64(2) * x, TensorVariable)
assert_type(x + np.ones(3), TensorVariable)
assert_type(divmod(i, 2), tuple[TensorVariable, TensorVariable])
assert_type(abs(x), TensorVariable)
assert_type(x[1:, None], TensorVariable)
assert_type(x[i], TensorVariable)
assert_type(m[0, i > 1], TensorVariable)
assert_type(m[..., ::-1].T.shape[0], TensorVariable)
assert_type(x[[0, 1]].set(0), TensorVariable)
assert_type(x[: i[0]].inc(x), TensorVariable)
assert_type(x.sum().astype("float32"), TensorVariable)
assert_type(list(lt.tensor("t", dtype="int8", shape=(3,))), list[TensorVariable])
# What NumPy's stubs say of these is nothing, so they may be put to any use. (Of `np.sum(m)` some say that it is an array of objects.)
from_numpy: TensorVariable = np.ones((2, 3)) @ x
also_from_numpy: TensorVariable = np.ones(3) * x

# Differentiation.

cost = lt.sum(lt.sqr(x)) * y
assert_type(lm.grad(cost, x), TensorVariable)
assert_type(lm.grad(cost, [x, y]), list[TensorVariable])
assert_type(lm.grad(cost, wrt=(x, y), disconnected_inputs="ignore"), list[TensorVariable])
assert_type(lm.grad(None, x, known_grads={cost: lt.constant(1.0)}), TensorVariable)
assert_type(lm.jacobian(x**2, x), TensorVariable)
assert_type(lm.jacobian(x**y, [x, y]), list[TensorVariable])
assert_type(lm.hessian(cost, x), TensorVariable)
assert_type(lm.hessian(cost, [x, y]), list[TensorVariable])
assert_type(lm.Lop(x**2, x, x), TensorVariable)
assert_type(lm.Lop([x**2], [x], [x]), list[TensorVariable])
assert_type(lm.disconnected_grad(x), TensorVariable)

# Types, Variables, Constants and nodes.


@attrs.frozen
class Even(Type[int]):
    """Even numbers: a Type of one's own."""

    bound: int = 10

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> int:
        if not isinstance(value, int) or value % 2:
            raise TypeError(f"{value!r} is no even number")
        return value


assert_type(Even().filter(2), int)
assert_type(Even()("n"), Variable[Even])
assert_type(Even()("n").type.bound, int)
assert_type(Even().make_constant(2), Constant[Even])
assert_type(Even().clone(bound=12), Even)
assert_type(lt.dvector.filter([1.0]), npt.NDArray[Any])
assert_type(lt.dvector("v"), TensorVariable)
assert_type(lt.dvector.make_constant([1.0]), TensorConstant)
assert_type(lt.dvector.is_super(lt.dvector), TensorType | None)
node: Apply = Apply(Scaled(), [x, y], [x.type])
assert_type(node.inputs, tuple[Variable[Any], ...])
assert_type(node.outputs[0], Variable[Any])
assert_type(x.eval({x: [1.0]}), Any)
assert_type(cost.eval({"x": [1.0], "y": 2}), Any)
graph = FunctionGraph([x, y], [cost])
assert_type(graph.replace(y, lt.constant(2.0)), FunctionGraph)
assert_type(graph.clients[x], tuple[tuple[Apply[Any] | None, int], ...])
assert_type(lm.clone_replace(cost, {x: x + 1}), TensorVariable)
assert_type(lm.clone_replace([cost], {x: x + 1}), list[TensorVariable])

# Rewriting.


@node_rewriter([lt.exp])
def as_in_the_tutorial(fgraph: FunctionGraph, node: Apply) -> list[Variable] | Literal[False]:
    (a,) = node.inputs
    return [a] if a.owner is not None and a.owner.op == lt.log else False


@node_rewriter([Scaled])
def gives_a_dict(fgraph: FunctionGraph, node: Apply[TensorVariable]) -> Mapping[Variable[Any], Variable[Any]] | None:
    return {node.outputs[0]: node.inputs[0]}


class OfOnesOwn(NodeRewriter):
    """A rewriter that is a class."""

    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> TransformResult:
        return [None for _ in node.outputs]

    def tracks(self) -> list[Any]:
        return [Scaled, lt.exp]


class WholeGraphs(GraphRewriter):
    """A rewriter of graphs."""

    def add_requirements(self, fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph

    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return fgraph.with_outputs(fgraph.outputs)


@graph_rewriter
def a_function(fgraph: FunctionGraph) -> FunctionGraph:
    return fgraph


assert_type(as_in_the_tutorial, FromFunctionNodeRewriter)
assert_type(a_function, FromFunctionGraphRewriter)
assert_type(in2out(as_in_the_tutorial, gives_a_dict, OfOnesOwn()), WalkingGraphRewriter)
assert_type(
    EquilibriumGraphRewriter([as_in_the_tutorial, WholeGraphs()], max_use_ratio=10).rewrite(graph), FunctionGraph
)
assert_type(rewrite_graph(cost, include=["canonicalize"], custom_rewrite=WholeGraphs()), TensorVariable)
assert_type(WholeGraphs().rewrite_with_log(graph).fgraph, FunctionGraph)

unknown = lm.var()
found = lm.unify(cost, lm.etuple(lt.add, unknown, 1.0))
assert_type(found, dict[lm.LogicVariable, object] | Literal[False])
assert_type(lm.reify(lm.etuple(lt.exp, unknown), found or {}), lm.ExpressionTuple)
assert_type(lm.etuplize(cost)[1:], lm.ExpressionTuple)


@node_rewriter([lt.add])
def doubled(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    """Matches by unification."""
    found = lm.unify(node.out, lm.etuple(lt.add, unknown, unknown))
    return [lm.reify(lm.etuple(lt.mul, 2.0, unknown), found).evaled_obj] if found else None


# Functions.

state = lm.shared(np.zeros(3), name="state")
assert_type(state, TensorSharedVariable)
assert_type(lm.shared(2, type=Even()), SharedVariable[Any])
f = lm.function([x, lm.In(y, value=2.0)], [cost, lm.Out(x, borrow=True)], updates={state: state + x}, name="f")
assert_type(f, Function)
lm.function([x], {"double": 2 * x}, givens={y: lt.constant(1.0)}, mode="FAST_COMPILE", on_unused_input="ignore")
lm.function([(x, np.zeros(3))], (x, x), updates=[(state, x)], mode=lm.FAST_RUN.excluding("fusion"))
lm.function([], state + from_numpy, givens=[(x, state)], allow_input_downcast=True)
assert_type(f.fgraph, FunctionGraph)
assert_type(schedule(graph), ScheduledGraph)
assert_type(lower_to_c(schedule(graph)), CompiledModule)
assert_type(PerformLinker().link(schedule(graph)), Executable)


class LinkerOfOnesOwn(Linker):
    """A linker that hands the work on."""

    def link(self, scheduled: ScheduledGraph) -> Executable:
        run = CLinker().link(scheduled)

        def call(values: Sequence[Any], /) -> list[Any]:
            return run(values)

        return call


lm.function([x], x + 1, mode=lm.Mode(LinkerOfOnesOwn(), lm.FAST_RUN.query))

# C code of one's own.


class Negated(COp[[TensorLike], TensorVariable]):
    """An Op with C code and params."""

    params_type = ParamsType(kind=EnumList("A", ("B", "beta")), offset=ScalarType("float64"))
    __props__ = ("kind", "offset")

    def __init__(self, kind: str, offset: float = 0.0) -> None:
        self.kind, self.offset = kind, offset

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(
        self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage, params: Params | None = None
    ) -> None:
        output_storage[0][0] = -inputs[0]

    def c_headers(self, **kwargs: Any) -> list[str]:
        return ["<float.h>"]

    def c_code(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        return f"{outputs[0]} = (PyArrayObject *)PyNumber_Negative((PyObject *){inputs[0]});"


assert_type(Negated("A")(x), TensorVariable)
assert_type(Negated.params_type.A, int | float)


def thunk_of_an_op(op: Negated) -> None:
    assert_type(op.make_thunk(op.make_node(x), {}, {}, impl="c"), Callable[[], None])


class Text(Type[str], CLinkerType):
    """A Type with a C side."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
        return str(value)

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        return f"PyObject *{name};"


ParamsType(text=Text())


class InFile(ExternalCOp[[TensorLike], TensorVariable]):
    """An Op whose C stands in a file."""

    def __init__(self) -> None:
        super().__init__(["a.c", "b.c"], func_name="APPLY_SPECIFIC(f)")


def call_of_an_op_in_a_file(op: InFile) -> None:
    assert_type(op(x), TensorVariable)


# Tests of rewrites.


def quotients(draw: Draw) -> list[TensorVariable]:
    numerator = draw.tensor(draw.choose("float64", "float32"), draw.shape(1, 2), low=0.5)
    return [numerator / draw.like(numerator), draw.one_of(lambda: -numerator, lambda: numerator.T)]


@node_rewriter([lt.neg])
def negated_twice(fgraph: FunctionGraph, node: Apply) -> list[Variable] | None:
    (a,) = node.inputs
    return list(a.owner.inputs) if a.owner is not None and a.owner.op == lt.neg else None


def negations(draw: Draw) -> list[TensorVariable]:
    negated = -draw.tensor("float64", draw.shape(1, 2))
    return [-negated]


register_graphs("a_rewrite_of_ones_own", quotients, lambda draw: draw.floats() * 2)
assert_type(assert_rewrite(x * 1.0, x, fires="mul_by_one", include=["canonicalize"], values=[[1.0]]), FunctionGraph)
assert_type(
    assert_rewrite([x, y], (x, y), fires=[], custom_rewrite=as_in_the_tutorial, tags=["nan_unsafe"]), FunctionGraph
)
assert_type(verify_rewrite(negated_twice, negations, graphs=5), RewriteReport)
assert_type(verify_rewrite("mul_by_one").fires, int)


class TestsOfRewrites(RewriteTester):
    """A class of tests."""

    include = ("canonicalize",)
    custom_rewrite = as_in_the_tutorial
    graphs = {"mul_by_one": [lambda draw: draw.floats() * 1.0, quotients]}

    def test_one(self) -> None:
        assert_type(self.assert_graph(graph, [x], fires="mul_by_one"), FunctionGraph)
        self.assert_unchanged(x)


# Modes that look at nodes.


def watch(fgraph: FunctionGraph, i: int, node: Apply, fn: lm.NodeThunk) -> None:
    assert_type(fn.inputs[0][0], Any)
    assert_type(i, int)


def run_first(fgraph: FunctionGraph, i: int, node: Apply, *thunks: lm.NodeThunk) -> None:
    for thunk in thunks:
        assert_type(thunk(), None)


assert_type(lm.MonitorMode(pre_func=watch, post_func=lm.detect_nan).excluding("fusion"), lm.MonitorMode)
assert_type(lm.NanGuardMode(nan_is_error=True, inf_is_error=False), lm.NanGuardMode)
lm.DebugMode(check_preallocated_output=("previous", "strided"), require_matching_strides="warn", stability_patience=3)
lm.WrapLinker([lm.VMLinker(), lm.OpWiseCLinker()], run_first)
assert_type(lm.WrapLinkerMany([lm.PerformLinker()], [run_first, run_first]), lm.WrapLinker)
watched = lm.function([x], x + 1, mode=lm.MonitorMode(post_func=watch), profile=True)
assert_type(watched.profile, lm.FunctionProfile | None)


# Choices, checks, inner graphs, batches.

assert_type(lm.ifelse(True, x[0], 0.0), TensorVariable)
assert_type(lm.ifelse(lt.any(y), [x, x], (x, x)), list[TensorVariable])
assert_type(lm.Assert("positive")(x, lt.gt(x, 0)), TensorVariable)
assert_type(lm.check_and_raise(x, KeyError, "no", True), TensorVariable)
assert_type(lm.Print("x", attrs=("shape",), global_fn=lambda op, value: print(op.message, value))(x), TensorVariable)


@lm.checkpoint
def layer(v: TensorVariable, times: int = 1) -> TensorVariable:
    return lt.tanh(v * times)


assert_type(layer(x, times=2), TensorVariable)
assert_type(lm.cffi_op("double erf(double)", grad=lambda t: 1.128 * lt.exp(-t * t))(x), TensorVariable)
assert_type(lm.checkpoint(x * 2, [x]), TensorVariable)
assert_type(lm.checkpoint([x, y]), list[TensorVariable])


def pulled(inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Variable]:
    return [output_grads[0], lm.DisconnectedType()()]


lm.OpFromGraph([x, y], [x * 2], lop_overrides=pulled)
lm.OpFromGraph([x, y], [x + y], grad_overrides=[None, lambda inputs, outputs, grads: grads[0]], inline=False)
assert_type(lm.vectorize_graph(x, {x: lt.dmatrix()}), TensorVariable)
assert_type(lm.vectorize_graph([x, y], {x: np.ones((2, 3))}), list[TensorVariable])


@lm.vectorize_node.register(Scaled)
def scaled_batch(op: Scaled, node: Apply, inputs: Sequence[Variable]) -> Sequence[Variable] | None:
    return op.make_node(as_tensor_variable(inputs[0]), 1.0).outputs if op.power == 1 else None


class Lazy(Scaled):
    """Needs its second input only where the first is not 0."""

    def required_inputs(self, node: Apply, known: Mapping[int, Any]) -> list[int]:
        return [1] if known and known[0].any() else [0]
