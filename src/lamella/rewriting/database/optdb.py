"""`optdb`: all rewrites, in the order in which they are applied.

    position  what
    0         merge1                 one node for nodes that compute the same
    0.1       inline                 graphs within graphs become part of them
    0.1       inlining               graphs inside of Ops join the graph
    0.6       useless                operations that do nothing go
    1         canonicalize           a standard form
    1.2       merge1.2               once more
    1.5       stabilize              forms that lose no accuracy and do not overflow
    2         specialize             special operations that do the same, faster
    3         uncanonicalize         faster forms that are not the standard ones
    4 ..      BLAS                   calls of BLAS routines
    48 ..     fusion                 elementwise operations, and reductions of them, become one
    49        merge2                 once more
    49.5      add_destroy_handler    from here on, what is overwritten is watched
    50 ..     in-place               operations that overwrite their inputs: at 50 or later, and nowhere else
    100       merge3                 once more

The rewrites of this package come from the tuples in ``builtin.py``; those of users from calls of ``register``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, final

import attrs
from typing_extensions import override

from lamella.ir import FunctionGraph
from lamella.rewriting.database.builtin import (
    BLAS,
    CANONICALIZE,
    FUSION,
    INLINE,
    INPLACE,
    SPECIALIZE,
    STABILIZE,
    UNCANONICALIZE,
    USELESS,
    Builtin,
)
from lamella.rewriting.database.kinds import EquilibriumDB, LocalGroupDB, SequenceDB, TopoDB
from lamella.rewriting.engine import GraphRewriter, MergeOptimizer
from lamella.typing_layer import DestroyHandler, Supervisor

__all__ = [
    "BUILT_IN_VERSION",
    "AddDestroyHandler",
    "canonicalize_db",
    "optdb",
    "specialize_db",
    "stabilize_db",
    "uncanonicalize_db",
    "useless_db",
]


@final
@attrs.frozen
class AddDestroyHandler(GraphRewriter):
    """Has the graph refuse, from now on, what would overwrite a value that is still needed, or an input.

    Which inputs may be overwritten is for a `Supervisor` to say, such as `function` gives to its graphs; where there is none, none may.
    """

    name: str = "add_destroy_handler"

    @override
    def apply(self, fgraph: FunctionGraph) -> FunctionGraph:
        watched = fgraph.with_feature(DestroyHandler())
        told = any([isinstance(feature, Supervisor) for feature in fgraph.features])
        return watched if told else watched.with_feature(Supervisor(fgraph.inputs))


useless_db: Final = LocalGroupDB("useless", apply_all_rewrites=True)
canonicalize_db: Final = EquilibriumDB("canonicalize")
stabilize_db: Final = EquilibriumDB("stabilize")
specialize_db: Final = EquilibriumDB("specialize")
uncanonicalize_db: Final = EquilibriumDB("uncanonicalize")


def _filled(db: EquilibriumDB | LocalGroupDB, rewrites: Iterable[Builtin]) -> EquilibriumDB | LocalGroupDB:
    for rewrite in rewrites:
        db.register(rewrite.rewriter.name, rewrite.rewriter, *rewrite.tags)
    return db


def _assembled() -> SequenceDB:
    db = SequenceDB("optdb")
    always, run = ("fast_run", "fast_compile"), ("fast_run",)

    db.register("merge1", MergeOptimizer("merge1"), "merge", *always, position=0)

    _filled(useless_db, USELESS)
    db.register("useless", TopoDB(useless_db), *always, position=0.6)

    _filled(canonicalize_db, CANONICALIZE)
    canonicalize_db.register("merge", MergeOptimizer(), *always, cleanup=True)
    db.register("canonicalize", canonicalize_db, *always, position=1)
    db.register("merge1.2", MergeOptimizer("merge1.2"), "merge", *always, position=1.2)

    _filled(stabilize_db, STABILIZE)
    db.register("stabilize", stabilize_db, *run, position=1.5)

    _filled(specialize_db, SPECIALIZE)
    db.register("specialize", specialize_db, *run, position=2)

    _filled(uncanonicalize_db, UNCANONICALIZE)
    db.register("uncanonicalize", uncanonicalize_db, *run, position=3)

    db.register("merge2", MergeOptimizer("merge2"), "merge", *always, position=49)
    db.register("add_destroy_handler", AddDestroyHandler(), "inplace", *run, position=49.5)
    db.register("merge3", MergeOptimizer("merge3"), "merge", *always, position=100)

    for placed in (*INLINE, *BLAS, *FUSION, *INPLACE):
        db.register(placed.rewriter.name, placed.rewriter, *placed.tags, position=placed.position)
    return db


optdb: Final = _assembled()
"""The database that modes ask."""

BUILT_IN_VERSION: Final = optdb.version
"""The version of `optdb` while nobody has registered anything in it, or taken anything out of it."""
