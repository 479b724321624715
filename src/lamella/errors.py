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


class RecallError(LamellaError, RuntimeError):
    """A function was taken from the cache, and its graph cannot be made again: the rewrites that are registered now make another one."""


class ConfigError(LamellaError, ValueError):
    """A configuration flag has an unknown name or a value it cannot take."""


class CompileError(LamellaError, RuntimeError):
    """A compiler was run and failed; the message holds what it printed."""


class CompilerNotFoundError(CompileError):
    """No working C compiler was found."""


class LoweringError(LamellaError, TypeError):
    """An Op has no lowering for the asked target, or its lowering cannot handle the node's types."""


class ExportError(LamellaError, ValueError):
    """A function cannot be written as a C library."""


class MethodNotDefined(LamellaError, NotImplementedError):
    """A method that has something to do with C is not overridden: there is no C code."""


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


class RewriteTypeError(RewriteError, TypeError):
    """A rewriter put a Variable in the place of another whose type does not include its type."""


class DebugModeError(LamellaError, RuntimeError):
    """`DebugMode` found that something does not keep its promises; the classes derived from this one say what."""


class InvalidValueError(DebugModeError, OutputTypeError):
    """An Op computed a value that is not of the type it promised: of another dtype, number of dimensions or static shape."""


class NonFiniteValueError(InvalidValueError):
    """An Op computed a NaN or an infinite number, and `DebugMode` was asked to see to it that there is none."""


class BadInferredShape(DebugModeError, ValueError):
    """An Op's ``infer_shape`` promises another shape than the computed value has."""


class BadViewMap(DebugModeError):
    """An output shares memory with an input, or with another output, and the Op's ``view_map`` does not say so."""


class BadDestroyMap(DebugModeError):
    """An Op changed an input, and its ``destroy_map`` does not say so."""


class WrongDestroyMap(BadDestroyMap):
    """An Op's ``destroy_map`` names other inputs than those that it changes."""


class BadThunkOutput(DebugModeError):
    """An Op did not compute the same from the same inputs; the classes derived from this one say in which circumstances."""


class ImpureOp(BadThunkOutput):
    """An Op, called again with the same inputs, computed something else."""


class BadPreallocatedOutput(BadThunkOutput):
    """What an Op computes depends on what it finds in its output storage."""


class BadLayout(BadThunkOutput):
    """What an Op computes depends on how its inputs lie in memory."""


class BadCOutput(BadThunkOutput):
    """The C code of an Op does not compute what its ``perform`` computes."""


class BadStrides(DebugModeError):
    """The arrays that C and ``perform`` compute have different strides, and `DebugMode` was asked to compare them."""


class BadOptimization(DebugModeError):
    """A rewriter replaced a Variable by another one whose value is different."""


class BadRewriteType(BadOptimization, TypeError):
    """A rewriter replaced a Variable by another one whose type is different."""


class BadInplaceRewrite(BadOptimization):
    """A rewriter let something be overwritten that must not be: a protected input, or what is still needed."""


class StochasticOrder(DebugModeError):
    """Rewriting the same graph twice made two different graphs."""
