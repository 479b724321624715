"""Elements at an index, read, computed, reduced and added in one pass: dtypes, layouts, indices of all kinds, errors, threads."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import lower_to_c
from lamella.errors import BroadcastError
from lamella.ir import (
    Any as AnyOf,
)
from lamella.ir import (
    Apply,
    Composite,
    FunctionGraph,
    IndexedElemwise,
    Max,
    Prod,
    ScalarType,
    Sum,
    TensorType,
    Variable,
    interpret,
    ls,
)
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled, spread_values

Array = npt.NDArray[Any]

DTYPES = ("float64", "float32", "float16", "int64", "int32", "uint8", "bool", "complex128")


def _node(dtype: str, *, inplace: bool = False, is_costly: bool = False) -> tuple[list[Variable[Any]], Apply[Any]]:
    """One loop: two tables at two indices, a vector, a number; whole results, reductions, results added to two vectors."""
    a, b, c, d = [ScalarType(dtype)(name) for name in "abcd"]
    first_result = ls.add(ls.mul(a, d), c)
    for _ in range(6 if is_costly else 0):
        first_result = ls.minimum(ls.maximum(first_result, c), ls.mul(a, first_result))
    both = Composite([a, b, c, d], [first_result, ls.maximum(b, c) if is_costly else ls.add(b, c)])
    kinds: list[Any] = [Sum((0,)), AnyOf((0,)), *([] if dtype == "complex128" else [Max((0,)), Prod((0,))])]
    reductions = [kind.normal_form(dtype, 1) for kind in kinds]
    count = len(reductions)
    op = IndexedElemwise(
        both,
        (0, 1, None, None),
        (*[i % 2 for i in range(count)], 1, 0, 1, 0),
        (*reductions, None, None, None, None),
        (*[None] * count, None, 0, 1, None),
        ((count + 1, 6),) if inplace else (),
    )
    first, second, vector, to, other = [
        TensorType(dtype, (None,))(name) for name in ("first", "second", "vector", "to", "other")
    ]
    number = TensorType(dtype, (1,))("number")
    i, j = lt.lvector("i"), lt.lvector("j")
    # What an in-place node overwrites is its own.
    written = lt.specify_shape(to, (None,)) if not inplace else lt.switch(lt.eq(to, to), to, to)
    inputs: list[Variable[Any]] = [first, second, vector, number, i, j, to, other]
    return inputs, op.make_node(first, second, vector, number, i, j, written, other)


def _values(dtype: str, n: int, lengths: tuple[int, int], seed: int = 0) -> list[Array]:
    rng = np.random.default_rng(seed)

    def small(count: int) -> Array:
        values = spread_values(dtype, max(count, 1))[:count]
        if dtype in ("bool", "uint8"):
            return values
        # No product overflows: what infinity times 0 is, depends on the order of factors.
        return (np.sign(values) * np.minimum(np.abs(values), 1)).astype(dtype)

    first, second = lengths
    i, j = rng.integers(-first, first, n), rng.integers(0, second, n)
    return [small(first), small(second), small(n), small(1), i, j, small(first), small(second)]


def _check(run: Any, inputs: list[Variable[Any]], node: Apply[Any], values: list[Array], dtype: str) -> None:
    with np.errstate(all="ignore"):
        expected = interpret(inputs, node.outputs, values)
    tolerance = {"float16": 1e-2, "float32": 1e-5}.get(dtype, 1e-11)
    for k, (got, wanted) in enumerate(zip(run(values), expected, strict=True)):
        assert (got.dtype, got.shape) == (wanted.dtype, wanted.shape)
        if wanted.ndim:
            np.testing.assert_array_equal(got, wanted, err_msg=str(k))
        else:
            np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance * len(values[4]), err_msg=str(k))


@pytest.mark.parametrize(
    ("dtype", "is_costly"),
    [*[(dtype, False) for dtype in DTYPES], *[(dtype, True) for dtype in ("float64", "float32", "int64")]],
)
def test_all_uses_of_results(dtype: str, is_costly: bool) -> None:
    inputs, node = _node(dtype, inplace=dtype in ("float64", "uint8"), is_costly=is_costly)
    module = lower_to_c(schedule(FunctionGraph(inputs, node.outputs)))
    assert not module.program.needs_python
    assert ("LM_ONE_BY_ONE lm_int" in module.source) == (not is_costly and dtype not in ("float16", "complex128"))
    run = module.executable()
    for n in (1, 15, 16, 17, 300, 2300):
        values = _values(dtype, n, (7, 40))
        _check(run, inputs, node, values, dtype)
        apart = [np.repeat(v, 2)[::2] if k in (2, 4) else v[::-1] for k, v in enumerate(values)]
        _check(run, inputs, node, apart, dtype)
        # Where many are added to what was just added to.
        for arrays in (values, apart):
            _check(run, inputs, node, [np.sort(v) if k in (4, 5) else v for k, v in enumerate(arrays)], dtype)
    one = _values(dtype, 20, (1, 1))
    _check(run, inputs, node, one, dtype)


@pytest.mark.parametrize("is_costly", [False, True])
def test_tables_of_two_lengths_at_one_index(is_costly: bool) -> None:
    a, b = ScalarType("float64")("a"), ScalarType("float64")("b")
    first, second, index = lt.vector("first"), lt.vector("second"), lt.lvector("index")
    op = IndexedElemwise(
        Composite([a, b], [ls.mul(a, ls.exp(b) if is_costly else b)]), (0, 0), (0, 0), (None, None), (None, 0)
    )
    inputs = [first, second, index]
    node = op.make_node(first, second, index, second)
    module = lower_to_c(schedule(FunctionGraph(inputs, node.outputs)))
    assert ("LM_ONE_BY_ONE lm_int" in module.source) != is_costly
    run = module.executable()
    rng = np.random.default_rng(3)
    for x, y in [(np.arange(5.0), np.arange(9.0)), (np.arange(9.0), np.arange(5.0))]:
        for lowest, highest, n in [(0, 5, 1), (0, 5, 3000), (-5, 5, 70), (-5, 5, 3000), (-5, 0, 300)]:
            places = rng.integers(lowest, highest, n)
            for got, wanted in zip(run([x, y, places]), interpret(inputs, node.outputs, [x, y, places]), strict=True):
                np.testing.assert_allclose(got, wanted, rtol=1e-13)
            for wrong in (5, -6):
                with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 5"):
                    run([x, y, np.append(places, wrong)])


@pytest.mark.parametrize("is_costly", [False, True])
@pytest.mark.parametrize(
    "places", [np.arange(600) % 5, np.sort(np.arange(77) % 5), np.array([4, 4]), -1 - np.arange(7) % 5]
)
def test_a_constant_index_is_compared_with_lengths_once(places: Array, is_costly: bool) -> None:
    first, second, to = lt.vector("first"), lt.vector("second"), lt.vector("to")
    a, b = ScalarType("float64")("a"), ScalarType("float64")("b")
    op = IndexedElemwise(
        Composite([a, b], [ls.mul(a, ls.exp(b) if is_costly else b)]), (0, 0), (0, 0), (None, None), (None, 0)
    )
    inputs = [first, second, to]
    node = op.make_node(first, second, lt.constant(places), to)
    module = lower_to_c(schedule(FunctionGraph(inputs, node.outputs)))
    assert ("has_ended = 1" in module.source) == (min(places) < 0)
    run = module.executable()
    for lengths in [(5, 5, 5), (9, 5, 7)]:
        values = [np.linspace(0.0, 1.0, length) for length in lengths]
        for got, wanted in zip(run(values), interpret(inputs, node.outputs, values), strict=True):
            np.testing.assert_allclose(got, wanted, rtol=1e-13)
    for short in range(3):
        values = [np.linspace(0.0, 1.0, 4 if k == short else 5) for k in range(3)]
        with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 4"):
            run(values)
        assert values[2].sum() == values[2].size / 2


def test_no_elements() -> None:
    total = Sum((0,)).normal_form("float64", 1)
    op = IndexedElemwise(ls.square, (0,), (0, 0, 0), (total, None, None), (None, 0, None))
    table, index, to = lt.vector("table"), lt.lvector("index"), lt.vector("to")
    node = op.make_node(table, index, to)
    run = compiled([table, index, to], node.outputs)
    none = np.zeros(0, "int64")
    for x in (np.ones(3), np.ones(0)):
        got = run([x, none, x])
        np.testing.assert_array_equal(got[0], 0.0)
        np.testing.assert_array_equal(got[1], x)
        assert got[2].shape == (0,)
    greatest = IndexedElemwise(ls.square, (0,), (0,), (Max((0,)).normal_form("float64", 1),), (None,))
    with pytest.raises(ValueError, match="no identity"):
        compiled([table, index], greatest.make_node(table, index).outputs)([np.ones(3), none])


@pytest.mark.parametrize("is_mutable", [False, True])
def test_an_index_out_of_bounds_is_an_error_before_anything_is_written(is_mutable: bool) -> None:
    table, v, index, to = lt.vector("table"), lt.vector("v"), lt.lvector("index"), lt.vector("to")
    f = lm.function([table, v, index, lm.In(to, mutable=is_mutable)], lt.inc_subtensor(to[index], table[index] + v))
    (op,) = [node.op for node in f.fgraph.order if isinstance(node.op, IndexedElemwise)]
    assert bool(op.inplace_pattern) == is_mutable
    for n, wrong in [(3, 5), (3, -6), (5000, 5), (5000, -(2**63)), (5000, 2**63 - 1)]:
        places = np.arange(n) % 5
        places[-1] = wrong
        base = np.arange(5.0)
        with pytest.raises(IndexError, match=f"index {wrong} is out of bounds for axis 0 with size 5"):
            f(np.ones(5), np.ones(n), places, base)
        np.testing.assert_array_equal(base, np.arange(5.0))
    short = np.arange(4.0)
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        f(np.ones(5), np.ones(5), np.arange(5), short)
    np.testing.assert_array_equal(short, np.arange(4.0))


def test_lengths_that_do_not_fit() -> None:
    table, v, index = lt.vector("table"), lt.vector("v"), lt.lvector("index")
    op = IndexedElemwise(ls.add, (0, None), (0,), (None,), (None,))
    run = compiled([table, v, index], op.make_node(table, v, index).outputs)
    for n in (1, 3):
        with pytest.raises(BroadcastError):
            run([np.ones(4), np.ones(n), np.array([0, 1])])


def test_a_table_that_is_added_to_is_read_as_it_was() -> None:
    table, index = lt.vector("table"), lt.lvector("index")
    op = IndexedElemwise(ls.exp, (0,), (0, 0), (None, None), (0, 0))
    outputs = op.make_node(table, index, table, table).outputs
    x, i = np.linspace(0.0, 1.0, 50), np.arange(200) % 50
    for got in compiled([table, index], outputs)([x, i]):
        expected = x.copy()
        np.add.at(expected, i, np.exp(x[i]))
        np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_long_loops_are_shared_by_threads_and_give_the_same_bits() -> None:
    x, i = lt.vector("x"), lt.lvector("i")
    taken = lt.exp(x[i])
    f = lm.function([x, i], [lt.sum(taken), lt.max(taken), taken])
    assert [type(node.op) for node in f.fgraph.order] == [IndexedElemwise]
    values = [np.random.default_rng(0).normal(size=1000), np.random.default_rng(1).integers(-1000, 1000, 300_001)]
    results = []
    for threads in (1, 2):
        with lm.config.override(threads=threads):
            g = lm.function([x, i], [lt.sum(taken), lt.max(taken), taken])
        results.append([np.asarray(out) for out in g(*values)])
    for one, two in zip(*results, strict=True):
        np.testing.assert_array_equal(one, two)
    np.testing.assert_allclose(results[0][0], np.exp(values[0][values[1]]).sum(), rtol=1e-13)


def test_a_long_sum_loses_no_digits() -> None:
    x, i = lt.fvector("x"), lt.lvector("i")
    op = IndexedElemwise(ls.square, (0,), (0, 0), (Sum((0,)).normal_form("float32", 1), None), (None, 0))
    run = compiled([x, i], op.make_node(x, i, x).outputs)
    values = [np.full(3, np.sqrt(0.1), "float32"), np.arange(1_000_000) % 3]
    total, added = run(values)
    squared = np.square(values[0])
    np.testing.assert_allclose(total, 1e6 * float(squared[0]), rtol=1e-7)
    expected = values[0].copy()
    np.add.at(expected, values[1], squared[values[1]])
    np.testing.assert_array_equal(added, expected)
