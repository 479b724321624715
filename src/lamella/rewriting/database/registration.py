"""How users add rewrites to the groups of `optdb`: as decorators or by calls."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar, final, overload

import attrs

from lamella.rewriting.database.kinds import EquilibriumDB, LocalGroupDB
from lamella.rewriting.database.optdb import (
    canonicalize_db,
    specialize_db,
    stabilize_db,
    uncanonicalize_db,
    useless_db,
)
from lamella.rewriting.engine import NodeRewriter

__all__ = [
    "Registration",
    "register_canonicalize",
    "register_specialize",
    "register_stabilize",
    "register_uncanonicalize",
    "register_useless",
]

N = TypeVar("N", bound=NodeRewriter)


@final
@attrs.frozen
class Registration:
    """Registers node rewriters in one database, and returns them.

    Parameters
    ----------
    db
        The database.
    tags
        Tags of all that it registers. ``fast_run`` is not given to what has the tag ``nan_unsafe``.

    Examples
    --------
    Each of these registers a rewriter under its own name::

        @register_canonicalize
        @node_rewriter([exp])
        def exp_of_log(fgraph, node): ...

        @register_canonicalize("fast_compile", "shape_unsafe")
        @node_rewriter([exp])
        def another(fgraph, node): ...

        register_canonicalize(PatternNodeRewriter((exp, (log, "x")), "x"), name="exp_of_log_of_x")
    """

    db: EquilibriumDB | LocalGroupDB
    tags: tuple[str, ...] = ("fast_run",)

    @overload
    def __call__(self, rewriter: N, *tags: str, name: str | None = None, overwrite_existing: bool = False) -> N: ...

    @overload
    def __call__(
        self, rewriter: str, *tags: str, name: str | None = None, overwrite_existing: bool = False
    ) -> Callable[[N], N]: ...

    def __call__(
        self, rewriter: N | str, *tags: str, name: str | None = None, overwrite_existing: bool = False
    ) -> N | Callable[[N], N]:
        """Register a rewriter with tags, or return a decorator that does.

        Parameters
        ----------
        rewriter
            A node rewriter; or a tag, to get a decorator.
        *tags
            Its tags.
        name
            The name to register it under; its own by default.
        overwrite_existing
            Put it in the place of what has the name already.

        Raises
        ------
        ValueError
            The name is taken.
        TypeError
            It is no node rewriter.
        """
        if isinstance(rewriter, str):
            all_tags = (rewriter, *tags)

            def decorate(decorated: N) -> N:
                return self._register(decorated, all_tags, name, overwrite_existing)

            return decorate
        return self._register(rewriter, tags, name, overwrite_existing)

    def _register(self, rewriter: N, tags: tuple[str, ...], name: str | None, overwrite_existing: bool) -> N:
        if not isinstance(rewriter, NodeRewriter):
            raise TypeError(
                f"{rewriter!r} is no node rewriter; make one of a function by the decorator node_rewriter([...])"
            )
        own = tuple([tag for tag in self.tags if tag != "fast_run" or "nan_unsafe" not in tags])
        self.db.register(name or rewriter.name, rewriter, *own, *tags, overwrite_existing=overwrite_existing)
        return rewriter


register_useless: Final = Registration(useless_db, ("fast_run", "fast_compile"))
"""Registers rewriters that remove operations which do nothing; they are also applied in ``FAST_COMPILE``."""

register_canonicalize: Final = Registration(canonicalize_db)
"""Registers rewriters that bring graphs to a standard form."""

register_stabilize: Final = Registration(stabilize_db)
"""Registers rewriters that make graphs lose no accuracy and not overflow."""

register_specialize: Final = Registration(specialize_db)
"""Registers rewriters that put special operations in the place of combinations of others."""

register_uncanonicalize: Final = Registration(uncanonicalize_db)
"""Registers rewriters to faster forms that are not the standard ones."""
