"""`cffi_op`: an Op of a function in a C library, given its declaration."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, overload

from lamella.codegen.c.interfaces.cffi_array_op import ArrayGradient, CffiArrayOp, Shape, Size
from lamella.codegen.c.interfaces.cffi_library import LibraryLike, bind, library_name
from lamella.codegen.c.interfaces.cffi_scalar_op import CffiScalarOp, SlopeFunction
from lamella.ir import Elemwise

__all__ = ["cffi_op"]


@overload
def cffi_op(
    declaration: str, library: LibraryLike | None = None, grad: SlopeFunction | None = None
) -> Elemwise[...]: ...


@overload
def cffi_op(
    declaration: str,
    library: LibraryLike | None = None,
    grad: ArrayGradient | None = None,
    *,
    sizes: Mapping[str, Size],
    shapes: Mapping[str, Shape] = ...,
    inout: Sequence[str] = ...,
    status: bool = ...,
) -> CffiArrayOp: ...


def cffi_op(
    declaration: str,
    library: LibraryLike | None = None,
    grad: Any = None,
    *,
    sizes: Mapping[str, Size] | None = None,
    shapes: Mapping[str, Shape] | None = None,
    inout: Sequence[str] = (),
    status: bool = False,
) -> Elemwise[...] | CffiArrayOp:
    """Make an Op of a function in a C library: an elementwise one of a function of numbers, else one of whole arrays.

    ``cffi_op("double hypot(double, double)")`` is elementwise. In compiled functions it is called from C, in the loops that its neighbours
    fuse into; elsewhere by cffi, for each element.

    A function with pointers works on whole arrays::

        cffi_op(
            "void scale(double *out, const double *x, int64_t n, double a)", library, sizes={"n": "x.size"}, shapes={"out": "x"}
        )

    What a pointer to constants points to is an operand; what another pointer points to is an output, whose shape is told. A number is an
    operand, a tensor without dimensions, unless it tells a size. Operands come in the order of the declaration; outputs too, after the
    function's result, if it has one. Operands may have any number of dimensions, and are passed in C's order, copied where they
    lie in another; outputs are new arrays. A compiled function calls the function from C, and lets other threads run meanwhile.

    The function must be pure, as Ops are (it depends on its arguments alone, and changes nothing but its outputs), and safe to call
    from several threads; and it must stay within the arrays, whose lengths nobody else tells it.

    Parameters
    ----------
    declaration
        The declaration of one function, as in C. It may use the types of ``<stdint.h>``, and type definitions of its own. Operands are cast
        to the C types where that loses nothing, by NumPy's rules. ``double _Complex`` is a complex number (for calls from Python of functions that take or give one, there must be a compiler).
    library
        The path of a shared library (it is made absolute), or a name that the system finds it by (``"libgsl.so.27"``, or ``"gsl"``); what
        ``ffi.dlopen`` returned; or a text of C that defines the function, which is compiled, and becomes a part of compiled functions. None for
        C's own functions.
    grad
        Of a function of numbers: given the operands (0-d tensors of the arguments' dtypes), returns the derivatives of the result by each of
        them: Variables or numbers, None where the result does not vary with an operand; for one operand, the derivative alone will do. It uses
        elementwise functions only, others made by `cffi_op` among them.

        Of one of arrays: given the lists of the operands, of the outputs, and of the outputs' cotangents, returns the list of the
        operands' cotangents, as `Op.L_op` does; None where outputs do not vary with an operand.

        It is a part of what the Op is: Ops are equal if they have the same function by the same library, and all that is given here is equal.
        Where the Op is pickled, functions must stand at the top of a module.
    sizes
        For each integer parameter that tells a size, what it is: ``"x.size"``, ``"x.shape[0]"``, ``"x.ndim"``, the name of an integer operand, an
        integer, or a function of all operands that returns an integer scalar.
    shapes
        For each output the name of the operand whose shape it has, a tuple of sizes as above, or a function of all operands that returns
        such a tuple.
    inout
        Pointers to arrays that the function reads and writes: operands, of which it is given copies, and outputs.
    status
        Whether the function's result, an integer, tells of errors: a call raises RuntimeError if it is not 0.

    Returns
    -------
    Elemwise or CffiArrayOp
        The Op.

    Raises
    ------
    ValueError
        The text does not declare exactly one function.
    TypeError
        A parameter or the result is no number that tensors have and no pointer to such, there are any number of parameters, or of a function
        of arrays it is not told what a parameter is.
    OSError
        The library cannot be loaded.
    AttributeError
        It has no such function.
    CompileError
        The text of C cannot be compiled, or there is no compiler.
    """
    place = library_name(library, declaration)
    function = bind(declaration, place)
    is_of_arrays = not function.result or any([p.is_pointer for p in function.parameters])
    if is_of_arrays or sizes is not None or shapes is not None or inout or status:
        return CffiArrayOp.checked(function, place, sizes or {}, shapes or {}, inout, status, grad)
    if not function.parameters:
        raise TypeError(f"{function.name} takes no arguments; the function of an elementwise Op takes one or more")
    return Elemwise(CffiScalarOp(function.prototype, place, grad))
