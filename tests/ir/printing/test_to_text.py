"""`to_text`: the stable text of a graph."""

import os
import pickle
import re
import subprocess
import sys
from collections.abc import Sequence
from textwrap import dedent
from typing import Any

import numpy as np
import pytest
from hypothesis import given

import lamella.tensor as lt
from lamella.ir import Apply, FunctionGraph, Op, OutputStorage, SharedVariable, StorageCell, Variable, to_text
from tests.ir.graph.toys import NUMBER, NumberVariable, add, chain, div_mod, double, graphs, number
from tests.ir.printing.test_dprint import Inner, Storage

Graph = tuple[list[NumberVariable], list[NumberVariable]]


def text(lines: str) -> str:
    return dedent(lines).removeprefix("\n")


x, y = number("x"), number("y")


def test_a_graph() -> None:
    m = lt.tensor("m", shape=(None, 3))
    v = lt.vector("v")
    loss = (lt.exp(m * 2.0) + v).sum(axis=1).named("loss")
    assert to_text(FunctionGraph([m, v], [loss, m.T])) == text("""
        graph(%m: float64[?, 3], %v: float64[?]) {
          %c0: float64[1, 1] = constant [[2.0]]
          %0: float64[?, 3] = Mul(%m, %c0)
          %1: float64[?, 3] = Exp(%0)
          %2: float64[1, ?] = DimShuffle{order=[x,0]}(%v)  # views %v
          %3: float64[?, 3] = Add(%1, %2)
          %loss: float64[?] = Sum{axis=(1,)}(%3)
          %4: float64[3, ?] = DimShuffle{order=[1,0]}(%m)  # views %m
          return %loss, %4
        }
        """)


def test_several_outputs_and_unused_ones() -> None:
    quotient, _ = div_mod(x, double(y))
    assert to_text(double(quotient)) == text("""
        graph(%x: Number{sign=any}, %y: Number{sign=any}) {
          %0: Number{sign=any} = Scale{factor=2.0}(%y)
          %quotient: Number{sign=any}, %remainder: Number{sign=any} = DivMod(%x, %0)
          %1: Number{sign=any} = Scale{factor=2.0}(%quotient)
          return %1
        }
        """)


def test_graphs_without_nodes() -> None:
    assert to_text(FunctionGraph([x], [x, x])) == "graph(%x: Number{sign=any}) {\n  return %x, %x\n}\n"
    assert to_text(FunctionGraph([], [])) == "graph() {\n  return\n}\n"


def test_an_input_that_a_node_computes_too() -> None:
    quotient, remainder = div_mod(x, y)
    assert to_text(FunctionGraph([quotient, x, y], [add(quotient, remainder)])) == text("""
        graph(%quotient: Number{sign=any}, %x: Number{sign=any}, %y: Number{sign=any}) {
          %_: Number{sign=any}, %remainder: Number{sign=any} = DivMod(%x, %y)
          %0: Number{sign=any} = Add(%quotient, %remainder)
          return %0
        }
        """)


def test_names_are_unique() -> None:
    a, b, unnamed, odd, empty = number("x"), number("x"), number(), number('a "b"\\'), number("")
    three = NUMBER.make_constant(3.0, "x")
    outputs = [add(add(a, b).named("x"), three), unnamed, odd, empty, number("arg0")]
    fgraph = FunctionGraph([a, b, unnamed, odd, empty, outputs[-1]], outputs)
    assert to_text(fgraph) == text(r"""
        graph(%x: Number{sign=any}, %x.1: Number{sign=any}, %arg0: Number{sign=any}, %"a \"b\"\\": Number{sign=any}, %arg1: Number{sign=any}, %arg0.1: Number{sign=any}) {
          %x.2: Number{sign=any} = constant 3.0
          %x.3: Number{sign=any} = Add(%x, %x.1)
          %0: Number{sign=any} = Add(%x.3, %x.2)
          return %0, %arg0, %"a \"b\"\\", %arg1, %arg0.1
        }
        """)


def test_shared_variables_are_inputs() -> None:
    shared = SharedVariable(NUMBER, StorageCell(1.0), "s")
    assert to_text(double(shared)).startswith("graph(%s: Number{sign=any}) {\n")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(0.1), "0.1"),
        (np.float32(0.1), "0.1"),
        (np.float64(-0.0), "-0.0"),
        (np.array([1.5, np.nan, -np.inf]), "[1.5, nan, -inf]"),
        (np.array([[True], [False]]), "[[True], [False]]"),
        (np.array([1 + 2j]), "[(1+2j)]"),
        (np.zeros((2, 0)), "[[], []]"),
        (np.array([2**63], dtype="uint64"), "[9223372036854775808]"),
        (np.arange(17), "[0, 1, 2, ..., 14, 15, 16] #"),
    ],
)
def test_constants_are_exact(value: Any, expected: str) -> None:
    with np.printoptions(precision=1, threshold=2, suppress=True, sign=" "):
        (line,) = [line for line in to_text(lt.constant(value)).splitlines() if " = constant " in line]
    found = line.partition(" = constant ")[2]
    assert found.startswith(expected)
    assert re.fullmatch(r"(#[0-9a-f]{8})?", found.removeprefix(expected.removesuffix("#"))) is not None


def test_long_constants_are_told_apart() -> None:
    a, b = np.zeros(100), np.zeros(100)
    b[50] = 1
    assert to_text(lt.constant(a)) != to_text(lt.constant(b))
    assert to_text(lt.constant(a)) == to_text(lt.constant(a.copy()))
    assert to_text(lt.constant(np.ones((4, 100)).T[::2])) == to_text(lt.constant(np.ones((50, 4))))


def test_storage_is_noted() -> None:
    first, _ = Storage()(x, y)
    assert "= Storage(%x, %y)  # destroys %y; views %x\n" in to_text(first)


def test_addresses_are_left_out() -> None:
    class Holds(Op[..., Any]):
        __props__ = ("function", "thing")

        def __init__(self) -> None:
            self.function = lambda: 0
            self.thing = object()

        def make_node(self, *args: Variable[Any]) -> Apply[Any]:
            return Apply(self, args, [NUMBER])

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
            raise AssertionError("only printed")

    found = to_text(Holds()(x))
    assert "0x" not in found
    assert "<locals>.<lambda>>, thing=<object object>}(%x)" in found


def test_inner_graphs_follow_once() -> None:
    i, k = number("i"), number("k")
    inner = Inner("inner", FunctionGraph([i], [double(i)]))
    outer = Inner("outer", FunctionGraph([k], [inner(k)]))
    assert to_text([add(outer(x), inner(y)), inner(x)]) == text("""
        graph(%x: Number{sign=any}, %y: Number{sign=any}) {
          %0: Number{sign=any} = outer @0(%x)
          %1: Number{sign=any} = inner @1(%y)
          %2: Number{sign=any} = Add(%0, %1)
          return %2
        }

        graph(%x: Number{sign=any}) {
          %0: Number{sign=any} = inner @1(%x)
          return %0
        }

        graph @0(%k: Number{sign=any}) {
          %0: Number{sign=any} = inner @1(%k)
          return %0
        }

        graph @1(%i: Number{sign=any}) {
          %0: Number{sign=any} = Scale{factor=2.0}(%i)
          return %0
        }
        """)


@given(graphs())
def test_the_text_follows_from_the_structure(graph: Graph) -> None:
    inputs, variables = graph
    fgraph = FunctionGraph(inputs, variables)
    found = to_text(fgraph)
    assert to_text(pickle.loads(pickle.dumps(fgraph))) == found
    assigned = re.findall(r"(%[\w.]+): ", found)
    assert len(assigned) == len(set(assigned))
    before: set[str] = set()
    for line in found.splitlines():
        left, _, right = line.partition(" = ") if " = " in line else ("", "", line)
        if right.startswith("graph("):
            before.update(re.findall(r"%[\w.]+", right))
        assert set(re.findall(r"%[\w.]+", right)) <= before
        before.update(re.findall(r"%[\w.]+", left))


def test_every_process_writes_the_same() -> None:
    code = """
import lamella.tensor as lt
from lamella.ir import to_text
x, y = lt.matrix("x"), lt.vector("y")
print(to_text([lt.exp(x + y).sum(axis=0) @ y, lt.stack([y, y])[1:]]))
"""
    runs = [
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert runs[0].startswith("graph(%x: float64[?, ?], %y: float64[?]) {\n")


def test_depth_does_not_matter() -> None:
    lines = to_text(chain(200_000, x, y)).splitlines()
    assert len(lines) == 200_000 + 3
    assert lines[-2] == "  return %199999"
