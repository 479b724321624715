"""What `mypy --strict` refuses: every line is wrong, and the code after it says how. A line that is no longer refused is an unused ignore."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Constant, COp, EnumList, FunctionGraph, Op, OutputStorage, ParamsType, Type, Variable
from lamella.codegen import lower_to_c, write_program
from lamella.rewriting import GraphRewriter, NodeRewriter, RewriteDatabaseQuery, in2out, node_rewriter, rewrite_graph
from lamella.runtime import CLinker, Linker, PerformLinker
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable
from lamella.testing import assert_rewrite, register_graphs, verify_rewrite
from lamella.typing_layer import ScheduledGraph, schedule


class Scaled(Op[[TensorLike, float], TensorVariable]):
    """A right Op."""

    __props__ = ("power",)

    def __init__(self, power: int = 1) -> None:
        self.power = power

    def make_node(self, x: TensorLike, by: float) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(x), as_tensor_variable(by)], [as_tensor_variable(x).type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0] * inputs[1] ** self.power


def an_op_called_wrongly(x: TensorVariable, scaled: Scaled) -> None:
    scaled("x", 1.0)  # type: ignore[arg-type]
    scaled(x, "1.0")  # type: ignore[arg-type]
    scaled(x, x)  # type: ignore[arg-type]
    scaled([x], 1.0)  # type: ignore[arg-type]
    scaled(x)  # type: ignore[call-arg]
    scaled(x, 1.0, 2.0)  # type: ignore[call-arg]
    scaled(x, to=1.0)  # type: ignore[call-arg]
    scaled.make_node(x)  # type: ignore[call-arg]
    first, second = scaled(x, 1.0), scaled(x, 1.0).nothing  # type: ignore[attr-defined]
    result: FunctionGraph = scaled(x, 1.0)  # type: ignore[assignment]
    Scaled("2")  # type: ignore[arg-type]
    Op()  # type: ignore[abstract]
    lt.exp()  # type: ignore[call-arg]
    lt.exp(x, x)  # type: ignore[call-arg]
    lt.exp("x")  # type: ignore[arg-type]
    lt.exp([x])  # type: ignore[arg-type]
    lt.sum(x, axis="0")  # type: ignore[arg-type]
    lt.dvector(0)  # type: ignore[arg-type]


class Unfinished(Op[[TensorLike], TensorVariable]):
    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [], [])


Unfinished()  # type: ignore[abstract]


class WrongPerform(Op[[TensorLike], TensorVariable]):
    def perform(self, inputs: Sequence[Any], output_storage: OutputStorage) -> None:  # type: ignore[override]
        return None


class ForgottenStorage(Op[[TensorLike], TensorVariable]):
    def perform(self, node: Apply[Any], inputs: Sequence[Any]) -> None:  # type: ignore[override]
        return None


class WrongMakeNode(Op[[TensorLike], TensorVariable]):
    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:  # type: ignore[override]
        return Apply(self, [], [])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        return None


class ReturnsAVariable(Op[[TensorLike], TensorVariable]):
    def make_node(self, x: TensorLike) -> TensorVariable:  # type: ignore[override]
        return as_tensor_variable(x)

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        return None


class WrongGradients(Op[[TensorLike], TensorVariable]):
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        return None

    def L_op(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> list[Variable[Any]]:  # type: ignore[override]
        return []

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Variable[Any]:  # type: ignore[override]
        raise NotImplementedError

    def infer_shape(self, node: Apply[Any], shapes: Sequence[Any]) -> list[Any]:  # type: ignore[override]
        return []

    def connection_pattern(self, node: Apply[Any]) -> list[bool]:  # type: ignore[override]
        return []

    view_map = {0: 0}  # type: ignore[dict-item]
    itypes = ["dvector"]  # type: ignore[list-item]


def a_node_that_is_assigned_to(
    x: TensorVariable,
    constant: Constant[Any],
    node: Apply[Any],
    op: Scaled,
    kind: TensorType,
    graph: FunctionGraph,
    mode: lm.Mode,
) -> None:
    x.name = "y"  # type: ignore[misc]
    x.owner = None  # type: ignore[misc]
    x.type = kind  # type: ignore[misc]
    x.tag = 1  # type: ignore[attr-defined]
    node.op = op  # type: ignore[misc]
    node.inputs = ()  # type: ignore[misc]
    node.inputs[0] = x  # type: ignore[index]
    node.outputs += (x,)  # type: ignore[misc]
    node.origin = None  # type: ignore[misc]
    kind.dtype = "int8"  # type: ignore[misc]
    kind.shape[0] = 3  # type: ignore[index]
    constant.name = "one"  # type: ignore[misc]
    graph.outputs = ()  # type: ignore[misc]
    graph.inputs[0] = x  # type: ignore[index]
    graph.clients[x] = ()  # type: ignore[index]
    mode.linker = PerformLinker()  # type: ignore[misc]


class WrongCode(COp[[TensorLike], TensorVariable]):
    """An Op with C code; what is wrong with it a type checker says."""

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        return Apply(self, [as_tensor_variable(x)], [as_tensor_variable(x).type])

    def c_code(self, node: Apply[Any], name: str) -> str:  # type: ignore[override]
        return ""

    def c_code_cleanup(  # type: ignore[override]
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> None: ...


def c_code_of_ones_own(x: TensorVariable, op: WrongCode) -> None:
    op(x, x)  # type: ignore[call-arg]
    ParamsType(a=1)  # type: ignore[arg-type]
    EnumList(1, 2)  # type: ignore[arg-type]
    op.make_thunk(op.make_node(x), {}, {}, impl=1)  # type: ignore[arg-type]


def a_graph_that_skips_a_layer(x: TensorVariable, graph: FunctionGraph) -> None:
    lower_to_c(graph)  # type: ignore[arg-type]
    lower_to_c([x])  # type: ignore[arg-type]
    CLinker().link(graph)  # type: ignore[arg-type]
    PerformLinker().link(graph)  # type: ignore[arg-type]
    schedule(x)  # type: ignore[arg-type]
    schedule(schedule(graph))  # type: ignore[arg-type]
    FunctionGraph(None, [x])  # type: ignore[arg-type]
    FunctionGraph([x], graph)  # type: ignore[arg-type]
    FunctionGraph([1.0], [x])  # type: ignore[list-item]
    ScheduledGraph(graph)  # type: ignore[call-arg]
    lm.FAST_RUN.rewrite(schedule(graph))  # type: ignore[arg-type]
    graph.replace(x, 1.0)  # type: ignore[arg-type]
    lm.function([x], 1.0)  # type: ignore[arg-type]
    lm.function([x], graph)  # type: ignore[arg-type]
    lm.function([np.ones(3)], x)  # type: ignore[list-item]
    lm.function(x, x)  # type: ignore[arg-type]
    lm.function([x], x, updates={x: x})  # type: ignore[type-var]
    lm.function([x], x, mode=CLinker())  # type: ignore[arg-type]
    lm.function([x], x, on_unused_input="whatever")  # type: ignore[arg-type]


class NoGraph(NodeRewriter):
    def transform(self, node: Apply[Any]) -> None:  # type: ignore[override]
        return None


class NoList(NodeRewriter):
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> Variable[Any]:  # type: ignore[override]
        return node.outputs[0]


class SaysTrue(NodeRewriter):
    def transform(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:  # type: ignore[override]
        return True


class ChangesInPlace(GraphRewriter):
    def apply(self, fgraph: FunctionGraph) -> None:  # type: ignore[override]
        return None


@node_rewriter([lt.exp])  # type: ignore[arg-type]
def no_graph(node: Apply[Any]) -> None:
    return None


@node_rewriter(["exp"])  # type: ignore[list-item]
def no_op(fgraph: FunctionGraph, node: Apply[Any]) -> None:
    return None


class LinksAnything(Linker):
    def link(self, scheduled: FunctionGraph) -> Any:  # type: ignore[override]
        return None


def rewriters_used_wrongly(x: TensorVariable, rewriter: NodeRewriter, whole: GraphRewriter) -> None:
    in2out(whole)  # type: ignore[arg-type]
    whole.rewrite(x)  # type: ignore[arg-type]
    rewriter.transform(x)  # type: ignore[call-arg, arg-type]
    rewrite_graph(x, custom_rewrite=rewriter)  # type: ignore[call-overload]
    lm.Mode(RewriteDatabaseQuery([]), CLinker())  # type: ignore[arg-type]


class WrongFilter(Type[int]):
    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:  # type: ignore[override]
        return ""


class NoStrict(Type[int]):
    def filter(self, value: Any) -> int:  # type: ignore[override]
        return 0


def types_and_gradients_used_wrongly(x: TensorVariable, graph: FunctionGraph) -> None:
    Type()  # type: ignore[abstract]
    number: int = lt.dvector.filter([1.0])  # type: ignore[assignment]
    Variable("x")  # type: ignore[type-var]
    TensorType("float64", "3")  # type: ignore[arg-type]
    lm.grad(x, "x")  # type: ignore[arg-type]
    lm.grad([x], x)  # type: ignore[call-overload]
    lm.grad(x, x, disconnected_inputs="silently")  # type: ignore[call-overload]
    gradients: list[TensorVariable] = lm.grad(x, x)  # type: ignore[assignment]
    lm.jacobian(x, graph)  # type: ignore[call-overload]
    x + "1"  # type: ignore[operator]
    x[1.5]  # type: ignore[index]
    x[0] = 1.0  # type: ignore[index]
    x.set("0")  # type: ignore[arg-type]
    lm.as_op(["dvector"], [lt.dvector])  # type: ignore[list-item]
    lm.shared(object())  # type: ignore[call-overload]


def rewrites_tested_wrongly(x: TensorVariable) -> None:
    assert_rewrite(x, "x")  # type: ignore[arg-type]
    verify_rewrite("mul_by_one", x)  # type: ignore[arg-type]
    register_graphs("mul_by_one", lambda: x)  # type: ignore[misc, arg-type]
    verify_rewrite(lt.exp)  # type: ignore[arg-type]


def monitor_of_three(fgraph: FunctionGraph, i: int, node: Apply) -> None: ...


def modes_made_wrongly(x: TensorVariable) -> None:
    lm.NanGuardMode()  # type: ignore[call-arg]
    lm.NanGuardMode(nan_is_error="yes", inf_is_error=True)  # type: ignore[arg-type]
    lm.DebugMode(require_matching_strides=2)  # type: ignore[arg-type]
    lm.DebugMode(check_preallocated_output=("anything",))  # type: ignore[arg-type]
    lm.MonitorMode(post_func=monitor_of_three)  # type: ignore[arg-type]
    lm.MonitorMode(linker=lm.CLinker())  # type: ignore[arg-type]
    lm.WrapLinker([lm.CLinker()], monitor_of_three)  # type: ignore[list-item, arg-type]
    lm.function([x], x, profile="yes")  # type: ignore[arg-type]
    lm.DebugMode().check_c_code = False  # type: ignore[misc]


def choices_and_batches_made_wrongly(x: TensorVariable) -> None:
    chosen: TensorVariable = lm.ifelse(True, [x], [x])  # type: ignore[assignment]
    lm.Assert(2)  # type: ignore[arg-type]
    lm.CheckAndRaise("ValueError", "no")  # type: ignore[arg-type]
    lm.CheckAndRaise(ValueError, "no")(x, "positive")  # type: ignore[arg-type]
    lm.OpFromGraph(x, [x])  # type: ignore[arg-type]
    lm.OpFromGraph([x], [x], lop_overrides=lambda inputs: inputs)  # type: ignore[arg-type]
    lm.Blockwise("cholesky", "(m,m)->(m,m)")  # type: ignore[arg-type]
    lm.vectorize_node.register(x)  # type: ignore[arg-type]
    number: int = lm.vectorize_graph(x, {x: x})  # type: ignore[assignment]
