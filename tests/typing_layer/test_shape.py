"""Symbolic shapes: they equal the shapes that arrive, need as little as possible, and are remembered no longer than the Variable."""

import gc
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import ShapeNotInferred
from lamella.ir import (
    Apply,
    Constant,
    FunctionGraph,
    Op,
    Shape_i,
    TensorLike,
    TensorType,
    TensorVariable,
    Variable,
    as_tensor_variable,
    constant,
    lt,
)
from lamella.typing_layer import same_shape, static_shape, symbolic_shape
from tests.effort import calls_made
from tests.typing_layer.toys import array


def tensor(*shape: int | None, name: str = "x", dtype: str = "float64") -> TensorVariable:
    return TensorType(dtype, shape)(name)


x = tensor(None, None, name="x")
narrow = tensor(None, 3, name="narrow")
n = tensor(name="n", dtype="int64")

Step = Callable[[TensorVariable], TensorVariable]

STEPS: list[Step] = [
    lt.exp,
    lambda v: lt.add(v, v),
    lambda v: v.T,
    lambda v: v[1:],
    lambda v: v[::-2],
    lambda v: v[:, n:],
    lambda v: v[-3:n, ::2],
    lambda v: lt.stack([v, v])[0],
    lambda v: lt.concatenate([v, v[1:]], axis=0),
    lambda v: lt.concatenate([v, lt.zeros_like(v)], axis=1),
    lambda v: lt.reshape(v, (-1, 1)),
    lambda v: lt.reshape(v, (v.shape[1], v.shape[0])),
    lambda v: lt.dot(v, v.T),
    lambda v: lt.sum(v, axis=0, keepdims=True),
    lambda v: lt.alloc(1.0, v.shape[0], lt.exp(v).shape[1] + 1),
    lambda v: lt.cumsum(v, axis=1),
]


@given(
    st.lists(st.sampled_from(STEPS), min_size=1, max_size=5), st.integers(0, 4), st.integers(0, 4), st.integers(-4, 4)
)
def test_the_symbolic_shape_is_the_shape_that_arrives(steps: list[Step], rows: int, columns: int, bound: int) -> None:
    v = x
    for step in steps:
        v = step(v)
    values: dict[Variable[Any] | str, object] = {x: np.zeros((rows, columns)), n: bound}
    lengths = symbolic_shape(v)
    assert [length.type for length in lengths] == [TensorType("int64", ())] * v.ndim
    assert [int(length.eval(values)) for length in lengths] == list(v.eval(values).shape)
    for found, length in zip(static_shape(v), lengths, strict=True):
        assert found is None or found == int(length.eval(values))


def test_lengths_come_from_the_inputs() -> None:
    w = tensor(3, None, name="w")
    y = lt.exp(lt.dot(narrow, w))
    assert symbolic_shape(y) == (Shape_i(0)(narrow), Shape_i(1)(w))
    assert symbolic_shape(narrow) == (Shape_i(0)(narrow), constant(3, dtype="int64"))
    assert symbolic_shape(lt.sum(y)) == ()
    assert symbolic_shape(array("no tensor")) == ()


def test_a_length_that_is_a_length_of_something_computed_is_followed() -> None:
    made = lt.alloc(0.0, lt.exp(x.T).shape[0], lt.dot(narrow, narrow.T).shape[1])
    assert symbolic_shape(made) == (Shape_i(1)(x), Shape_i(0)(narrow))


def test_a_chain_of_lengths_of_what_lengths_made_is_followed() -> None:
    v = x
    for _ in range(300):
        v = lt.alloc(0.0, v.shape[0], lt.exp(v).shape[1])
    assert symbolic_shape(v) == (Shape_i(0)(x), Shape_i(1)(x))


def test_a_length_that_is_known_is_a_constant() -> None:
    v = lt.alloc(0.0, narrow.shape[1] * 2, n)
    assert static_shape(v) == (6, None)
    assert all(isinstance(length, Constant) for length in symbolic_shape(v)[:1])
    assert static_shape(lt.concatenate([narrow, narrow], axis=1)) == (None, 6)


def test_the_longest_of_two_lengths_does_not_run_in_circles() -> None:
    channel, alpha = tensor(None, name="channel"), tensor(None, name="alpha")
    length = lt.maximum(alpha.shape[0], channel.shape[0])
    v = lt.alloc(channel, length)
    (found,) = symbolic_shape(v)
    values: dict[Variable[Any] | str, object] = {channel: np.zeros(3), alpha: np.zeros(3)}
    assert int(found.eval(values)) == 3
    again = lt.alloc(v, lt.maximum(v.shape[0], symbolic_shape(v)[0]))
    assert int(symbolic_shape(again)[0].eval(values)) == 3
    assert int(as_tensor_variable(again.shape).eval(values)[0]) == 3


@attrs.frozen(repr=False)
class Shaped(Op[[TensorLike], TensorVariable]):
    """Doubles; says of its shape what it is told to."""

    name: str
    says: Callable[[Apply[Any], Sequence[tuple[Any, ...]]], Any] = attrs.field(eq=False)

    def make_node(self, v: TensorLike) -> Apply[TensorVariable]:
        v = as_tensor_variable(v)
        return Apply(self, [v], [TensorType("float64", (None,) * v.ndim)])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        output_storage[0][0] = 2 * inputs[0]

    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return self.says(node, shapes)  # type: ignore[no-any-return]  # it may say anything

    def __str__(self) -> str:
        return self.name


def not_inferred(node: Apply[Any], shapes: Sequence[tuple[Any, ...]]) -> Any:
    raise ShapeNotInferred("it depends")


def test_what_is_not_inferred_is_the_length_of_the_variable_itself() -> None:
    v = Shaped("unknown", not_inferred)(narrow)
    assert symbolic_shape(v) == (Shape_i(0)(v), Shape_i(1)(v))
    assert symbolic_shape(lt.exp(v)) == (Shape_i(0)(v), Shape_i(1)(v))


def test_an_op_may_say_python_integers_and_other_dtypes() -> None:
    small = tensor(name="small", dtype="int8")
    v = Shaped("dtype", lambda node, shapes: [(shapes[0][0], small)])(x)
    first, second = symbolic_shape(v)
    assert first is Shape_i(0)(x)
    assert second.type == TensorType("int64", ())
    assert static_shape(Shaped("number", lambda node, shapes: [(4, np.int8(5))])(x)) == (4, 5)


def test_an_op_that_speaks_of_its_own_output_does_not_run_in_circles() -> None:
    v = Shaped("own", lambda node, shapes: [(Shape_i(1)(node.outputs[0]) + 1, shapes[0][1])])(x)
    assert symbolic_shape(v) == (Shape_i(0)(v), Shape_i(1)(x))


def test_ops_that_speak_of_one_another_do_not_run_in_circles() -> None:
    later: list[TensorVariable] = []
    first = Shaped("first", lambda node, shapes: [(Shape_i(0)(later[0]), shapes[0][1])])(x)
    later.append(Shaped("second", lambda node, shapes: shapes)(lt.exp(first)))
    assert len(symbolic_shape(later[0])) == 2
    assert len(symbolic_shape(first)) == 2


@pytest.mark.parametrize(
    ("name", "says", "told"),
    [
        ("none", lambda node, shapes: [], "infer_shape of none returned 0 shapes for 1 outputs"),
        (
            "flat",
            lambda node, shapes: [(1,)],
            "infer_shape of flat returned 1 lengths for output 0, which has 2 dimensions",
        ),
        ("float", lambda node, shapes: [(1.5, 2)], "a length is an integer"),
    ],
)
def test_a_wrong_infer_shape_is_told(name: str, says: Any, told: str) -> None:
    with pytest.raises((TypeError, ValueError), match=told) as caught:
        symbolic_shape(Shaped(name, says)(x))
    assert any(f"node: {name}(x)" in note for note in caught.value.__notes__)


def test_infer_shape_is_asked_once_per_node() -> None:
    asked: list[Apply[Any]] = []

    def says(node: Apply[Any], shapes: Sequence[tuple[Any, ...]]) -> Any:
        asked.append(node)
        return shapes

    v = Shaped("asked", says)(x)
    for _ in range(3):
        symbolic_shape(lt.exp(v))
        symbolic_shape(v)
    assert len(asked) == 1


def test_the_same_shape_is_recognised() -> None:
    y = lt.exp(x)
    assert same_shape(y, lt.zeros_like(lt.sqr(x)))
    assert same_shape(tensor(2, 3), tensor(2, 3))
    assert not same_shape(y, y.T)
    assert not same_shape(y, lt.sum(y))
    assert not same_shape(x, tensor(None, None, name="other"))
    assert not same_shape(tensor(2, 3), tensor(2, 4))


def test_facts_are_forgotten_with_the_variable() -> None:
    def build() -> tuple[weakref.ref[Any], weakref.ref[Any], weakref.ref[Any]]:
        root = tensor(None, None, name="root")
        v = Shaped("unknown", not_inferred)(lt.exp(root))
        own = Shaped("own", lambda node, shapes: [(Shape_i(1)(node.outputs[0]) + 1, shapes[0][1])])(v)
        symbolic_shape(lt.reshape(own, (-1, own.shape[0])))
        return weakref.ref(root), weakref.ref(v), weakref.ref(own)

    references = build()
    for _ in range(5):  # what was remembered of one is free once that one is
        gc.collect()
    assert [reference() for reference in references] == [None, None, None]


def test_a_long_chain_costs_what_it_is_long_and_one_more_node_what_it_adds() -> None:
    def longer(v: TensorVariable, nodes: int) -> TensorVariable:
        for _ in range(nodes):
            v = lt.exp(v)
        return v

    short, long = longer(lt.cos(x), 2000), longer(lt.sin(x), 20_000)
    few, many, one = [calls_made(symbolic_shape, v) for v in (short, long, lt.exp(long))]
    assert symbolic_shape(long) == (Shape_i(0)(x), Shape_i(1)(x))
    assert 5 * few < many < 11 * few
    assert one < many / 1000
