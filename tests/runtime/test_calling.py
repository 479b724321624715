"""Calls of compiled functions: those that are done in C, and those that Python does, come to the same."""

from __future__ import annotations

import copy
import gc
import inspect
import pickle
import resource
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import lamella as lm
import lamella.tensor as lt

Array = npt.NDArray[Any]


def in_python(function: lm.Function, *args: Any, **kwargs: Any) -> Any:
    """Call a function by the method that is written in Python."""
    return lm.Function.__call__(function, *args, **kwargs)


def frames_of(call: Callable[[], object]) -> list[str]:
    """Return the names of the functions of Python that a call runs, itself not among them."""
    found: list[str] = []

    def note(frame: Any, event: str, _: object) -> None:
        if event == "call":
            found.append(frame.f_code.co_name)

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return found[1:]


def is_direct(function: lm.Function, *args: Any, **kwargs: Any) -> bool:
    """Whether a call runs no Python at all."""
    return frames_of(lambda: function(*args, **kwargs)) == []


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """Return what a call returns, to the last bit, or what it raises and how it is described."""
    try:
        values = call()
    except Exception as error:  # noqa: BLE001  # of whatever kind it is, the other call is to raise the same
        return type(error), str(error), getattr(error, "__notes__", [])
    return tuple([(type(v), v.dtype, v.shape, v.tobytes()) for v in values])


DTYPES = ("float64", "int64", "bool", "float32", "complex128", "int8")


def copies(**how: Any) -> lm.Function:
    """Return a function that gives back numbers of several dtypes, a vector and a matrix."""
    variables: list[Any] = [lt.scalar(dtype, dtype=dtype) for dtype in DTYPES]
    variables += [lt.vector("v"), lt.tensor("m", dtype="float32", shape=(2, None))]
    return lm.function([lm.In(variable, **how) for variable in variables], variables)


@pytest.fixture(scope="module")
def kinds() -> list[lm.Function]:
    ways: list[dict[str, Any]] = [
        {},
        {"strict": True},
        {"allow_downcast": True},
        {"allow_downcast": False},
        {"mutable": True},
    ]
    return [copies(**how) for how in ways]


class Numbers(np.ndarray[Any, Any]):
    """A class of arrays of somebody's own."""


def unaligned(array: Array) -> Array:
    memory = np.zeros(array.nbytes + 1, np.uint8)[1:]
    view = memory[: array.nbytes].view(array.dtype).reshape(array.shape)
    view[...] = array
    return view


FITTING: tuple[Any, ...] = (
    np.array(1.5),
    np.array(-3),
    np.array(True),
    np.array(2.5, np.float32),
    np.array(1j),
    np.array(7, np.int8),
    np.arange(3.0),
    np.ones((2, 3), np.float32),
)

NUMBERS = st.one_of(
    st.floats(),
    st.integers(-(2**70), 2**70),
    st.integers(-130, 130),
    st.booleans(),
    st.complex_numbers(),
    st.sampled_from(
        [
            np.float64(0.1),
            np.float32(0.1),
            np.longlong(5),
            np.int64(-1),
            np.uint64(2**63),
            np.bool_(True),
            np.complex128(2j),
        ]
    ),
)

ARRAYS = st.sampled_from(
    [
        *FITTING,
        np.array(1.5, ">f8"),
        unaligned(np.array(1.5)),
        np.array(5, np.longlong),
        np.array(300, np.uint16),
        np.zeros((), "M8[s]"),
        np.array(None),
        np.ma.masked_array(1.5, mask=True),
        np.array(2.0).view(Numbers),
        np.zeros(0),
        np.arange(6.0)[::-2],
        np.arange(3.0).view(Numbers),
        np.arange(3.0).astype(">f8"),
        unaligned(np.arange(3.0)),
        np.broadcast_to(np.float64(2), (4,)),
        np.ones((3, 2), np.float32),
        np.ones((2, 2), np.float32, order="F"),
        np.ones((2, 1)),
    ]
)

OTHERS: st.SearchStrategy[Any] = st.sampled_from(
    [None, "1.0", [1.0, 2.0], [], [[1, 2], [3, 4]], (1,), {}, lt.scalar("s")]
)


@settings(max_examples=400, deadline=None)
@given(st.integers(0, 4), st.integers(0, 7), NUMBERS | ARRAYS | OTHERS, st.booleans())
@example(0, 3, 1e300, False)
@example(0, 1, 2**63, False)
@example(0, 0, 2**53 + 1, False)
@example(1, 0, np.float64(2.0), False)
@example(4, 6, np.broadcast_to(np.float64(2), (4,)), True)
def test_every_kind_of_value_comes_to_the_same_as_in_python(
    kinds: list[lm.Function], which: int, place: int, value: Any, trusted: bool
) -> None:
    f = kinds[which].copy()
    f.trust_input = trusted
    arguments: list[Any] = [*FITTING]
    arguments[place] = value
    assert outcome(lambda: f(*arguments)) == outcome(lambda: in_python(f, *arguments))


def test_what_needs_no_python_runs_none(kinds: list[lm.Function]) -> None:
    f, strict, exact = kinds[0], kinds[1], kinds[3]
    assert is_direct(f, *FITTING)
    assert is_direct(f, 1, True, False, 0.1, 2.0, np.int8(3), *FITTING[6:])
    assert is_direct(strict, *[value[()] for value in FITTING[:6]], *FITTING[6:])
    assert not is_direct(exact, *FITTING[:3], 0.5, *FITTING[4:])
    assert not is_direct(f, *FITTING[:6], [1.0], *FITTING[7:])
    f = f.copy()
    f.trust_input = True
    assert is_direct(f, *FITTING)
    by_name = dict(zip([*DTYPES, "v", "m"], FITTING, strict=True))
    assert is_direct(f, **by_name)
    assert is_direct(f, *FITTING[:3], **{name: by_name[name] for name in ("m", "v", "int8", "complex128", "float32")})
    in_modes = [lm.function([], [], mode=mode) for mode in ("FAST_COMPILE", "DebugMode", "NanGuardMode")]
    assert [type(one) for one in in_modes] == [lm.Function] * 3


def test_a_function_is_one_of_the_class_that_people_see(kinds: list[lm.Function]) -> None:
    f = kinds[0]
    assert isinstance(f, lm.Function)
    assert (type(f).__name__, type(f).__module__, type(f).__doc__) == ("Function", "lamella", lm.Function.__doc__)
    assert repr(f).startswith("<Function (float64, int64")
    assert str(inspect.signature(f)) == "(*args, **kwargs)"
    assert outcome(partial(f.__call__, *FITTING)) == outcome(partial(f, *FITTING))
    assert f.__call__.__doc__ is not None
    assert f.__call__.__doc__.startswith("Compute the outputs")
    for other in (f.copy(), copy.copy(f), copy.deepcopy(f), pickle.loads(pickle.dumps(f))):
        assert type(other) is type(f)
        assert is_direct(other, *FITTING)
        assert outcome(partial(other, *FITTING)) == outcome(partial(f, *FITTING))


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(0, 9), max_size=5),
    st.dictionaries(st.sampled_from(["a", "b", "c", "d", "".join(["a", "a"])]), st.floats(0, 9)),
    st.booleans(),
)
def test_names_and_defaults_come_to_the_same_as_in_python(
    named: tuple[lm.Function, list[Array]], args: list[float], kwargs: dict[str, float], trusted: bool
) -> None:
    f, kept = named[0].copy(), named[1]
    f.trust_input = trusted
    values = [np.array(value) for value in args]
    by_name = {name: np.array(value) for name, value in kwargs.items()}
    assert outcome(lambda: f(*values, **by_name)) == outcome(lambda: in_python(f, *values, **by_name))
    assert [float(value) for value in kept] == [10.0, 20.0]


@pytest.fixture(scope="module")
def named() -> tuple[lm.Function, list[Array]]:
    """Return a function of three inputs, the last two of which have defaults that it keeps; the last one may be overwritten."""
    a, b, c = lt.scalars("a b c")
    kept = [np.array(10.0), np.array(20.0)]
    specs: list[lm.In | lt.TensorVariable] = [
        a,
        lm.In(b, value=kept[0], borrow=True),
        lm.In(c, value=kept[1], mutable=True, borrow=True),
    ]
    return lm.function(specs, [a - b, a + c], name="differences"), kept


def test_a_name_is_found_whatever_string_says_it(named: tuple[lm.Function, list[Array]]) -> None:
    f, _ = named
    assert f(**{"".join(["", "a"]): 1.0})[0] == -9.0
    many = [lt.scalar(f"x{i}") for i in range(100)]
    g = lm.function(many, lt.add(*many))
    assert g(**{f"x{i}": float(i) for i in range(100)}) == sum(range(100))
    assert is_direct(g, *[float(i) for i in range(100)])


def test_results_come_back_in_the_form_they_were_given() -> None:
    x = lt.vector("x")
    point, key = np.arange(3.0), (1, "key")
    state = lm.shared(0.0)
    forms: list[Any] = [x + 1, [x + 1], [x + 1, x * 2], (x + 1, x * 2), {"one": x + 1, key: x * 2}, None, [], (), {}]
    for form in forms:
        for updates in ({}, {state: state + 1}):
            f = lm.function([x], form, updates=updates, on_unused_input="ignore")
            assert is_direct(f, point)
            direct, other = f(point), in_python(f, point)
            assert type(direct) is type(other)
            np.testing.assert_equal(direct, other)
    assert state.get_value() == 27


def test_updates_are_seen_in_order() -> None:
    state, seen, x = lm.shared(np.zeros(2)), lm.shared(np.array(0)), lt.vector("x")
    f = lm.function([x], [state.sum(), seen], updates=[(state, state * 2 + x), (seen, seen + 1)])
    assert is_direct(f, np.zeros(2))
    expected = np.zeros(2)
    for i in range(1, 9):
        call: Callable[..., Any] = f if i % 3 else partial(in_python, f)
        given_back = call(np.full(2, float(i)))
        assert [float(value) for value in given_back] == [expected.sum(), i]
        expected = expected * 2 + i
        np.testing.assert_array_equal(state.get_value(), expected)
    state.set_value(np.ones(3))  # of another length, and not as it lies in memory
    state.cell.value = np.arange(6.0)[::-2]
    assert f(np.zeros(3))[0] == 9.0
    changed = copy.deepcopy(f)
    changed(np.zeros(3))
    np.testing.assert_array_equal(state.get_value(), [10.0, 6.0, 2.0])


def test_an_error_leaves_shared_variables_alone_and_releases_their_locks() -> None:
    state, x = lm.shared(np.zeros(2)), lt.vector("x")
    f = lm.function([x], None, updates=[(state, state + x)], name="adding")
    direct = outcome(lambda: f(np.zeros(3)))
    assert direct == outcome(lambda: in_python(f, np.zeros(3)))
    assert direct[2]
    np.testing.assert_array_equal(state.get_value(), np.zeros(2))
    free: list[bool] = []

    def from_another_thread() -> None:
        free.append(state.cell.lock.acquire(blocking=False))

    thread = threading.Thread(target=from_another_thread)
    thread.start()
    thread.join()
    assert free == [True]


def test_threads_see_each_others_updates() -> None:
    counter, x = lm.shared(np.array(0)), lt.iscalar("x")
    f = lm.function([x], counter, updates=[(counter, counter + x)])
    one = np.array(1, np.int32)
    seen: list[list[int]] = [[] for _ in range(4)]

    def count(mine: list[int]) -> None:
        mine.extend([int(f(one)) for _ in range(2000)])

    threads = [threading.Thread(target=count, args=(mine,)) for mine in seen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted([value for mine in seen for value in mine]) == list(range(8000))


def test_threads_do_not_meet_in_one_call() -> None:
    x, y = lt.vectors("x y")
    f = lm.function([x, y], [lt.exp(x - y) * x + y, lt.cumsum(x)])
    wrong: list[int] = []

    def compare(number: int) -> None:
        value, size = float(number), 60_000 if number == 0 else 50  # the long one lets others run
        points = np.full(size, value), np.full(size, value)
        for _ in range(300 if number else 20):
            both = f(*points)
            if not (both[0] == value + value).all() or both[1][-1] != value * size:
                wrong.append(number)

    threads = [threading.Thread(target=compare, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_memory_that_inputs_share_is_taken_apart() -> None:
    x, y, state = lt.vector("x"), lt.vector("y"), lm.shared(np.zeros(4), borrow=True)
    mutable = lm.In(x, mutable=True)
    f = lm.function([mutable, y], [lt.set_subtensor(x[:2], 7.0), y, state + x])
    ways: list[Callable[..., Any]] = [f, partial(in_python, f)]
    for call in ways:
        memory = np.arange(6.0)
        call(memory[:4], memory[2:])
        np.testing.assert_array_equal(memory, np.arange(6.0))
        call(memory[:4], np.zeros(4))
        np.testing.assert_array_equal(memory, [7, 7, 2, 3, 4, 5])
        call(state.get_value(borrow=True), np.zeros(4))
        np.testing.assert_array_equal(state.get_value(), np.zeros(4))
    reversed_x = lm.function([mutable, y], [lm.Out(x[::-1], borrow=True), y + 1])
    for call in (reversed_x, partial(in_python, reversed_x)):
        memory = np.arange(6.0)
        assert np.shares_memory(memory, call(memory[:4], memory[4:])[0])
        assert not np.shares_memory(memory, call(memory[:4], memory[3:])[0])


class CallsAgain(lm.Op[..., Any]):
    """Calls a function of which it is a part, as often as its input says."""

    __props__: ClassVar[tuple[str, ...]] = ()
    functions: ClassVar[list[lm.Function]] = []

    def make_node(self, n: Any) -> lm.Apply[Any]:
        variable = lt.as_tensor_variable(n)
        return lm.Apply(self, [variable], [variable.type])

    def perform(self, node: lm.Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        n = int(inputs[0])
        output_storage[0][0] = np.array(0 if n == 0 else self.functions[0](n - 1))


def test_a_function_may_be_called_while_it_runs() -> None:
    n = lt.lscalar("n")
    total = lm.shared(np.array(0))
    f = lm.function([n], n + CallsAgain()(n * 1), updates=[(total, total + n)])
    CallsAgain.functions[:] = [f]
    assert f(20) == sum(range(21))
    CallsAgain.functions.clear()


def test_what_refers_to_itself_is_collected() -> None:
    class Holder:
        function: lm.Function | None = None

    def made() -> weakref.ref[Holder]:
        holder, anything, x = Holder(), lm.Generic(), lt.scalar("x")
        state, other = [lm.shared(holder, type=anything, borrow=True) for _ in range(2)]
        f = lm.function(
            [x, lm.In(anything("o"), value=holder, borrow=True)],
            [x + 1, *[lm.Out(v, borrow=True) for v in (anything.make_constant(holder), state)]],
            updates=[(other, anything.make_constant(None))],
            on_unused_input="ignore",
        )
        f(1.0)
        other.set_value(holder, borrow=True)
        holder.function = f
        return weakref.ref(holder)

    gone = made()
    gc.collect()
    assert gone() is None


def test_ten_thousand_calls_leave_nothing_behind() -> None:
    x, n, state = lt.vector("x"), lt.lscalar("n"), lm.shared(np.zeros(3))
    f = lm.function([x, (n, 3)], {"a": lt.exp(x) + n, "b": x[n]}, updates=[(state, state + x)])
    point, number, wrong, default = np.ones(3), 1 << 40, np.ones(2), f.defaults[1]
    many = lm.function([n], [n * i for i in range(60)])
    held: list[Any] = [point, number, wrong, default, None, f, f.scheduled, state.cell, "a"]

    def calls() -> None:
        for _ in range(2000):
            f(point, np.int64(2))
            f(point, n=2)
            many(number)
            many(3)
            for bad in ((wrong, 1), (point, number), (point,), (point, 1.5)):
                with pytest.raises((ValueError, IndexError, TypeError)):
                    f(*bad)

    def size() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    calls()
    references, before = [sys.getrefcount(value) for value in held], size()
    calls()
    assert max([abs(sys.getrefcount(value) - n) for value, n in zip(held, references, strict=True)]) < 20
    assert size() - before < 2000
