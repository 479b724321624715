"""Printing of compiled functions and fused graphs."""

from textwrap import dedent

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Composite, Elemwise, ScalarType, dprint, pp, to_text


def text(lines: str) -> str:
    return dedent(lines).removeprefix("\n")


def test_a_compiled_function_prints_its_graph() -> None:
    x = lt.vector("x")
    function = lm.function([x], [lt.exp(x) + x], mode="FAST_COMPILE")
    assert dprint(function, file="str") == text("""
        Add [id A] 1
         ├─ Exp [id B] 0
         │  └─ x [id C]
         └─ x [id C]
        """)
    assert to_text(function) == to_text(function.fgraph)
    assert pp(function) == "(exp(x) + x)"


def test_a_fused_graph_shows_what_is_inside() -> None:
    a, b = ScalarType("float64")("a"), ScalarType("float64")("b")
    fused = Elemwise(Composite([a, b], [a * b + a]))
    x, y = lt.vector("x"), lt.vector("y")
    assert dprint(fused(x, y), file="str") == text("""
        Composite{Add(Mul(i0, i1), i0)} [id A]
         ├─ x [id B]
         └─ y [id C]

        Inner graphs:

        Composite{Add(Mul(i0, i1), i0)} [id A]
         ← Add [id D]
            ├─ Mul [id E]
            │  ├─ i0 [id F] -> [id B]
            │  └─ i1 [id G] -> [id C]
            └─ i0 [id F] -> [id B]
        """)
    assert to_text(fused(x, y)) == text("""
        graph(%x: float64[?], %y: float64[?]) {
          %0: float64[?] = Composite{Add(Mul(i0, i1), i0)} @0(%x, %y)
          return %0
        }

        graph @0(%i0: float64, %i1: float64) {
          %0: float64 = Mul(%i0, %i1)
          %1: float64 = Add(%0, %i0)
          return %1
        }
        """)
