"""Scalar expressions in C: what one element of the results is, given one element of each operand.

mul(add(x, y), 2.0) on float32    ->    const float t0 = x + y;
                                        const float t1 = t0 * 0x1.0p+1f;
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol, final

import attrs
from typing_extensions import TypeVar

from lamella.codegen.c.dtypes import C_DTYPES, CDType, literal
from lamella.codegen.c.lowering_table import LoweringTable
from lamella.errors import LoweringError
from lamella.ir import HasInnerGraph, ScalarConstant, ScalarOp, ScalarVariable, Variable

__all__ = ["CExpressionTable", "ScalarBody", "ScalarLoop", "TypedText", "c_expression"]


@final
@attrs.frozen
class TypedText:
    """A C expression and the dtype of its value."""

    text: str
    dtype: str

    @property
    def c(self) -> CDType:
        """The dtype in C."""
        return C_DTYPES[self.dtype]


@final
@attrs.frozen
class ScalarLoop:
    """The dtypes that an expression is written for: those of its operands and of its results."""

    ins: tuple[str, ...]
    outs: tuple[str, ...]

    @property
    def operand(self) -> CDType:
        """The dtype of the first operand in C."""
        return C_DTYPES[self.ins[0]]

    @property
    def result(self) -> CDType:
        """The dtype of the first result in C."""
        return C_DTYPES[self.outs[0]]


@final
class ScalarBody:
    """Statements that compute results from operands.

    Attributes
    ----------
    lines
        The statements so far.
    headers
        The support headers that they need.
    guards
        Expressions of operands that must be false, or the computation is an error that the reference interpreter raises.
    temporaries
        The names of values of expressions.
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.headers: dict[str, None] = {}
        self.guards: list[str] = []
        self.temporaries: list[str] = []
        self._n_names = 0

    def need(self, *headers: str) -> None:
        """Ask for support headers, or for users' own C (`UserText`)."""
        self.headers.update(dict.fromkeys(headers))

    def need_for(self, dtype: str) -> None:
        """Ask for the support headers that values of a dtype need."""
        if dtype == "float16":
            self.need("half")
        elif C_DTYPES[dtype].kind == "c":
            self.need("complex")

    def new_name(self) -> str:
        """Return a name that nothing has."""
        self._n_names += 1
        return f"t{self._n_names - 1}"

    def temporary(self, text: str, dtype: str) -> TypedText:
        """Give the value of an expression a name."""
        name = self.new_name()
        self.lines.append(f"const {C_DTYPES[dtype].computed} {name} = {text};")
        self.temporaries.append(name)
        return TypedText(name, dtype)

    def constant(self, value: Any, dtype: str) -> TypedText:
        """Return a number as an expression."""
        self.need_for(dtype)
        return TypedText(literal(value, dtype), dtype)

    def apply(self, op: ScalarOp[Any], operands: Sequence[TypedText]) -> list[TypedText]:
        """Compute the results of a scalar Op.

        Raises
        ------
        LoweringError
            The Op, or one inside of it, has no expression for these dtypes.
        """
        if isinstance(op, HasInnerGraph):
            return self._apply_graph(op, operands)
        ins, outs = op.loop([operand.dtype for operand in operands])
        loop = ScalarLoop(tuple(ins), tuple(outs))
        cast = [self.cast(operand, dtype) for operand, dtype in zip(operands, ins, strict=True)]
        expressions = c_expression.get(op)(op, loop, [operand.text for operand in cast], self)
        texts = [expressions] if isinstance(expressions, str) else list(expressions)
        return [self._rounded(text, dtype) for text, dtype in zip(texts, outs, strict=True)]

    def _apply_graph(self, op: HasInnerGraph, operands: Sequence[TypedText]) -> list[TypedText]:
        known: dict[Variable[Any], TypedText] = {}
        for variable, operand in zip(op.fgraph.inputs, operands, strict=True):
            known[variable] = self.cast(operand, _dtype_of(variable))

        def value(variable: Variable[Any]) -> TypedText:
            if isinstance(variable, ScalarConstant):
                return self.constant(variable.data, variable.dtype)
            return known[variable]

        for node in op.fgraph.order:
            if not isinstance(node.op, ScalarOp):
                raise LoweringError(f"{node.op} inside of {op} is no scalar Op")
            known.update(zip(node.outputs, self.apply(node.op, [value(v) for v in node.inputs]), strict=True))
        return [value(variable) for variable in op.fgraph.outputs]

    def _rounded(self, text: str, dtype: str) -> TypedText:
        if dtype == "float16":
            self.need("half")
            text = f"lm_round_to_half({text})"
        return self.temporary(text, dtype)

    def cast(self, operand: TypedText, dtype: str) -> TypedText:
        """Return an operand in another dtype, converted as NumPy does."""
        if operand.dtype == dtype:
            return operand
        return TypedText(self._converted(operand, C_DTYPES[dtype]), dtype)

    def _converted(self, operand: TypedText, to: CDType) -> str:
        text, source = operand.text, operand.c
        if source.kind == "c":
            self.need("complex")
            if to.kind == "b":
                return f"((uint8_t)({text}.re != 0 || {text}.im != 0))"
            if to.kind == "c":
                part = "float" if to.name == "complex64" else "double"
                return f"(({to.computed}){{({part}){text}.re, ({part}){text}.im}})"
            raise LoweringError(f"{source.name} is not cast to {to.name}")
        if to.kind == "c":
            self.need("complex")
            part = "float" if to.name == "complex64" else "double"
            return f"(({to.computed}){{({part}){text}, 0}})"
        if to.kind == "b":
            return f"((uint8_t)({text} != 0))"
        if to.name == "float16":
            self.need("half")
            return f"lm_round_to_half_{'f64' if source.name == 'float64' else 'f32'}({text})"
        if source.kind == "f" and to.kind in "iu":
            self.need("casts")
            through = "f16" if (source.name, to.name) == ("float16", "uint32") else "f64"
            return f"lm_{to.suffix}_from_{through}({text})"
        return f"(({to.computed}){text})"


def _dtype_of(variable: Variable[Any]) -> str:
    if not isinstance(variable, ScalarVariable):
        raise LoweringError(f"{variable!r} of type {variable.type} is no number")
    return variable.dtype


OpT = TypeVar("OpT", bound=ScalarOp[Any])
OpT_contra = TypeVar("OpT_contra", bound=ScalarOp[Any], contravariant=True)


class Expression(Protocol[OpT_contra]):
    """Returns the C expressions of an Op's results: one for one result, else one each."""

    def __call__(
        self, op: OpT_contra, loop: ScalarLoop, operands: Sequence[str], body: ScalarBody, /
    ) -> str | Sequence[str]:
        """Return the expressions."""


@final
class CExpressionTable:
    """The C expression of each scalar Op.

    A function is given the Op, the dtypes of its loop, the operands (names, literals or parenthesised expressions, already
    cast to the loop's dtypes; ``float`` for half precision), and the body that the expression becomes a part of, which takes
    further statements and support headers. It may raise `LoweringError` for dtypes that it cannot do.
    """

    def __init__(self) -> None:
        self._table: LoweringTable[Callable[..., str | Sequence[str]]] = LoweringTable("expression in C")

    def register(self, *classes: type[OpT]) -> Callable[[Expression[OpT]], Expression[OpT]]:
        """Return a decorator that makes a function give the expression of Ops of some classes."""

        def decorate(function: Expression[OpT]) -> Expression[OpT]:
            self._table.put(classes, function)
            return function

        return decorate

    @property
    def classes(self) -> frozenset[type]:
        """The classes of Ops that have a function; so have their subclasses."""
        return self._table.classes

    def get(self, op: ScalarOp[Any]) -> Callable[..., str | Sequence[str]]:
        """Return the function of an Op.

        Raises
        ------
        LoweringError
            There is none.
        """
        return self._table.get(op)


c_expression = CExpressionTable()
"""The C expressions of scalar Ops: ``@c_expression.register(MyScalarOp)``."""
