"""Exceptions of the library; a class of ours where no built-in one says enough.

Every class derives from `LamellaError`, and from the built-in exception that a caller
would expect for the same fault, so that ``except ValueError`` keeps working.
"""

from __future__ import annotations


class LamellaError(Exception):
    """Base class of every exception defined here."""


class MissingInputError(LamellaError, LookupError):
    """A graph needs a variable that is neither an input nor a constant."""


class UnusedInputError(LamellaError, ValueError):
    """An input of a function takes no part in computing its outputs."""


class InconsistencyError(LamellaError, ValueError):
    """No order of the nodes satisfies what the graph's nodes destroy and view."""


class StaticShapeError(LamellaError, ValueError):
    """Static shapes that can never fit were combined while a graph was built."""


class BroadcastError(LamellaError, ValueError):
    """Run-time lengths do not fit the broadcast pattern fixed when the graph was built."""


class ShapeMismatchError(LamellaError, ValueError):
    """An array has not the shape at run time that was specified while the graph was built, or that an Op needs."""


class OutputTypeError(LamellaError, TypeError):
    """An Op computed a value that is not of the type it promised."""


class DisconnectedInputError(LamellaError, ValueError):
    """A gradient was asked for with respect to a variable that the cost does not depend on."""


class NullTypeGradError(LamellaError, TypeError):
    """A gradient that is not defined, or not implemented, would take part in a result."""


class GradientNotImplementedError(NullTypeGradError, NotImplementedError):
    """An Op on the path from the cost has no gradient."""


class GraphCheckError(LamellaError, ValueError):
    """The graph checker found problems; `problems` lists them."""

    def __init__(self, problems: tuple[str, ...]) -> None:
        self.problems = problems
        super().__init__("the graph is not well formed:\n" + "\n".join(f"- {problem}" for problem in problems))


class RewriteError(LamellaError, RuntimeError):
    """A rewriter returned something that cannot replace what it was given."""


class RewriteLoopError(RewriteError):
    """Rewriters undo one another without end."""


class ConfigError(LamellaError, ValueError):
    """A configuration flag has an unknown name or a value it cannot take."""


class CompileError(LamellaError, RuntimeError):
    """A compiler was run and failed; the message holds what it printed."""


class CompilerNotFoundError(CompileError):
    """No working C compiler was found."""


class LoweringError(LamellaError, TypeError):
    """An Op has no lowering for the asked target, or its lowering cannot handle the node's types."""


class ShapeNotInferred(LamellaError, LookupError):
    """The shape of an Op's output can only be found by computing the output."""


class CacheWarning(UserWarning):
    """Compiled code cannot be kept where it should be."""


class NanGuardError(LamellaError, AssertionError):
    """A function computed, or was given, a NaN, an infinite or a very large number, and its mode does not allow that.

    Attributes
    ----------
    kind
        What kind of number it is, in words.
    node
        The node that computed it, or was given it.
    """

    def __init__(self, message: str, kind: str, node: object) -> None:
        self.kind = kind
        self.node = node
        super().__init__(message)
