"""`MergeOptimizer`: nodes that compute the same become one node.

Interning has seen to equal Ops applied to the same inputs. What is left are nodes and Constants that differ in their names
only, and applications of commutative Ops to the same inputs in another order::

    add(x, y).named("s") * add(y, x)    ->    s * s
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final, final

import attrs
from typing_extensions import override

from lamella.ir import Apply, Constant, Elemwise, FunctionGraph, Memory, Op, Variable, canonical, rebuild_node
from lamella.rewriting.engine.observer import Observer
from lamella.rewriting.engine.rewriter import GraphRewriter

__all__ = ["MergeOptimizer", "merge"]


_MERGED: Final[Memory[FunctionGraph, bool]] = Memory()
"""Graphs in which there is nothing to merge: databases merge often."""


def _commutes(op: Op[Any, Any]) -> bool:
    """Whether an Op, or the scalar Op of an `Elemwise`, says that its two inputs may be exchanged, with exactly the same result."""
    function = op.scalar_op if isinstance(op, Elemwise) and not op.inplace_pattern else op
    return getattr(function, "commutative", False) is True


@final
@attrs.frozen
class MergeOptimizer(GraphRewriter):
    """Makes one node of nodes that compute the same, and one Constant of equal ones."""

    name: str = "merge"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        return self.apply_observed(fgraph, None)

    @override
    def apply_observed(self, fgraph: FunctionGraph, observer: Observer | None) -> FunctionGraph:
        if _MERGED.find(fgraph, False):
            return fgraph
        merged: dict[Variable[Any], Variable[Any]] = {}
        first: dict[Hashable, Apply[Any]] = {}
        constants: dict[Hashable, Variable[Any]] = {}
        met: set[Variable[Any]] = set()
        commutes: dict[int, bool] = {}  # by the address of what stands for an Op, which the nodes keep alive
        for node in fgraph.order:
            for variable in node.inputs:
                if variable.owner is None and variable not in met and isinstance(variable, Constant):
                    met.add(variable)
                    _merge_constant(variable, constants, merged)
            rebuilt = rebuild_node(node, merged) if merged else node
            if rebuilt is not node:
                merged.update(zip(node.outputs, rebuilt.outputs, strict=True))
                if observer is not None:
                    observer.replaced(None, node.outputs, rebuilt.outputs)
            number = id(canonical(node.op))
            places = list(map(id, rebuilt.inputs))
            if number not in commutes:
                commutes[number] = _commutes(node.op)
            if commutes[number] and len(places) == 2:  # of more, an exchange changes in which order a sum is rounded
                places.sort()
            known = first.setdefault((number, *places), rebuilt)
            if known is not rebuilt and _included(known, rebuilt):
                merged.update(zip(node.outputs, known.outputs, strict=True))
                if observer is not None:
                    observer.replaced(self.name, rebuilt.outputs, known.outputs)
        for variable in fgraph.outputs:
            if isinstance(variable, Constant):
                _merge_constant(variable, constants, merged)
        rewritten = fgraph
        if merged:
            rewritten = fgraph.with_outputs([merged.get(variable, variable) for variable in fgraph.outputs])
        _MERGED.remember(rewritten, True)
        return rewritten


def _merge_constant(
    constant: Constant[Any], known: dict[Hashable, Variable[Any]], merged: dict[Variable[Any], Variable[Any]]
) -> None:
    key = constant.type.constant_key(constant.data)
    if key is not None:
        first = known.setdefault((constant.type, key), constant)
        if first is not constant:
            merged[constant] = first


def _included(first: Apply[Any], other: Apply[Any]) -> bool:
    """Whether the output types of `other` include those of `first`."""
    return all(
        old.type is new.type or old.type.is_super(new.type) is not None
        for new, old in zip(first.outputs, other.outputs, strict=True)
    )


merge: Final = MergeOptimizer()
"""The rewriter, ready to use."""
