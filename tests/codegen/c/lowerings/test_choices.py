"""A function with choices is one C function, which runs on demand: what it computes, what it forgets, what it keeps."""

import gc
import tracemalloc

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import lower_to_c, only_choices_are_lazy, write_program
from lamella.ir import FunctionGraph, generic, ifelse
from lamella.typing_layer import schedule
from tests.ir.control.counted import Counted

c, d, x = lt.scalar("c", dtype="bool"), lt.scalar("d", dtype="bool"), lt.dvector("x")


def test_the_text_names_what_is_run_by() -> None:
    text = write_program(schedule(FunctionGraph([c, x], [ifelse(c, lt.exp(x), lt.log(x))]))).text
    assert "static const lm_demand demand" in text
    assert "static const int choices[] = {0, 0, 1};" in text
    without = write_program(schedule(FunctionGraph([x], [lt.exp(x)]))).text
    assert "lm_demand demand" not in without


def test_choices_between_other_values_are_not_compiled_so() -> None:
    a, b = generic("a"), generic("b")
    assert not only_choices_are_lazy(schedule(FunctionGraph([c, a, b], [ifelse(c, a, b)])))
    assert only_choices_are_lazy(schedule(FunctionGraph([c, x], [ifelse(c, x, -x)])))


@pytest.mark.parametrize("shape", [(3,), (0,), (1,)])
def test_results_lie_where_they_should(shape: tuple[int, ...]) -> None:
    y = lt.dvector("y")
    chosen = ifelse(c, ifelse(d, x, y * 2), lt.exp(x)[::-1])
    run = lower_to_c(schedule(FunctionGraph([c, d, x, y], [chosen, chosen[:1], x]))).executable()
    a, b = np.arange(np.prod(shape)), np.ones(shape)
    for first in (True, False):
        for second in (True, False):
            found = run([np.array(first), np.array(second), a.astype(float), b])
            wanted = (a if second else b * 2) if first else np.exp(a)[::-1]
            np.testing.assert_allclose(found[0], wanted)
            np.testing.assert_allclose(found[1], wanted[:1])


def test_a_step_that_fails_leaves_the_function_usable() -> None:
    f = lm.function([c, x], [ifelse(c, lt.exp(x)[7], lt.sum(lt.log(x)))])
    for _ in range(3):
        with pytest.raises(IndexError):
            f(True, [1.0])
        assert f(False, [1.0]) == [0.0]


def test_nothing_is_left_behind() -> None:
    f = lm.function([c, d, x], ifelse(c, lt.exp(x) + ifelse(d, lt.sin(x), x * 3), lt.sort(x)), mode="FAST_RUN")
    value = np.ones(20_000)
    for i in range(20):
        f(i % 2 == 0, i % 3 == 0, value)
    gc.collect()
    tracemalloc.start()
    for i in range(200):
        f(i % 2 == 0, i % 3 == 0, value)
    gc.collect()
    left, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert left < 100_000


def test_what_only_one_branch_overwrites_is_right_for_the_other() -> None:
    log: list[str] = []
    t = lt.exp(x)
    written = lt.set_subtensor(t[0], 9.0)
    f = lm.function([c, x], [written, ifelse(c, Counted("read", log)(t), x)])
    assert any(node.op.destroy_map for node in f.fgraph.order)
    np.testing.assert_allclose(f(False, [0.0, 0.0]), [[9.0, 1.0], [0.0, 0.0]])
    assert log == []
    np.testing.assert_allclose(f(True, [0.0, 0.0]), [[9.0, 1.0], [1.0, 1.0]])
    assert log == ["read"]
