"""`OpFromGraph`: an Op that computes a graph of its own.

square_of_sum = OpFromGraph([a, b], [(a + b) ** 2])
y = square_of_sum(x, exp(x))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from typing_extensions import override

from lamella.errors import MissingInputError
from lamella.ir.autodiff.backward import accumulate_cotangents, connection_pattern
from lamella.ir.autodiff.lop_rop import Rop
from lamella.ir.control.inner_shapes import infer_inner_shapes
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.copying import view_op
from lamella.ir.graph.fgraph import FunctionGraph
from lamella.ir.graph.inner_graph import normal_graph
from lamella.ir.graph.interpreter import interpret
from lamella.ir.graph.null_types import DisconnectedType, NullType
from lamella.ir.graph.op import Op, OutputStorage
from lamella.ir.graph.replace import substitute
from lamella.ir.graph.shared import SharedVariable
from lamella.ir.graph.traversal import ancestors
from lamella.ir.graph.variable import Variable
from lamella.ir.tensor import functions as lt
from lamella.ir.tensor.variable import TensorVariable

__all__ = ["ConnectionPattern", "LopOverride", "LopOverrides", "OpFromGraph", "RopOverride", "seeds_of"]

Variables = Sequence[Variable[Any]]

LopOverride = Callable[[Variables, Variables, Variables], Sequence[Variable[Any]]]
"""Given inputs, outputs and cotangents of the outputs, of `DisconnectedType` where the cost does not depend on the output: the
cotangents of the inputs."""

InputOverride = Callable[[Variables, Variables, Variables], Variable[Any]] | Variable[Any] | None
"""The cotangent of one input: computed, given (a Variable of `DisconnectedType` or `NullType`), or that of the inner graph (None)."""

LopOverrides = LopOverride | Sequence[InputOverride]
"""A function (an `OpFromGraph` is one) for all inputs, or an entry for each."""

RopOverride = Callable[[Variables, Sequence[Variable[Any] | None]], Sequence[Variable[Any] | None]]
"""Given inputs and their tangents, None for 0: the tangents of the outputs."""

ConnectionPattern = Sequence[Sequence[bool]]


class OpFromGraph(Op[..., Any]):
    """Compute a graph.

    The inner graph never changes. Two of these Ops that compute the same are equal, whatever the names of their Variables. The gradient is that of
    the inner graph, unless it is overridden. By default, the inner graph is put in the place of a node as soon as a graph is rewritten.

    Parameters
    ----------
    inputs, outputs
        The ends of the inner graph. Shared variables that it needs are inputs that each application adds by itself.
    inline
        Put the inner graph in the place of a node before anything else is rewritten. Otherwise a node stays one node, which rewrites can find, and
        the inner graph runs apart from the outer one.
    lop_overrides, grad_overrides
        What takes the place of the inner graph's gradient, under its newer or its older name: a function of inputs, outputs and output cotangents
        that returns a cotangent for each input; an `OpFromGraph` that takes and gives the same (for it, 0 stands for a cotangent of
        `DisconnectedType`); or a list with, for each input, a function that returns its cotangent, a Variable of `DisconnectedType` or
        `NullType`, or None for the inner graph's. Where a function gives fewer cotangents, those of shared variables come from the inner graph.
    rop_overrides
        What takes the place of the inner graph's tangents: a function of inputs and their tangents (None for 0).
    connection_pattern
        For each input, for each output, whether it counts as depending on it; found from the inner graph by default.
    name
        A name for people. It takes no part in equality.

    Raises
    ------
    MissingInputError
        The outputs need a Variable that is neither an input, nor shared, nor a Constant.
    TypeError
        Both names of the gradient override are given, or an input or output is no Variable.

    Attributes
    ----------
    fgraph
        The inner graph, in normal form.
    shared_inputs
        The shared variables that it needs: its last inputs.
    is_inline
        Whether `inline` was asked for.
    """

    not_identity = frozenset({"name"})

    fgraph: FunctionGraph
    shared_inputs: tuple[SharedVariable[Any], ...]
    is_inline: bool
    name: str | None

    def __init__(
        self,
        inputs: Variables,
        outputs: Variables,
        *,
        inline: bool = True,
        lop_overrides: LopOverrides | None = None,
        grad_overrides: LopOverrides | None = None,
        rop_overrides: RopOverride | None = None,
        connection_pattern: ConnectionPattern | None = None,
        name: str | None = None,
    ) -> None:
        if lop_overrides is not None and grad_overrides is not None:
            raise TypeError("lop_overrides and grad_overrides are two names of one thing; give one of them")
        for variable in (*inputs, *outputs):
            if not isinstance(variable, Variable):
                raise TypeError(f"the ends of an inner graph are Variables, not {variable!r}")
        shared = [
            v for v in dict.fromkeys(ancestors(outputs, inputs)) if isinstance(v, SharedVariable) and v not in inputs
        ]
        try:
            self.fgraph = normal_graph([*inputs, *shared], outputs)
        except MissingInputError as error:
            error.add_note("give it among the inputs of the OpFromGraph")
            raise
        overrides = grad_overrides if lop_overrides is None else lop_overrides
        self.shared_inputs = tuple(shared)
        self.is_inline = inline
        self.lop_overrides = tuple(overrides) if isinstance(overrides, Sequence) else overrides
        self.rop_overrides = rop_overrides
        self.given_pattern = None if connection_pattern is None else tuple([tuple(row) for row in connection_pattern])
        self.name = name

    @property
    def n_inputs(self) -> int:
        """How many inputs an application is given; the shared variables follow them."""
        return len(self.fgraph.inputs) - len(self.shared_inputs)

    @override
    def make_node(self, *args: Any, **kwargs: Any) -> Apply[Any]:
        if len(args) == len(self.fgraph.inputs):
            given = list(args)
        elif len(args) == self.n_inputs and not kwargs:
            given = [*args, *self.shared_inputs]
        else:
            raise TypeError(f"{self} takes {self.n_inputs} inputs, not {len(args) + len(kwargs)}")
        inputs = [
            inner.type.filter_variable(x if isinstance(x, Variable) else _as_variable(x, inner))
            for inner, x in zip(self.fgraph.inputs, given, strict=True)
        ]
        return Apply(self, inputs, [out.type for out in self.fgraph.outputs])

    @override
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        values = list(inputs)
        if self._overwrites:
            values = [v.type.copy_value(x) for v, x in zip(node.inputs, inputs, strict=True)]
        results = interpret(self.fgraph.inputs, self.fgraph.outputs, values, self.fgraph.order)
        taken = list(inputs) + [v.stored_value() for v in self.fgraph.outputs if v.is_constant]
        for out, cell, result in zip(self.fgraph.outputs, output_storage, results, strict=True):
            # The outer graph takes each output to have memory of its own.
            shares = any(result is other or out.type.may_share_memory(result, other) for other in taken)
            cell[0] = out.type.copy_value(result) if shares else result
            taken.append(cell[0])

    @cached_property
    def _overwrites(self) -> bool:
        return any([node.op.destroy_map for node in self.fgraph.order])

    def inlined(self, inputs: Sequence[Variable[Any]]) -> list[Variable[Any]]:
        """Return what the inner graph computes of some inputs, as Variables of the outer graph."""
        return substitute(self.fgraph.outputs, dict(zip(self.fgraph.inputs, inputs, strict=True)), self.fgraph.inputs)

    @override
    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        return all([inner.op.do_constant_folding(self.fgraph, inner) for inner in self.fgraph.order])

    @override
    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        return infer_inner_shapes(self.fgraph, node.inputs, shapes)

    @override
    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        if self.given_pattern is None:
            return self._inner_pattern
        shared = self._inner_pattern[self.n_inputs :]
        return self.given_pattern if len(self.given_pattern) > self.n_inputs else (*self.given_pattern, *shared)

    @cached_property
    def _inner_pattern(self) -> tuple[tuple[bool, ...], ...]:
        # Bit i of a Variable's mask says whether it depends on input i.
        masks: dict[Variable[Any], int] = {v: 1 << i for i, v in enumerate(self.fgraph.inputs)}
        for node in self.fgraph.order:
            pattern = connection_pattern(node)
            for o, out in enumerate(node.outputs):
                mask = 0
                for i, variable in enumerate(node.inputs):
                    if pattern[i][o]:
                        mask |= masks.get(variable, 0)
                masks.setdefault(out, mask)
        return tuple(
            [
                tuple([bool(masks.get(v, 0) >> i & 1) for v in self.fgraph.outputs])
                for i in range(len(self.fgraph.inputs))
            ]
        )

    @override
    def L_op(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> Sequence[Variable[Any]]:
        overrides = self.lop_overrides
        if overrides is None:
            return self.pulled_back(inputs, outputs, output_grads)
        if isinstance(overrides, tuple):
            return self._pulled_back_singly(overrides, inputs, outputs, output_grads)
        if isinstance(overrides, OpFromGraph):
            known = [_or_zeros(g, out) for g, out in zip(output_grads, outputs, strict=True)]
            found = overrides(*inputs, *outputs, *known)
            results = list(found) if isinstance(found, tuple | list) else [found]
        else:
            results = list(overrides(inputs, outputs, output_grads))
        if len(results) == self.n_inputs and self.shared_inputs:
            results += self.pulled_back(inputs, outputs, output_grads)[self.n_inputs :]
        return results

    def _pulled_back_singly(
        self, overrides: tuple[InputOverride, ...], inputs: Variables, outputs: Variables, output_grads: Variables
    ) -> list[Variable[Any]]:
        entries = list(overrides)
        if len(entries) == self.n_inputs:
            entries += [None] * len(self.shared_inputs)
        if len(entries) != len(inputs):
            raise ValueError(f"{self} has {self.n_inputs} inputs, but lop_overrides has {len(overrides)} entries")
        default: Variables = ()
        if None in entries:
            default = self.pulled_back(inputs, outputs, output_grads)
        results: list[Variable[Any]] = []
        for i, entry in enumerate(entries):
            if entry is None:
                results.append(default[i])
            else:
                results.append(entry if isinstance(entry, Variable) else entry(inputs, outputs, output_grads))
        return results

    def pulled_back(self, inputs: Variables, outputs: Variables, output_grads: Variables) -> list[Variable[Any]]:
        """Return the cotangents of the inputs that the inner graph gives, whatever overrides it."""
        ends = self.fgraph.outputs
        stand_ins = [g if isinstance(g.type, DisconnectedType) else g.type() for g in output_grads]
        found = accumulate_cotangents(seeds_of(ends, stand_ins), self.fgraph.inputs, self.fgraph.inputs)
        wanted = [v for v in self.fgraph.inputs if v in found and not isinstance(found[v].type, NullType)]
        # What the node has computed already is not computed again.
        computed = {v: v.type() for v in ends if v.owner is not None}
        inner = substitute([found[v] for v in wanted], computed)
        outer: dict[Variable[Any], Variable[Any]] = dict(zip(self.fgraph.inputs, inputs, strict=True))
        outer.update({computed[v]: out for v, out in zip(ends, outputs, strict=True) if v in computed})
        outer.update(zip(stand_ins, output_grads, strict=True))
        results = {**found, **dict(zip(wanted, self._gradient(inner, outer), strict=True))}
        return [results[v] if v in results else DisconnectedType()() for v in self.fgraph.inputs]

    def _gradient(
        self, inner: Sequence[Variable[Any]], outer: dict[Variable[Any], Variable[Any]]
    ) -> Sequence[Variable[Any]]:
        if self.is_inline or not inner:
            return substitute(inner, outer)
        used = set(ancestors(inner, outer))
        read = [v for v in outer if v in used]
        op = OpFromGraph(read, inner, name=f"gradient of {self.name or 'a graph'}")
        return op.make_node(*[outer[v] for v in read]).outputs

    @override
    def R_op(self, inputs: Variables, eval_points: Sequence[Variable[Any] | None]) -> Sequence[Variable[Any] | None]:
        if self.rop_overrides is not None:
            return self.rop_overrides(inputs, eval_points)
        wrt: list[TensorVariable] = []
        points: list[TensorVariable] = []
        outer: dict[Variable[Any], Variable[Any]] = dict(zip(self.fgraph.inputs, inputs, strict=True))
        for variable, point in zip(self.fgraph.inputs, eval_points, strict=True):
            if isinstance(variable, TensorVariable) and isinstance(point, TensorVariable):
                wrt.append(variable)
                points.append(point.type())
                outer[points[-1]] = point
        tensors = [v for v in self.fgraph.outputs if isinstance(v, TensorVariable)]
        pushed = dict(zip(tensors, Rop(tensors, wrt, points, "ignore", "none"), strict=True))
        live = [v for v in tensors if pushed[v] is not None]
        results: dict[Variable[Any], Variable[Any]] = dict(
            zip(live, self._gradient([pushed[v] for v in live], outer), strict=True)
        )
        return [results.get(v) for v in self.fgraph.outputs]

    @override
    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.name or ''}}}"

    @override
    def __reduce__(self) -> tuple[Any, ...]:
        return (
            _restored,
            (
                type(self),
                self.fgraph,
                self.shared_inputs,
                {
                    "inline": self.is_inline,
                    "lop_overrides": self.lop_overrides,
                    "rop_overrides": self.rop_overrides,
                    "connection_pattern": self.given_pattern,
                    "name": self.name,
                },
            ),
        )


def _restored(
    cls: type[OpFromGraph], fgraph: FunctionGraph, shared: Sequence[Variable[Any]], rest: dict[str, Any]
) -> OpFromGraph:
    n_inputs = len(fgraph.inputs) - len(shared)
    outputs = substitute(fgraph.outputs, dict(zip(fgraph.inputs[n_inputs:], shared, strict=True)), fgraph.inputs)
    return cls(fgraph.inputs[:n_inputs], outputs, **rest)


def _as_variable(value: object, inner: Variable[Any]) -> Variable[Any]:
    made: Variable[Any] = inner.type.make_constant(inner.type.filter(value))
    return made


def _or_zeros(cotangent: Variable[Any], output: Variable[Any]) -> Variable[Any]:
    if isinstance(cotangent.type, DisconnectedType) and isinstance(output, TensorVariable):
        return lt.zeros_like(output)
    return cotangent


def seeds_of(outputs: Variables, cotangents: Variables) -> dict[Variable[Any], Variable[Any]]:
    """Return cotangents to begin with, for outputs of a graph that may depend on one another, or be the same."""
    seeds: dict[Variable[Any], Variable[Any]] = {}
    for output, cotangent in zip(outputs, cotangents, strict=True):
        if isinstance(cotangent.type, DisconnectedType):
            continue
        # The seed of a Variable is all it receives, so each is that of a copy, which nothing else depends on.
        head = lt.tensor_copy(output) if isinstance(output, TensorVariable) else view_op(output)
        given = seeds.get(head)
        if isinstance(given, TensorVariable) and isinstance(cotangent, TensorVariable):
            seeds[head] = lt.add(given, cotangent)
        else:
            seeds[head] = cotangent
    return seeds
