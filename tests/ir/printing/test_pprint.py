"""`pp`: mathematical notation."""

import ast
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lamella.tensor as lt
from lamella.ir import (
    Apply,
    FunctionGraph,
    Notation,
    Op,
    Operand,
    OutputStorage,
    Precedence,
    TensorVariable,
    Variable,
    as_op,
    grad,
    notation,
    pp,
    pprint,
)
from tests.ir.graph.toys import NUMBER, add, chain, div_mod, double, number

x, y, z = lt.scalar("x"), lt.scalar("y"), lt.scalar("z")
a, b = lt.matrix("a"), lt.vector("b")
i = lt.scalar("i", dtype="int64")


@pytest.mark.parametrize(
    ("variable", "expected"),
    [
        (x, "x"),
        (x + y, "(x + y)"),
        (x * y + z, "(x * y + z)"),
        ((x + y) * z, "((x + y) * z)"),
        (x - y - z, "(x - y - z)"),
        (x - (y - z), "(x - (y - z))"),
        (x + (y + z), "(x + (y + z))"),
        (x / (y * z), "(x / (y * z))"),
        (-x, "(-x)"),
        (-x * y, "(-x * y)"),
        (-(x * y), "(-(x * y))"),
        (lt.neg(-x), "(--x)"),
        (x**y**z, "(x ** y ** z)"),
        ((x**y) ** z, "((x ** y) ** z)"),
        ((-x) ** y, "((-x) ** y)"),
        (-(x**y), "(-x ** y)"),
        (x**-y, "(x ** -y)"),
        (x * 2, "(x * 2.0)"),
        (x + -2, "(x + -2.0)"),
        (lt.constant(-2.0) ** x, "((-2.0) ** x)"),
        (lt.eq(x < y, x > y), "((x < y) == (x > y))"),
        ((x < y) & (y < z), "((x < y) & (y < z))"),
        (~(i < 3), "(~(i < 3))"),
        (i // 2 % 3, "(i // 2 % 3)"),
        (lt.exp(x + y), "exp(x + y)"),
        (lt.exp(x) + 1, "(exp(x) + 1.0)"),
        (lt.log1p(x), "log1p(x)"),
        (lt.sigmoid(x), "sigmoid(x)"),
        (lt.log_sigmoid(x), "log_sigmoid(x)"),
        (lt.gammaln(x), "gammaln(x)"),
        (lt.erf(x), "erf(x)"),
        (lt.switch(x > 0, x, -x), "switch(x > 0.0, x, -x)"),
        (lt.clip(x, 0.0, 1.0), "clip(x, 0.0, 1.0)"),
        (lt.cast(x, "float32"), "cast(x, float32)"),
        (lt.maximum(x, y), "maximum(x, y)"),
        (a + b, "(a + b)"),
        (a + np.arange(3.0), "(a + [0.0, 1.0, 2.0])"),
        (a.T, "a.T"),
        ((a + 1).T, "(a + 1.0).T"),
        (b[:, None], "b[:, None]"),
        (a.dimshuffle(1, "x", 0), "dimshuffle(a, (1, x, 0))"),
        (lt.tensor3("t").transpose(2, 0, 1), "transpose(t, axes=(2, 0, 1))"),
        (lt.tensor("r", shape=(1, None)).squeeze(0), "squeeze(r, axis=0)"),
        (a @ b, "(a @ b)"),
        (a.T @ a @ b, "(a.T @ a @ b)"),
        (a.sum(), "sum(a)"),
        (a.sum(axis=0), "sum(a, axis=0)"),
        (lt.tensor3("t").max(axis=(0, 2)), "max(t, axis=(0, 2))"),
        (a.argmax(axis=1), "argmax(a, axis=1)"),
        (lt.softmax(a, axis=1), "softmax(a, axis=1)"),
        (lt.log_softmax(a, axis=0), "log_softmax(a, axis=0)"),
        (lt.logsumexp(a), "logsumexp(a)"),
        (lt.cumsum(a, axis=0), "cumsum(a, axis=0)"),
        (a.shape, "a.shape"),
        (a.shape[1], "a.shape[1]"),
        (a[1:, i], "a[1:, i]"),
        (a[::-1, None, 2], "a[::-1, None, 2]"),
        (lt.exp(a)[i:], "exp(a)[i:]"),
        ((a + 1)[0], "(a + 1.0)[0]"),
        (a[[0, 2]], "a[[0, 2]]"),
        (a[1].set(b), "a[1].set(b)"),
        (a[[0, 2]].inc(1.0), "a[[0, 2]].inc(1.0)"),
        (a.reshape((3, -1)), "reshape(a, [3, -1])"),
        (lt.stack([x, y]), "[x, y]"),
        (lt.concatenate([b, b]), "join(0, b, b)"),
        (lt.specify_shape(a, (None, 3)), "specify_shape(a, (None, 3))"),
    ],
)
def test_notation(variable: Variable[Any], expected: str) -> None:
    assert pp(variable) == expected
    assert pprint(variable) == expected


def test_ops_without_notation_are_written_as_calls() -> None:
    p, q = number("p"), number("q")
    assert pp(double(add(p, q))) == "Scale{factor=2.0}(Add(p, q))"
    quotient, remainder = div_mod(p, q)
    assert pp(add(quotient, remainder)) == "Add(DivMod(p, q).0, DivMod(p, q).1)"
    assert pp(number()) == "<Number{sign=any}>"


def test_ops_made_of_functions_have_the_functions_name() -> None:
    @as_op(NUMBER, NUMBER)
    def halve(p: float) -> float:
        return p / 2

    assert pp(halve(number("p"))) == "halve(p)"


def test_names_of_intermediate_results_do_not_matter() -> None:
    assert pp((x * y).named("product") + z) == "(x * y + z)"


def test_what_can_be_printed() -> None:
    fgraph = FunctionGraph([x, y], [x + y, x])
    assert pp(fgraph) == "(x + y)\nx"
    assert pp([x + y, x]) == "(x + y)\nx"
    product = x * y
    assert pp(FunctionGraph([product], [product + 1])) == "(Mul.0 + 1.0)"
    node = div_mod(number("p"), number("q"))[0].owner
    assert node is not None
    assert pp(node) == "DivMod(p, q).0\nDivMod(p, q).1"
    assert pp([]) == ""
    with pytest.raises(TypeError, match="not of a int"):
        pp(5)  # type: ignore[arg-type]  # on purpose


class Tensor(Op[..., Any]):
    """A product with a notation of its own."""

    __props__ = ()

    def make_node(self, *args: Variable[Any]) -> Apply[Any]:
        return Apply(self, args, [args[0].type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise AssertionError("only printed")


@notation.register(Tensor)
def _write_tensor(op: Tensor, node: Apply[Any]) -> Notation:
    return Notation.infix("⊗", Precedence.PRODUCT, node)


class Floor(Tensor):
    """Written between brackets."""


@notation.register(Floor)
def _write_floor(op: Floor, node: Apply[Any]) -> Notation:
    return Notation(("⌊", Operand(0), "⌋"))


class Arrow(Tensor):
    """Read from right to left."""


@notation.register(Arrow)
def _write_arrow(op: Arrow, node: Apply[Any]) -> Notation:
    return Notation.infix("→", Precedence.COMPARISON, node, right_to_left=True)


def test_new_ops_get_notations_by_registration() -> None:
    tensor, floor, arrow = Tensor(), Floor(), Arrow()
    assert pp(tensor(x + y, z)) == "((x + y) ⊗ z)"
    assert pp(tensor(x, tensor(y, z))) == "(x ⊗ (y ⊗ z))"
    assert pp(tensor(tensor(x, y), z) + x) == "(x ⊗ y ⊗ z + x)"
    assert pp(floor(x + y) * z) == "(⌊x + y⌋ * z)"
    assert pp(arrow(x, arrow(y, z))) == "(x → y → z)"
    assert pp(arrow(arrow(x, y), z)) == "((x → y) → z)"


def test_a_gradient_can_be_read() -> None:
    assert pp(grad(lt.exp(x) * y, x)) == "(1.0 * y * exp(x))"


def test_much_sharing_is_given_names() -> None:
    shared = x
    for _ in range(200):
        shared = shared + lt.exp(shared)
    lines = pp(shared).splitlines()
    assert len(lines) == 200
    assert lines[0] == "t0 = x + exp(x)"
    assert lines[1] == "t1 = t0 + exp(t0)"
    assert lines[-1] == "(t198 + exp(t198))"


def test_little_sharing_is_written_out() -> None:
    shared = lt.exp(x)
    assert pp(shared * shared + shared) == "(exp(x) * exp(x) + exp(x))"


def test_depth_does_not_matter() -> None:
    found = pp(chain(50_000, number("p"), number("q")))
    assert found.startswith("Add(Add(Add(")
    assert found.endswith(", q), q), q)")
    assert len(found) == 50_000 * len("Add(, q)") + 1


expressions = st.recursive(
    st.sampled_from([x, y, z]),
    lambda inner: st.one_of(
        st.tuples(st.sampled_from("+-*/@"), inner, inner).map(lambda t: _applied(*t)),
        st.tuples(st.just("**"), inner, inner).map(lambda t: t[1] ** t[2]),
        inner.map(lambda v: -v),
    ),
    max_leaves=12,
)


def _applied(operator: str, left: TensorVariable, right: TensorVariable) -> TensorVariable:
    match operator:
        case "+":
            return left + right
        case "-":
            return left - right
        case "*":
            return left * right
        case _:
            return left / right


OPERATORS = {ast.Add: "Add", ast.Sub: "Sub", ast.Mult: "Mul", ast.Div: "TrueDivide", ast.Pow: "Power"}


def structure(variable: Variable[Any]) -> object:
    if variable.owner is None:
        return variable.name
    return (str(variable.owner.op), *[structure(v) for v in variable.owner.inputs])


def read(node: ast.expr) -> object:
    match node:
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return (OPERATORS[type(op)], read(left), read(right))
        case ast.UnaryOp(operand=operand):
            return ("Neg", read(operand))
        case _:
            raise AssertionError(ast.dump(node))


@given(expressions)
def test_python_reads_the_notation_as_it_is_meant(variable: TensorVariable) -> None:
    assert read(ast.parse(pp(variable), mode="eval").body) == structure(variable)
