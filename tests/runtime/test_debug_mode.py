"""`DebugMode`: every promise that is broken is an error of its own class, which says what, where, and what to do."""

from __future__ import annotations

import itertools
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import lamella as lm
import lamella.tensor as lt
from lamella import errors
from lamella.codegen import Step, c_lowering
from lamella.ir import Apply, FunctionGraph, OutputStorage, Variable
from lamella.rewriting import SequenceDB, graph_rewriter, in2out, node_rewriter, optdb
from lamella.runtime import DebugMode, get_mode
from lamella.testing.strategies import RandomGraph, graphs
from tests.runtime import planted_ops as planted
from tests.runtime.lazy_ops import Counted, choose

IN_PYTHON = DebugMode(check_c_code=False)


def run(op: Any, value: Any = (1.0, 2.0), mode: lm.Mode = IN_PYTHON) -> Any:
    array = np.array(value)
    x = lt.tensor("x", dtype="float64", shape=(None,) * array.ndim)
    return lm.function([x], op(x), mode=mode)(array)


def test_what_keeps_its_promises_passes() -> None:
    assert run(planted.Double(), mode=DebugMode()).tolist() == [2, 4]
    x = lt.dvector("x")
    f = lm.function([lm.In(x, mutable=True)], planted.WorksInPlace()(x), mode=IN_PYTHON)
    given = np.ones(2)
    assert f(given).tolist() == [2, 2]
    assert given.tolist() == [2, 2]


BROKEN: Sequence[tuple[Callable[[], Any], type[errors.DebugModeError], str]] = [
    (planted.Narrow, errors.InvalidValueError, r"is declared as float64\[\?\], but .* float32"),
    (
        planted.UndeclaredView,
        errors.BadViewMap,
        r"output 0 of .* shares memory with its input 0.*view_map = \{0: \[0\]\}",
    ),
    (planted.UndeclaredDestruction, errors.BadDestroyMap, r"changes its input 0 .*destroy_map = \{0: \[0\]\}"),
    (planted.Impure, errors.ImpureOp, "called again with the same inputs, .* stored another output 0"),
    (planted.KeepsItsResult, errors.ImpureOp, "reuses the memory of output 0 of the first"),
    (planted.Accumulates, errors.BadPreallocatedOutput, r"with an array \(previous\) in its output storage"),
    (planted.WrongShape, errors.BadInferredShape, r"gives the shape \(3,\) for output 0, but .* shape \(2,\)"),
]


@pytest.mark.parametrize(("op", "error", "message"), BROKEN, ids=[case[0].__name__ for case in BROKEN])
def test_a_broken_promise_is_an_error_of_its_own(
    op: Callable[[], Any], error: type[errors.DebugModeError], message: str
) -> None:
    with pytest.raises(error, match=message) as caught:
        run(op())
    assert type(caught.value) is error
    text = str(caught.value)
    assert f"node: {op.__name__}(" in text
    assert "input 0: " in text
    assert "test_debug_mode.py" in text


def test_layouts_of_memory() -> None:
    matrix = np.arange(6.0).reshape(2, 3)
    with pytest.raises(errors.BadPreallocatedOutput, match=r"with an array \((f_contiguous|strided)\)"):
        run(planted.AssumesItFits(), matrix)
    with pytest.raises(errors.BadLayout, match="with inputs that are f_contiguous, stores another output 0"):
        run(planted.ReadsMemory(), matrix)
    with pytest.raises(errors.BadLayout, match=r"raises ValueError.*which it does not otherwise") as caught:
        run(planted.FailsOnStrides(), matrix)
    assert isinstance(caught.value.__cause__, ValueError)
    careless = DebugMode(check_c_code=False, check_py_code=False)
    for op in (planted.AssumesItFits(), planted.ReadsMemory(), planted.FailsOnStrides()):
        np.testing.assert_array_equal(run(op, matrix, careless), matrix)
    unprepared = DebugMode(check_c_code=False, check_preallocated_output=("previous",))
    np.testing.assert_array_equal(run(planted.AssumesItFits(), matrix, unprepared), matrix)


def test_a_static_shape_that_does_not_hold() -> None:
    x = lt.tensor("x", dtype="float64", shape=(2,))
    f = lm.function([x], planted.Longer()(x), mode=IN_PYTHON)
    with pytest.raises(errors.InvalidValueError, match="Longer is declared as"):
        f(np.ones(2))
    assert issubclass(errors.InvalidValueError, errors.OutputTypeError)


def test_a_destroy_map_that_names_another_input() -> None:
    x, y = lt.dvectors("x", "y")
    idle = lm.function([lm.In(x, mutable=True)], planted.DestroysNothing()(x), mode=IN_PYTHON)
    with pytest.raises(errors.WrongDestroyMap, match="says that output 0 is written over input 0, but"):
        idle(np.ones(2))
    total = planted.DestroysAnother()(x * 1.5, y * 2.5)
    f = lm.function([x, y], total, mode=IN_PYTHON)
    with pytest.raises(errors.WrongDestroyMap, match=r"changes its input 1 .* names \[0\]"):
        f(np.ones(2), np.ones(2))


def test_outputs_that_share_memory() -> None:
    x = lt.dvector("x")
    f = lm.function([x], list(planted.TwoViews()(x)), mode=IN_PYTHON)
    with pytest.raises(errors.BadViewMap, match=r"outputs 0 and 1 of .* share memory"):
        f(np.ones(2))


def test_outputs_that_view_one_array_through_several_inputs() -> None:
    c, x = lt.dscalar("c"), lt.dvector("x")
    f = lm.function([c, x], list(lm.ifelse(c, [x, x], [x[::-1], x[1:]])), mode="DebugMode")
    assert [v.tolist() for v in f(1.0, [1.0, 2.0])] == [[1, 2], [1, 2]]
    assert [v.tolist() for v in f(0.0, [1.0, 2.0])] == [[2, 1], [2]]


def test_numbers_that_are_not_finite() -> None:
    x = lt.dvector("x")
    with np.errstate(all="ignore"):
        assert lm.function([x], lt.log(x), mode=IN_PYTHON)([0.0]).tolist() == [-np.inf]
        f = lm.function([x], lt.log(x), mode=DebugMode(check_c_code=False, check_isfinite=True))
        f([1.0])
        with pytest.raises(errors.NonFiniteValueError, match=r"output 0 of .* holds"):
            f([0.0])


def test_an_op_may_be_computed_otherwise_while_debugging() -> None:
    class Noisy(planted.OneVector):
        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            raise AssertionError("not while debugging")

        def debug_perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            output_storage[0][0] = inputs[0] + 1

    assert run(Noisy()).tolist() == [2, 3]


class WrongInC(planted.OneVector):
    """Its lowering triples; its `perform` doubles."""


class RightInC(planted.OneVector):
    pass


class SpoilsInC(planted.OneVector):
    """Its lowering also changes the input."""


@c_lowering.register(WrongInC)
def wrong_in_c(op: WrongInC, step: Step) -> None:
    _times(step, 3, "")


@c_lowering.register(RightInC)
def right_in_c(op: RightInC, step: Step) -> None:
    _times(step, 2, "")


@c_lowering.register(SpoilsInC)
def spoils_in_c(op: SpoilsInC, step: Step) -> None:
    _times(step, 2, "*from = 0;")


def _times(step: Step, factor: int, spoil: str) -> None:
    x = step.input(0)
    z = step.allocate([x.length(0)])
    step.emit(
        f"for (lm_int i = 0; i < {x.length(0)}; ++i) {{",
        f"    double *const from = (double *)({x.data} + i * {x.stride(0)});",
        f"    *(double *)({z.data} + i * {z.stride(0)}) = {factor} * *from;",
        f"    {spoil}",
        "}",
    )


def test_c_that_disagrees_with_python() -> None:
    assert run(RightInC(), mode=DebugMode()).tolist() == [2, 4]
    with pytest.raises(
        errors.BadCOutput, match=r"C code of WrongInC computes another output 0.*3\.0.*not.*2\.0"
    ) as caught:
        run(WrongInC(), mode=DebugMode())
    assert isinstance(caught.value, errors.BadThunkOutput)
    assert "node: WrongInC(x)" in str(caught.value)
    assert run(WrongInC(), mode=IN_PYTHON).tolist() == [2, 4]
    with pytest.raises(errors.BadDestroyMap, match="C code of SpoilsInC changes its input 0"):
        run(SpoilsInC(), mode=DebugMode())
    c, x = lt.dscalar("c"), lt.dvector("x")
    lazily = lm.function([c, x], choose(c, WrongInC()(x * 3.0), RightInC()(x)), mode="DebugMode")
    assert lazily(0.0, [1.0]).tolist() == [2]
    with pytest.raises(errors.BadCOutput, match="WrongInC"):
        lazily(1.0, [1.0])


class Turned(planted.OneVector):
    """The double of a matrix, in Fortran's order; its lowering gives it in C's."""

    def compute(self, x: planted.Array) -> Any:
        return np.asfortranarray(2 * x)


@c_lowering.register(Turned)
def turned(op: Turned, step: Step) -> None:
    x = step.input(0)
    z = step.allocate([x.length(0), x.length(1)])
    step.emit(
        f"for (lm_int i = 0; i < {x.length(0)}; ++i) for (lm_int j = 0; j < {x.length(1)}; ++j)",
        f"    *(double *)({z.data} + i * {z.stride(0)} + j * {z.stride(1)}) =",
        f"        2 * *(double *)({x.data} + i * {x.stride(0)} + j * {x.stride(1)});",
    )


def test_strides_of_c_and_python() -> None:
    matrix = np.arange(4.0).reshape(2, 2)
    assert run(Turned(), matrix, DebugMode()).tolist() == [[0, 2], [4, 6]]
    with pytest.warns(RuntimeWarning, match="output 0 of Turned has the strides"):
        run(Turned(), matrix, DebugMode(require_matching_strides="warn"))
    with pytest.raises(errors.BadStrides, match=r"\(16, 8\) where C computes it, and \(8, 16\) where perform does"):
        run(Turned(), matrix, DebugMode(require_matching_strides="raise"))
    assert run(Turned(), matrix[:1], DebugMode(require_matching_strides="raise")).tolist() == [[0, 2]]
    with pytest.raises(ValueError, match="require_matching_strides"):
        DebugMode(require_matching_strides="perhaps")  # type: ignore[arg-type]  # refused at run time too


@node_rewriter([planted.Double])
def halved(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    x: Any = node.inputs[0]
    return [x * 0.5]


@node_rewriter([planted.Double])
def narrowed(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    x: Any = node.inputs[0]
    return [lt.cast(x, "float32")]


@node_rewriter([planted.Double])
def shorter(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    x: Any = node.inputs[0]
    return [(x * 2.0)[1:]]


@node_rewriter([planted.Double])
def fails(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    x: Any = node.inputs[0]
    return [x * 2.0 + lt.zeros((x.shape[0],))[lt.constant([0, 1]) + x.shape[0]]]


@node_rewriter([planted.Double])
def spoils(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    return [planted.UndeclaredDestruction()(*node.inputs)]


@node_rewriter([planted.Double])
def in_place_where_it_may_not(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    return [planted.WorksInPlace()(*node.inputs)]


@node_rewriter([planted.Double])
def doubled(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
    x: Any = node.inputs[0]
    return [x + x]


@graph_rewriter
def in_place_everywhere(fgraph: FunctionGraph) -> FunctionGraph:
    """Overwrites the input, and forgets what the graph protects."""
    (x,) = fgraph.inputs
    return FunctionGraph(fgraph.inputs, [planted.WorksInPlace()(x)])


@graph_rewriter
def in_place_as_it_stands(fgraph: FunctionGraph) -> FunctionGraph:
    return fgraph.with_outputs([planted.WorksInPlace()(v.owner.inputs[0]) for v in fgraph.outputs if v.owner])


@graph_rewriter
def halves_everything(fgraph: FunctionGraph) -> FunctionGraph:
    outputs: Sequence[Any] = fgraph.outputs
    return fgraph.with_outputs([out * 0.5 for out in outputs])


@graph_rewriter
def of_another_type(fgraph: FunctionGraph) -> FunctionGraph:
    outputs: Sequence[Any] = fgraph.outputs
    return fgraph.with_outputs([lt.cast(out, "float32") for out in outputs])


def with_rewriter(rewriter: Any) -> DebugMode:
    database = SequenceDB("planted")
    database.register(
        rewriter.name, rewriter if hasattr(rewriter, "apply") else in2out(rewriter), "fast_run", position=1
    )
    return DebugMode(check_c_code=False, database=database)


PLANTED = [
    (
        halved,
        errors.BadOptimization,
        r"the rewriter halved replaced\n.*Double.*\nby\n.*\nwhose value is another one: element \[0\] is",
    ),
    (narrowed, errors.BadRewriteType, "narrowed replaced .* of type .*float64.* by .* of type .*float32"),
    (shorter, errors.BadOptimization, r"the shape is \(1,\), not \(2,\)"),
    (fails, errors.BadOptimization, "the rewriter fails replaced"),
    (in_place_everywhere, errors.BadInplaceRewrite, "in_place_everywhere made a graph that overwrites what must stay"),
    (in_place_as_it_stands, errors.BadInplaceRewrite, "in_place_as_it_stands made .* is a protected input"),
    (halves_everything, errors.BadOptimization, "the rewriter halves_everything replaced"),
    (of_another_type, errors.BadRewriteType, "of_another_type"),
]


@pytest.mark.parametrize(("rewriter", "error", "message"), PLANTED, ids=[case[0].name for case in PLANTED])
def test_a_wrong_rewrite_is_named(rewriter: Any, error: type[Exception], message: str) -> None:
    with np.errstate(all="ignore"), pytest.raises(error, match=message) as caught:
        run(planted.Double(), mode=with_rewriter(rewriter))
    assert type(caught.value) is error


def test_a_rewrite_that_has_an_op_spoil_the_input() -> None:
    with pytest.raises(errors.BadDestroyMap, match="UndeclaredDestruction changes its input 0"):
        run(planted.Double(), mode=with_rewriter(spoils))


def test_a_node_rewriter_that_would_spoil_the_input_is_refused() -> None:
    x = lt.dvector("x")
    f = lm.function([x], planted.Double()(x), mode=with_rewriter(in_place_where_it_may_not))
    given = np.ones(2)
    assert f(given).tolist() == [2, 2]
    assert given.tolist() == [1, 1]


def test_a_right_rewrite_passes() -> None:
    assert run(planted.Double(), mode=with_rewriter(doubled)).tolist() == [2, 4]


def test_a_user_s_rewrite_in_optdb_is_checked() -> None:
    optdb.register("planted_halved", in2out(halved), "fast_run", position=50.5)
    try:
        with pytest.raises(errors.BadOptimization, match="the rewriter halved replaced"):
            run(planted.Double())
    finally:
        optdb.unregister("planted_halved")
    assert run(planted.Double()).tolist() == [2, 4]


def test_rewriting_that_is_not_stable() -> None:
    numbers = itertools.count(3)

    @node_rewriter([planted.Double])
    def capricious(fgraph: FunctionGraph, node: Apply[Any]) -> list[Variable[Any]]:
        x: Any = node.inputs[0]
        return [x * float(next(numbers)) - x]

    with pytest.raises(errors.StochasticOrder, match=r"the replacement 0 was\n.*capricious"):
        run(planted.Double(), mode=with_rewriter(capricious))


def test_an_inconsistent_graph_is_the_user_s() -> None:
    x = lt.dvector("x")
    with pytest.raises(errors.InconsistencyError) as caught:
        lm.function([x], planted.WorksInPlace()(x), mode=IN_PYTHON)
    assert not isinstance(caught.value, errors.DebugModeError)


def test_rewrites_may_round_and_stabilise() -> None:
    x, y = lt.dvectors("x", "y")
    outputs = [
        lt.log(lt.sum(lt.exp(x))),
        lt.log(1.0 + lt.exp(x)),
        (x + y) - y,
        lt.sum(x * 1e17) + lt.sum(y),
        lt.log(lt.prod(x)),
        lm.grad(lt.sum(lt.softmax(x) ** 2), x),
        lm.grad(lt.sum(y * lt.log(lt.cosh(x))), x),  # 0 times infinity: a cotangent of 0 annihilates
    ]
    f = lm.function([x, y], outputs, mode=IN_PYTHON)
    with np.errstate(all="ignore"):
        for a, b in (([800.0, 1.0], [1e20, 1.0]), ([1e-200, 1e-200], [-1.0, 0.3]), ([np.nan, np.inf], [0.0, -0.0])):
            f(a, b)


def test_a_function_s_own_errors_stay_what_they_are() -> None:
    x, y = lt.dvectors("x", "y")
    f = lm.function([x, y], lt.exp(x) + y, mode=IN_PYTHON)
    with pytest.raises(ValueError, match="3") as caught:
        f(np.ones(2), np.ones(3))
    assert not isinstance(caught.value, errors.DebugModeError)
    log: list[str] = []
    failing = lm.function([x], Counted("fails", log, fails=True)(x), mode=IN_PYTHON)
    with pytest.raises(ZeroDivisionError):
        failing(np.ones(2))


def test_without_a_compiler_there_is_a_warning_and_no_check_of_c() -> None:
    x = lt.dvector("x")
    with lm.config.override(compiler="/nowhere/cc"):
        with pytest.warns(RuntimeWarning, match="DebugMode does not check C code"):
            f = lm.function([x], WrongInC()(x), mode="DebugMode")
        assert f([1.0]).tolist() == [2]


def test_updates_and_shared_values() -> None:
    x = lt.dvector("x")
    state = lm.shared(np.zeros(2))
    step = lm.function([lm.In(x, mutable=True)], state[::-1], updates={state: state + x}, mode="DebugMode")
    assert step(np.ones(2)).tolist() == [0, 0]
    assert step(np.ones(2)).tolist() == [1, 1]
    assert state.get_value().tolist() == [2, 2]


def test_debug_mode_is_a_mode() -> None:
    assert get_mode("DebugMode") == DebugMode()
    mode = DebugMode(check_isfinite=True)
    assert mode.excluding("fusion").check_isfinite
    assert pickle.loads(pickle.dumps(mode.including("nan_unsafe"))) == mode.including("nan_unsafe")
    with lm.config.override(mode="DebugMode"):
        x = lt.dvector("x")
        assert isinstance(lm.function([x], x + 1.0).mode, DebugMode)
    with pytest.raises(ValueError, match="stability_patience"):
        DebugMode(stability_patience=-1)
    with pytest.raises(ValueError, match="check_preallocated_output"):
        DebugMode(check_preallocated_output=("nothing",))  # type: ignore[arg-type]  # refused at run time too


@settings(max_examples=15)
@given(graphs(min_steps=3))
def test_nothing_is_wrong_with_random_graphs(graph: RandomGraph) -> None:
    inputs, values = list(graph.inputs), [np.array(value) for value in graph.inputs.values()]
    with np.errstate(all="ignore"):
        try:
            expected = lm.interpret(inputs, graph.outputs, [np.array(value) for value in values])
        except Exception as error:  # noqa: BLE001  # whatever it raises, so does the function
            with pytest.raises(type(error)) as caught:
                lm.function(inputs, list(graph.outputs), mode=IN_PYTHON, on_unused_input="ignore")(*values)
            assert not isinstance(caught.value, errors.DebugModeError)
            return
        found = lm.function(inputs, list(graph.outputs), mode=IN_PYTHON, on_unused_input="ignore")(*values)
    assert [(x.dtype, x.shape) for x in found] == [(x.dtype, x.shape) for x in expected]
