"""miniKanren on graphs: the packages' own functions, and `KanrenRelationSub`."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from cons import cons
from etuples import etuple, etuplize
from kanren import conso, eq, fact, heado, lall, run, tailo
from kanren.assoccomm import assoc_flatten, associative
from kanren.graph import mapo
from unification import reify, unify, var
from unification import vars as lvars

import lamella as lm
import lamella.tensor as lt
from lamella.ir import Apply, Dot, Elemwise, TensorType, TensorVariable, Variable, pp
from lamella.rewriting import (
    EquilibriumGraphRewriter,
    KanrenRelationSub,
    RewriteDatabaseQuery,
    enable_kanren,
    in2out,
    nth,
    rewrite_graph,
)
from lamella.rewriting import etuple as own_etuple
from lamella.rewriting import var as own_var
from tests.rewriting.toys import add, exp, graph_of, log, mul, pair, real, show

enable_kanren()
x, y, z = real("x"), real("y"), real("z")
dot = Dot()

Goal = Callable[[Any], Iterator[Any]]


# The tutorial's examples of unification, with the packages it names


def test_unifying_and_reifying() -> None:
    y_lv = var()
    s = unify(add(x, y), etuple(add, x, y_lv))
    assert s == {y_lv: y}
    res = reify(etuple(add, y_lv, y_lv), s)
    assert res == etuple(add, y, y)
    assert res.evaled_obj is add(y, y)
    assert unify(add(x, y), etuple(mul, x, y_lv)) is False
    assert unify(etuple(add, x, y_lv), x) is False


def test_any_number_of_arguments() -> None:
    op_lv, args_lv = var(), var()
    for graph in (add(x, y), add(x, y, z)):
        s = unify(cons(op_lv, args_lv), graph)
        assert s[op_lv] == add
        res = reify(cons(mul, args_lv), s)
        assert show(res.evaled_obj) == show(graph).replace("add", "mul")
        assert reify(cons(op_lv, args_lv), s).evaled_obj is graph


def test_ops_types_and_outputs() -> None:
    v, scalar, shape = lt.fvector("v"), var(), var()
    assert unify(etuple(etuple(Elemwise, scalar, ()), v), lt.exp(v)) == {scalar: lt.exp.scalar_op}
    assert unify(v.type, etuple(TensorType, "float32", shape)) == {shape: (None,)}
    total, difference = pair(x, y)
    which, first = var(), var()
    s = unify(difference, etuple(nth, which, etuple(pair, first, y)))
    assert s == {which: 1, first: x}
    assert reify(etuple(nth, which, etuple(pair, y, first)), s).evaled_obj is pair(y, x)[1]
    assert etuplize(total).evaled_obj is total
    assert etuplize(exp(add(x, y))).evaled_obj is exp(add(x, y))
    assert unify(exp(x).named("e"), exp(x)) == {}
    assert unify(exp(x), exp(y)) is False
    assert unify(lt.constant(1.0), lt.constant(2.0)) is False
    assert unify(lt.constant(1.0), lt.constant(1.0).named("one")) == {}


def test_our_own_patterns_and_logic_variables_are_understood() -> None:
    lv = own_var()
    assert unify(add(x, y), own_etuple(add, x, lv)) == {lv: y}
    assert unify(own_etuple(add, x, lv), etuple(add, x, y)) == {lv: y}
    assert unify(own_etuple(add, x, lv), own_etuple(add, x, y)) == {lv: y}
    assert reify(own_etuple(exp, own_etuple(exp, lv)), {lv: y}).evaled_obj is exp(exp(y))
    assert run(1, lv, eq(own_etuple(exp, lv), exp(x))) == (x,)


# Relations


def log_or_exp(in_lv: Any, out_lv: Any) -> Any:
    """log(...) is related to exp(...)."""
    rest = var()
    return lall(eq(cons(log, rest), in_lv), eq(cons(exp, rest), out_lv))


def test_a_relation_as_a_rewrite() -> None:
    rewriter = KanrenRelationSub(log_or_exp)
    assert rewriter.name == "log_or_exp"
    assert repr(rewriter) == "KanrenRelationSub(log_or_exp)"
    assert show(in2out(rewriter).rewrite(graph_of(add(log(x), exp(y))))) == "add(exp(x), exp(y))"
    back = KanrenRelationSub(lambda u, v: log_or_exp(v, u), name="back")
    kept = add(log(x), log(y))
    assert rewrite_graph(kept, include=[], custom_rewrite=in2out(back)) is kept
    # exp(x) is known to be positive, and log(x) is not: it may not stand in its place
    assert in2out(back).rewrite(graph_of(exp(x))).outputs == (exp(x),)


def test_choosing_nodes_and_answers() -> None:
    def either(in_lv: Any, out_lv: Any) -> Any:
        return eq(out_lv, var()) if in_lv is None else _one_of(out_lv, [etuple(log, in_lv), etuple(exp, in_lv)])

    def last(results: Iterator[Any]) -> Any:
        return [*results][-1]

    def only_adds(node: Apply[Any]) -> bool:
        return node.op == add

    rewriter = KanrenRelationSub(either, results_filter=last, node_filter=only_adds, name="wrap")
    walk = in2out(rewriter, ignore_newtrees=True)
    assert show(walk.rewrite(graph_of(mul(add(x, y), x)))) == "mul(exp(add(x, y)), x)"
    none = KanrenRelationSub(either, results_filter=lambda results: None)
    assert show(in2out(none).rewrite(graph_of(add(x, y)))) == "add(x, y)"


def _one_of(term: Any, choices: list[Any]) -> Goal:
    def goal(state: Any) -> Iterator[Any]:
        for choice in choices:
            yield from eq(term, choice)(state)

    return goal


def test_nodes_of_several_outputs() -> None:
    def swapped(in_lv: Any, out_lv: Any) -> Any:
        first, second = var(), var()
        total = etuple(nth, 0, etuple(pair, first, second))
        difference = etuple(nth, 1, etuple(pair, first, second))
        turned = etuple(pair, second, first)
        return lall(eq(in_lv, [total, difference]), eq(out_lv, [etuple(nth, 0, turned), etuple(nth, 1, turned)]))

    walk = in2out(KanrenRelationSub(swapped), ignore_newtrees=True)
    assert show(walk.rewrite(graph_of(*pair(x, y)))) == "Pair(y, x).0, Pair(y, x).1"


# The tutorial's example: dot products distributed over additions, and gathered again

fact(associative, lt.add)


def dot_distributeo(in_lv: Any, out_lv: Any) -> Any:
    """A.dot(a + b ...) is A.dot(a) + A.dot(b) ..."""
    a_lv, add_term_lv, add_cdr_lv, dot_cdr_lv, add_flat_lv = lvars(5)
    return lall(
        eq(in_lv, etuple(dot, a_lv, add_term_lv)),
        heado(lt.add, add_term_lv),
        assoc_flatten(add_term_lv, add_flat_lv),
        tailo(add_cdr_lv, add_flat_lv),
        conso(lt.add, dot_cdr_lv, out_lv),
        mapo(lambda u, v: conso(dot, etuple(a_lv, u), v), add_cdr_lv, dot_cdr_lv),
    )


dot_distribute_rewrite = EquilibriumGraphRewriter([KanrenRelationSub(dot_distributeo)], max_use_ratio=10)
dot_gather_rewrite = EquilibriumGraphRewriter(
    [KanrenRelationSub(lambda u, v: dot_distributeo(v, u), name="dot_gather")], max_use_ratio=10
)
xv, yv, zv, wv = (lt.dvector(name) for name in "xyzw")
A, B = lt.dmatrix("A"), lt.dmatrix("B")


@pytest.mark.parametrize(
    ("graph", "distributed"),
    [
        (lt.dot(A, xv + yv), "(A @ x + A @ y)"),
        (lt.dot(A, (xv + yv) + (zv + wv)), "(A @ x + A @ y + (A @ z + A @ w))"),
        (lt.dot(A, xv + (yv + lt.dot(B, zv + wv))), "(A @ x + (A @ y + (A @ (B @ z) + A @ (B @ w))))"),
    ],
)
def test_dot_over_add_in_both_directions(graph: TensorVariable, distributed: str) -> None:
    res = rewrite_graph(graph, include=[], custom_rewrite=dot_distribute_rewrite, clone=False)
    assert pp(res) == distributed
    rng = np.random.default_rng(5)
    values: dict[Variable[Any], Any] = {v: rng.normal(size=3) for v in (xv, yv, zv, wv)}
    values |= {m: rng.normal(size=(3, 3)) for m in (A, B)}
    used = {v: value for v, value in values.items() if lm.variable_depends_on(graph, v)}
    np.testing.assert_allclose(res.eval(used), graph.eval(used))
    assert rewrite_graph(res, include=[], custom_rewrite=dot_gather_rewrite, clone=False) is graph


def test_what_is_no_product_of_one_matrix_is_not_gathered() -> None:
    kept = lt.dot(A, xv) + lt.dot(B, yv)
    assert rewrite_graph(kept, include=[], custom_rewrite=dot_gather_rewrite) is kept
    assert rewrite_graph(lt.dot(A, xv), include=[], custom_rewrite=dot_distribute_rewrite) is lt.dot(A, xv)


def test_a_relation_in_a_compiled_function() -> None:
    mode = lm.FAST_COMPILE
    query = RewriteDatabaseQuery([]).register((dot_distribute_rewrite, 1.0))
    f = lm.function([A, xv, yv], lt.dot(A, xv + yv), mode=lm.Mode(mode.linker, query))
    assert [str(node.op) for node in f.fgraph.order] == ["Dot", "Dot", "Add"]


def test_the_packages_are_imported_when_they_are_asked_for() -> None:
    code = """
import sys
import lamella.rewriting
assert not {"kanren", "etuples", "cons", "unification", "multipledispatch"} & sys.modules.keys()
sys.modules["etuples"] = None
try:
    lamella.rewriting.KanrenRelationSub(lambda a, b: None)
except ModuleNotFoundError as error:
    assert "pip install lamella[kanren]" in "".join(error.__notes__)
else:
    raise AssertionError
x = lamella.rewriting.var()
assert lamella.rewriting.unify((x, 1), (2, 1)) == {x: 2}
"""
    subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
