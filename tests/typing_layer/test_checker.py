"""The graph checker: a good graph has no problems, and each kind of damage is listed."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import pytest
from hypothesis import given

from lamella.errors import GraphCheckError, InconsistencyError
from lamella.ir import Apply, FunctionGraph, Op, Type, Variable
from lamella.typing_layer import DestroyHandler, Supervisor, check, problems, schedule
from tests.typing_layer.graphs import graphs
from tests.typing_layer.toys import ARRAY, VIEW, array, inplace, plain

Var = Variable[Any]


def set_field(target: object, name: str, value: object) -> None:
    object.__setattr__(target, name, value)


def owner(variable: Var) -> Apply[Any]:
    assert variable.owner is not None
    return variable.owner


@given(graphs())
def test_a_graph_that_was_built_has_no_problems(fgraph: FunctionGraph) -> None:
    assert problems(fgraph) == ()
    check(fgraph)


@attrs.frozen(repr=False)
class OtherType(Type[str]):
    """Strings, of a known length or not."""

    length: int | None = None

    def filter(self, value: Any, strict: bool = False, allow_downcast: bool | None = None) -> str:
        if not isinstance(value, str):
            raise TypeError("no string")
        return value

    def is_super(self, other: Type[Any]) -> Type[Any] | None:
        return self if isinstance(other, OtherType) and self.length in (None, other.length) else None


@attrs.frozen(repr=False)
class Maps(Op[..., Any]):
    """Has maps of any kind."""

    name: str
    views: Any = attrs.field(default=None, eq=False)
    destroys: Any = attrs.field(default=None, eq=False)

    @property
    def view_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # declared as an attribute
        return {} if self.views is None else self.views

    @property
    def destroy_map(self) -> Mapping[int, Sequence[int]]:  # type: ignore[override]  # declared as an attribute
        return {} if self.destroys is None else self.destroys

    def make_node(self, x: Var) -> Apply[Any]:
        return Apply(self, [x], [ARRAY])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].copy()

    def __str__(self) -> str:
        return self.name


@attrs.frozen(repr=False)
class Fussy(Op[..., Any]):
    """Takes what it made before only as long as it likes, or makes something else."""

    name: str
    makes: Callable[[Var], Sequence[Any]] = attrs.field(eq=False)

    def make_node(self, x: Var) -> Apply[Any]:
        return Apply(self, [x], self.makes(x))

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        output_storage[0][0] = inputs[0].copy()

    def __str__(self) -> str:
        return self.name


def refuse(x: Var) -> Sequence[Any]:
    raise TypeError("not again")


class Case:
    """A small graph to damage: ``end(second(first(x), c))``, with two outputs of ``pair(x)`` beside it."""

    def __init__(self, label: str) -> None:
        self.x, self.c = array("x"), ARRAY.make_constant([1, 2, 3, 4], f"c_{label}")
        self.first = plain(f"first_{label}")(self.x)
        self.second = plain(f"second_{label}")(self.first, self.c)
        self.pair = plain(f"pair_{label}", 2)(self.x)
        self.end = plain(f"end_{label}")(self.second)
        self.fgraph = FunctionGraph([self.x], [self.end, *self.pair])


DAMAGE: list[tuple[str, Callable[[Case], None], str]] = [
    ("owner", lambda g: set_field(g.second, "owner", owner(g.first)), "output 0 of first_owner("),
    ("pair", lambda g: set_field(g.pair[0], "owner", owner(g.first)), "output 0 of pair_pair(x) (built at"),
    ("orphan", lambda g: set_field(g.second, "owner", None), "is neither computed, nor a Constant, nor an input"),
    ("stray", lambda g: set_field(g.x, "index", 1), "says that it is output 1, but not of which node"),
    ("index", lambda g: set_field(g.second, "index", 1), "says that it is output 1"),
    ("swap", lambda g: set_field(owner(g.pair[0]), "outputs", g.pair[::-1]), "says that it is output 1"),
    ("lost", lambda g: set_field(owner(g.second), "outputs", ()), "has another Variable there"),
    (
        "missing",
        lambda g: set_field(owner(g.second), "inputs", (array("stranger"), g.c)),
        "`stranger`, input 0 of second_",
    ),
    ("junk", lambda g: set_field(owner(g.second), "inputs", (3, g.c)), "is no Variable but 3"),
    ("list", lambda g: set_field(owner(g.second), "inputs", [g.first, g.c]), "are no tuple but"),
    ("none", lambda g: set_field(owner(g.second), "inputs", None), "are no tuple but None"),
    ("out", lambda g: set_field(owner(g.pair[0]), "outputs", (g.pair[0], "y")), "output 1 of pair_"),
    ("op", lambda g: set_field(owner(g.second), "op", "exp"), "the op of a node is no Op but 'exp'"),
    ("type", lambda g: set_field(g.second, "type", OtherType()), "second_type(first_type.0, c_type) (built at"),
    ("notype", lambda g: set_field(g.second, "type", "float64"), "has no Type but 'float64'"),
    ("apply", lambda g: set_field(g.second, "owner", "exp"), "says that it is computed by 'exp', which is no Apply"),
    ("data", lambda g: set_field(g.c, "data", "text"), "holds a value that is not of its type"),
    ("write", lambda g: set_field(g.c, "data", np.arange(4)), "is a Constant whose value can be written to"),
    ("constant", lambda g: set_field(g.c, "owner", owner(g.first)), "is a Constant, but says that first_"),
    ("cycle", lambda g: set_field(owner(g.first), "inputs", (g.end,)), "is computed from its own output"),
    ("self", lambda g: set_field(owner(g.first), "inputs", (g.first,)), "is computed from its own output"),
    ("twice", lambda g: set_field(g.fgraph, "inputs", (g.x, g.x)), "input 1 of the graph, `x`, is given twice"),
    ("in", lambda g: set_field(g.fgraph, "inputs", (g.x, 7)), "input 1 of the graph is no Variable but 7"),
    ("fixed", lambda g: set_field(g.fgraph, "inputs", (g.x, g.c)), "input 1 of the graph, `c_fixed`, is a Constant"),
    ("noinput", lambda g: set_field(g.fgraph, "inputs", ()), "`x`, input 0 of first_"),
    ("end", lambda g: set_field(g.fgraph, "outputs", (g.end, 8)), "output 1 of the graph is no Variable but 8"),
    ("bare", lambda g: set_field(g.fgraph, "outputs", (array("bare"),)), "`bare`, output 0 of the graph,"),
    ("feature", lambda g: set_field(g.fgraph, "features", ("watchdog",)), "'watchdog' is carried as a feature"),
    ("guard", lambda g: set_field(g.fgraph, "features", (Refusing(),)), "Refusing refuses the graph: never"),
]


@attrs.frozen
class Refusing:
    """Refuses every graph."""

    def validate(self, fgraph: FunctionGraph) -> None:
        raise InconsistencyError("never")

    def orderings(self, fgraph: FunctionGraph) -> dict[Apply[Any], Sequence[Apply[Any]]]:
        return {}


@pytest.mark.parametrize(("label", "damage", "told"), DAMAGE, ids=[label for label, _, _ in DAMAGE])
def test_damage_is_told(label: str, damage: Callable[[Case], None], told: str) -> None:
    case = Case(label)
    assert problems(case.fgraph) == ()
    damage(case)
    found = problems(case.fgraph)
    assert any(told in problem for problem in found), found
    with pytest.raises(GraphCheckError) as caught:
        check(case.fgraph)
    assert caught.value.problems == found


def test_everything_that_is_wrong_is_listed() -> None:
    case = Case("several")
    set_field(case.pair[1], "index", 5)
    set_field(owner(case.second), "inputs", (case.first, case.c, None))
    set_field(case.c, "data", np.arange(4))
    found = "\n".join(problems(case.fgraph))
    assert "says that it is output 5" in found
    assert "input 2 of second_several" in found
    assert "can be written to" in found


@pytest.mark.parametrize(
    ("views", "destroys", "told"),
    [
        ({1: [0]}, None, "the view_map of maps speaks of output 1, but maps"),
        (None, {0: [1]}, "the destroy_map of maps speaks of input 1, but maps"),
        ({0: [-1]}, None, "the view_map of maps speaks of input -1"),
        ({0: 0}, None, "the view_map of maps has, for output 0, no sequence of inputs but 0"),
        (None, {0: [0, 0]}, "the destroy_map of maps names an input twice for output 0: [0, 0]"),
        ([0], None, "the view_map of maps is no mapping but [0]"),
        (None, {"0": [0]}, "the destroy_map of maps speaks of output '0'"),
    ],
)
def test_maps_out_of_range_are_told(views: object, destroys: object, told: str) -> None:
    x = array("x")
    fgraph = FunctionGraph([x], [Maps("maps", views, destroys)(x)])
    assert any(told in problem for problem in problems(fgraph)), problems(fgraph)
    with pytest.raises(GraphCheckError, match="maps"):
        schedule(fgraph)
    if views is None:
        with pytest.raises(GraphCheckError, match="maps"):
            fgraph.with_feature(DestroyHandler())


@pytest.mark.parametrize(
    ("built", "made", "told"),
    [
        ([ARRAY], refuse, "fussy refuses the inputs that fussy(x) (built at"),
        ([ARRAY], lambda x: [ARRAY, ARRAY], "has 1 outputs, but applied to the same inputs its Op makes 2"),
        ([OtherType(3)], lambda x: [OtherType(4)], "but applied to the same inputs its Op makes OtherType{length=4}"),
        (
            [ARRAY],
            lambda x: [OtherType()],
            "is of type ArrayType, but applied to the same inputs its Op makes OtherType",
        ),
    ],
)
def test_a_node_that_its_op_would_make_otherwise_is_told(
    built: Sequence[Type[Any]], made: Callable[[Var], Sequence[Any]], told: str
) -> None:
    x = array("x")
    fgraph = FunctionGraph([x], [Apply(Fussy("fussy", made), [x], built).outputs[0]])
    assert any(told in problem for problem in problems(fgraph)), problems(fgraph)
    assert problems(fgraph, remake=False) == ()


@pytest.mark.parametrize(("old", "new"), [(3, 3), (3, None), (None, 3)])
def test_a_node_may_know_more_or_less_than_its_op_would_say_now(old: int | None, new: int | None) -> None:
    x = array("x")
    node = Apply(Fussy("fussy", lambda x: [OtherType(new)]), [x], [OtherType(old)])
    assert problems(FunctionGraph([x], node.outputs)) == ()


def test_a_node_that_exists_twice_is_told() -> None:
    x = array("x")
    one, two = plain("same")(x), plain("other")(x)
    set_field(owner(two), "op", owner(one).op)
    found = problems(FunctionGraph([x], [one, two]))
    assert len(found) == 1
    assert "same(x) (built at" in found[0]
    assert "is not the one node of its Op, inputs and output types" in found[0]


def test_a_feature_that_would_refuse_is_told() -> None:
    x = array("x")
    fgraph = FunctionGraph([x], [inplace("over")(VIEW(x))])
    set_field(fgraph, "features", (DestroyHandler(), Supervisor([x])))
    assert [p.split(":")[0] for p in problems(fgraph)] == [
        "DestroyHandler refuses the graph",
        "Supervisor refuses the graph",
    ]


def test_a_damaged_graph_is_not_scheduled() -> None:
    case = Case("schedule")
    set_field(case.second, "index", 3)
    with pytest.raises(GraphCheckError, match="the graph is not well formed:\n- output 0 of second_schedule"):
        schedule(case.fgraph)


def test_a_long_chain_is_checked() -> None:
    v = x = array("x")
    for _ in range(20_000):
        v = plain("step")(v)
    assert problems(FunctionGraph([x], [v])) == ()
