"""Variables, Constants and Apply nodes: frozen, interned, made by the rules."""

import copy
import gc
import inspect
import math
import pickle
import struct
import threading
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import attrs
import cloudpickle
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lamella.ir import (
    Apply,
    Constant,
    FunctionGraph,
    Op,
    OutputStorage,
    SharedVariable,
    StorageCell,
    Type,
    Variable,
    interned_nodes,
)
from tests.ir.graph.toys import (
    NUMBER,
    POSITIVE,
    Add,
    DivMod,
    Number,
    NumberVariable,
    Power,
    Scale,
    add,
    chain,
    div_mod,
    double,
    number,
    square,
)

FROZEN = attrs.exceptions.FrozenInstanceError


def things() -> list[Any]:
    x = number("x")
    y = add(x, x)
    assert y.owner is not None
    return [
        x,
        y,
        NUMBER.make_constant(1.0, "one"),
        SharedVariable(NUMBER, StorageCell(1.0), "s"),
        y.owner,
        y.owner.origin,
        FunctionGraph([x], [y]),
    ]


@pytest.mark.parametrize("thing", things(), ids=lambda thing: type(thing).__name__)
def test_nothing_of_a_graph_can_be_set_or_deleted(thing: Any) -> None:
    readable = [name for name in dir(thing) if not name.startswith("__")]
    assert len(readable) > 2
    for name in [*readable, "tag", "anything"]:
        before = getattr(thing, name, None)
        with pytest.raises(FROZEN):
            setattr(thing, name, None)
        with pytest.raises(FROZEN):
            delattr(thing, name)
        after = getattr(thing, name, None)
        assert after is before or after == before
    assert not hasattr(thing, "__dict__")


def test_sequences_of_a_node_are_tuples() -> None:
    quotient, _ = div_mod(number(), number())
    node = quotient.owner
    assert node is not None
    fgraph = FunctionGraph(node.inputs, node.outputs)
    assert all(type(part) is tuple for part in (node.inputs, node.outputs, fgraph.inputs, fgraph.outputs))


# -- interning


def test_the_same_application_is_the_same_node() -> None:
    x, y = number("x"), number("y")
    assert add(x, y) is add(x, y)
    assert Add()(x, y) is add(x, y)
    assert add(x, y) is not add(y, x)
    assert Scale(2.0)(x) is double(x)
    assert Scale(3.0)(x) is not double(x)
    assert Power(2)(x) is square(x)
    assert Power(2.0)(x) is not square(x)
    assert div_mod(x, y)[1] is DivMod()(x, y)[1]


def test_inputs_are_never_the_same() -> None:
    assert number("x") is not number("x")
    assert add(number("x"), number("x")) is not add(number("x"), number("x"))


def test_output_types_are_part_of_the_identity() -> None:
    x = number()
    assert Apply(add, [x, x], [NUMBER]) is not Apply(add, [x, x], [POSITIVE])
    assert Apply(add, [x, x], [NUMBER]) is Apply(add, [x, x], [Number("any")])
    assert Apply(add, [x, x], [NUMBER]) is not Apply(add, [x, x], [NUMBER, NUMBER])


def test_names_are_part_of_the_identity_and_mean_nothing() -> None:
    x = number("x")
    y = add(x, x)
    loss = y.named("loss")
    assert loss is not y
    assert (loss.name, y.name) == ("loss", None)
    assert loss.type == y.type
    assert loss.owner is not y.owner
    assert loss is y.named("loss") is loss.named("loss")
    assert loss.named(None) is y
    assert loss.eval({x: 2.0}) == y.eval({x: 2.0}) == 4.0


def test_named_gives_roots_another_name() -> None:
    x = number("x")
    renamed = x.named("y")
    assert (renamed.name, renamed.type, renamed.owner) == ("y", x.type, None)
    one = NUMBER.make_constant(1.0)
    assert one.named("one") is NUMBER.make_constant(1.0, "one")
    shared = SharedVariable(NUMBER, StorageCell(1.0), "s")
    again = shared.named("t")
    assert isinstance(again, SharedVariable)
    assert again.cell is shared.cell


def test_named_renames_one_output_of_several() -> None:
    x, y = number("x"), number("y")
    quotient, remainder = div_mod(x, y)
    assert (quotient.name, remainder.name) == ("quotient", "remainder")
    rest = remainder.named("rest")
    assert rest.index == 1
    assert rest.owner is not None
    assert [out.name for out in rest.owner.outputs] == ["quotient", "rest"]


def nan(payload: int) -> float:
    (value,) = struct.unpack("d", struct.pack("Q", 0x7FF8000000000000 | payload))
    assert isinstance(value, float)
    return value


def test_constants_are_interned_by_their_bits() -> None:
    constant = NUMBER.make_constant
    assert constant(1.0) is constant(1)
    assert constant(0.0) is not constant(-0.0)
    assert math.copysign(1.0, constant(-0.0).data) == -1.0
    assert constant(nan(0)) is constant(nan(0))
    assert constant(nan(0)) is not constant(nan(1))
    assert constant(1.0) is not constant(1.0, "one")
    assert constant(1.0, "one") is constant(1.0, "one")
    assert constant(1.0) is not POSITIVE.make_constant(1.0)
    assert Constant(NUMBER, 1.0) is constant(1.0)


def test_constants_without_a_key_are_all_different() -> None:
    @attrs.frozen
    class Anything(Type[object]):
        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> object:
            return value

    held = object()
    assert Anything().make_constant(held) is not Anything().make_constant(held)
    assert Anything().make_constant("a") is Anything().make_constant("a")
    assert Anything().make_constant(1) is not Anything().make_constant(True)
    assert Anything().make_constant(complex(0.0, 0.0)) is not Anything().make_constant(complex(0.0, -0.0))


@given(st.floats(), st.floats())
def test_two_constants_are_one_if_their_values_have_the_same_bits(a: float, b: float) -> None:
    same_bits = struct.pack("d", a) == struct.pack("d", b)
    assert (NUMBER.make_constant(a) is NUMBER.make_constant(b)) is same_bits


def test_a_constant_holds_a_frozen_copy() -> None:
    class Lists(Type[tuple[int, ...]]):
        __props__ = ()

        def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> tuple[int, ...]:
            return value  # type: ignore[no-any-return]  # a list may pass

        def freeze(self, value: tuple[int, ...]) -> tuple[int, ...]:
            return tuple(value)

    mine = [1, 2]
    constant = Lists().make_constant(mine)
    mine.append(3)
    assert constant.data == (1, 2)


def test_dropped_graphs_are_collected() -> None:
    gc.collect()
    before = interned_nodes()
    x = number("x")
    deep = chain(2000, x, x)
    wide = [Scale(float(k))(x) for k in range(2000)]
    assert interned_nodes() == before + 4000
    last = weakref.ref(deep)
    del deep, wide
    gc.collect()
    assert last() is None
    assert interned_nodes() <= before


def test_a_node_is_kept_by_any_of_its_outputs() -> None:
    quotient, remainder = div_mod(number(), number())
    node = weakref.ref(quotient.owner)
    del quotient
    gc.collect()
    assert node() is remainder.owner


def test_dropped_constants_are_collected() -> None:
    constant = NUMBER.make_constant(123.25)
    gone = weakref.ref(constant)
    del constant
    gc.collect()
    assert gone() is None


def test_a_node_made_again_after_its_death_is_another() -> None:
    x = number("x")
    for _ in range(5):
        node = add(x, x).owner
        assert node is not None
        assert node.inputs == (x, x)
        assert interned_nodes() > 0
        del node
        gc.collect()


def test_no_node_passes_for_one_whose_parts_had_its_addresses() -> None:
    # Fresh Types, Ops and inputs are made at the addresses of dead ones.
    for i in range(500):
        x = Number("any" if i % 2 else "positive")()
        y = Scale(float(i))(x)
        assert y.owner is not None
        assert y.owner.inputs == (x,)
        assert y.owner.op == Scale(float(i))
        del x, y
        if i % 50 == 0:
            gc.collect()


def in_threads(work: Callable[[], Any], count: int = 8) -> list[Any]:
    barrier = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(place: int) -> None:
        barrier.wait()
        results[place] = work()

    threads = [threading.Thread(target=run, args=(place,)) for place in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_threads_that_build_equal_graphs_get_the_same_nodes() -> None:
    x = number("x")

    def build() -> tuple[object, ...]:
        y = x
        for i in range(3000):
            y = Add()(y, NUMBER.make_constant(float(i % 7)))
            y = Scale(float(i % 5))(y)
        return y, *div_mod(y, x)

    results = in_threads(build)
    assert all(mine == results[0] for mine in results)  # Variables compare by identity


def test_threads_that_build_and_drop_never_get_a_wrong_node() -> None:
    x = number("x")

    def build() -> list[str]:
        wrong = []
        for i in range(4000):
            y = Scale(float(i % 3))(add(x, x))
            if y.owner is None or y.owner.op != Scale(float(i % 3)) or y.owner.inputs != (add(x, x),):
                wrong.append(str(y))
            del y
            if i % 500 == 0:
                gc.collect(0)
        return wrong

    assert in_threads(build) == [[]] * 8


# -- where a node comes from


def here() -> int:
    frame = inspect.currentframe()
    assert frame is not None
    assert frame.f_back is not None
    return frame.f_back.f_lineno


def test_a_node_knows_the_line_that_built_it() -> None:
    y, line = add(number(), number()), here()
    assert y.owner is not None
    origin = y.owner.origin
    assert origin is not None
    assert (origin.filename, origin.line) == (__file__, line)
    assert origin.function == "test_a_node_knows_the_line_that_built_it"
    assert str(origin) == f"{__file__}:{line}, in test_a_node_knows_the_line_that_built_it"


def test_the_line_is_the_first_one_and_no_part_of_the_identity() -> None:
    x = number()
    first, line = add(x, x), here()
    again = add(x, x)
    assert again is first
    assert again.owner is not None
    assert again.owner.origin is not None
    assert again.owner.origin.line == line


def test_what_replaces_a_node_keeps_its_line() -> None:
    x, y = number(), number()
    node, line = add(x, x).owner, here()
    assert node is not None
    clone = node.clone_with_new_inputs([y, y])
    assert clone.origin == node.origin
    assert clone.origin is not None
    assert clone.origin.line == line


# -- making nodes


def test_outputs_are_made_from_templates() -> None:
    x = number("x")
    template = NUMBER("named")
    node = Apply(add, [x, x], [NUMBER, template])
    assert [(out.type, out.name, out.index) for out in node.outputs] == [(NUMBER, None, 0), (NUMBER, "named", 1)]
    assert all(out.owner is node for out in node.outputs)
    assert template.owner is None
    assert (node.nin, node.nout) == (2, 2)


@pytest.mark.parametrize(
    ("inputs", "outputs", "error", "message"),
    [
        (
            lambda x: [1.5],
            lambda x: [NUMBER],
            TypeError,
            "the inputs of an Apply node are Variables, but Add was given 1.5",
        ),
        (
            lambda x: [x],
            lambda x: ["float"],
            TypeError,
            "an output is described by a Type or a Variable, not by 'float'",
        ),
        (lambda x: [x], lambda x: [x], ValueError, "the output template x is an input of the node; pass its type"),
        (lambda x: [x], lambda x: [add(x, x)], ValueError, "is the output of another node; pass its type"),
        (lambda x: 1, lambda x: [NUMBER], TypeError, "not iterable"),
    ],
)
def test_a_node_that_breaks_the_rules_is_refused(inputs: Any, outputs: Any, error: Any, message: str) -> None:
    x = number("x")
    with pytest.raises(error, match=message):
        Apply(add, inputs(x), outputs(x))


def test_a_type_has_to_make_outputs_of_itself() -> None:
    class Odd(Number):
        def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> Any:
            return NUMBER.make_output(owner, index, name)

    with pytest.raises(TypeError, match=r"make_output of Odd.* made a Variable of the type Number"):
        Apply(add, [number()], [Odd()])


def test_a_type_may_have_variables_of_its_own_class() -> None:
    class OwnVariable(Variable["Own"]):
        __slots__ = ()

    @attrs.frozen
    class Own(Number):
        def make_variable(self, name: str | None = None) -> OwnVariable:
            return OwnVariable(self, None, None, name)

        def make_output(self, owner: Apply[Any], index: int, name: str | None = None) -> OwnVariable:
            return OwnVariable(self, owner, index, name)

    x = Own()("x")
    y = Apply(add, [x, x], [x.type, x.type()]).outputs
    assert [type(out) for out in y] == [OwnVariable, OwnVariable]
    assert type(y[0].named("y")) is OwnVariable
    assert type(x.named("y")) is OwnVariable


def test_itypes_and_otypes_make_nodes() -> None:
    x = number("x")
    node = double.make_node(x)
    assert node.inputs == (x,)
    assert node.out.type == NUMBER
    constant = double.make_node(2.0).inputs[0]  # type: ignore[arg-type]  # converted, as in the tutorial
    assert constant is NUMBER.make_constant(2.0)
    with pytest.raises(TypeError, match=r"Scale\{factor=2.0\} takes 1 inputs, not 2"):
        double(x, x)  # type: ignore[call-arg]  # on purpose
    with pytest.raises(TypeError, match="takes 1 inputs, not 0"):
        double()  # type: ignore[call-arg]  # on purpose
    with pytest.raises(TypeError):
        double("text")  # type: ignore[arg-type]  # on purpose


def test_an_op_says_what_its_nodes_are() -> None:
    class Nothing(Op[..., Any]):
        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            pass

    with pytest.raises(TypeError, match="Nothing defines neither make_node nor itypes and otypes"):
        Nothing()(number())


def test_an_op_without_perform_cannot_be_made() -> None:
    class Abstract(Op[..., Any]):
        pass

    with pytest.raises(TypeError, match="abstract"):
        Abstract()  # type: ignore[abstract]  # on purpose


def test_a_call_returns_the_default_output() -> None:
    class Quotient(DivMod):
        default_output = 0

    x, y = number(), number()
    assert isinstance(div_mod(x, y), tuple)
    quotient: Any = Quotient()(x, y)
    assert quotient.index == 0
    assert quotient.owner.default_output() is quotient
    node = div_mod.make_node(x, y)
    with pytest.raises(ValueError, match="has 2 outputs"):
        node.default_output()
    with pytest.raises(ValueError, match="has 2 outputs"):
        _ = node.out
    assert add.make_node(x, y).default_output() is add(x, y)


# -- other inputs


def test_a_clone_on_inputs_of_the_same_types_keeps_types_and_names() -> None:
    x, y = number("x"), number("y")
    node = Apply(add, [x, x], [POSITIVE("p")])
    clone = node.clone_with_new_inputs([y, x])
    assert clone.inputs == (y, x)
    assert (clone.out.type, clone.out.name) == (POSITIVE, "p")
    assert node.clone_with_new_inputs([x, x]) is node


def test_a_clone_on_narrower_inputs_narrows_the_outputs() -> None:
    x, p = number("x"), POSITIVE("p")
    node = add(x, x).named("sum").owner
    assert node is not None
    assert node.out.type == NUMBER
    assert node.clone_with_new_inputs([p, p]).out.type == POSITIVE
    assert node.clone_with_new_inputs([p, p]).out.name == "sum"
    assert node.clone_with_new_inputs([p, x]).out.type == NUMBER


def test_a_clone_never_widens_the_outputs() -> None:
    x, p = number("x"), POSITIVE("p")
    declared = Apply(add, [x, p], [POSITIVE])
    assert declared.clone_with_new_inputs([p, p]).out.type == POSITIVE
    made_wider = Apply(square, [x], [POSITIVE])
    assert made_wider.clone_with_new_inputs([p]).out.type == POSITIVE


def test_a_clone_on_wider_inputs_is_refused() -> None:
    x, p = number("x"), POSITIVE("p")
    node = add(p, p).owner
    assert node is not None
    with pytest.raises(TypeError, match=r"x has the type Number\{sign=any\}, which is no Number\{sign=positive\}"):
        node.clone_with_new_inputs([x, p])
    with pytest.raises(TypeError, match="takes 2 inputs here, not 1"):
        node.clone_with_new_inputs([p])


def test_a_clone_converts_inputs_where_it_may() -> None:
    class Magnitude(Op[[NumberVariable], NumberVariable]):
        __props__ = ()

        def make_node(self, x: NumberVariable) -> Apply[NumberVariable]:
            return Apply(self, [x], [CONVERTING])

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            output_storage[0][0] = abs(inputs[0])

    @attrs.frozen
    class Converting(Number):
        def convert_variable(self, variable: Variable[Any]) -> Variable[Any] | None:
            return Magnitude()(variable) if isinstance(variable.type, Number) else None

    CONVERTING = Converting("positive")
    x, p = number("x"), CONVERTING("p")
    node = add(p, p).owner
    assert node is not None
    converted = node.clone_with_new_inputs([x, p], strict=False)
    assert converted.inputs == (Magnitude()(x), p)
    with pytest.raises(TypeError):
        node.clone_with_new_inputs([x, p], strict=True)


# -- copies, pickles, text


def test_copies_of_nodes_are_the_nodes() -> None:
    x = number("x")
    y = add(x, x)
    for thing in (x, y, y.owner, NUMBER.make_constant(1.0), FunctionGraph([x], [y])):
        assert copy.copy(thing) is thing
        assert copy.deepcopy(thing) is thing
        assert copy.deepcopy([thing, thing])[1] is thing


@pytest.mark.parametrize("dumps", [pickle.dumps, cloudpickle.dumps])
def test_pickles_have_the_same_structure(dumps: Callable[[object], bytes]) -> None:
    x, y = number("x"), number("y")
    quotient, remainder = div_mod(add(x, y), NUMBER.make_constant(2.0))
    remainder = remainder.named("r")
    x2, r2, q2 = pickle.loads(dumps([x, remainder, quotient]))
    assert x2 is not x
    assert (r2.name, r2.index, q2.index) == ("r", 1, 0)
    assert r2.owner.op == div_mod
    assert r2.owner.inputs == q2.owner.inputs
    total, two = r2.owner.inputs
    assert two is NUMBER.make_constant(2.0)
    assert total.owner.inputs[0] is x2
    assert total.owner.inputs[1].name == "y"
    assert remainder.owner is not None
    assert r2.owner.origin == remainder.owner.origin
    assert r2.eval({x2: 3.0, "y": 2.0}) == 1.0


def test_a_pickle_of_a_node_is_a_node() -> None:
    x = number("x")
    node = DivMod().make_node(x, x)
    restored = pickle.loads(pickle.dumps(node))
    assert restored.op == node.op
    assert restored.nout == 2
    assert restored.inputs[0] is restored.inputs[1]
    without_outputs = Apply(add, [x], [])
    assert pickle.loads(pickle.dumps(without_outputs)).nout == 0


def test_a_constant_survives_pickling_as_itself() -> None:
    for value in (0.0, -0.0, nan(3), math.inf):
        constant = NUMBER.make_constant(value, "c")
        assert pickle.loads(pickle.dumps(constant)) is constant


def test_a_pickled_graph_of_roots_that_exist_is_that_graph() -> None:
    one = NUMBER.make_constant(1.0)
    y = add(one, one)
    assert pickle.loads(pickle.dumps(y)) is y


def test_shared_variables_keep_their_cell_within_a_pickle() -> None:
    shared = SharedVariable(NUMBER, StorageCell(5.0), "s")
    again = shared.named("t")
    a, b, total = pickle.loads(pickle.dumps((shared, again, add(shared, again))))
    assert a.cell is b.cell
    assert a.cell is not shared.cell
    assert total.owner.inputs == (a, b)
    assert total.eval() == 10.0
    duplicate = copy.deepcopy(shared)
    duplicate.set_value(7.0)
    assert (shared.get_value(), duplicate.get_value()) == (5.0, 7.0)


def test_text() -> None:
    x = number("x")
    y = add(x, NUMBER.make_constant(2.0))
    assert str(x) == repr(x) == "x"
    assert str(number()) == "<Number{sign=any}>"
    assert str(y) == "Add.0"
    assert str(y.named("y")) == "y"
    assert str(NUMBER.make_constant(2.0)) == "Number{sign=any}{2.0}"
    assert str(NUMBER.make_constant(2.0, "two")) == "two"
    assert str(y.owner) == "Add(x, Number{sign=any}{2.0})"
    assert repr(y.owner) == "Add(x, Number{sign=any})"
