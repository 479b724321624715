"""Graphs within graphs become part of the outer one."""

import lamella.tensor as lt
from lamella.ir import FunctionGraph, OpFromGraph, checkpoint, grad
from lamella.rewriting import RewriteDatabaseQuery, optdb
from lamella.rewriting.rules.inline import InlineGraphs
from tests.rewriting.rules.before_and_after import after

a, x, y = lt.vector("a"), lt.vector("x"), lt.vector("y")
VALUES = [[1.0, 2.0], [0.5, -0.5]]
square = OpFromGraph([a], [a * a], name="square")


def test_an_inner_graph_takes_the_place_of_its_node() -> None:
    assert after([x, y], square(lt.add(x, y)), VALUES, InlineGraphs()) == (
        "%0: float64[?] = Add(%x, %y)\n%1: float64[?] = Mul(%0, %0)\nreturn %1"
    )


def test_so_do_those_inside_it() -> None:
    fourth = OpFromGraph([a], [square(square(a))])
    assert after([x], fourth(x), VALUES[:1], InlineGraphs()) == (
        "%0: float64[?] = Mul(%x, %x)\n%1: float64[?] = Mul(%0, %0)\nreturn %1"
    )


def test_an_output_that_is_an_input_or_a_constant() -> None:
    op = OpFromGraph([a], [a, lt.constant(2.0)])
    text = after([x], list(op(x)), VALUES[:1], InlineGraphs())
    assert text == "%c0: float64[] = constant 2.0\nreturn %x, %c0"


def test_what_is_not_to_be_inlined_stays() -> None:
    kept = OpFromGraph([a], [square(a)], inline=False)
    assert after([x], kept(x), VALUES[:1], InlineGraphs()).startswith("%0: float64[?] = OpFromGraph{} @0(%x)")


def test_a_graph_without_inner_graphs_is_the_same_graph() -> None:
    fgraph = FunctionGraph([x], [x * x])
    assert InlineGraphs().rewrite(fgraph) is fgraph


def test_a_recomputation_is_not_merged_with_the_forward_pass() -> None:
    z = checkpoint(lambda v: lt.exp(lt.sin(v)))(x)
    fgraph = FunctionGraph([x], [z, grad(lt.sum(z), x)])
    mode = optdb.query(RewriteDatabaseQuery(include=("fast_run",), exclude=("nan_unsafe", "fusion", "inplace")))
    names = [str(node.op) for node in mode.rewrite(fgraph).order]
    assert names.count("Sin") == 2
    assert names.count("Exp") == 2
