"""`pp`: Variables in mathematical notation, as ``(exp(x) * 2.0 + y)``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, final

import attrs
import numpy as np

from lamella.ir.graph.apply import Apply
from lamella.ir.graph.as_op import FromFunctionOp
from lamella.ir.graph.traversal import toposort
from lamella.ir.graph.variable import Constant, Variable
from lamella.ir.printing.notation import Notation, Operand, Precedence, Writer, notation
from lamella.ir.printing.scalar_notation import SCALAR_NOTATIONS
from lamella.ir.printing.subjects import GraphLike, op_text, parts_of
from lamella.ir.printing.tensor_notation import TENSOR_NOTATIONS
from lamella.ir.printing.values import value_text

__all__ = ["pp", "pprint"]

_LONGEST_INLINED = 1000  # Ops


def _from_function(op: FromFunctionOp, node: Apply[Any]) -> Notation:
    return Notation.call(getattr(op.function, "__name__", op_text(op)), node)


_BUILT_IN: tuple[Mapping[type, Writer], ...] = ({FromFunctionOp: _from_function}, SCALAR_NOTATIONS, TENSOR_NOTATIONS)
for _table in _BUILT_IN:
    for _class, _writer in _table.items():
        notation.register(_class, _writer)


def pp(graph: GraphLike | Iterable[GraphLike]) -> str:
    """Return Variables in mathematical notation, one line for each.

    Parentheses stand where Python's rules of precedence ask for them, and around an operation that stands alone. How an Op is
    written says `lamella.ir.notation`, where new Ops can be registered.

    What is used several times is written out each time. Where this would make the text very long, such parts are given names
    first: lines ``t0 = ...`` come before.

    Parameters
    ----------
    graph
        A Variable, an Apply node, a FunctionGraph, a compiled function, or several of them.

    Raises
    ------
    TypeError
        Something cannot be printed.
    """
    return "\n".join([line for outputs, inputs, _ in parts_of(graph) for line in _lines(outputs, inputs)])


pprint = pp
"""The same as `pp`."""


def _lines(outputs: Sequence[Variable[Any]], inputs: Sequence[Variable[Any]]) -> list[str]:
    order = toposort(outputs, inputs)
    templates = {node: notation(node.op, node) for node in order}
    writer = _Writer(templates, frozenset(inputs))
    lines = []
    for node in _named_first(order, templates, outputs):
        several = [v for v in node.outputs if v not in writer.inputs]
        texts = [writer.write(v) for v in several]
        for variable, text in zip(several, texts, strict=True):
            writer.names[variable] = f"t{len(writer.names)}"
            lines.append(f"{writer.names[variable]} = {text}")
    return [*lines, *[writer.write(v, Precedence.ATOM) for v in outputs]]


def _named_first(
    order: Sequence[Apply[Any]], templates: Mapping[Apply[Any], Notation], outputs: Sequence[Variable[Any]]
) -> list[Apply[Any]]:
    """Return the nodes to name: those written several times, if writing them out took too many Ops."""
    uses: dict[Apply[Any], int] = {}
    sizes: dict[Apply[Any], int] = {}
    for node in order:
        size = 1
        for part in templates[node].parts:
            owner = node.inputs[part.place].owner if isinstance(part, Operand) else None
            if owner is not None and owner in sizes:
                uses[owner] = uses.get(owner, 0) + 1
                size += sizes[owner]
        sizes[node] = min(size, len(order) + _LONGEST_INLINED)  # a count of paths may have thousands of digits
    written = [v.owner for v in outputs if v.owner is not None and v.owner in sizes]
    if sum([sizes[node] for node in written]) <= max(_LONGEST_INLINED, len(order)):
        return []
    for node in written:
        uses[node] = uses.get(node, 0) + 1
    return [node for node in order if uses.get(node, 0) > 1 and node.inputs]


@final
@attrs.frozen(eq=False)
class _Writer:
    templates: Mapping[Apply[Any], Notation]
    inputs: frozenset[Variable[Any]]
    names: dict[Variable[Any], str] = attrs.field(factory=dict)

    def write(self, variable: Variable[Any], binding: int = Precedence.ANY) -> str:
        """Return the text of a Variable, enclosed where it binds less tightly than `binding`."""
        pieces: list[str] = []
        pending: list[str | tuple[Variable[Any], int]] = [(variable, binding)]
        while pending:
            part = pending.pop()
            if isinstance(part, str):
                pieces.append(part)
                continue
            found, required = part
            node = found.owner
            if node is None or found in self.inputs or found in self.names or node not in self.templates:
                text = self.names.get(found) or _leaf_text(found)
                negative = text.startswith("-") and required > Precedence.SIGN
                pieces.append(f"({text})" if negative else text)
                continue
            template = self.templates[node]
            transparent = template.precedence is None
            enclosed = template.precedence is not None and template.precedence < required
            if len(node.outputs) > 1:
                pending.append(f".{found.index}")
            if enclosed:
                pending.append(")")
            for piece in reversed(template.parts):
                if isinstance(piece, Operand):
                    pending.append((node.inputs[piece.place], required if transparent else piece.binding))
                else:
                    pending.append(piece)
            if enclosed:
                pending.append("(")
        return "".join(pieces)


def _leaf_text(variable: Variable[Any]) -> str:
    if not isinstance(variable, Constant) or variable.name is not None:
        return str(variable)
    # Constants get axes of length 1 to broadcast: of these nothing is seen.
    data = variable.data
    return value_text(data.reshape(()) if isinstance(data, np.ndarray) and data.size == 1 else data)
