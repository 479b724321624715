"""Failures in users' C code: the exception arrives with the node's note, and nothing that was held is lost."""

from __future__ import annotations

import gc
import resource
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Function, Type, Variable
from lamella.codegen import CLinkerType, COp, lower_to_c
from lamella.typing_layer import schedule

from .ops import Calling, Double, Failing, Names, Sub

x = lt.dvector("x")
NEGATIVE = -1 - np.arange(300.0)
REPETITIONS = 10_000
MOST_KILOBYTES = 4000


def out_of_luck() -> None:
    raise LookupError("the callback is out of luck")


class Picky(Double):
    """Floats, of which C takes the positive ones only."""

    __props__ = ()

    def c_extract(self, name: str, sub: Sub, check_input: bool = True, **kwargs: Any) -> str:
        refused = f'PyErr_SetString(PyExc_ValueError, "C takes no negative number"); {sub["fail"]}'
        return f"""
        held_{name} = PyList_New(10);
        {super().c_extract(name, sub)}
        if ({name} < 0) {{ {refused} }}
        """

    def c_declare(self, name: str, sub: Sub, check_input: bool = True) -> str:
        return f"double {name}; PyObject *held_{name} = NULL;"

    def c_cleanup(self, name: str, sub: Sub) -> str:
        return f"Py_XDECREF(held_{name});"


class Root(COp[[Variable[Any]], Variable[Any]]):
    __props__ = ()

    def make_node(self, v: Variable[Any]) -> Apply[Variable[Any]]:
        return Apply(self, [v, v], [Double()])

    def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
        return f"{outputs[0]} = sqrt({inputs[0]});"


class NoSync(Double):
    """Floats that C cannot give back."""

    __props__ = ()

    def c_sync(self, name: str, sub: Sub) -> str:
        return f'PyErr_SetString(PyExc_OverflowError, "nothing comes back"); {sub["fail"]}'


class IntoNothing(Root):
    __props__ = ()

    def make_node(self, v: Variable[Any]) -> Apply[Variable[Any]]:
        return Apply(self, [v, v], [NoSync()])


def picky(type: Type[Any], op: COp[Any, Any]) -> tuple[Function, Any]:
    v = type()
    return lm.function([v], op(v)), -1234.5


CASES: dict[str, tuple[Callable[[], tuple[Function, Any]], type[Exception], str]] = {
    "c_extract": (lambda: picky(Picky(), Root()), ValueError, "C takes no negative number"),
    "c_sync": (lambda: picky(Double(), IntoNothing()), OverflowError, "nothing comes back"),
    "c_code": (
        lambda: (lm.function([x], Failing("c_code")(x * 2) + 1), NEGATIVE),
        ZeroDivisionError,
        "it is negative",
    ),
    "no exception": (
        lambda: (lm.function([x], Failing("silence")(x * 2) + 1), NEGATIVE),
        RuntimeError,
        "has failed, and has not said why",
    ),
    "allocation": (lambda: (lm.function([x], Failing("memory")(x * 2) + 1), NEGATIVE), MemoryError, "float64"),
    "callback": (
        lambda: (lm.function([x], Calling(out_of_luck)(x * 2) + 1), NEGATIVE),
        LookupError,
        "the callback is out of luck",
    ),
}


def fails(f: Callable[[Any], object], value: Any, error: type[Exception], times: int) -> None:
    for _ in range(times):
        try:
            f(value)
        except error:
            continue
        raise AssertionError("it did not fail")


def kilobytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


@pytest.mark.parametrize("case", CASES)
def test_a_failure_arrives_with_its_note_and_leaks_nothing(case: str) -> None:
    make, error, message = CASES[case]
    f, value = make()
    with pytest.raises(error, match=message) as caught:
        f(value)
    assert len(caught.value.__notes__) == 1
    assert "node: " in caught.value.__notes__[0]
    assert "built at" in caught.value.__notes__[0]
    del caught
    fails(f, value, error, 300)
    gc.collect()
    before, blocks, references = kilobytes(), sys.getallocatedblocks(), sys.getrefcount(value)
    fails(f, value, error, REPETITIONS)
    gc.collect()
    assert sys.getrefcount(value) == references
    assert sys.getallocatedblocks() - blocks < REPETITIONS / 100
    assert kilobytes() - before < MOST_KILOBYTES


def test_a_function_that_cannot_begin_says_so_and_leaks_nothing() -> None:
    out = Failing("c_init_code_struct")(x * 2) + 1
    with pytest.raises(RuntimeError, match="it cannot begin") as caught:
        lm.function([x], out)
    assert "Failing{where=c_init_code_struct}" in caught.value.__notes__[0]
    del caught
    compiled = lower_to_c(schedule(lm.FunctionGraph([x], [out])))
    fails(lambda _: compiled.executable(), None, RuntimeError, 100)
    gc.collect()
    before, blocks = kilobytes(), sys.getallocatedblocks()
    fails(lambda _: compiled.executable(), None, RuntimeError, REPETITIONS)
    gc.collect()
    assert sys.getallocatedblocks() - blocks < REPETITIONS / 10
    assert kilobytes() - before < 2 * MOST_KILOBYTES


def test_success_leaks_nothing() -> None:
    f = lm.function([x], Calling(list)(Failing("c_code")(lt.exp(x))) + 1)
    value = np.linspace(0, 1, 300)
    for _ in range(300):
        f(value)
    gc.collect()
    before, blocks, references = kilobytes(), sys.getallocatedblocks(), sys.getrefcount(value)
    for _ in range(REPETITIONS):
        f(value)
    gc.collect()
    assert sys.getrefcount(value) == references
    assert sys.getallocatedblocks() - blocks < REPETITIONS / 100
    assert kilobytes() - before < MOST_KILOBYTES


def test_what_a_function_holds_is_freed_with_it() -> None:
    class Held:
        def __call__(self) -> None: ...

    held = Held()
    f = lm.function([x], Calling(held)(x))
    f(NEGATIVE)
    references = sys.getrefcount(held)
    g = lm.function([x], Calling(held)(x))
    g(NEGATIVE)
    assert sys.getrefcount(held) > references
    del g
    gc.collect()
    assert sys.getrefcount(held) == references


def test_a_type_without_a_c_side_is_left_to_perform() -> None:
    class Words(Type[str]):
        __props__ = ()

        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
            return str(value)

    assert not isinstance(Words(), CLinkerType)

    class Length(Root):
        __props__ = ()

        def perform(self, node: Apply[Any], inputs: Any, output_storage: Any) -> None:
            output_storage[0][0] = float(len(inputs[0]))

    v = Words()("v")
    assert lm.function([v], Length()(v))("four") == 4.0
