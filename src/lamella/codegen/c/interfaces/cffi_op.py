"""`cffi_op`: an elementwise Op of a function in a C library, given its declaration.

hypot = cffi_op("double hypot(double, double)")
z = mul(hypot(x, y), 2)    ->    extern double hypot_in_c(double, double) __asm__("hypot");
                                 const double t0 = hypot_in_c(x, y);
                                 const double t1 = t0 * 0x1p+1;
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, final

import attrs
import numpy as np
from typing_extensions import override

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.codegen.c.unit import UserText
from lamella.errors import GradientNotImplementedError, LoweringError
from lamella.ir import (
    Apply,
    DTypeOrLiteral,
    Elemwise,
    FunctionGraph,
    Loop,
    ScalarConstant,
    ScalarOp,
    Scalars,
    ScalarType,
    ScalarVariable,
    Slopes,
    TensorConstant,
    TensorType,
    TensorVariable,
    Variable,
    as_tensor_variable,
    graph_inputs,
)

if TYPE_CHECKING:
    from cffi import FFI

__all__ = ["CffiScalarOp", "SlopeFunction", "cffi_op"]

SlopeFunction = Callable[..., TensorVariable | float | Sequence[TensorVariable | float | None]]
"""Given the operands, 0-d tensors, returns the derivative of the result by each; None where it does not vary with one."""

# Every process that runs Python has the C library's functions of numbers; the name is for those that were linked without them.
_MATHS: Final = "libSystem.dylib" if sys.platform == "darwin" else "libm.so.6"

# Found as cffi finds it. A linker would find one function for two libraries that each have one of that name.
_POINTER: Final = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
static {out} (*{name})({arguments});
__attribute__((constructor)) static void find_{name}(void)
{{
    void *const library = dlopen({place}, RTLD_NOW | RTLD_LOCAL);
    *(void **)&{name} = library != NULL ? dlsym(library, "{symbol}") : NULL;
    if ({name} == NULL) {{
        fprintf(stderr, "%s\\n", dlerror());
        abort();
    }}
}}
"""

_PLAIN: Final = {"float": "float32", "double": "float64", "_Bool": "bool"}
_INTEGER: Final = re.compile(
    r"(unsigned )?(short|int|long|long long)|(un)?signed char|u?int(_fast|_least)?\d+_t|u?int(ptr|max)_t|s?size_t|ptrdiff_t"
)


def cffi_op(
    declaration: str, library: str | os.PathLike[str] | None = None, grad: SlopeFunction | None = None
) -> Elemwise[...]:
    """Make an elementwise Op of a function in a C library.

    In compiled functions it is called from C, in the loops that its neighbours fuse into; elsewhere by cffi, for each element. The
    function must be pure, as Ops are (it depends on its arguments alone and changes nothing), and safe to call from several threads.

    Parameters
    ----------
    declaration
        The declaration of one function, as in C, whose arguments and result are numbers: ``"double hypot(double, double)"``. It may use the types of
        ``<stdint.h>``, and type definitions of its own. The result has the dtype of the C type; operands are cast to the arguments' types
        where that loses nothing, by NumPy's rules.
    library
        The path of a shared library, or a name that the system finds it by (``"libgsl.so.27"``, or ``"gsl"``); None for C's own functions. A
        path is made absolute.
    grad
        Given the operands (0-d tensors of the arguments' dtypes), returns the derivatives of the result by each of them: Variables or
        numbers, None where the result does not vary with an operand; for one operand, the derivative alone will do. It uses elementwise functions
        only, others made by `cffi_op` among them. It is a part of what the Op is: Ops are equal if they have the same function by the same
        library, and the same `grad`. Where the Op is pickled it must stand at the top of a module.

    Returns
    -------
    Elemwise
        The Op, to be applied to tensors that broadcast.

    Raises
    ------
    ValueError
        The text does not declare exactly one function.
    TypeError
        An argument or the result is no number that tensors have, or there are no arguments, or any number of them.
    OSError
        The library cannot be loaded.
    AttributeError
        It has no such function.
    """
    place = None if library is None else os.fspath(library)
    if place is not None and (os.sep in place or isinstance(library, Path)):
        place = os.path.abspath(os.path.expanduser(place))
    bound = _bind(declaration, place)
    return Elemwise(CffiScalarOp(bound.declaration, place, grad))


@final
@attrs.frozen
class _Bound:
    """A function of a loaded library.

    Attributes
    ----------
    name
        Its name.
    ins, out
        The dtypes of its arguments and result.
    call
        Calls it with Python numbers.
    file
        The file that has it; empty where that cannot be told.
    """

    name: str
    ins: tuple[str, ...]
    out: str
    call: Callable[..., Any]
    file: str

    @property
    def declaration(self) -> str:
        """The declaration, as it is written here."""
        return f"{_c_type(self.out)} {self.name}({', '.join([_c_type(dtype) for dtype in self.ins])})"


def _c_type(dtype: str) -> str:
    return "_Bool" if dtype == "bool" else C_DTYPES[dtype].storage


@cache
def _bind(declaration: str, library: str | None) -> _Bound:
    from cffi import (
        FFI,
        CDefError,
        FFIError,
    )  # here, for most programs never need it, and its parser takes time to load

    ffi = FFI()
    try:
        ffi.cdef(declaration.rstrip().rstrip(";") + ";")
    except (CDefError, FFIError) as error:
        raise ValueError(f"{declaration!r} is no declaration that cffi understands: {error}") from error
    loaded = _load(ffi, library)
    names: list[str] = dir(loaded)
    if len(names) != 1:
        raise ValueError(
            f"cffi_op takes the declaration of one function, and {declaration!r} declares {', '.join(names) or 'none'}"
        )
    (name,) = names
    try:
        call: Any = getattr(loaded, name)
    except (AttributeError, KeyError) as error:
        raise AttributeError(f"{library or 'the C library'} has no function {name!r}: {error}") from error
    if not isinstance(call, FFI.CData) or (signature := ffi.typeof(call)).kind != "function":
        raise ValueError(f"{declaration!r} declares {name}, which is no function")
    ins = [_dtype(ffi, type, f"argument {i} of {name}") for i, type in enumerate(signature.args)]
    out = _dtype(ffi, signature.result, f"the result of {name}")
    if signature.ellipsis or not ins:
        how_many = "any number of" if signature.ellipsis else "no"
        raise TypeError(f"{name} takes {how_many} arguments; the function of an elementwise Op takes one or more")
    return _Bound(name, tuple(ins), out, call, _file_of(call))


def _load(ffi: FFI, library: str | None) -> object:
    if library is not None:
        return ffi.dlopen(library)
    try:
        return ffi.dlopen(_MATHS)
    except OSError:
        return ffi.dlopen(None)


def _dtype(ffi: FFI, type: Any, what: str) -> str:
    """Return the dtype of a C type."""
    named: str = type.cname
    if type.kind == "primitive":
        if named in _PLAIN:
            return _PLAIN[named]
        if _INTEGER.fullmatch(named):
            is_signed = int(ffi.cast(type, -1)) < 0
            return f"{'int' if is_signed else 'uint'}{8 * ffi.sizeof(type)}"
    hint = "; say `signed char` or `unsigned char`" if named == "char" else ""
    raise TypeError(
        f"{what} is of type `{named}`; it must be a number that tensors have: float, double, an integer or _Bool{hint}"
    )


def _file_of(call: Any) -> str:
    """Return the path of the file that a function was loaded from."""
    from cffi import FFI

    ffi = FFI()
    ffi.cdef(
        "typedef struct { const char *file; void *base; const char *symbol; void *address; } facts; int dladdr(void *, facts *);"
    )
    facts: Any = ffi.new("facts *")
    try:
        finds: Any = ffi.dlopen(None)
        found = finds.dladdr(ffi.cast("void *", call), facts)
    except (AttributeError, OSError):
        return ""
    if not found or facts.file == ffi.NULL:
        return ""
    file = os.path.realpath(os.fsdecode(ffi.string(facts.file)))
    return file if os.path.isfile(file) else ""


@final
@attrs.frozen(repr=False)
class CffiScalarOp(ScalarOp[...]):
    """A function of numbers in a C library; see `cffi_op`.

    Attributes
    ----------
    declaration
        The function's declaration, with types of fixed size.
    library
        Where it is; None for C's own functions.
    derivatives
        What `cffi_op` was given as `grad`.
    """

    declaration: str
    library: str | None = None
    derivatives: SlopeFunction | None = None

    @property
    def _bound(self) -> _Bound:
        return _bind(self.declaration, self.library)

    @property
    @override
    def nin(self) -> int:
        return len(self._bound.ins)

    @property
    @override
    def flops_per_element(self) -> int:
        # Nobody knows; as dear as exp, so that it is not computed twice.
        return 20

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        bound = self._bound
        for i, (given, wanted) in enumerate(zip(dtypes, bound.ins, strict=True)):
            if not _fits(given, wanted):
                shown = given if isinstance(given, str) else f"the literal of type {given.__name__}"
                raise TypeError(
                    f"argument {i} of {self.declaration} is {wanted}, and {shown} is not cast to it without loss: cast it first"
                )
        return bound.ins, (bound.out,)

    @override
    def impl(self, *operands: Any) -> Any:
        call, out = self._bound.call, self._bound.out
        arrays = np.broadcast_arrays(*operands)
        numbers = zip(*[array.ravel().tolist() for array in arrays], strict=True)
        results = np.fromiter((call(*row) for row in numbers), out, arrays[0].size)
        return results.reshape(arrays[0].shape)

    @override
    def slopes(self, inputs: Scalars, outputs: Scalars) -> Slopes:
        if self.derivatives is None:
            raise GradientNotImplementedError(f"{self.declaration} has no gradient: cffi_op was given no `grad`")
        operands = [TensorType(x.dtype, ())() for x in inputs]
        returned = self.derivatives(*operands)
        slopes = returned if isinstance(returned, list | tuple) else [returned]
        if len(slopes) != len(inputs):
            raise ValueError(
                f"the grad of {self.declaration} returned {len(slopes)} derivatives, and there are {len(inputs)} operands"
            )
        variables = [None if slope is None else as_tensor_variable(slope) for slope in slopes]
        found = iter(_as_scalars(self, operands, [v for v in variables if v is not None], inputs))
        return [None if variable is None else next(found) for variable in variables]

    @override
    def __str__(self) -> str:
        return self._bound.name


def _fits(given: DTypeOrLiteral, wanted: str) -> bool:
    if isinstance(given, str):
        return bool(np.can_cast(given, wanted, "safe"))
    kind = C_DTYPES[wanted].kind
    return kind in {int: "iuf", float: "f", complex: ""}[given]


def _as_scalars(
    op: CffiScalarOp, operands: Sequence[TensorVariable], results: Sequence[TensorVariable], inputs: Scalars
) -> Iterator[ScalarVariable]:
    """Return an elementwise graph on 0-d tensors as one on numbers."""
    known: dict[Variable[Any], ScalarVariable] = dict(zip(operands, inputs, strict=True))

    def scalar(variable: Variable[Any]) -> ScalarVariable:
        if isinstance(variable, TensorConstant) and variable.data.size == 1:
            made: ScalarConstant = ScalarType(variable.dtype).make_constant(variable.data.reshape(())[()])
            return made
        if variable not in known:
            raise TypeError(f"the grad of {op.declaration} uses {variable!r}, which is not one of the operands")
        return known[variable]

    others = [v for v in graph_inputs(results) if not isinstance(v, TensorConstant) and v not in known]
    if others:
        scalar(others[0])
    for node in FunctionGraph(list(operands), list(results)).order:
        if not isinstance(node.op, Elemwise) or any([z.type.ndim for z in node.outputs]):
            raise TypeError(
                f"the grad of {op.declaration} uses {node.op}, and may use functions of numbers only: it is applied to each element"
            )
        made: Apply[ScalarVariable] = node.op.scalar_op.make_node(*[scalar(v) for v in node.inputs])
        values: Sequence[Any] = made.outputs
        known.update(zip(node.outputs, values, strict=True))
    return iter([scalar(v) for v in results])


@c_expression.register(CffiScalarOp)
def _call(op: CffiScalarOp, loop: ScalarLoop, operands: Sequence[str], body: ScalarBody) -> str:
    """Call the function through a pointer, whose name is no other's."""
    bound = _bind(op.declaration, op.library)
    if not bound.file:
        raise LoweringError(f"the file that has {op.declaration} is not known")
    place = _c_string(bound.file)
    name = f"{bound.name}_{hashlib.blake2b(f'{bound.declaration} {place}'.encode(), digest_size=6).hexdigest()}"
    arguments = ", ".join([_c_type(dtype) for dtype in bound.ins])
    out = _c_type(bound.out)
    body.need(UserText(_POINTER.format(name=name, out=out, arguments=arguments, symbol=bound.name, place=place)))
    return f"{name}({', '.join(operands)})"


def _c_string(path: str) -> str:
    """Return a path as a string of C: its bytes, whatever their encoding."""
    plain = frozenset(b"/._-+ ") | frozenset(b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
    return '"' + "".join([chr(byte) if byte in plain else f"\\{byte:03o}" for byte in os.fsencode(path)]) + '"'
