"""`Composite`: a scalar Op made of others, as fusion makes it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, cached_property, lru_cache
from typing import Any, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.variable import Variable
from lamella.ir.scalar.backward import pull_back_graph
from lamella.ir.scalar.dtypes import DTypeOrLiteral, Loop
from lamella.ir.scalar.op import ScalarOp
from lamella.ir.scalar.program import ScalarProgram
from lamella.ir.scalar.type import ScalarType
from lamella.ir.scalar.variable import ScalarConstant, ScalarVariable

__all__ = ["Composite"]

_LONGEST_TEXT = 240


@cache
def _canonical_input(place: int, dtype: str) -> ScalarVariable:
    """Return the Variable that stands for an input in every Composite, so that equal graphs are the same nodes."""
    return ScalarType(dtype)(f"i{place}")


@final
@attrs.frozen(eq=False, repr=False, init=False)
class Composite(ScalarOp[...]):
    """The function that a scalar graph computes; it rounds wherever that graph does.

    Two Composites are equal if their graphs differ in names only. One inside of another is dissolved.

    Parameters
    ----------
    inputs
        The inputs of the graph.
    outputs
        Its outputs.

    Attributes
    ----------
    inputs, outputs
        The graph, on inputs of its own, named ``i0``, ``i1``, ...

    Raises
    ------
    MissingInputError
        An output depends on a Variable that is no input.
    TypeError
        The graph holds something that is no scalar, or no scalar Op.
    ValueError
        There is no output, or an input is given twice.
    """

    inputs: tuple[ScalarVariable, ...]
    outputs: tuple[ScalarVariable, ...]

    def __init__(self, inputs: Sequence[ScalarVariable], outputs: Sequence[ScalarVariable]) -> None:
        for variable in (*inputs, *outputs):
            if not isinstance(variable, ScalarVariable):
                raise TypeError(f"a Composite is made of scalars; {variable!r} is none")
        if len(set(inputs)) != len(inputs) or not outputs:
            raise ValueError(f"a Composite has inputs that differ, and outputs; not {list(inputs)} and {list(outputs)}")
        self.__attrs_init__(*_canonical([v.dtype for v in inputs], ScalarProgram.of(inputs, outputs)))

    @classmethod
    def of_program(cls, dtypes: Sequence[str], program: ScalarProgram) -> Composite:
        """Make the Op that goes through the steps of a program.

        Parameters
        ----------
        dtypes
            The dtypes of its inputs.
        program
            The program; its results are numbers.
        """
        self = object.__new__(cls)
        self.__attrs_init__(*_canonical(dtypes, program))
        return self

    @property
    @override
    def nin(self) -> int:
        return len(self.inputs)

    @property
    @override
    def nout(self) -> int:
        return len(self.outputs)

    @property
    @override
    def flops_per_element(self) -> int:
        return sum([op.flops_per_element for op, _ in self.program.steps])

    @cached_property
    def fgraph(self) -> FunctionGraph:
        """The graph."""
        return FunctionGraph(self.inputs, self.outputs)

    @cached_property
    def program(self) -> ScalarProgram:
        """The graph, as steps."""
        return ScalarProgram.of(self.inputs, self.outputs)

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        ins = tuple([v.dtype for v in self.inputs])
        for i, (found, expected) in enumerate(zip(dtypes, ins, strict=True)):
            if isinstance(found, str) and found != expected:
                raise TypeError(f"input {i} of {self} is {expected}, not {found}")
        return ins, tuple([v.dtype for v in self.outputs])

    @override
    def impl(self, *operands: Any) -> Any:
        results = self.program.run(operands, lambda c: np.asarray(c.data), lambda op, values: op.compute(values))
        return tuple(results) if self.nout != 1 else results[0]

    @override
    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        return pull_back_graph(inputs, self.inline(inputs), output_grads)

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        reached: dict[Variable[Any], frozenset[int]] = {}
        for i, output in enumerate(self.outputs):
            reached[output] = reached.get(output, frozenset()) | {i}
        for inner in reversed(self.fgraph.order):
            pattern = inner.op.connection_pattern(inner)
            for variable, connected in zip(inner.inputs, pattern, strict=True):
                through = [reached.get(out, frozenset()) for out, c in zip(inner.outputs, connected, strict=True) if c]
                reached[variable] = reached.get(variable, frozenset()).union(*through)
        return [[i in reached.get(v, frozenset()) for i in range(self.nout)] for v in self.inputs]

    def inline(self, operands: Sequence[ScalarVariable]) -> list[ScalarVariable]:
        """Return what the outputs are for these operands, without this Op: the graph built on them."""
        made = self.program.run(list(operands), _nameless, _apply_nameless)
        return [v for v in made if isinstance(v, ScalarVariable)]

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (_restore, (FunctionGraph(self.inputs, self.outputs),))

    @override
    def __str__(self) -> str:
        return f"Composite{{{_describe(self.fgraph)}}}"


def _restore(fgraph: FunctionGraph) -> Composite:
    def scalars(variables: Sequence[Variable[Any]]) -> list[ScalarVariable]:
        return [v for v in variables if isinstance(v, ScalarVariable)]

    return Composite(scalars(fgraph.inputs), scalars(fgraph.outputs))


def _canonical(
    dtypes: Sequence[str], program: ScalarProgram
) -> tuple[tuple[ScalarVariable, ...], tuple[ScalarVariable, ...]]:
    """Return the inputs and the outputs of the graph that a program computes, on the inputs that all Composites share."""
    inputs = tuple([_canonical_input(i, dtype) for i, dtype in enumerate(dtypes)])
    made = program.run(inputs, _nameless, _apply_nameless)
    return inputs, tuple([v for v in made if isinstance(v, ScalarVariable)])


def _nameless(constant: ScalarConstant) -> ScalarVariable:
    return ScalarType(constant.dtype).make_constant(constant.data)


def _apply_nameless(op: ScalarOp[Any], operands: list[ScalarVariable]) -> Sequence[ScalarVariable]:
    if isinstance(op, Composite):
        return op.inline(operands)
    node: Apply[Any]
    if type(op).make_node is ScalarOp.make_node:  # for operands that are Variables already, it is less work
        types = _result_types(op, tuple([v.type.dtype for v in operands]))
        node = Apply.with_names(op, tuple(operands), types, (None,) * len(types))
    else:
        node = op.make_node(*operands)
    return [out for out in node.outputs if isinstance(out, ScalarVariable)]


@lru_cache(maxsize=4096)
def _result_types(op: ScalarOp[Any], dtypes: tuple[str, ...]) -> tuple[ScalarType, ...]:
    _, outs = op.loop_for([ScalarType(dtype) for dtype in dtypes])
    return tuple([ScalarType(dtype) for dtype in outs])


def _describe(fgraph: FunctionGraph) -> str:
    """Write the graph: what is used once stands where it is used, the rest is given names first."""
    texts: dict[Variable[Any], str] = {}
    named: list[str] = []
    for node in fgraph.order:
        operands = [
            texts[v] if v in texts else str(v.data) if isinstance(v, ScalarConstant) else str(v) for v in node.inputs
        ]
        text = f"{node.op}({', '.join(operands)})"
        for i, out in enumerate(node.outputs):
            mine = text if len(node.outputs) == 1 else f"{text}.{i}"
            if (len(fgraph.get_clients(out)) > 1 and len(node.inputs) > 0) or len(mine) > _LONGEST_TEXT:
                named.append(f"t{len(named)} = {mine}")
                mine = f"t{len(named) - 1}"
            texts[out] = mine
    results = ", ".join([texts.get(v, str(v)) for v in fgraph.outputs])
    whole = "; ".join([*named, results])
    return whole if len(whole) <= _LONGEST_TEXT else f"{len(fgraph.order)} Ops of {len(fgraph.inputs)} inputs"
