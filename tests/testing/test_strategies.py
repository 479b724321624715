"""The strategies generate what they promise, and graphs in which faults are seen."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, Phase, assume, find, given, settings
from hypothesis import strategies as st
from hypothesis.errors import NoSuchExample

from lamella.ir import TensorType, TensorVariable, interpret, lt, toposort
from lamella.testing import compare_backends
from lamella.testing.strategies import (
    DEFAULT_STEPS,
    Pool,
    RandomGraph,
    Step,
    array_shapes,
    arrays,
    dtypes,
    elements,
    graphs,
    in_any_layout,
    in_larger_memory,
    static_shapes,
    tensor_types,
    values_of,
    variables,
    views_of,
)
from tests.testing import own_ops as ops
from tests.testing.wrong_linkers import Spoil, SpoilingLinker

Array = npt.NDArray[Any]

QUICK = settings(max_examples=50, suppress_health_check=list(HealthCheck))
SEARCH = settings(max_examples=2000, phases=[Phase.generate], database=None, suppress_health_check=list(HealthCheck))


@given(tensor_types().flatmap(lambda kind: st.tuples(st.just(kind), values_of(kind))))
def test_values_are_of_their_type(drawn: tuple[TensorType, Array]) -> None:
    kind, value = drawn
    assert kind.filter(value, strict=True) is value


@given(st.data())
def test_static_shapes_are_those_of_the_shape(data: st.DataObject) -> None:
    shape = data.draw(array_shapes())
    static = data.draw(static_shapes(shape))
    assert TensorType("int8", static).is_valid_value(np.zeros(shape, "int8"))
    assert all(known == 1 for length, known in zip(shape, static, strict=True) if length == 1)
    assert isinstance(data.draw(variables("f")), TensorVariable)


@given(dtypes().flatmap(lambda dtype: st.tuples(st.just(dtype), elements(dtype))))
def test_elements_are_numbers_of_the_dtype(drawn: tuple[str, Any]) -> None:
    dtype, element = drawn
    with np.errstate(all="ignore"):
        np.array(element).astype(dtype)
    if np.dtype(dtype).kind in "iu":
        assert int(np.array(element, dtype)) == element


@pytest.mark.parametrize(
    "wanted",
    [
        lambda x: x.ndim == 0,
        lambda x: x.size == 0,
        lambda x: x.ndim > 1 and min(x.strides) < 0 and x.size > 2,
        lambda x: not x.flags.aligned,
        lambda x: not x.flags.writeable,
        lambda x: x.ndim > 1 and x.flags.f_contiguous and not x.flags.c_contiguous,
        lambda x: x.size > 1 and not x.flags.forc,
        lambda x: x.ndim > 1 and 0 in x.strides and x.shape[x.strides.index(0)] > 1 and max(x.strides) > 0,
        lambda x: x.ndim > 1 and min(x.strides) < 0 < max(x.strides) and not x.flags.aligned and x.size > 2,
        lambda x: x.dtype.kind == "f" and bool(np.isnan(x).any()),
        lambda x: x.dtype.kind == "f" and bool(np.isinf(x).any()),
        lambda x: x.dtype.kind == "f" and bool(np.any((x == 0) & np.signbit(x))),
        lambda x: x.dtype == "uint64" and bool(np.any(x == 2**64 - 1)),
        lambda x: x.dtype == "complex64",
    ],
)
def test_arrays_of_all_kinds_are_generated(wanted: Any) -> None:
    find(arrays(), wanted, settings=SEARCH)


@QUICK
@given(st.data())
def test_an_array_in_larger_memory_has_the_same_values(data: st.DataObject) -> None:
    array = data.draw(arrays(layouts=False))
    found = data.draw(in_larger_memory(array))
    assert (found.dtype, found.shape) == (array.dtype, array.shape)
    assert found.tobytes() == array.tobytes()
    written = data.draw(in_larger_memory(array, writeable=True))
    written[...] = array  # it may be written to, each element by itself
    assert written.tobytes() == array.tobytes()


@QUICK
@given(st.data())
def test_views_share_memory_and_are_read_only(data: st.DataObject) -> None:
    array = data.draw(arrays())
    view = data.draw(views_of(array))
    assert not view.flags.writeable
    assert view.dtype == array.dtype
    assert not view.size or np.shares_memory(view, array)
    assert set(view.ravel().astype("S").tolist()) <= set(array.ravel().astype("S").tolist())


def test_inputs_of_graphs_may_share_memory() -> None:
    def shares(graph: RandomGraph) -> bool:
        values = list(graph.inputs.values())
        return any(np.shares_memory(a, b) and a.shape != b.shape for i, a in enumerate(values) for b in values[:i])

    find(graphs(), shares, settings=SEARCH)


def test_layouts_may_be_writeable_or_not() -> None:
    find(in_any_layout(np.ones(3)), lambda x: not x.flags.writeable, settings=SEARCH)
    with pytest.raises(NoSuchExample):
        find(in_any_layout(np.ones(3), writeable=True), lambda x: not x.flags.writeable, settings=SEARCH)


@QUICK
@given(graphs())
def test_graphs_can_be_run_on_their_values(graph: RandomGraph) -> None:
    fgraph = graph.fgraph
    for variable, value in graph.inputs.items():
        assert variable.type.is_valid_value(value)
    with np.errstate(all="ignore"):
        results = interpret(fgraph.inputs, fgraph.outputs, list(graph.inputs.values()))
    for out, result in zip(fgraph.outputs, results, strict=True):
        assert out.type.is_valid_value(result)
    assert repr(graph).startswith("graph(")


@pytest.mark.parametrize("step", dict.fromkeys(DEFAULT_STEPS), ids=lambda step: step.__name__)
def test_every_step_makes_nodes(step: Step) -> None:
    made: list[TensorVariable] = []

    def watched(pool: Pool) -> Sequence[TensorVariable]:
        found = step(pool)
        made.extend([v for v in found if v.owner is not None])
        return found

    def some_floats(pool: Pool) -> Sequence[TensorVariable]:
        return [lt.exp(pool.pick("f"))]

    find(graphs(steps=[watched, some_floats], min_steps=2, max_steps=4), lambda g: bool(made), settings=SEARCH)
    assert made


@pytest.mark.parametrize(
    "wanted",
    [
        lambda g: len(g.outputs) > 2 and len(set(g.outputs)) > 2,
        lambda g: any(v.owner is None for v in g.outputs) and len(toposort(g.outputs)) > 1,
        lambda g: any(len(g.fgraph.get_clients(v)) > 2 for n in toposort(g.outputs) for v in n.outputs),
        lambda g: len({v.dtype for v in g.inputs}) > 2,
        lambda g: len(toposort(g.outputs)) > 20,
    ],
)
def test_graphs_of_all_kinds_are_generated(wanted: Any) -> None:
    find(graphs(), wanted, settings=SEARCH)


@pytest.mark.parametrize("name", ["_diagonal", "_product"])
def test_no_step_fills_the_memory(name: str) -> None:
    (step,) = {step for step in DEFAULT_STEPS if step.__name__ == name}

    @settings(QUICK, max_examples=20)
    @given(graphs(steps=[step], min_steps=3, max_steps=3, sides=(60_000, 1), max_size=70_000))
    def are_small(graph: RandomGraph) -> None:
        with np.errstate(all="ignore"):
            results = interpret(list(graph.inputs), graph.outputs, list(graph.inputs.values()))
        assert max([np.asarray(x).size for x in results]) < 10_000_000

    are_small()


def test_own_steps_may_be_added() -> None:
    def scale(pool: Pool) -> Sequence[TensorVariable]:
        return [ops.Scale()(pool.pick("f"))]

    find(graphs(steps=[*DEFAULT_STEPS, scale]), _has(ops.Scale), settings=SEARCH)


def _has(op_class: type) -> Any:
    return lambda graph: any(isinstance(node.op, op_class) for node in toposort(graph.outputs))


def _changed(x: Any, change: Any) -> Any:
    if isinstance(x, np.ndarray) and x.dtype.kind == "f" and x.size:
        with np.errstate(all="ignore"):
            return np.asarray(change(x)).astype(x.dtype)
    return x


@pytest.mark.parametrize(
    "spoil",
    [
        lambda values, results: [_changed(x, lambda a: a * (1 + 1e-3)) for x in results],
        lambda values, results: [_changed(x, lambda a: a + 0.0) for x in results],
        lambda values, results: [_changed(x, lambda a: np.where(np.isnan(a), 0, a)) for x in results],
        lambda values, results: [x.astype("float64") if x.dtype == "float32" else x for x in results],
        lambda values, results: [x[:1] if x.ndim and len(x) > 1 else x for x in results],
    ],
    ids=["inexact", "without negative zeros", "without NaN", "of another dtype", "cut off"],
)
def test_random_graphs_show_faults_of_backends(spoil: Spoil) -> None:
    backend = SpoilingLinker(spoil)

    def fails(graph: RandomGraph) -> bool:
        try:
            compare_backends(graph.fgraph, list(graph.inputs.values()), [backend])
        except AssertionError:
            return True
        return False

    find(graphs(), fails, settings=settings(SEARCH, max_examples=300))


@QUICK
@given(graphs(special=False, max_steps=4))
def test_graphs_without_special_values(graph: RandomGraph) -> None:
    floats = [x for x in graph.inputs.values() if x.dtype.kind == "f"]
    assume(floats)
    assert all(np.isfinite(x).all() and (np.abs(x) <= 4).all() for x in floats)


def _towers(pool: Pool) -> Sequence[TensorVariable]:
    return [lt.exp(lt.exp(pool.pick("f")))]


def _sines(pool: Pool) -> Sequence[TensorVariable]:
    angle = pool.pick_phase()
    return [] if angle is None else [lt.sin(angle)]


@QUICK
@given(graphs(steps=[_towers, _sines], min_steps=4))
def test_angles_that_were_computed_are_not_huge(graph: RandomGraph) -> None:
    sines = [node for node in toposort(graph.outputs) if str(node.op) == "Sin"]
    computed = [node.inputs[0] for node in sines if node.inputs[0].owner is not None]
    with np.errstate(all="ignore"):
        angles = interpret(list(graph.inputs), computed, [np.array(x) for x in graph.inputs.values()])
    for x in angles:
        assert np.all(np.abs(x[np.isfinite(x)].astype("float64")) < 1e14)


def test_an_input_may_be_a_huge_angle() -> None:
    def has_huge_angle(graph: RandomGraph) -> bool:
        angles = [v for node in toposort(graph.outputs) for v in node.inputs if str(node.op) == "Sin"]
        values = [x for v, x in graph.inputs.items() if v in angles and x.dtype == "float64"]
        return any(bool(np.any(np.abs(x[np.isfinite(x)]) > 1e30)) for x in values)

    find(graphs(steps=[_sines]), has_huge_angle, settings=SEARCH)
