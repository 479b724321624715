"""The contract of Types, NullType and DisconnectedType, shared variables."""

import copy
import pickle
import threading
from typing import Any

import attrs
import pytest

from lamella.ir import (
    NO_VALUE,
    Apply,
    Constant,
    DisconnectedType,
    NullType,
    SharedVariable,
    StorageCell,
    Type,
    Variable,
)
from tests.ir.graph.toys import NUMBER, POSITIVE, Number, add, double, number


class Minimal(Type[str]):
    """What a Type has to write."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
        if strict and not isinstance(value, str):
            raise TypeError(f"{value!r} is no text")
        return str(value)


TEXT = Minimal()


def test_defaults() -> None:
    assert TEXT.filter_inplace(1, "old") == "1"
    assert TEXT.is_valid_value("a")
    assert not TEXT.is_valid_value(1)
    assert TEXT.is_valid_value(1, strict=False)
    assert TEXT.values_eq("a", "a")
    assert not TEXT.values_eq("a", "b")
    assert TEXT.values_eq_approx("a", "a")
    assert TEXT.in_same_class(Minimal())
    assert TEXT.is_super(Minimal()) is TEXT
    assert TEXT.is_super(NUMBER) is None
    assert not TEXT.may_share_memory("ab" * 100, "ba" * 100)
    value = "text"
    assert TEXT.may_share_memory(value, value)
    assert TEXT.get_size(TEXT.get_shape_info("a")) == 0
    assert TEXT.convert_variable(number()) is None


def test_a_type_without_filter_cannot_be_made() -> None:
    class Abstract(Type[str]):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Abstract()  # type: ignore[abstract]  # on purpose


def test_types_make_variables() -> None:
    for x in (TEXT("x"), TEXT.make_variable("x")):
        assert (x.type, x.name, x.owner, x.index) == (TEXT, "x", None, None)
    assert TEXT().name is None
    constant = TEXT.make_constant("a", "c")
    assert isinstance(constant, Constant)
    assert (constant.data, constant.name, constant.type) == ("a", "c", TEXT)


def test_values_carried_by_variables() -> None:
    shared = SharedVariable(TEXT, StorageCell("s"))
    constant = TEXT.make_constant("c")
    x = TEXT()
    assert [v.carries_value for v in (x, constant, shared)] == [False, True, True]
    assert [v.is_constant for v in (x, constant, shared)] == [False, True, False]
    assert [v.stored_value() for v in (x, constant, shared)] == [NO_VALUE, "c", "s"]


def test_filter_variable_takes_what_the_type_includes() -> None:
    x, p = number("x"), POSITIVE("p")
    assert NUMBER.filter_variable(x) is x
    assert NUMBER.filter_variable(p) is p
    assert NUMBER.filter_variable(2) is NUMBER.make_constant(2.0)
    with pytest.raises(TypeError, match=r"x has the type Number\{sign=any\}, which is no Number\{sign=positive\}"):
        POSITIVE.filter_variable(x)
    with pytest.raises(TypeError, match="which is no Minimal"):
        TEXT.filter_variable(x)
    with pytest.raises(TypeError, match="is not positive"):
        POSITIVE.filter_variable(-1)


def test_filter_variable_converts_where_the_type_can() -> None:
    @attrs.frozen
    class Converting(Number):
        made: Type[Any] = POSITIVE

        def convert_variable(self, variable: Variable[Any]) -> Variable[Any] | None:
            return Apply(double, [variable], [self.made]).out if variable.type == NUMBER else None

    x = number("x")
    assert Converting("positive").filter_variable(x) is Apply(double, [x], [POSITIVE]).out
    with pytest.raises(TypeError, match="x has the type"):
        Converting("positive").filter_variable(x, allow_convert=False)
    with pytest.raises(TypeError, match="x has the type"):
        Converting("positive", made=NUMBER).filter_variable(x)
    with pytest.raises(TypeError, match="has the type Minimal"):
        Converting("positive").filter_variable(TEXT())


def test_values_are_copied_deeply() -> None:
    nested = [[1]]
    copied: Any = TEXT.copy_value(nested)  # type: ignore[arg-type]  # any value will do
    copied[0].append(2)
    assert nested == [[1]]


def test_null_type_has_no_values_and_says_why() -> None:
    null = NullType("x has no gradient")
    with pytest.raises(TypeError, match="there is no value of NullType: x has no gradient"):
        null.filter(1.0)
    assert null == NullType("for another reason")
    assert hash(null) == hash(NullType())
    assert null().type.why == "x has no gradient"
    assert not null.is_valid_value(None)
    restored = pickle.loads(pickle.dumps(null("g")))
    assert (restored.type.why, restored.name) == ("x has no gradient", "g")


def test_a_clone_keeps_what_equality_passes_over() -> None:
    assert NullType("why").clone().why == "why"
    assert NullType("why").clone(why="because").why == "because"


def test_disconnected_type_has_no_values() -> None:
    with pytest.raises(TypeError, match="there is no value of DisconnectedType"):
        DisconnectedType().filter(1.0)
    assert DisconnectedType() == DisconnectedType()
    assert DisconnectedType() != NullType()
    assert DisconnectedType().is_super(NullType()) is None


def test_null_variables_take_part_in_graphs() -> None:
    null = NullType("why")()
    node = Apply(add, [null, null], [NullType("and so on"), DisconnectedType()])
    assert [str(out.type) for out in node.outputs] == ["NullType", "DisconnectedType"]


def test_shared_values_are_copied_unless_borrowed() -> None:
    @attrs.frozen
    class Lists(Type[list[int]]):
        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> list[int]:
            if not isinstance(value, list):
                raise TypeError(f"{value!r} is no list")
            return value

    mine = [1]
    shared = SharedVariable(Lists(), StorageCell(mine), "s")
    assert shared.get_value(borrow=True) is mine
    assert shared.get_value() == [1]
    assert shared.get_value() is not mine
    other = [2]
    shared.set_value(other)
    other.append(3)
    assert shared.get_value() == [2]
    shared.set_value(other, borrow=True)
    assert shared.get_value(borrow=True) is other
    with pytest.raises(TypeError, match="5 is no list"):
        shared.set_value(5)
    assert shared.get_value() == [2, 3]


def test_a_shared_variable_copies_deeply_with_its_cell() -> None:
    shared = SharedVariable(NUMBER, StorageCell(1.0), "s")
    a, b = copy.deepcopy([shared, shared])
    assert a is b
    a.set_value(2.0)
    assert (shared.get_value(), a.get_value(), a.name) == (1.0, 2.0, "s")
    restored = pickle.loads(pickle.dumps(shared))
    assert (restored.get_value(), restored.name, restored.type) == (1.0, "s", NUMBER)
    with restored.cell.lock:
        restored.set_value(3.0)  # the lock is reentrant


def test_a_cell_has_a_lock_of_its_own() -> None:
    cell = StorageCell(0)

    def count() -> None:
        for _ in range(2000):
            with cell.lock:
                cell.value += 1

    threads = [threading.Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cell.value == 16000
