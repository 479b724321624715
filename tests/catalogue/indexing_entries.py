"""Indexing and writing to indices: basic, by arrays of integers and by masks."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from lamella.ir import (
    AdvancedIncSubtensor,
    AdvancedIncSubtensor1,
    AdvancedSubtensor,
    AdvancedSubtensor1,
    CheckMask,
    IncSubtensor,
    Nonzero,
    Subtensor,
    lt,
)
from tests.catalogue.entry import ALL, Array, Case, Entry, numbers, of_dtypes, point


def _with(cases: Sequence[Case], *others: Any, dtype: str = "int64") -> list[Case]:
    return [(*case, *[np.asarray(v, dtype) for v in others]) for case in cases]


def _basic_index(i: Any, a: Any, b: Any) -> Any:
    return (slice(a, b, 2), i, slice(None, None, -1))


BASIC = [
    Entry(
        "Subtensor-constant",
        Subtensor,
        lambda x: [x[1, ::-1], x[..., -1], x[:, 1:3, None], x[::-2, 3:0:-2, 1:], x[1, 2, 0]],
        lambda x: [x[1, ::-1], x[..., -1], x[:, 1:3, None], x[::-2, 3:0:-2, 1:], x[1, 2, 0]],
        of_dtypes(ALL, (3, 5, 4)),
        [point((2, 3, 2))],
        raises=[((np.ones((0, 5, 4)),), IndexError)],
    ),
    Entry(
        "Subtensor-empty",
        Subtensor,
        lambda x: [x[1:1], x[:, ::-1], x[:, 5:2]],
        lambda x: [x[1:1], x[:, ::-1], x[:, 5:2]],
        of_dtypes(ALL, (2, 0, 3), (0, 4, 2)),
        [point((2, 3, 2))],
    ),
    Entry(
        "Subtensor-symbolic",
        Subtensor,
        lambda x, i, a, b: [x[_basic_index(i, a, b)], x[a:b:i], x[:a, b:]],
        lambda x, i, a, b: [x[_basic_index(int(i), int(a), int(b))], x[a:b:i], x[:a, b:]],
        [
            *_with(of_dtypes(ALL, (4, 3, 2)), -1, 0, 9),
            *_with(of_dtypes(["float32"], (4, 3, 2)), 2, -9, 3),
            *_with(of_dtypes(["float32"], (4, 3, 2)), -2, 3, 0),
            *_with(of_dtypes(["int8"], (4, 3, 2)), 1, 1, -1, dtype="int8"),
            *_with(of_dtypes(["complex64"], (0, 3, 2)), 1, 1, 2, dtype="uint64"),
        ],
        [(*point((4, 3, 2)), np.array(1), np.array(0), np.array(4))],
        raises=[((np.ones((4, 3, 2)), *map(np.array, (5, 0, 2))), IndexError)],
        static=False,
    ),
]


def _writers(index: Callable[..., Any], increase: bool) -> tuple[Callable[..., Any], Callable[..., Array]]:
    """Writing a value to the part that `index` gives: of a tensor, and of an array."""

    def ours(x: Any, value: Any, *parts: Any) -> Any:
        write = lt.inc_subtensor if increase else lt.set_subtensor
        return write(x[index(*parts)], value)

    def plain(x: Array, value: Array, *parts: Array) -> Array:
        made = x.copy()
        place = index(*[p if p.ndim else int(p) for p in parts])
        if increase:
            np.add.at(made, place, value)
        else:
            made[place] = value
        return made

    return ours, plain


def _value_cases(shape: Sequence[int], *values: Sequence[int], dtypes: Sequence[str] = ALL) -> list[Case]:
    return [(numbers(shape, d), numbers(v, d, 1)) for d in dtypes for v in values]


def _write_entries(
    name: str,
    op_class: Any,
    index: Callable[..., Any],
    shape: Sequence[int],
    values: Sequence[Sequence[int]],
    parts: Sequence[Array] = (),
    wrong: Sequence[Array] | None = None,
    empty: tuple[Sequence[int], Sequence[int], Sequence[Array]] | None = None,
) -> list[Entry]:
    found: list[Entry] = []
    for increase in (False, True):
        ours, plain = _writers(index, increase)
        cases = [(*case, *parts) for case in _value_cases(shape, *values)]
        mixed = [("float64", "int8"), ("float32", "float16"), ("complex64", "float32"), ("int16", "bool")]
        cases += [(numbers(shape, d), numbers(values[0], e, 1), *parts) for d, e in mixed]
        if empty is not None:
            cases += [(*case, *empty[2]) for case in _value_cases(empty[0], empty[1])]
        raises = [] if wrong is None else [((*point(shape, values[0]), *wrong), IndexError)]
        found.append(
            Entry(
                f"{name}-{'inc' if increase else 'set'}",
                op_class,
                ours,
                plain,
                cases,
                [(*point(shape, value), *parts) for value in values],
                raises=raises,
            )
        )
    return found


_I = np.array([2, 0, -1, 2])
_NESTED = np.array([[0, -1], [1, 1]])
_MASK = np.array([True, False, True, True, False])


def _int(*values: int) -> list[Array]:
    return [np.array(v) for v in values]


WRITING = [
    *_write_entries("IncSubtensor-row", IncSubtensor, lambda i: i, (3, 4), [(4,), (), (1,)], _int(-2), _int(3)),
    *_write_entries(
        "IncSubtensor-slices",
        IncSubtensor,
        lambda a, b: (slice(a, None, -2), slice(None, b)),
        (5, 4),
        [(2, 3), (1, 3), (3,)],
        _int(3, -1),
        empty=((0, 4), (0, 3), _int(3, -1)),
    ),
    *_write_entries("IncSubtensor-all", IncSubtensor, lambda: ..., (2, 3), [(2, 3), ()], empty=((0, 3), (0, 3), ())),
    *_write_entries("IncSubtensor-element", IncSubtensor, lambda i, j: (i, j), (2, 3), [()], _int(1, -1), _int(1, -4)),
    *_write_entries(
        "AdvancedIncSubtensor1",
        AdvancedIncSubtensor1,
        lambda i: i,
        (3, 2),
        [(4, 2), (1, 2), (2,)],
        [_I],
        [np.array([0, 3])],
        empty=((0, 2), (0, 2), [np.zeros(0, "int64")]),
    ),
    *_write_entries(
        "AdvancedIncSubtensor1-last",
        AdvancedIncSubtensor1,
        lambda i: (slice(None), i),
        (2, 3),
        [(2, 4), (2, 1)],
        [_I],
        [np.array([0, -4])],
    ),
    *_write_entries(
        "AdvancedIncSubtensor",
        AdvancedIncSubtensor,
        lambda i, j: (i, slice(None), j),
        (2, 3, 4),
        [(2, 2, 3), (2, 1, 1)],
        [_NESTED, np.array([[3, 0], [0, -2]])],
        [_NESTED, np.array([[3, 0], [0, 4]])],
    ),
    *_write_entries("AdvancedIncSubtensor-mask", AdvancedIncSubtensor1, lambda m: m, (5, 2), [(3, 2), (2,)], [_MASK]),
]


def _selected(index: Callable[..., Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    def plain(x: Array, *parts: Array) -> Any:
        return x[index(*[p if p.ndim else int(p) for p in parts])]

    return (lambda x, *parts: x[index(*parts)]), plain


def _select_entry(
    name: str,
    op_class: Any,
    index: Callable[..., Any],
    shape: Sequence[int],
    parts: Sequence[Sequence[Array]],
    wrong: Sequence[Array] | None = None,
    static: bool = True,
    infers: bool = True,
) -> Entry:
    ours, plain = _selected(index)
    cases = [(*case, *parts[0]) for case in of_dtypes(ALL, shape)]
    cases += [(*case, *some) for case in of_dtypes(["int16", "complex64"], shape) for some in parts[1:]]
    return Entry(
        name,
        op_class,
        ours,
        plain,
        cases,
        [(*point(shape), *parts[0])],
        raises=[] if wrong is None else [((*point(shape), *wrong), IndexError)],
        static=static,
        infers=infers,
    )


SELECTING = [
    _select_entry(
        "AdvancedSubtensor1",
        AdvancedSubtensor1,
        lambda i: i,
        (3, 4),
        [[_I], [_I.astype("int8")], [np.zeros(0, "int64")], [np.array([2], "uint64")]],
        [np.array([0, 3, 1])],
    ),
    _select_entry(
        "AdvancedSubtensor1-last", AdvancedSubtensor1, lambda i: (slice(None), i), (2, 3), [[_I]], [np.array([-4])]
    ),
    _select_entry(
        "AdvancedSubtensor-nested",
        AdvancedSubtensor,
        lambda i: i,
        (3, 4),
        [[_NESTED], [np.zeros((0, 2), "int64")], [np.array([[1], [2]], "uint8")]],
        [np.array([[0, 3]])],
    ),
    _select_entry(
        "AdvancedSubtensor-apart",
        AdvancedSubtensor,
        lambda i, j: (i, slice(1, None), j),
        (3, 3, 4),
        [[_NESTED, np.array([[3, 0], [0, -2]])]],
        [_NESTED, np.array([[3, 0], [0, -5]])],
    ),
    _select_entry(
        "AdvancedSubtensor-together",
        AdvancedSubtensor,
        lambda i, j, k: (slice(None, None, -1), i, j, k),
        (2, 3, 4, 2),
        [[np.array([[0], [2]]), np.array([[3, 0, -1]]), np.array(1)]],
        [np.array([[0], [3]]), np.array([[3, 0, -1]]), np.array(1)],
    ),
    _select_entry(
        "AdvancedSubtensor-mask",
        AdvancedSubtensor1,
        lambda m: m,
        (5, 2),
        [[_MASK], [np.zeros(5, bool)], [np.ones(5, bool)]],
        [np.ones(4, bool)],
        static=False,
    ),
    _select_entry(
        "CheckMask",
        CheckMask,
        lambda m: m,
        (2, 3),
        [[np.array([[True, False, True], [False, True, True]])]],
        [np.ones((2, 4), bool)],
        static=False,
        infers=False,
    ),
    Entry(
        "Nonzero",
        Nonzero,
        lambda x: [*lt.nonzero(x), *lt.nonzero(x[0])],
        lambda x: [*np.nonzero(x), *np.nonzero(x[0])],
        [((numbers((3, 4, 2), d) * numbers((3, 4, 2), "bool", 3)).astype(d),) for d in ALL] + of_dtypes(ALL, (2, 0, 3)),
        "its value is an integer",
        static=False,
        infers=False,
    ),
]

INDEXING_ENTRIES = [*BASIC, *WRITING, *SELECTING]
