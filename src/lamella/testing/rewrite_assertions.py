"""`assert_rewrite` and `RewriteTester`: what becomes of a graph that a test writes down."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Final

from lamella.config import config
from lamella.ir import FunctionGraph, TensorVariable, Variable, equal_computations, graph_inputs, to_text
from lamella.rewriting import GraphRewriter, RewriteDatabaseQuery, Rewriter, SequentialGraphRewriter, optdb
from lamella.testing.rewrite_comparison import Comparison, Difference, Faithfulness, show_case
from lamella.testing.rewrite_contract import RewriteContractError, RewriteReport, faithfulness_of, verify_rewrite
from lamella.testing.rewrite_graphs import Argument, Elements, GraphMaker
from lamella.testing.rewrite_registered import as_graph_rewriter, named_rewrites, registered_rewrites

__all__ = ["Graph", "RewriteTester", "assert_rewrite"]

Graph = FunctionGraph | Variable[Any] | Sequence[Variable[Any]]
"""A graph, as a test writes it: with its inputs, or only its output or outputs."""

_CANONICALIZE: Final = ("canonicalize",)
_ROUNDS: Final = 12


def assert_rewrite(
    before: Graph,
    after: Graph | None = None,
    *,
    fires: str | Iterable[str] = (),
    include: Iterable[str] | None = None,
    exclude: Iterable[str] = (),
    custom_rewrite: Rewriter | str | None = None,
    values: Sequence[Any] | None = None,
    tags: Iterable[str] = (),
) -> FunctionGraph:
    """Rewrite a graph, and see that it becomes what it should, and means what it did.

    Dtypes and static shapes must be kept, or the shapes narrowed. The graphs are run by the interpreter, and must give the same values
    to the last bit, where the rewrites that fired do not have a tag that says otherwise; see `verify_rewrite`.

    Parameters
    ----------
    before
        The graph.
    after
        What it is to become; a graph of the same inputs. Where it is not given, the graph must change.
    fires
        Names of rewrites, or one, that must have fired.
    include, exclude
        Tags and names of rewrites of `optdb` to apply and not to apply; ``["canonicalize"]`` by default, and none where `custom_rewrite` is
        given.
    custom_rewrite
        A rewriter to apply after those, or the name of one that is registered in `optdb`.
    values
        Values of the inputs, in the order in which the graph has them. By default random ones, among them NaN and infinities, with 3 for every
        length that is not known.
    tags
        What `custom_rewrite` may change: see `verify_rewrite`.

    Returns
    -------
    FunctionGraph
        The rewritten graph.

    Raises
    ------
    RewriteContractError
        It is not so; shows the graphs as text.
    LookupError
        No rewrite of that name is registered.

    Examples
    --------
    >>> import lamella.tensor as lt
    >>> x = lt.vector("x")
    >>> assert_rewrite(lt.exp(lt.log(x)) * 1.0, lt.exp(lt.log(x)), fires="mul_by_one").outputs
    (Exp.0,)
    """
    old = _as_fgraph(before, after)
    expected = None if after is None else _outputs(after)
    parts: list[GraphRewriter] = []
    query = _CANONICALIZE if include is None and custom_rewrite is None else tuple(include or ())
    if query:
        parts.append(optdb.query(RewriteDatabaseQuery(query, exclude=exclude)))
    if custom_rewrite is not None:
        parts.append(as_graph_rewriter(_found(custom_rewrite)))
    name = custom_rewrite.name if isinstance(custom_rewrite, Rewriter) else custom_rewrite or "assert_rewrite"
    with config.override(check_rewrites=True):
        rewritten = SequentialGraphRewriter(*parts).rewrite_with_log(old)
    new, fired = rewritten.fgraph, {step.rewriter for step in rewritten.log if step.rewriter is not None}
    missing = [wanted for wanted in ([fires] if isinstance(fires, str) else fires) if wanted not in fired]
    if missing:
        problem = f"{', '.join(missing)} did not fire; {', '.join(sorted(fired)) or 'nothing'} did"
        raise RewriteContractError(name, problem, show_case(old, new))
    if expected is not None and not _is_equal(new, expected):
        shown = f"expected:\n{to_text(FunctionGraph(old.inputs, expected))}"
        raise RewriteContractError(name, "the graph did not become what is expected", f"{show_case(old, new)}\n{shown}")
    if expected is None and new.outputs == old.outputs:
        raise RewriteContractError(name, "nothing changed", show_case(old, None))
    allowed = _allowed(fired, frozenset(tags))
    _compare(name, Comparison(old, new, _arguments(old, values), allowed))
    return new


def _found(rewrite: Rewriter | str) -> Rewriter:
    if isinstance(rewrite, Rewriter):
        return rewrite
    return named_rewrites(rewrite)[0].rewriter


def _outputs(graph: Graph) -> tuple[Variable[Any], ...]:
    if isinstance(graph, FunctionGraph):
        return graph.outputs
    return (graph,) if isinstance(graph, Variable) else tuple(graph)


def _as_fgraph(before: Graph, after: Graph | None) -> FunctionGraph:
    if isinstance(before, FunctionGraph):
        return before
    outputs = _outputs(before)
    roots = graph_inputs([*outputs, *(() if after is None else _outputs(after))])
    return FunctionGraph([v for v in roots if not v.is_constant], outputs)


def _is_equal(found: FunctionGraph, expected: Sequence[Variable[Any]]) -> bool:
    return len(found.outputs) == len(expected) and equal_computations(found.outputs, expected)


def _allowed(fired: Iterable[str], tags: frozenset[str]) -> Faithfulness:
    """Return what the rewrites that fired may change, all together."""
    allowed = [faithfulness_of(frozenset(), tags)]
    for name in fired:
        allowed += [faithfulness_of(r.groups, r.tags) for r in registered_rewrites(name=name)]
    return Faithfulness(
        any(each.rounding for each in allowed),
        any(each.stable for each in allowed),
        any(each.finite for each in allowed),
        any(each.errors for each in allowed),
    )


def _arguments(fgraph: FunctionGraph, values: Sequence[Any] | None) -> list[Argument]:
    if values is not None and len(values) != len(fgraph.inputs):
        raise ValueError(f"{len(values)} values are given, but the graph has {len(fgraph.inputs)} inputs")
    made = []
    for i, variable in enumerate(fgraph.inputs):
        if not isinstance(variable, TensorVariable):
            raise TypeError(f"the input {variable} is of type {variable.type}; values of tensors only can be compared")
        if values is None:
            shape = tuple([3 if n is None else n for n in variable.type.shape])
            made.append(Argument(variable, shape, Elements(variable.dtype)))
        else:
            value = variable.type.filter(values[i])
            made.append(Argument(variable, value.shape, Elements(variable.dtype, fixed=value)))
    return made


def _compare(name: str, comparison: Comparison) -> None:
    try:
        comparison.check_types()
        runs = comparison.check_values(0, _ROUNDS)
    except Difference as difference:
        case = show_case(comparison.before, comparison.after, difference.values)
        raise RewriteContractError(name, f"it changes a result: {difference.problem}", case) from difference
    if not runs:
        case = show_case(comparison.before, comparison.after)
        raise RewriteContractError(
            name, "the graph cannot be run with random values; give some that fit, by values=[...]", case
        )


class RewriteTester:
    """A base for classes of tests of rewrites; its methods also work alone.

    It is a plain class: pytest collects the subclasses that are named ``Test...``.

    Attributes
    ----------
    include, exclude, custom_rewrite, tags
        What is applied; see `assert_rewrite`.
    graphs
        For the name of each rewrite that is to be tried on random graphs, generators of graphs on which it fires; see `verify_rewrite`. None
        of them means those that are registered.

    Examples
    --------
    ::

        class TestMyRewrites(RewriteTester):
            include = ["my_rewrites"]
            graphs = {"exp_of_log": [lambda draw: lt.exp(lt.log(draw.floats()))]}

            def test_logarithm(self) -> None:
                x = lt.vector("x")
                self.assert_graph(lt.exp(lt.log(x)), lt.abs(x), fires="exp_of_log")
                self.assert_unchanged(lt.exp(x))
    """

    include: ClassVar[Iterable[str] | None] = None
    exclude: ClassVar[Iterable[str]] = ()
    custom_rewrite: ClassVar[Rewriter | str | None] = None
    tags: ClassVar[Iterable[str]] = ()
    graphs: ClassVar[Mapping[str, Sequence[GraphMaker]]] = {}

    def assert_graph(
        self,
        before: Graph,
        after: Graph | None = None,
        *,
        fires: str | Iterable[str] = (),
        values: Sequence[Any] | None = None,
    ) -> FunctionGraph:
        """See that a graph becomes another, and means the same: `assert_rewrite` with what the class says is applied."""
        return assert_rewrite(
            before,
            after,
            fires=fires,
            include=self.include,
            exclude=self.exclude,
            custom_rewrite=self.custom_rewrite,
            values=values,
            tags=self.tags,
        )

    def assert_unchanged(self, graph: Graph) -> None:
        """See that a graph stays as it is."""
        self.assert_graph(graph, graph)

    def test_keeps_what_graphs_mean(self) -> None:
        """Every rewrite of `graphs` fires on random graphs, and keeps what they mean."""
        for name, makers in self.graphs.items():
            print(self.verify(name, *makers))

    def verify(self, rewrite: str | Rewriter, *makers: GraphMaker) -> RewriteReport:
        """Try a rewrite on random graphs: `verify_rewrite` with the tags of the class."""
        return verify_rewrite(rewrite, *makers, tags=self.tags)
