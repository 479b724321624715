"""`dprint`: trees of lines."""

import io
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import attrs
import numpy as np
import pytest

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, Variable, char_from_number, dprint
from tests.ir.graph.toys import NUMBER, add, chain, div_mod, double, number, square


def text(lines: str) -> str:
    return dedent(lines).removeprefix("\n")


x, y = number("x"), number("y")
total = add(add(x, y).named("C"), add(y, number()))


@pytest.mark.parametrize(
    ("number", "expected"),
    [(0, "A"), (1, "B"), (25, "Z"), (26, "BA"), (27, "BB"), (3 * 26**2 + 2 * 26, "DCA"), (42421337, "DOVPLX")],
)
def test_letters_are_digits(number: int, expected: str) -> None:
    assert char_from_number(number) == expected


def test_a_tree() -> None:
    assert dprint(total, file="str") == text("""
        Add [id A]
         ├─ Add [id B] 'C'
         │  ├─ x [id C]
         │  └─ y [id D]
         └─ Add [id E]
            ├─ y [id D]
            └─ <Number{sign=any}> [id F]
        """)


def test_kinds_of_ids() -> None:
    assert dprint(double(x), id_type="int", file="str") == "Scale{factor=2.0} [id 0]\n └─ x [id 1]\n"
    assert dprint(double(x), id_type="", file="str") == "Scale{factor=2.0}\n └─ x\n"
    assert dprint(x, id_type="id", file="str") == f"x [id {id(x)}]\n"


def test_ids_can_be_kept() -> None:
    ids: dict[object, str] = {}
    assert dprint(x, used_ids=ids, file="str") == "x [id A]\n"
    assert dprint(double(y), used_ids=ids, file="str") == "Scale{factor=2.0} [id B]\n └─ y [id C]\n"
    assert dprint(add(x, y), used_ids=ids, file="str") == "Add [id D]\n ├─ x [id A]\n └─ y [id C]\n"


def test_what_was_written_is_referred_to() -> None:
    quotient, remainder = div_mod(double(x), y)
    assert dprint(add(add(quotient, remainder), quotient), file="str") == text("""
        Add [id A]
         ├─ Add [id B]
         │  ├─ DivMod.0 [id C] 'quotient'
         │  │  ├─ Scale{factor=2.0} [id D]
         │  │  │  └─ x [id E]
         │  │  └─ y [id F]
         │  └─ DivMod.1 [id C] 'remainder'
         │     └─ ···
         └─ DivMod.0 [id C] 'quotient'
            └─ ···
        """)


def test_depth() -> None:
    assert dprint(total, depth=0, file="str") == ""
    assert dprint(total, depth=1, file="str") == "Add [id A]\n"
    assert dprint(total, depth=2, file="str") == "Add [id A]\n ├─ Add [id B] 'C'\n └─ Add [id C]\n"
    # What was cut off is written out where there is room.
    inner = double(x)
    assert dprint(add(square(inner), inner), depth=3, file="str") == text("""
        Add [id A]
         ├─ Power{exponent=2} [id B]
         │  └─ Scale{factor=2.0} [id C]
         └─ Scale{factor=2.0} [id C]
            └─ x [id D]
        """)


def test_named_variables_can_stop_it() -> None:
    assert dprint(total, stop_on_name=True, file="str") == text("""
        Add [id A]
         ├─ Add [id B] 'C'
         │  └─ ···
         └─ Add [id C]
            ├─ y [id D]
            └─ <Number{sign=any}> [id E]
        """)


def test_types_and_shapes() -> None:
    m = lt.tensor("m", shape=(None, 3))
    assert dprint(lt.exp(m).sum(axis=1), print_type=True, file="str") == text("""
        Sum{axis=(1,)} [id A] <float64[?]>
         └─ Exp [id B] <float64[?, 3]>
            └─ m [id C] <float64[?, 3]>
        """)
    assert dprint(lt.exp(m).sum(axis=1), print_shape=True, file="str") == text("""
        Sum{axis=(1,)} [id A] shape=(?,)
         └─ Exp [id B] shape=(?, 3)
            └─ m [id C] shape=(?, 3)
        """)
    assert dprint(x, print_shape=True, file="str") == "x [id A]\n"


@attrs.frozen
class Storage(Op[..., Any]):
    """Says that it overwrites and views."""

    destroy_map = {0: [1]}
    view_map = {0: (0,), 1: (0,)}

    def make_node(self, *args: Variable[Any]) -> Apply[Any]:
        return Apply(self, args, [NUMBER, NUMBER])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        output_storage[0][0], output_storage[1][0] = inputs


def test_storage_marks() -> None:
    first, _ = Storage()(x, y)
    assert dprint(first, depth=1, print_destroy_map=True, file="str") == "Storage.0 [id A] d={0: [1]}\n"
    assert dprint(first, depth=1, print_view_map=True, file="str") == "Storage.0 [id A] v={0: [0], 1: [0]}\n"
    assert dprint(add(x, y), depth=1, print_view_map=True, print_destroy_map=True, file="str") == "Add [id A]\n"


def test_order() -> None:
    fgraph = FunctionGraph([x, y], [add(square(y), double(x)), y])
    expected = text("""
        Add [id A] 2
         ├─ Power{exponent=2} [id B] 0
         │  └─ y [id C]
         └─ Scale{factor=2.0} [id D] 1
            └─ x [id E]
        y [id C]
        """)
    assert dprint(fgraph, file="str") == expected
    assert dprint([fgraph.outputs[0], y], print_order=True, file="str") == expected
    assert dprint(fgraph, print_order=False, depth=1, file="str") == "Add [id A]\ny [id B]\n"
    assert dprint(fgraph.outputs[0], depth=1, file="str") == "Add [id A]\n"


def test_inputs_of_graphs() -> None:
    fgraph = FunctionGraph([x, y], [double(x)])
    assert dprint(fgraph, print_fgraph_inputs=True, print_type=True, file="str") == text("""
        → x [id A] <Number{sign=any}>
        → y [id B] <Number{sign=any}>
        Scale{factor=2.0} [id C] <Number{sign=any}> 0
         └─ x [id A] <Number{sign=any}>
        """)


def test_what_can_be_printed() -> None:
    node = div_mod(x, y)[0].owner
    assert node is not None
    by_hand = dprint([*node.outputs], file="str")
    assert dprint(node, file="str") == by_hand
    assert dprint([node], file="str") == by_hand
    assert dprint((out for out in node.outputs), file="str") == by_hand
    assert dprint([], file="str") == ""

    class Compiled:
        def __init__(self, fgraph: FunctionGraph) -> None:
            self.fgraph = fgraph

    fgraph = FunctionGraph([x, y], node.outputs)
    assert dprint(Compiled(fgraph), file="str") == dprint(fgraph, file="str")
    assert dprint([x, Compiled(fgraph)], file="str") == dprint([x, fgraph], file="str")
    for wrong in ("text", 5, None, [x, "text"]):
        with pytest.raises(TypeError, match=r"a graph is printed of Variables, .* not of a (str|int|NoneType)"):
            dprint(wrong)  # type: ignore[arg-type]  # on purpose


def test_a_compiled_function_shows_the_order_it_runs_in() -> None:
    class Scheduled:
        def __init__(self, order: Sequence[Apply[Any]]) -> None:
            self.order = order

    class Compiled:
        def __init__(self, fgraph: FunctionGraph, scheduled: Scheduled) -> None:
            self.fgraph = fgraph
            self.scheduled = scheduled

    fgraph = FunctionGraph([x, y], [double(x), square(y)])
    function = Compiled(fgraph, Scheduled(fgraph.order[::-1]))
    assert dprint(function, depth=1, file="str") == "Scale{factor=2.0} [id A] 1\nPower{exponent=2} [id B] 0\n"


def test_where_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    expected = dprint(total, file="str")
    assert dprint(total) is None
    assert capsys.readouterr().out == expected
    file = io.StringIO()
    dprint(total, file=file)
    assert file.getvalue() == expected


def test_constants() -> None:
    array = lt.constant(np.arange(3.0))
    assert dprint(lt.exp(array), file="str") == text("""
        Exp [id A]
         └─ float64[3]{[0., 1., 2.]} [id B]
        """)


class Inner(Op[..., Any]):
    """Computes a graph."""

    def __init__(self, name: str, fgraph: FunctionGraph) -> None:
        self.name = name
        self.fgraph = fgraph

    def make_node(self, *args: Variable[Any]) -> Apply[Any]:
        return Apply(self, args, [out.type for out in self.fgraph.outputs])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise AssertionError("only printed")

    def __str__(self) -> str:
        return self.name


def test_inner_graphs_follow() -> None:
    i, j = number("i"), number("j")
    inner = Inner("inner", FunctionGraph([i, j], [add(i, j), double(j)]))
    first, _ = inner(x, double(y))
    k = number("k")
    outer = Inner("outer", FunctionGraph([k], [inner(k, k)[0]]))
    assert dprint(add(first, outer(x)), file="str") == text("""
        Add [id A]
         ├─ inner.0 [id B]
         │  ├─ x [id C]
         │  └─ Scale{factor=2.0} [id D]
         │     └─ y [id E]
         └─ outer [id F]
            └─ x [id C]

        Inner graphs:

        inner [id B]
         ← Add [id G]
            ├─ i [id H] -> [id C]
            └─ j [id I] -> [id D]
         ← Scale{factor=2.0} [id J]
            └─ j [id I] -> [id D]

        outer [id F]
         ← inner.0 [id K]
            ├─ k [id L] -> [id C]
            └─ k [id L] -> [id C]

        inner [id K]
         ← Add [id G]
            └─ ···
         ← Scale{factor=2.0} [id J]
            └─ ···
        """)


def test_much_sharing_makes_no_long_text() -> None:
    shared = x
    for _ in range(1000):
        shared = add(shared, shared)
    assert len(dprint(shared, file="str").splitlines()) == 3 * 1000


def test_depth_does_not_matter() -> None:
    deep = chain(200_000, x, y)
    assert len(dprint(deep, depth=100, file="str").splitlines()) == 2 * 100 - 1
    lines = dprint(chain(10_000, x, y), file="str").splitlines()
    assert len(lines) == 20_001
    assert max(map(len, lines)) < 200
    assert lines[100].startswith("  101 ⋯ │  │  │ ")
    assert lines[100].endswith(" ├─ Add [id DW]")
