"""Lets each request for memory in the host of compiled functions fail, one after the other.

    python -m tests.codegen.c.allocation_failures <folder>      in a process of its own, for the host is compiled in another way

Whichever fails, it is a `MemoryError`, what was held is given back, and the next call works.
"""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, OutputStorage
from lamella.codegen import list_cache, lower_to_c
from lamella.config import config
from lamella.ir import FunctionGraph, TensorVariable, ifelse
from lamella.tensor import TensorLike, as_tensor_variable
from lamella.typing_layer import schedule

HEADER = Path(__file__).with_name("failing_allocation.h")
REPETITIONS = 160  # of each failure: more than 10 000 in all
MOST_KILOBYTES = 4000


class Reversed(lm.Op[[TensorLike], TensorVariable]):
    """An Op that only Python computes."""

    __props__ = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0][::-1]


class Allocations:
    """What the host asks for."""

    def __init__(self, folder: Path) -> None:
        (host,) = [entry for entry in list_cache(folder / "c") if "host" in entry.description]
        library = ctypes.CDLL(str(host.path))
        self._granted = ctypes.c_long.in_dll(library, "lm_granted")
        self._asked_by = ctypes.c_char_p.in_dll(library, "lm_asked_by")
        self._not_freed = ctypes.c_long.in_dll(library, "lm_not_freed")

    @property
    def not_freed(self) -> int:
        """How many pieces the host has."""
        return self._not_freed.value

    @property
    def asked_by(self) -> str:
        """The function of the host that made the last request."""
        return (self._asked_by.value or b"").decode()

    def fails(self, call: Callable[[], object], granted: int) -> MemoryError | None:
        """Let the request fail that comes after so many; return None where there are not so many."""
        self._granted.value = granted
        try:
            call()
        except MemoryError as error:
            assert self._granted.value == -1, "there was enough memory"
            return error
        finally:
            left, self._granted.value = self._granted.value, -1
        assert left >= 0, f"request {granted}, by {self.asked_by}, failed, and nobody noticed"
        return None


def each_failure(
    allocations: Allocations, call: Callable[[], object], check: Callable[[object], None]
) -> tuple[int, int]:
    """Let one request after the other fail.

    Returns
    -------
    int, int
        How many requests a call makes, and how many of the errors tell which node they come from.
    """
    noted = 0
    check(call())
    before = kilobytes()
    for granted in range(10_000):
        error = allocations.fails(call, granted)
        if error is None:
            grown = kilobytes() - before
            assert grown < MOST_KILOBYTES, f"the process has grown by {grown} kilobytes"
            return granted, noted
        asked_by = allocations.asked_by
        noted += any(["node: " in note for note in getattr(error, "__notes__", ())])
        del error
        for _ in range(3):
            allocations.fails(call, granted)
        check(call())
        lost = (1, 1)
        for _ in range(3):  # Python may make objects of its own meanwhile, once
            lost = lost_by(allocations, lambda granted=granted: allocations.fails(call, granted))  # type: ignore[misc]  # mypy does not see that the default is for this round
            if lost == (0, 0):
                break
        assert lost == (0, 0), f"request {granted}, by {asked_by}: {lost[0]} pieces and {lost[1]} objects are lost"
        check(call())
    raise AssertionError("a call without end")


def lost_by(allocations: Allocations, call: Callable[[], object]) -> tuple[int, int]:
    """Return how many pieces of memory, and how many objects, many calls have left; a few objects may be anybody's."""
    before, blocks = allocations.not_freed, objects_alive()
    for _ in range(REPETITIONS):
        call()
    objects = objects_alive() - blocks
    return allocations.not_freed - before, objects if objects >= REPETITIONS // 10 else 0


def objects_alive() -> int:
    """Return how many pieces of memory Python's objects have."""
    # The cache of attributes keeps their names: up to some thousands, for a `match` looks `__match_args__` up by a string of its own.
    getattr(sys, "_clear_internal_caches" if sys.version_info >= (3, 13) else "_clear_type_cache")()
    gc.collect()
    return sys.getallocatedblocks()


def kilobytes() -> int:
    """Return how much memory the process has."""
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() // 1024


def equal_to(expected: object) -> Callable[[object], None]:
    def check(found: object) -> None:
        assert isinstance(expected, list)
        assert isinstance(found, list)
        for a, b in zip(found, expected, strict=True):
            assert np.allclose(a, b)

    return check


def calls(allocations: Allocations) -> None:
    """Calls that allocate in all the ways that there are."""
    x, i, flag = lt.dmatrix("x"), lt.vector("i", dtype="int64"), lt.scalar("flag", dtype="bool")
    y = lt.exp(x)
    small = [
        *[
            lt.sum(y, axis=0),
            lt.sum(x),
            lt.sort(y, axis=0),
            lt.argsort(y, axis=1),
            lt.transpose(y)[1:],
            x @ lt.transpose(y),
        ],
        *[Reversed()(y) + 1, x[i], lt.softmax(x, axis=1), lt.cumsum(y, axis=0), lt.join(0, x, y), lt.var(x, axis=1)],
        *[lt.argmax(x, axis=0), lt.reshape(lt.transpose(y), (-1,)), x[x > 0.5]],
    ]
    value, places = np.linspace(0, 1, 12).reshape(4, 3), np.array([2, 1])
    large = np.linspace(0, 1, 120_000).reshape(400, 300)
    odd = np.frombuffer(bytearray(value.nbytes + 1), np.uint8)[1:].view(np.float64).reshape(4, 3)
    odd[:] = value
    v = lt.dvector("v")
    replaced = lt.set_subtensor(x[0], v)
    cases: dict[str, tuple[list[Any], list[Any], list[Any]]] = {
        "small": ([x, i], small, [value, places]),
        "large": ([x, i], [lt.sum(y, axis=0), y + 1, lt.transpose(y)[1:], x[i]], [large, places]),
        "choice": ([x, flag], [ifelse(flag, y, x + 1), lt.sum(y)], [value, np.array(True)]),
        "odd address": ([x, v], [replaced, y], [odd, value[0]]),
    }
    for name, (inputs, outputs, arguments) in cases.items():
        function = lower_to_c(schedule(FunctionGraph(inputs, outputs))).executable()
        expected = equal_to([np.array(result) for result in function(arguments)])
        requests, noted = each_failure(allocations, lambda f=function, a=arguments: f(a), expected)  # type: ignore[misc]  # mypy does not see that the default is for this round
        print(f"{name}: {requests} requests, {noted} of them by nodes")
        assert noted > 0


def functions(allocations: Allocations) -> None:
    """Functions that are linked, and called as users call them."""
    x = lt.dmatrix("x")
    state = lm.shared(np.zeros((2, 2)), name="state")
    graph = schedule(FunctionGraph([x], [lt.exp(x) @ np.eye(2), Reversed()(x)]))
    value = np.ones((2, 2))
    expected = equal_to([np.full((2, 2), np.e), value])
    requests, _ = each_failure(allocations, lambda: lower_to_c(graph).executable()([value]), expected)
    print(f"linking and a call: {requests} requests")
    f = lm.function([x], [lt.exp(x) + state, lt.sum(x)], updates=[(state, state * 0.5)])
    requests, _ = each_failure(allocations, lambda: f(value), equal_to([np.full((2, 2), np.e), 4.0]))
    print(f"a function with a state: {requests} requests")


def main() -> None:
    """Run all."""
    folder = Path(sys.argv[1])
    with config.override(cache_dir=folder, compiler_flags=f"-include {HEADER}"):
        lm.function([], lt.exp(lt.constant(1.0)))
        allocations = Allocations(folder)
        calls(allocations)
        functions(allocations)


if __name__ == "__main__":
    main()
