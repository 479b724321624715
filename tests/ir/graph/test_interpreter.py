"""The reference interpreter: `eval`, and what its errors say."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.errors import MissingInputError, OutputTypeError
from lamella.ir import (
    Apply,
    Op,
    OutputStorage,
    SharedVariable,
    StorageCell,
    Type,
    Variable,
    evaluate,
    interpret,
    perform_node,
    toposort,
)
from tests.ir.graph.toys import NUMBER, NumberVariable, Scale, add, div_mod, double, graphs, number, square

Graph = tuple[list[NumberVariable], list[NumberVariable]]


class Lists(Type[list[float]]):
    """Values that can change."""

    __props__ = ()

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> list[float]:
        if not isinstance(value, list):
            raise TypeError(f"{value!r} is no list")
        return value

    def freeze(self, value: list[float]) -> list[float]:
        return list(value)


LIST = Lists()


class Append(Op[..., Any]):
    __props__ = ("inplace",)

    def __init__(self, inplace: bool = False) -> None:
        self.inplace = inplace
        if inplace:
            self.destroy_map = {0: [0]}

    def make_node(self, items: Variable[Lists], item: NumberVariable) -> Apply[Any]:
        return Apply(self, [items, item], [LIST])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        items, item = inputs
        result = items if self.inplace else [*items]
        result.append(item)
        output_storage[0][0] = result


class Same(Op[..., Any]):
    __props__ = ()
    view_map: Mapping[int, Sequence[int]] = {0: [0]}

    def make_node(self, items: Variable[Lists]) -> Apply[Any]:
        return Apply(self, [items], [LIST])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0] = inputs[0]


def test_eval() -> None:
    x, y = number("x"), number("y")
    total = add(double(x), y)
    assert total.eval({x: 2.0, y: 1}) == 5.0
    assert total.eval({"x": 2.0, y: 1}) == 5.0
    values = {x: 2.0, y: 1.0}
    assert total.eval(values) == 5.0
    assert x.eval({x: 3}) == 3.0
    assert NUMBER.make_constant(4.0).eval() == 4.0
    assert [out.eval({x: 7.0, y: 2.0}) for out in div_mod(x, y)] == [3.0, 1.0]


def test_any_variable_can_be_given() -> None:
    x, y = number("x"), number("y")
    doubled = double(x).named("doubled")
    assert square(doubled).eval({doubled: 3.0}) == 9.0
    assert square(doubled).eval({"doubled": 3.0}) == 9.0
    quotient, remainder = div_mod(x, y)
    assert add(quotient, remainder).eval({quotient: 10.0, x: 7.0, y: 4.0}) == 13.0


def test_values_that_are_not_needed_are_passed_over() -> None:
    x, y = number("x"), number("y")
    assert double(x).eval({x: 1.0, y: 5.0}) == 2.0


def test_a_missing_value_is_named() -> None:
    x, y = number("x"), number("y")
    with pytest.raises(MissingInputError, match=r"y of type Number\{sign=any\} has no value, and Add needs it"):
        add(x, y).eval({x: 1.0})
    with pytest.raises(MissingInputError, match="has no value, and the result needs it"):
        x.eval()
    with pytest.raises(MissingInputError, match="no variable of the graph is named 'z'"):
        add(x, y).eval({"z": 1.0})
    with pytest.raises(ValueError, match="2 variables of the graph are named 'x'; give the Variable itself"):
        add(x, number("x")).eval({"x": 1.0})


def test_a_value_that_does_not_fit_is_named() -> None:
    x = number("x")
    with pytest.raises(TypeError) as caught:
        double(x).eval({x: "text"})
    assert caught.value.__notes__ == ["as a value of x of type Number{sign=any}"]


def test_shared_variables_have_values_already() -> None:
    shared = SharedVariable(NUMBER, StorageCell(2.0), "s")
    assert double(shared).eval() == 4.0
    assert double(shared).eval({shared: 5.0}) == 10.0
    assert shared.get_value() == 2.0


def test_every_node_runs_once() -> None:
    class Counts(Scale):
        not_identity = frozenset({"calls"})

        def __init__(self) -> None:
            super().__init__(1.0)
            self.calls: list[float] = []

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            self.calls.append(inputs[0])
            super().perform(node, inputs, output_storage)

    counts, x = Counts(), number("x")
    once = counts(x)
    assert add(add(once, once), once).eval({x: 1.0}) == 3.0
    assert counts.calls == [1.0]


def test_no_value_that_was_given_or_stored_is_changed() -> None:
    items, item = LIST("items"), number("item")
    mine = [1.0]
    appended = Append(inplace=True)(items, item)
    assert appended.eval({items: mine, item: 2.0}) == [1.0, 2.0]
    assert mine == [1.0]
    constant = LIST.make_constant([1.0])
    assert Append(inplace=True)(constant, item).eval({item: 2.0}) == [1.0, 2.0]
    assert constant.data == [1.0]
    shared = SharedVariable(LIST, StorageCell([1.0]))
    assert Append(inplace=True)(shared, item).eval({item: 2.0}) == [1.0, 2.0]
    assert shared.get_value() == [1.0]


def test_results_are_the_callers_own() -> None:
    shared = SharedVariable(LIST, StorageCell([1.0]))
    constant = LIST.make_constant([1.0])
    items = LIST()
    mine = [1.0]
    for variable in (shared, constant, items, Same()(shared), Same()(constant), Same()(items)):
        result = variable.eval({items: mine})
        result.append(5.0)
        assert (shared.get_value(), constant.data, mine) == ([1.0], [1.0], [1.0])
    first, second, third = evaluate([items, items, Same()(items)], {items: mine})
    first.append(5.0)
    second.append(6.0)
    assert (second, third) == ([1.0, 6.0], [1.0])


def test_an_op_that_breaks_its_promise_is_named() -> None:
    class Wrong(Scale):
        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            output_storage[0][0] = 3

    class Forgets(Scale):
        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            pass

    x = number("x")
    declared = r"output 0 of Wrong\{factor=1.0\} is declared as Number\{sign=any\}, but perform stored 3 is no float"
    with pytest.raises(OutputTypeError, match=declared):
        Wrong(1.0)(x).eval({x: 1.0})
    with pytest.raises(OutputTypeError, match="perform stored None is no float"):
        Forgets(1.0)(x).eval({x: 1.0})


def test_an_error_keeps_its_class_and_says_where_it_came_from() -> None:
    x, y = number("x"), number()
    quotient, _ = div_mod(x, y)  # the line to find
    with pytest.raises(ZeroDivisionError) as caught:
        double(quotient).eval({x: 1.0, y: 0.0})
    (note,) = caught.value.__notes__
    first, second, third, origin = note.splitlines()
    assert first == "node: DivMod(x, Number{sign=any})"
    assert second == "  input 0: x, Number{sign=any}, float"
    assert third == "  input 1: unnamed, Number{sign=any}, float"
    found = re.fullmatch(r"built at (.*):(\d+), in (.*)", origin)
    assert found is not None
    assert (found[1], found[3]) == (__file__, "test_an_error_keeps_its_class_and_says_where_it_came_from")
    with open(__file__) as source:
        assert "# the line to find" in source.readlines()[int(found[2]) - 1]


def test_arrays_are_described_by_shape_and_strides() -> None:
    class Arrays(Type[Any]):
        __props__ = ()

        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
            return np.asarray(value)

    class Fails(Op[..., Any]):
        __props__ = ()
        itypes = [Arrays()]
        otypes = [NUMBER]

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            raise RuntimeError("stop")

    a = Arrays()("a")
    with pytest.raises(RuntimeError) as caught:
        Fails()(a).eval({a: np.zeros((2, 3))})
    assert "  input 0: a, Arrays, shape (2, 3), strides (24, 8)" in caught.value.__notes__[0]


def test_nodes_and_graphs_can_be_run_by_hand() -> None:
    x, y = number("x"), number("y")
    quotient, remainder = div_mod(x, y)
    node = quotient.owner
    assert node is not None
    assert perform_node(node, [7.0, 2.0]) == [3.0, 1.0]
    assert interpret([x, y], [remainder, quotient, x], [7.0, 2.0]) == [1.0, 3.0, 7.0]
    order = toposort([quotient])
    assert interpret([x, y], [quotient], [7.0, 2.0], order) == [3.0]
    assert interpret([], [], []) == []
    with pytest.raises(ValueError, match="zip"):
        interpret([x, y], [quotient], [1.0])


def plain(variable: Variable[Any], values: Mapping[Any, float]) -> float:
    """The value by plain recursion."""
    if variable in values:
        return values[variable]
    if variable.owner is None:
        return float(variable.stored_value())
    storage: list[list[Any]] = [[None] for _ in variable.owner.outputs]
    variable.owner.op.perform(variable.owner, [plain(i, values) for i in variable.owner.inputs], storage)
    return float(storage[variable.index or 0][0])


@given(graphs(), st.lists(st.integers(-3, 3), min_size=3, max_size=3))
def test_values_agree_with_plain_recursion(graph: Graph, numbers: list[int]) -> None:
    inputs, variables = graph
    values = {v: float(n) for v, n in zip(inputs, numbers, strict=False)}
    assert evaluate(variables, values) == [plain(v, values) for v in variables]
