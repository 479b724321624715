"""`CScalarOp`: a function of numbers with C code of one's own, which becomes a part of fused kernels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ParamSpec, final

import numpy as np
from typing_extensions import override

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.linker_object import CLinkerOp, ask, included
from lamella.codegen.c.scalar_body import ScalarBody, ScalarLoop, c_expression
from lamella.codegen.c.unit import UserText
from lamella.errors import LoweringError, MethodNotDefined
from lamella.ir import Apply, DTypeOrLiteral, Loop, ScalarOp, ScalarType, resolve_ufunc_loop

__all__ = ["CScalarOp"]

P = ParamSpec("P")


class CScalarOp(ScalarOp[P], CLinkerOp):
    """A function of numbers with C code: a subclass says ``nin``, `impl`, `c_code` and, where it has a gradient, `slopes`.

    ``Elemwise(op)`` is the function on arrays. Its code is a part of the loop over the elements, and of the kernels that neighbours fuse into: so it may use
    numbers only, nothing of Python, and cannot fail (there is no ``sub["fail"]``). In half precision variables are of type ``float``. Of the
    other methods, those that say how the code is compiled and `c_support_code` are asked.
    """

    __slots__ = ()

    @override
    def loop(self, dtypes: Sequence[DTypeOrLiteral]) -> Loop:
        """Return one floating-point dtype for all operands and the results, by NumPy's rules."""
        found = resolve_ufunc_loop(np.exp, (dtypes[0],))
        common = found[1][0]
        for dtype in dtypes[1:]:
            common = resolve_ufunc_loop(np.true_divide, (common, dtype))[1][0]
        return (common,) * len(dtypes), (common,) * self.nout


@final
class _NoFailure(dict[str, str]):
    """What scalar code may insert: nothing."""

    def __missing__(self, key: str) -> str:
        raise LoweringError(f"the C code of a scalar Op runs without Python, and cannot use sub[{key!r}]")


@c_expression.register(CScalarOp)  # type: ignore[type-abstract]  # it stands for its subclasses
def users_code(op: CScalarOp[Any], loop: ScalarLoop, operands: Sequence[str], body: ScalarBody) -> Sequence[str]:
    """Insert the statements of `c_code`, on variables of their own."""
    results = [body.new_name() for _ in loop.outs]
    inputs = [body.temporary(text, dtype).text for text, dtype in zip(operands, loop.ins, strict=True)]
    node = Apply(op, [ScalarType(dtype)() for dtype in loop.ins], [ScalarType(dtype) for dtype in loop.outs])
    sub: Mapping[str, str] = _NoFailure()
    try:
        code = op.c_code(node, results[0], inputs, results, sub)
    except (MethodNotDefined, NotImplementedError) as error:
        raise LoweringError(f"{op} has no C code for {', '.join(loop.ins)}") from error
    support = [*[included(header) for header in ask(op.c_headers, "")], *ask(op.c_support_code, "")]
    body.need("maths", UserText("\n".join(support), _flags(op)))
    for result, dtype in zip(results, loop.outs, strict=True):
        body.lines.append(f"{C_DTYPES[dtype].computed} {result};")
    body.lines.append(f"{{\n{code}\n}}")
    return results


def _flags(op: CLinkerOp) -> tuple[str, ...]:
    if op.c_compiler() is not None:
        raise LoweringError(f"the C code of the scalar Op {op} is compiled by the configured compiler")
    flags = [f"-I{folder}" for folder in ask(op.c_header_dirs, "")]
    flags += ask(op.c_compile_args, "")
    for folder in ask(op.c_lib_dirs, ""):
        flags += [f"-L{folder}", f"-Wl,-rpath,{folder}"]
    return (*flags, *[f"-l{library}" for library in ask(op.c_libraries, "")])
