"""`Op`: an operation, which makes nodes and says what they mean."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Generic, ParamSpec

from typing_extensions import TypeVar

from lamella.errors import GradientNotImplementedError, ShapeNotInferred
from lamella.ir.graph.apply import Apply
from lamella.ir.graph.type import Type
from lamella.ir.graph.value import Value
from lamella.ir.graph.variable import Variable

if TYPE_CHECKING:
    from lamella.ir.graph.fgraph import FunctionGraph

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True, default=Any)

OutputStorage = Sequence[list[Any]]
"""One-element lists: `Op.perform` puts output ``i`` into ``output_storage[i][0]``."""


class Op(Value, ABC, Generic[P, R_co]):
    """An operation: makes nodes, and says what they mean.

    ``Op[[A, B], R]`` takes arguments of types ``A`` and ``B`` when called and gives an ``R`` (a Variable class, or a tuple
    of them for several outputs). A subclass writes `make_node` (or gives `itypes` and `otypes`) and `perform`; everything
    else is optional. Equal Ops do the same thing: see `Value` for how equality is declared.

    Attributes
    ----------
    default_output
        The output that a call returns where there are several; None for all of them.
    itypes, otypes
        Input and output Types, for Ops that need no `make_node` of their own.
    view_map
        For each output that may share memory with inputs: the indices of those inputs.
    destroy_map
        For each output whose computation overwrites inputs: the indices of those inputs.
    """

    __slots__ = ()

    default_output: ClassVar[int | None] = None
    itypes: Sequence[Type[Any]] | None = None
    otypes: Sequence[Type[Any]] | None = None
    view_map: Mapping[int, Sequence[int]] = MappingProxyType({})
    destroy_map: Mapping[int, Sequence[int]] = MappingProxyType({})

    def make_node(self, *args: P.args, **kwargs: P.kwargs) -> Apply[R_co]:
        """Make the node that applies this Op to the arguments.

        Raises
        ------
        TypeError
            The arguments do not fit.
        """
        if self.itypes is None or self.otypes is None:
            raise TypeError(f"{type(self).__name__} defines neither make_node nor itypes and otypes")
        if len(args) != len(self.itypes) or kwargs:
            raise TypeError(f"{self} takes {len(self.itypes)} inputs, not {len(args) + len(kwargs)}")
        inputs = [itype.filter_variable(arg) for itype, arg in zip(self.itypes, args, strict=True)]
        return Apply(self, inputs, list(self.otypes))

    @abstractmethod
    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the outputs: the definition of what the Op means.

        Parameters
        ----------
        node
            The application.
        inputs
            Values of its inputs. They are changed only as `destroy_map` declares.
        output_storage
            A one-element list per output, to put the result into. It may hold a value of the right Type from an earlier
            call, whose memory may be reused, and whose contents mean nothing.
        """

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R_co:
        """Apply the Op and return the output, or the tuple of outputs, of the node."""
        node = self.make_node(*args, **kwargs)
        outputs = node.outputs
        if self.default_output is not None:
            return outputs[self.default_output]  # type: ignore[return-value]  # R_co describes make_node's outputs
        return outputs[0] if len(outputs) == 1 else outputs  # type: ignore[return-value]  # as above

    def rebuild(self, node: Apply[Any], inputs: Sequence[Variable[Any]]) -> Apply[Any]:
        """Apply this Op to inputs of narrower types than those of `node`, keeping the meaning of `node`."""
        make: Any = self.make_node
        made: Apply[Any] = make(*inputs)
        return made

    def infer_shape(
        self, fgraph: FunctionGraph | None, node: Apply[Any], shapes: Sequence[tuple[Any, ...]]
    ) -> Sequence[tuple[Any, ...]]:
        """Return the shapes of the outputs, computed from the inputs' shapes and, where needed, values.

        Parameters
        ----------
        fgraph
            The graph the node is seen in, where there is one.
        node
            The application.
        shapes
            For each input, a tuple of scalar integer Variables (empty for inputs without a shape).

        Raises
        ------
        ShapeNotInferred
            The shapes can only be found by computing the outputs. An Op that does not override this method says so.
        """
        raise ShapeNotInferred(f"{self} has no infer_shape")

    def grad(self, inputs: Sequence[Any], output_grads: Sequence[Any]) -> Sequence[Variable[Any]]:
        """Return the cotangent of each input, given those of the outputs (the older form of `L_op`)."""
        raise GradientNotImplementedError(f"{self} has no gradient: it defines neither L_op nor grad")

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], output_grads: Sequence[Any]
    ) -> Sequence[Variable[Any]]:
        """Return the cotangent of each input, given those of the outputs: the vector-Jacobian product.

        Parameters
        ----------
        inputs, outputs
            The node's Variables.
        output_grads
            For each output its cotangent; of `DisconnectedType` where the cost does not depend on that output.

        Raises
        ------
        GradientNotImplementedError
            The Op has no gradient.
        """
        return self.grad(inputs, output_grads)

    def R_op(self, inputs: Sequence[Any], eval_points: Sequence[Any]) -> Sequence[Variable[Any] | None]:
        """Return the tangent of each output, given those of the inputs (None for 0): the Jacobian-vector product."""
        raise GradientNotImplementedError(f"{self} has no R_op")

    def connection_pattern(self, node: Apply[Any]) -> Sequence[Sequence[bool]]:
        """Return, for each input, for each output, whether the output depends on the input differentiably."""
        return [[True] * len(node.outputs) for _ in node.inputs]

    def flops(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> int:
        """Return the number of floating-point operations of an application, given the shapes of inputs and outputs."""
        return 0

    def do_constant_folding(self, fgraph: FunctionGraph, node: Apply[Any]) -> bool:
        """Whether an application to constants may be computed while the graph is rewritten."""
        return True

    def debug_perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        """Compute the outputs for a checking mode; the same as `perform` unless overridden."""
        self.perform(node, inputs, output_storage)

    def required_inputs(self, node: Apply[Any], known: Mapping[int, Any]) -> Collection[int]:
        """Return the inputs that are needed: all of them, unless this is overridden.

        An Op that overrides this is *lazy*: what none but its unneeded inputs needs is not computed. It is asked twice: with nothing known
        it gives the inputs that decide which others are needed; with the values of these it gives all others that are. To `perform`, an input
        that was not asked for is None.

        Parameters
        ----------
        node
            The application.
        known
            Values of inputs, by their place.
        """
        return [i for i in range(node.nin) if i not in known]

    @property
    def is_lazy(self) -> bool:
        """Whether the Op may do without some of its inputs: whether the class overrides `required_inputs`."""
        return type(self).required_inputs is not Op.required_inputs

    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        """Return what computes a node, reading and writing the cells of its Variables; by default it calls `perform`.

        An Op overrides this where computing is more than a function of values: where it prepares something once it knows the node.

        Parameters
        ----------
        node
            The application.
        storage_map
            For each input and output a one-element list for its value.
        compute_map
            For each output a one-element list, to be set to True.
        no_recycling
            Outputs whose earlier value must not be reused.
        impl
            ``"py"`` or ``"c"`` where one way of computing is asked for; None for any.
        """
        inputs = [storage_map[variable] for variable in node.inputs]
        outputs = [storage_map[variable] for variable in node.outputs]

        def thunk() -> None:
            self.perform(node, [cell[0] for cell in inputs], outputs)
            for variable in node.outputs:
                compute_map[variable][0] = True

        return thunk

    @property
    def makes_own_thunk(self) -> bool:
        """Whether the class overrides `make_thunk`."""
        return type(self).make_thunk is not Op.make_thunk
