"""Types and Ops are values: frozen, equal by all that they carry, exactly."""

import copy
import gc
import math
import pickle
import struct
import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import attrs
import cloudpickle
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import Apply, Op, OutputStorage, Type
from tests.ir.graph.toys import NUMBER, Add, Number, Power, Scale, number

FROZEN = attrs.exceptions.FrozenInstanceError


class Toy(Op[..., Any]):
    """Does nothing; a base for the classes below."""

    def make_node(self, *args: Any) -> Apply[Any]:
        return Apply(self, args, [NUMBER])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = 0.0


class WithProps(Toy):
    __props__ = ("k",)

    def __init__(self, k: object) -> None:
        self.k = k


class WithoutProps(Toy):
    def __init__(self, k: object) -> None:
        self.k = k


class Extended(WithoutProps):
    """A chain of __init__, each setting attributes of its own."""

    __props__ = ("k", "more")

    def __init__(self, k: object, more: object) -> None:
        super().__init__(k)
        self.more = more


class ForgetsAProperty(Toy):
    __props__ = ()

    def __init__(self, k: object) -> None:
        self.k = k


class WithSlots(Toy):
    __slots__ = ("__private", "k")

    def __init__(self, k: object) -> None:
        self.k = k
        self.__private = k


@attrs.frozen
class WithAttrs(Toy):
    k: Any


@attrs.frozen(slots=False)
class WithAttrsAndDict(Toy):
    k: Any


@attrs.define
class Defined(Toy):
    """attrs' other decorator, whose classes are not frozen by themselves."""

    k: Any = attrs.field(validator=lambda *_: None)


@dataclass(frozen=True)
class WithDataclass(Toy):
    k: Any


@dataclass
class WithOpenDataclass(WithAttrs):
    k: Any


class TutorialOnAttrs(WithAttrs):
    def __init__(self, k: object) -> None:
        super().__init__(k)
        self.extra = k


@attrs.frozen
class AttrsOnTutorial(WithProps):
    k: Any


KINDS = [
    WithProps,
    WithoutProps,
    ForgetsAProperty,
    WithSlots,
    WithAttrs,
    WithAttrsAndDict,
    Defined,
    TutorialOnAttrs,
    AttrsOnTutorial,
    WithDataclass,
    WithOpenDataclass,
    lambda k: Extended(k, 0),
    lambda k: Extended(0, k),
]


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize("name", ["k", "extra", "anything", "default_output", "__props__", "_canonical"])
def test_no_attribute_of_an_op_can_be_set_or_deleted(make: Any, name: str) -> None:
    op = make(1)
    op(number())  # its identity is in use by now
    before = op.properties()
    with pytest.raises(FROZEN):
        setattr(op, name, 2)
    with pytest.raises(FROZEN):
        delattr(op, name)
    assert op.properties() == before


def test_the_error_says_what_was_tried() -> None:
    with pytest.raises(FROZEN) as caught:
        Scale(2.0).factor = 3.0
    assert caught.value.__notes__ == ["Scale objects are frozen once __init__ has returned: 'factor' cannot be set"]


def test_an_op_whose_init_failed_is_not_left_open() -> None:
    seen: list[Any] = []

    class Fails(Toy):
        def __init__(self) -> None:
            seen.append(self)
            self.k = 1
            raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        Fails()
    with pytest.raises(FROZEN):
        seen[0].k = 2


@pytest.mark.parametrize("make", KINDS)
def test_equality_and_hash_follow_what_an_op_carries(make: Any) -> None:
    assert make(1) == make(1)
    assert hash(make(1)) == hash(make(1))
    assert make(1) != make(2)
    assert not (make(1) != make(1))  # noqa: SIM202 -- __ne__ has to agree
    assert len({make(1), make(1), make(2)}) == 2


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1, 1.0),
        (1, True),
        (0.0, -0.0),
        (complex(0.0, 0.0), complex(0.0, -0.0)),
        ("1", b"1"),
        ((1, 2), (1, 2.0)),
        ((0.0,), (-0.0,)),
        (frozenset({1}), frozenset({True})),
        (np.float32(1), np.float64(1)),
        (np.dtype("float32"), np.dtype("float64")),
        ((), None),
        (Scale(0.0), Scale(-0.0)),
        (math.nan, struct.unpack("d", struct.pack("Q", 0x7FF8000000000001))[0]),
    ],
)
def test_what_a_computation_can_tell_apart_is_not_equal(make: Any, a: object, b: object) -> None:
    assert make(a) != make(b)
    x = number()
    assert make(a)(x) is not make(b)(x)
    assert make(a)(x) is make(a)(x)


@pytest.mark.parametrize("make", KINDS)
@pytest.mark.parametrize(
    "value", [lambda: float("nan"), lambda: (float("nan"), 1), lambda: np.float64("nan"), lambda: Scale(float("nan"))]
)
def test_not_a_number_equals_itself(make: Any, value: Any) -> None:
    first, second = make(value()), make(value())
    assert first == second
    assert hash(first) == hash(second)
    assert pickle.loads(pickle.dumps(first)) == first


def test_an_op_that_forgets_a_property_gives_each_its_own_result() -> None:
    class AddK(Op[..., Any]):
        __props__ = ()
        itypes = [NUMBER]
        otypes = [NUMBER]

        def __init__(self, k: int) -> None:
            self.k = k

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            output_storage[0][0] = inputs[0] + self.k

    x = number("x")
    assert [AddK(k)(x).eval({x: 0.0}) for k in (1, 2)] == [1.0, 2.0]


@pytest.mark.parametrize("value", [[1], {"a": 1}, {1}, np.array([1]), bytearray(b"a")])
@pytest.mark.parametrize("make", [WithProps, WithAttrs, WithAttrsAndDict])
def test_a_property_that_may_change_is_refused(make: Any, value: object) -> None:
    with pytest.raises(TypeError, match=f"the property 'k' is a {type(value).__name__}, which may change"):
        make(value)(number())


@pytest.mark.parametrize("value", [[1], {"a": [1]}, {1}, np.array([1.0]), np.array([None])])
def test_an_attribute_that_is_no_property_is_compared_by_content(value: object) -> None:
    assert WithoutProps(value) == WithoutProps(copy.deepcopy(value))
    assert WithoutProps(value) != WithoutProps([2])


def test_arrays_are_compared_by_dtype_shape_and_bits() -> None:
    zeros = np.zeros((2, 3))
    for other in (zeros.astype("float32"), zeros.reshape(3, 2), -zeros):
        assert WithoutProps(zeros) != WithoutProps(other)
    assert WithoutProps(np.array([np.nan])) == WithoutProps(np.array([np.nan]))


def test_an_attribute_that_cannot_be_compared_is_named() -> None:
    class Opaque:
        __hash__ = None  # type: ignore[assignment]  # on purpose

    with pytest.raises(TypeError) as caught:
        hash(WithoutProps(Opaque()))
    assert caught.value.__notes__ == ["in the attribute 'k' of WithoutProps, which is part of its identity"]


def test_an_equality_of_ones_own_is_respected() -> None:
    class CaseInsensitive(WithoutProps):
        def __eq__(self, other: object) -> bool:
            return isinstance(other, CaseInsensitive) and str(self.k).lower() == str(other.k).lower()

        def __hash__(self) -> int:
            return hash(str(self.k).lower())

    x = number()
    assert CaseInsensitive("A")(x) is CaseInsensitive("a")(x)
    assert CaseInsensitive("A")(x) is not CaseInsensitive("b")(x)
    op = CaseInsensitive("A")
    op(x)
    gone = weakref.ref(op)
    del op
    gc.collect()
    assert gone() is None


def test_an_equality_without_a_hash_is_refused() -> None:
    with pytest.raises(TypeError, match="Half defines __eq__ without __hash__"):

        class Half(Toy):
            def __eq__(self, other: object) -> bool:
                return self is other


def test_what_is_declared_to_be_no_identity_is_passed_over() -> None:
    class Threads(Toy):
        not_identity = frozenset({"threads"})

        def __init__(self, k: int, threads: int) -> None:
            self.k = k
            self.threads = threads

    @attrs.frozen
    class Noted(Toy):
        k: int
        note: str = attrs.field(eq=False)

    @attrs.frozen(slots=False)
    class NotedToo(Toy):
        k: int
        note: str = attrs.field(eq=False)

    assert Threads(1, 2) == Threads(1, 3) != Threads(2, 3)
    assert hash(Threads(1, 2)) == hash(Threads(1, 3))
    assert Noted(1, "a") == Noted(1, "b") != Noted(2, "b")
    assert NotedToo(1, "a") == NotedToo(1, "b") != NotedToo(2, "b")


class Remembers(WithoutProps):
    @cached_property
    def plan(self) -> list[object]:
        return [self.k]


@attrs.frozen
class RemembersInASlot(Toy):
    k: Any

    @cached_property
    def plan(self) -> list[object]:
        return [self.k]


@pytest.mark.parametrize("make", [Remembers, RemembersInASlot])
def test_what_a_cached_property_remembers_is_no_part_of_the_identity(make: Any) -> None:
    fresh, used = make(1), make(1)
    assert used.plan is used.plan
    assert fresh == used
    restored = pickle.loads(pickle.dumps(used))
    assert restored == fresh
    assert restored.plan == [1]


class Shares(Toy):
    """In the oldest style: no property, no attribute."""


def test_instances_of_different_classes_differ() -> None:
    assert Shares() == Shares()
    assert Shares() != Add()
    assert WithProps(1) != ForgetsAProperty(1)
    assert Scale(1.0) != 1.0


@pytest.mark.parametrize(
    "op",
    [
        WithProps(1),
        Extended((1, 2), 3),
        WithoutProps([1]),
        WithSlots(1),
        WithAttrs(1),
        WithAttrsAndDict(1),
        Defined(1),
        TutorialOnAttrs(1),
        AttrsOnTutorial(1),
        WithDataclass(1),
        WithOpenDataclass(1),
        Remembers(1),
        Shares(),
        NUMBER,
        Power(2),
    ],
)
def test_copies_and_pickles_are_equal_and_frozen(op: Any) -> None:
    hash(op)
    for protocol in range(2, pickle.HIGHEST_PROTOCOL + 1):
        restored = pickle.loads(pickle.dumps(op, protocol))
        assert restored == op
        assert hash(restored) == hash(op)
        assert restored.properties() == op.properties()
        with pytest.raises(FROZEN):
            restored.k = 5
    for restored in (copy.copy(op), copy.deepcopy(op), cloudpickle.loads(cloudpickle.dumps(op))):
        assert restored == op
        assert hash(restored) == hash(op)


def test_a_subclass_in_the_tutorials_style_of_an_attrs_op_pickles_whole() -> None:
    restored = pickle.loads(pickle.dumps(TutorialOnAttrs(3)))
    assert (restored.k, restored.extra) == (3, 3)


def test_values_are_collected() -> None:
    op = WithProps((1, 2, 3))
    other = WithProps((1, 2, 3))
    op(number())
    assert op == other
    gone = weakref.ref(op)
    del op
    gc.collect()
    # The first of equal values stands for the others as long as they live, no longer.
    assert gone() is not None
    del other
    gc.collect()
    assert gone() is None


def test_a_value_alone_goes_without_the_garbage_collector() -> None:
    gc.collect()
    gc.disable()
    try:
        op = WithProps("alone")
        hash(op)
        gone = weakref.ref(op)
        del op
        assert gone() is None
    finally:
        gc.enable()


def test_printing_shows_the_properties() -> None:
    assert str(WithProps((1, 2))) == "WithProps{k=(1, 2)}"
    assert repr(Extended(1, 2)) == "Extended{k=1, more=2}"
    assert str(Shares()) == "Shares"
    assert str(Number("positive")) == "Number{sign=positive}"


def test_a_type_is_changed_by_clone() -> None:
    assert NUMBER.clone(sign="positive") == Number("positive")
    assert NUMBER.clone() == NUMBER


def test_no_class_becomes_a_value_by_registration() -> None:
    class Registered:
        pass

    Op.register(Registered)
    Type.register(Registered)
    assert not isinstance(Registered(), Op)
    assert not isinstance(Registered(), Type)


keys = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 2) | st.floats(-1, 1) | st.just(math.nan) | st.sampled_from(["", "a"]),
    lambda inner: st.tuples(inner, inner) | st.frozensets(inner, max_size=2) | st.builds(WithProps, inner),
    max_leaves=5,
)


def written(value: object) -> str:
    """A text that differs where values differ."""
    if isinstance(value, WithProps):
        return f"op({written(value.k)})"
    if isinstance(value, tuple):
        return f"tuple({', '.join(map(written, value))})"
    if isinstance(value, frozenset):
        return f"set({', '.join(sorted(map(written, value)))})"
    return f"{type(value).__name__}({value!r})"


@given(keys, keys)
def test_equality_is_exact(a: object, b: object) -> None:
    assert (WithProps(a) == WithProps(b)) is (written(a) == written(b))
    assert (WithAttrs(a) == WithAttrs(b)) is (written(a) == written(b))
    assert (WithoutProps(a) == WithoutProps(b)) is (written(a) == written(b))
