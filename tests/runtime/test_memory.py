"""Bytes of a call: what in-place rewriting and buffers that serve again save."""

import numpy as np
import pytest
from benchmarks.memory import MODELS, compiled, modes
from benchmarks.workloads import Workload

import lamella as lm
import lamella.tensor as lt
from lamella.ir import (
    AccumulatedProduct,
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    Elemwise,
    IncSubtensor,
    IndexedElemwise,
    ReducedElemwise,
)
from lamella.rewriting.rules.inplace import InplaceElementwise
from lamella.rewriting.rules.inplace_blas import InplaceBlas
from lamella.rewriting.rules.inplace_subtensor import InplaceIncSubtensor
from lamella.runtime import FAST_RUN, Function

x, y = lt.vector("x"), lt.vector("y")
MODES = modes()


def test_a_buffer_serves_again() -> None:
    plain = lm.function([x], lt.exp(lt.sin(lt.cos(x))), mode=MODES["neither"])
    use = lm.memory_use(plain, np.zeros(1000))
    assert (use.computed, use.requested, use.allocated, use.returned) == (24_000, 24_000, 24_000, 8_000)
    longer = lm.function([x], lt.exp(lt.sin(lt.cos(lt.sin(lt.cos(x))))), mode=MODES["neither"])
    assert lm.memory_use(longer, np.zeros(1000)).allocated == 24_000
    assert "24000 bytes allocated (8000 of them returned)" in str(use)


def test_views_and_what_is_overwritten_cost_nothing() -> None:
    fused = lm.function([x], lt.exp(lt.sin(x)[::-1] * 2.0))
    use = lm.memory_use(fused, np.zeros(1000))
    assert use.allocated < use.computed


def test_what_is_returned_is_written_to_memory_of_its_own_at_once() -> None:
    f = lm.function([lm.In(x, mutable=True)], lt.exp(x))
    assert [str(node.op) for node in f.scheduled.order] == ["Exp"]
    assert lm.memory_use(f, np.zeros(1000)).allocated == 8000


def test_nothing_is_updated_and_nothing_overwritten() -> None:
    state = lm.shared(np.ones(10))
    f = lm.function([lm.In(x, mutable=True)], lt.exp(x) * state, updates={state: state + 1})
    given = np.zeros(10)
    lm.memory_use(f, given)
    np.testing.assert_array_equal(given, 0)
    np.testing.assert_array_equal(state.get_value(), 1)
    with pytest.raises(TypeError, match="1 values are expected"):
        lm.memory_use(f)


def _compiled(model: Workload, mode: lm.Mode) -> Function:
    return compiled(model, lm.Mode(lm.PerformLinker(), mode.query))


@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_no_buffer_is_allocated_that_the_analysis_could_have_reused(model: Workload) -> None:
    """Rewriting in place once more finds nothing: every further proposal is refused by the analysis."""
    function = _compiled(model, FAST_RUN)
    for rewriter in (InplaceIncSubtensor(), InplaceBlas(), InplaceElementwise()):
        assert rewriter.rewrite(function.fgraph).outputs == function.fgraph.outputs
    kinds = (
        Elemwise
        | ReducedElemwise
        | IndexedElemwise
        | IncSubtensor
        | AdvancedIncSubtensor
        | AdvancedIncSubtensor1
        | AccumulatedProduct
    )
    assert any(isinstance(node.op, kinds) for node in function.scheduled.order)


@pytest.mark.parametrize("model", MODELS, ids=[model.name for model in MODELS])
def test_bytes_before_and_after(model: Workload) -> None:
    values = model.inputs(np.random.default_rng(0))
    uses = {name: lm.memory_use(_compiled(model, mode), *values) for name, mode in MODES.items()}
    print(model.name, {name: (use.requested, use.allocated) for name, use in uses.items()})
    assert uses["fusion, in-place"].requested <= uses["fusion"].requested <= uses["neither"].requested
    assert uses["fusion, in-place"].allocated <= uses["fusion"].allocated <= uses["neither"].allocated
