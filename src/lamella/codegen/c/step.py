"""A step: the C function that computes one node, as its lowering writes it.

    static int step0(lm_call *const call, void *const *const operands)
    {
        const lm_array1 x0 = *(const lm_array1 *)operands[0];           the inputs are x0, x1, ...
        lm_array1 *const z0 = operands[1];                              the outputs are z0, z1, ...
        ...
    }

Nodes that are computed alike share a function, so its text names no variable of the graph. A lowering first checks what has to be true (`Step.require`), then gives each output memory (`Step.allocate`, or `Step.view`), then
computes. A check that fails hands the step to the reference interpreter: where there is an error to raise it raises it, with
the message that it has everywhere; where there is none, it computes what the lowering does not cover.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any, final

import attrs

from lamella.codegen.c.dtypes import C_DTYPES, CDType
from lamella.codegen.c.unit import Unit
from lamella.errors import LoweringError
from lamella.ir import Apply, Constant, ScalarType, TensorType, Type, Variable
from lamella.typing_layer import Aliases

__all__ = ["Array", "Object", "Place", "Step", "Strided", "array_type_of", "integers", "operand_arrays"]


def integers(texts: Sequence[str]) -> str:
    """Return the C expression of an array of integers."""
    return f"(const lm_int[]){{{', '.join(texts)}}}" if texts else "NULL"


def array_type_of(type: Type[Any]) -> TensorType | None:
    """Return the type of the arrays that values of a type are in C: numbers are arrays without dimensions. None for other objects."""
    if isinstance(type, ScalarType):
        return TensorType(type.dtype, ())
    return type if isinstance(type, TensorType) else None


@final
@attrs.frozen
class Strided:
    """An operand of a loop: expressions for the address of its first element, and for the array of its strides."""

    data: str
    strides: str


def operand_arrays(operands: Sequence[Strided]) -> str:
    """Return the C expressions of the array of the operands' addresses, and of that of their arrays of strides, as two arguments."""
    data = ", ".join([operand.data for operand in operands])
    strides = ", ".join([operand.strides for operand in operands])
    return f"(char *const[]){{{data}}}, (const lm_int *const[]){{{strides}}}"


@final
@attrs.frozen
class Array:
    """An array that a step's function reads or writes: expressions for its parts.

    Attributes
    ----------
    name
        The name of the C variable: a structure, or a pointer to one.
    type
        Its type.
    type_name
        The C constant that describes the type.
    constant
        Its value, where it is known.
    is_pointer
        Whether the C variable is a pointer.
    """

    name: str
    type: TensorType
    type_name: str
    constant: Any = None
    is_pointer: bool = False

    def member(self, name: str) -> str:
        """Return a member of the structure: ``data``, ``block``, ``shape`` or ``strides``."""
        return f"{self.name}{'->' if self.is_pointer else '.'}{name}"

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self.type.ndim

    @property
    def c(self) -> CDType:
        """The dtype in C."""
        return C_DTYPES[self.type.dtype]

    @property
    def data(self) -> str:
        """The address of the first element, a ``char *``."""
        return self.member("data")

    def length(self, axis: int) -> str:
        """Return the length along an axis: a number where it is known."""
        known = self.type.shape[axis]
        return f"{self.member('shape')}[{axis}]" if known is None else str(known)

    def stride(self, axis: int) -> str:
        """Return the stride along an axis, in bytes: 0 where the length is known to be 1."""
        return "0" if self.type.shape[axis] == 1 else f"{self.member('strides')}[{axis}]"

    @property
    def shape(self) -> str:
        """The array of lengths."""
        return self.member("shape") if self.ndim else "NULL"

    @property
    def strides(self) -> str:
        """The array of strides."""
        return self.member("strides") if self.ndim else "NULL"

    @property
    def size(self) -> str:
        """The number of elements."""
        return " * ".join([self.length(axis) for axis in range(self.ndim)]) or "1"

    @property
    def strided(self) -> Strided:
        """The array as an operand of a loop."""
        return Strided(self.data, self.strides)

    def offset(self, *indices: str) -> str:
        """Return the address of an element, given its index along each of the first axes."""
        return " + ".join([self.data, *[f"({index}) * {self.stride(axis)}" for axis, index in enumerate(indices)]])

    @property
    def address(self) -> str:
        """The address of the ``lm_array``."""
        address = self.name if self.is_pointer else f"&{self.name}"
        return f"(lm_array *){address}" if self.ndim else address

    @property
    def value_of_host(self) -> str:
        """The address of an ``lm_value`` that stands for the array."""
        return f"&(const lm_value){{(void *){self.address}, &{self.type_name}}}"

    @property
    def element(self) -> str:
        """The only element of an array without dimensions, as it is stored."""
        return f"*({self.c.storage} *){self.data}"

    def value(self) -> str:
        """Return the only element of an array without dimensions, as expressions have it."""
        return self.c.loaded(self.element)


@final
@attrs.frozen
class Object:
    """A value of the host's, that is no array: nothing is known of it."""

    name: str
    type_name: str


Place = Array | Object


@final
@attrs.frozen
class Storage:
    """Where the memory of an output comes from.

    Attributes
    ----------
    escapes
        Whether it may be returned, so that it has to be allocated anew.
    is_in_frame
        Whether it is part of the frame of the function: of arrays with few elements, whose number is known.
    """

    escapes: bool = False
    is_in_frame: bool = False


@final
class Step:
    """The statements that compute one node.

    Attributes
    ----------
    node
        The node.
    unit
        The translation unit, for kernels, types and headers.
    lines
        The statements so far.
    may_refer
        Whether the reference interpreter may have to compute the step.
    asked_aliases
        Whether the lowering asked which inputs may share memory.
    """

    def __init__(
        self,
        node: Apply[Any],
        unit: Unit,
        inputs: Sequence[Place],
        outputs: Sequence[Place],
        storage: Sequence[Storage],
        aliases: Aliases,
        given: Set[Variable[Any]],
    ) -> None:
        self.node = node
        self.unit = unit
        self.lines: list[str] = []
        self.may_refer = False
        self._inputs = tuple(inputs)
        self._outputs = tuple(outputs)
        self._storage = tuple(storage)
        self._aliases = aliases
        self._given = given
        self.asked_aliases = False
        self._n_loops = 0

    number = ""

    @property
    def places(self) -> tuple[tuple[Place, ...], tuple[Place, ...]]:
        """The inputs and the outputs."""
        return self._inputs, self._outputs

    @property
    def inputs(self) -> list[Array]:
        """The inputs, all of them arrays.

        Raises
        ------
        LoweringError
            One is no array.
        """
        return [self.input(i) for i in range(len(self._inputs))]

    def input(self, index: int) -> Array:
        """Return an input.

        Raises
        ------
        LoweringError
            It is no array.
        """
        return _array(self._inputs[index], self.node.inputs[index])

    def output(self, index: int = 0) -> Array:
        """Return an output.

        Raises
        ------
        LoweringError
            It is no array.
        """
        return _array(self._outputs[index], self.node.outputs[index])

    def is_own(self, index: int) -> bool:
        """Whether an input lies in memory that a node of the graph made: nobody sees what becomes of it if the call fails."""
        self.asked_aliases = True
        roots = self._aliases.roots(self.node.inputs[index])
        return all([root.owner is not None and root not in self._given for root in roots])

    def emit(self, *lines: str) -> None:
        """Add statements."""
        self.lines.extend(lines)

    def require(self, condition: str) -> None:
        """Let the reference interpreter compute the step, or raise its error, unless a condition is true.

        Nothing may have been written over an input yet.
        """
        self.may_refer = True
        self.emit(f"if (LM_UNLIKELY(!({condition}))) return LM_REFER;")

    def may_alias(self, i: int, j: int) -> bool:
        """Whether two inputs may share memory; one that is given twice does."""
        self.asked_aliases = True
        return self._aliases.may_alias(self.node.inputs[i], self.node.inputs[j])

    def attempt(self, call: str) -> None:
        """Call a service of the host; if it fails, end the function with the error that the host has noted, or for want of memory."""
        self.emit(f"if (LM_UNLIKELY({call} < 0)) return -1;")

    def set_shape(self, output: Array, lengths: Sequence[str]) -> None:
        """Set the lengths of an output."""
        shape = output.member("shape")
        self.emit(*[f"{shape}[{axis}] = {length};" for axis, length in enumerate(lengths)])

    def allocate(self, lengths: Sequence[str], index: int = 0, like: Sequence[Array | Strided] = ()) -> Array:
        """Give an output memory, and return it.

        Parameters
        ----------
        lengths
            Expressions for its lengths.
        index
            Which output.
        like
            Arrays of the same number of dimensions, or their strides, whose order of axes in memory it takes.
        """
        output = self.output(index)
        self.set_shape(output, lengths)
        if self._storage[index].is_in_frame:
            # Its address is known before the function begins.
            stride = output.c.itemsize
            for axis in reversed(range(output.ndim)):
                length = output.type.shape[axis] or 0
                self.emit(f"{output.member('strides')}[{axis}] = {0 if length == 1 else stride};")
                stride *= length
            return output
        service = "allocate_escaping" if self._storage[index].escapes else "allocate"
        laid_out = [array.strides for array in like] if output.ndim > 1 else []
        strides = f"(const lm_int *const[]){{{', '.join(laid_out)}}}" if laid_out else "NULL"
        self.attempt(f"call->serve->{service}(call, {output.address}, &{output.type_name}, {len(laid_out)}, {strides})")
        return output

    def view(self, source: Array, data: str, lengths: Sequence[str], strides: Sequence[str], index: int = 0) -> Array:
        """Let an output lie in the memory of an input, and return it.

        Parameters
        ----------
        source
            The input.
        data
            The address of the output's first element.
        lengths, strides
            Its lengths and strides. The stride of an axis of length 1 is made 0.
        index
            Which output.
        """
        output = self.output(index)
        self.set_shape(output, lengths)
        for axis, stride in enumerate(strides):
            known = output.type.shape[axis]
            if known == 1:
                stride = "0"
            elif known is None and stride != "0":
                stride = f"{output.member('shape')}[{axis}] == 1 ? 0 : {stride}"
            self.emit(f"{output.member('strides')}[{axis}] = {stride};")
        self.emit(f"{output.data} = {data};", f"{output.member('block')} = lm_share({source.member('block')});")
        return output

    def nest(self, kernel: str, shape: str, ndim: int, operands: Sequence[Strided]) -> None:
        """Run a kernel over all elements of operands of one shape, whose strides are 0 where they broadcast.

        Parameters
        ----------
        kernel
            The name of the kernel.
        shape
            The expression for the array of lengths.
        ndim
            The number of dimensions.
        operands
            The operands, in the kernel's order.
        """
        self.emit(
            f"call->serve->nest(call, {kernel}, {len(operands)}, {ndim}, {shape},",
            f"                  {operand_arrays(operands)});",
        )

    def each(
        self,
        kernel: str,
        cost: str | int,
        shape: str,
        ndim: int,
        written: Sequence[Strided],
        read: Sequence[Strided],
        itemsize: int = 0,
        sizes: Sequence[int] = (),
    ) -> None:
        """Run a kernel whose elements are independent over all elements of operands of one shape; threads may share them.

        No element may read or write what another one writes. What lets others run while there is much to do is part of it.

        Parameters
        ----------
        kernel
            The name of the kernel.
        cost
            About how long an element takes, in picoseconds: a number or an expression. Threads share what takes 100 microseconds or longer.
        shape
            The expression for the array of lengths.
        ndim
            The number of dimensions.
        written, read
            The operands, in the kernel's order. Each element of an operand that is written is another place.
        itemsize
            The bytes of an element of each operand that is written: if there are very many, side by side, they are written past the
            caches, where the kernel writes each of them exactly once and reads none. 0 where it does not, or where they differ.
        sizes
            The bytes of an element of each operand, for a kernel that may be given several short rows as one; else none.
        """
        operands = [*written, *read]
        listed = integers([str(size) for size in sizes])
        self.emit(
            f"const lm_loop each{self._n_loops} = {{{kernel}, {len(written)}, {len(operands)}, {itemsize}, {cost}, {listed}}};",
            f"call->serve->each(call, &each{self._n_loops}, {ndim}, {shape},",
            f"                  {operand_arrays(operands)});",
        )
        self._n_loops += 1

    def refer(self) -> None:
        """Let the reference interpreter compute the step."""
        self.may_refer = True
        self.emit("return LM_REFER;")


def _array(place: Place, variable: Variable[Any]) -> Array:
    if not isinstance(place, Array):
        raise LoweringError(f"{variable!r} of type {variable.type} is no array")
    return place


def constant_value(variable: Variable[Any]) -> Any:
    """Return the value of a constant; None for other Variables."""
    return variable.data if isinstance(variable, Constant) else None
