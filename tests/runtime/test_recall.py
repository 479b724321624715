"""Functions that are taken from the cache as a whole: the same functions, made without rewriting."""

from __future__ import annotations

import copy
import os
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from typing_extensions import override

import lamella as lm
import lamella.tensor as lt
from lamella.codegen import write_program
from lamella.errors import BroadcastError
from lamella.tensor import TensorVariable
from lamella.testing.strategies import RandomGraph, graphs

MODEL = """
import sys
import numpy as np
import lamella as lm, lamella.tensor as lt

x, y = lt.dmatrix("x"), lt.dvector("y")
w = lm.shared(np.linspace(-1.0, 1.0, 3), "w")
cost = lt.sum(lt.softplus(x @ w) - y * (x @ w))
f = lm.function([x, y], [cost, lm.grad(cost, w)], updates={w: w - 0.1 * lm.grad(cost, w)})
"""
REPORT = """
rng = np.random.default_rng(0)
results = [[r.tobytes().hex() for r in f(rng.normal(size=(5, 3)), np.ones(5))] for _ in range(3)]
print(f.compile_profile.recalled, "lamella.rewriting" in sys.modules, results)
"""


@pytest.fixture(autouse=True)
def cache(tmp_path: Path) -> Iterator[Path]:
    """Let functions be recalled, and give each test a cache that knows no function; it shares the compiled host with all others."""
    shared = lm.config.cache_dir / "c"
    own = tmp_path / "c"
    own.mkdir(mode=0o700)
    lm.function([], lt.constant(1.0) * 1.0)()
    for entry in shared.glob("*.so"):
        os.link(entry, own / entry.name)
    with lm.config.override(cache_dir=tmp_path, recall=True):
        yield tmp_path


def output_of(code: str, cache: Path, flags: str = "recall=true", **environment: str) -> str:
    told = dict(os.environ, LAMELLA_FLAGS=f"cache_dir={cache},{flags}", **environment)
    done = subprocess.run([sys.executable, "-c", code], env=told, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def is_recalled(function: lm.Function) -> bool:
    profile = function.compile_profile
    assert profile is not None
    return profile.recalled


def compiled_twice(make: Callable[[], lm.Function]) -> tuple[lm.Function, lm.Function]:
    first, second = make(), make()
    assert not is_recalled(first)
    assert is_recalled(second)
    return first, second


def test_another_process_takes_it_from_the_cache_without_rewriting(cache: Path) -> None:
    first, second = output_of(MODEL + REPORT, cache), output_of("\n\n" + MODEL + REPORT, cache)
    assert first.startswith("False True [")
    assert second.startswith("True False [")
    assert first.partition("[")[2] == second.partition("[")[2]


def test_the_flag_says_whether_they_are(cache: Path) -> None:
    assert output_of(MODEL + REPORT, cache).startswith("False")
    assert output_of(MODEL + REPORT, cache, "recall=false").startswith("False")
    assert output_of(MODEL + REPORT, cache).startswith("True")


def test_hashes_of_strings_have_no_part_in_it(cache: Path) -> None:
    for seed, expected in (("1", "False"), ("2", "True"), ("3", "True")):
        assert output_of(MODEL + REPORT, cache, PYTHONHASHSEED=seed).startswith(expected)


def test_it_has_the_same_graph_log_and_text() -> None:
    x = lt.dvector("x")
    first, second = compiled_twice(lambda: lm.function([x], [lt.exp(x) * 2.0, lt.sum(lt.log(lt.exp(x[1:])))]))
    assert second.fgraph.outputs == first.fgraph.outputs
    assert second.scheduled.order == first.scheduled.order
    assert second.original_fgraph.outputs == first.original_fgraph.outputs
    assert str(second.rewrite_log) == str(first.rewrite_log)
    assert str(lm.explain(second)) == str(lm.explain(first))
    assert second.mode is first.mode
    assert repr(second) == repr(first)
    told = second.compile_profile
    assert told is not None
    assert told.nodes_after == len(first.fgraph.order)
    assert "taken from the cache" in str(told)


def test_names_and_lines_have_no_part_in_it_and_errors_tell_those_of_the_new_one() -> None:
    def make(name: str) -> lm.Function:
        a, b = lt.dvector(name), lt.dvector("b")
        return lm.function([a, b], lt.exp(a) * b + 1.0)

    first, second = make("first"), make("second")
    assert is_recalled(second)
    told = []
    for function in (first, second):
        with pytest.raises(BroadcastError) as caught:
            function(np.ones(2), np.ones(3))
        told.append("\n".join([str(caught.value), *caught.value.__notes__]))
    assert told[0].replace("first", "second") == told[1]
    assert "second" in told[1]
    assert "test_recall.py" in told[1]
    np.testing.assert_array_equal(second(second=np.zeros(2), b=np.ones(2)), 2.0)


X, Y, M = lt.dvector("x"), lt.dvector("y"), lt.dmatrix("m")
BIG = np.arange(12.0).reshape(3, 4)


def plus(variable: TensorVariable, value: Any) -> lm.Function:
    return lm.function([variable], variable + value)


def squared(dtype: str, length: int | None) -> lm.Function:
    v = lt.tensor("v", dtype=dtype, shape=(length,))
    return lm.function([v], v * v)


def updated(first: bool) -> lm.Function:
    a, b = lm.shared([1.0, 2.0]), lm.shared([3.0, 4.0])
    total = a + 2.0 * b
    return lm.function([], total, updates={a: total} if first else {b: total})


VARIANTS: dict[str, list[Callable[[], lm.Function]]] = {
    "constants": [partial(plus, X, c) for c in (0.0, -0.0, 1.0, np.nan)],
    "arrays": [partial(plus, M, a) for a in (BIG, BIG + 1, BIG.astype("f4"), BIG[:1])],
    "dtypes and lengths": [partial(squared, *v) for v in (("float32", None), ("float64", None), ("float64", 3), ("float64", 1))],
    "order of inputs": [partial(lm.function, *v) for v in (([X, Y], X - Y), ([Y, X], X - Y), ([X, Y], Y / X))],
    "order of outputs": [partial(lm.function, [X], v) for v in ([X * 2.0, X * 3.0], [X * 3.0, X * 2.0])],
    "mutable": [partial(lm.function, [lm.In(X, mutable=m)], lt.exp(X) + X) for m in (False, True)],
    "borrowed": [partial(lm.function, [X], lm.Out(X[::-1], borrow=b)) for b in (False, True)],
    "axes": [partial(lm.function, [M], lt.sum(M, axis=a)) for a in (0, 1, None)],
    "updates": [partial(updated, first) for first in (True, False)],
    "what is shared": [partial(lm.function, [X], X + lm.shared(v)) for v in (BIG[0], BIG)],
}  # fmt: skip


@pytest.mark.parametrize("kind", VARIANTS)
def test_functions_that_differ_are_told_apart(kind: str) -> None:
    """Each is compiled first, then recalled; none is taken for another."""
    made = [make() for make in VARIANTS[kind]]
    assert not any(is_recalled(function) for function in made)
    for function, make in zip(made, VARIANTS[kind], strict=True):
        again = make()
        assert is_recalled(again)
        values = [np.arange(1, 13).reshape(3, 4)[(0,) * (2 - s.variable.type.ndim)] for s in function.inputs]
        values = [
            v[: s.variable.type.shape[0]].astype(s.variable.type.dtype)
            for v, s in zip(values, function.inputs, strict=True)
        ]
        for _ in range(2):  # the second time shared variables have changed
            expected, found = (f(*[v.copy() for v in values]) for f in (function, again))
            assert np.asarray(found).tobytes() == np.asarray(expected).tobytes()
            assert np.asarray(found).dtype == np.asarray(expected).dtype


def test_flags_that_change_compiled_code_are_told_apart() -> None:
    def make() -> lm.Function:
        return lm.function([X], lt.exp(X) * 2.0 + lt.sum(X))

    first, second = compiled_twice(make)
    with lm.config.override(excluded_rewrites="fusion"):
        unfused, again = compiled_twice(make)
    assert len(unfused.fgraph.order) > len(first.fgraph.order)
    # The graph is asked for where the flag is not set any more.
    assert again.fgraph.outputs == unfused.fgraph.outputs
    assert second.fgraph.outputs == first.fgraph.outputs
    with lm.config.override(compiler_flags="-O1"):
        assert not is_recalled(make())


def test_values_of_shared_variables_are_each_functions_own() -> None:
    def make(value: float) -> tuple[Any, lm.Function]:
        state = lm.shared(value, name="state")
        return state, lm.function([], state * 2.0, updates={state: state + 1.0})

    a, f = make(1.0)
    b, g = make(10.0)
    assert is_recalled(g)
    assert [float(f()), float(g()), float(f()), float(g())] == [2.0, 20.0, 4.0, 22.0]
    assert [float(a.get_value()), float(b.get_value())] == [3.0, 12.0]


def test_constants_stay_what_they_are() -> None:
    kept = lt.constant(np.arange(3.0))
    _, second = compiled_twice(lambda: lm.function([], lm.Out(kept[::-1], borrow=True)))
    result = second()
    assert not result.flags.writeable
    np.testing.assert_array_equal(result, [2.0, 1.0, 0.0])


def test_it_is_pickled_copied_and_exported_like_any_other(tmp_path: Path) -> None:
    state = lm.shared(np.ones(2), name="state")
    first, second = compiled_twice(lambda: lm.function([X], X * state, updates={state: state + X}, name="step"))
    restored = pickle.loads(pickle.dumps(second))
    deep = copy.deepcopy(second)
    shallow = second.copy()
    for function, expected in ((restored, 2.0), (deep, 2.0), (second, 2.0), (shallow, 6.0), (first, 10.0)):
        np.testing.assert_array_equal(function(np.full(2, 2.0)), expected)
    assert deep.fgraph.outputs == second.fgraph.outputs
    texts = [[path.read_text() for path in f.export_c(tmp_path / name)] for f, name in ((first, "a"), (second, "b"))]
    assert [t.partition("\n")[2] for t in texts[0]] == [t.partition("\n")[2] for t in texts[1]]


def test_eight_threads_make_one_function(cache: Path) -> None:
    code = f"""
import threading
{MODEL}
made = []
def make():
    made.append(lm.function([x, y], lt.sum(lt.exp(x @ w) * y)))
threads = [threading.Thread(target=make) for _ in range(8)]
[t.start() for t in threads], [t.join() for t in threads]
assert len({{float(g(np.ones((2, 3)), np.ones(2))) for g in made}}) == 1
assert len({{g.fgraph.outputs for g in made}}) == 1
print(sum(g.compile_profile.recalled for g in made))
"""
    assert int(output_of(code, cache)) in range(8)
    assert output_of(code, cache) == "8\n"


class Halve(lm.Op[[TensorVariable], TensorVariable]):
    def make_node(self, x: TensorVariable) -> lm.Apply[TensorVariable]:
        return lm.Apply(self, [x], [x.type()])

    @override
    def perform(self, node: lm.Apply[TensorVariable], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        output_storage[0][0] = inputs[0] / 2


def test_ops_of_others_other_modes_and_profiles_are_compiled_anew() -> None:
    makers: list[Callable[[], lm.Function]] = [
        lambda: lm.function([X], Halve()(X) + 1.0),
        lambda: lm.function([X], X * 2.0, mode="FAST_COMPILE"),
        lambda: lm.function([X], X * 2.0, mode=lm.FAST_RUN.excluding("fusion")),
        lambda: lm.function([X], X * 2.0, mode="DebugMode"),
        lambda: lm.function([X], X * 2.0, profile=True),
    ]
    for make in makers:
        for _ in range(2):
            function = make()
            assert not is_recalled(function)
            function(np.ones(2))
    with lm.config.override(profile_rewrites=True):
        for _ in range(2):
            assert not is_recalled(lm.function([X], X * 2.0))
    assert not is_recalled(lm.function([X], X * 2.0, mode=lm.FAST_RUN))
    assert is_recalled(lm.function([X], X * 2.0, mode=lm.FAST_RUN))
    assert is_recalled(lm.function([X], X * 2.0, mode="FAST_RUN"))


REGISTER_REWRITE = """
@lm.node_rewriter([lt.exp])
def to_expm1(fgraph, node):
    return [lt.expm1(node.inputs[0]) + 1.0]
lm.register_specialize(to_expm1, "fast_run")
"""
REGISTER_LOWERING = """
from lamella.codegen import c_expression
@c_expression.register(type(lt.exp.scalar_op))
def zero(op, dtypes, operands, body):
    return "0.0"
"""


@pytest.mark.parametrize("register", [REGISTER_REWRITE, REGISTER_LOWERING])
def test_what_others_register_ends_it(register: str, cache: Path) -> None:
    made = (
        "f = lm.function([x], lt.exp(x) * y, on_unused_input='ignore') if False else lm.function([x, y], lt.exp(x) * y)"
    )
    head = "import numpy as np, lamella as lm, lamella.tensor as lt\nx, y = lt.dvector('x'), lt.dvector('y')\n"
    ask = f"\n{made}\nprint(f.compile_profile.recalled, f(np.ones(2), np.ones(2))[0] == np.exp(1.0))\n"
    assert output_of(head + ask, cache) == "False True\n"
    assert output_of(head + ask, cache) == "True True\n"
    assert output_of(head + register + ask, cache).startswith("False")
    assert output_of(head + ask, cache) == "True True\n"


def test_a_graph_that_cannot_be_made_again_is_an_error_that_says_so(cache: Path) -> None:
    code = f"""
import numpy as np, lamella as lm, lamella.tensor as lt
x = lt.dvector("x")
f = lm.function([x], lt.exp(x) + lt.dvector("x") * 0.0 if False else lt.exp(x) * x)
{REGISTER_REWRITE}
try:
    f.fgraph
except lm.errors.RecallError as error:
    print("RecallError", "set the flag recall to false" in str(error))
else:
    print(f.compile_profile.recalled)
print(f(np.ones(1))[0] == np.e)
"""
    assert output_of(code, cache) == "False\nTrue\n"
    assert output_of(code, cache) == "RecallError True\nTrue\n"


@settings(max_examples=3, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck))
@given(drawn=st.lists(graphs(min_steps=3), min_size=10, max_size=10))
def test_random_functions_compute_the_same_bits_when_they_are_recalled(drawn: list[RandomGraph]) -> None:
    inputs = {variable: value for graph in drawn for variable, value in graph.inputs.items()}
    outputs = [output for graph in drawn for output in graph.outputs]

    def computed(function: lm.Function) -> object:
        """Return the bits of results, or the error."""
        try:
            results = function(*[np.array(variable.type.filter(value)) for variable, value in inputs.items()])
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is to be the same again
            return [repr(error), error.__notes__]
        return [(r.dtype, r.shape, r.tobytes()) for r in map(np.asarray, results)]

    with lm.config.override(compiler_flags="-O1"):
        first, second = [lm.function(list(inputs), outputs, on_unused_input="ignore") for _ in range(2)]
        assert computed(first) == computed(second)
        assert is_recalled(second) or write_program(first.scheduled).needs_python


def damage(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-50] + bytes(50))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:100])


def open_to_all(path: Path) -> None:
    path.chmod(0o666)


@pytest.mark.parametrize("spoil", [damage, cut, open_to_all, Path.unlink])
@pytest.mark.parametrize("kind", ["graph", "so"])
def test_what_is_damaged_is_made_again(spoil: Callable[[Path], object], kind: str, cache: Path) -> None:
    def make() -> lm.Function:
        return lm.function([X], lt.exp(X) * 3.0)

    before = {path: path.stat().st_mtime_ns for path in (cache / "c").glob(f"*.{kind}")}
    make()
    (new,) = [path for path in (cache / "c").glob(f"*.{kind}") if path not in before]
    spoil(new)
    again = make()
    assert not is_recalled(again)
    np.testing.assert_allclose(again(np.ones(2)), 3.0 * np.e)
    assert is_recalled(make())


def test_a_folder_that_others_may_write_to_is_not_read(cache: Path) -> None:
    lm.function([X], lt.exp(X) * 4.0)
    (cache / "c").chmod(0o777)
    with pytest.warns(lm.errors.CacheWarning, match="others may write"):
        assert not is_recalled(lm.function([X], lt.exp(X) * 4.0))


def test_listed_with_what_else_is_in_the_cache(cache: Path) -> None:
    lm.function([X], lt.exp(X) * 5.0)
    listed = output_of("from lamella.cli import main; main(['cache', 'list'])", cache)
    assert "graph of 1 nodes, computed by " in listed
