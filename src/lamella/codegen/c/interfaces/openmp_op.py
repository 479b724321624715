"""`OpenMPOp`: an Op whose C code may use several threads."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, Final, ParamSpec, final

from typing_extensions import TypeVar, override

from lamella.codegen.c.driver import Compiler, accepts, find_compiler
from lamella.codegen.c.interfaces.c_op import COp
from lamella.config import config

__all__ = ["OpenMPOp", "has_openmp"]

P = ParamSpec("P")
R_co = TypeVar("R_co", covariant=True, default=Any)

_PROBE: Final = """
#include <omp.h>
int probe(void)
{
    int n = 0;
    #pragma omp parallel for reduction(+ : n)
    for (int i = 0; i < 10; ++i) n += omp_get_num_threads() > 0;
    return n;
}
"""


@final
class _Warned:
    """The compilers without OpenMP that a warning has named."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._compilers: set[Compiler] = set()

    def first(self, compiler: Compiler) -> bool:
        with self._guard:
            first = compiler not in self._compilers
            self._compilers.add(compiler)
            return first


_warned: Final = _Warned()


def has_openmp(compiler: Compiler) -> bool:
    """Whether a compiler has OpenMP, and the library that it takes."""
    return accepts(compiler, ("-fopenmp",), _PROBE)


class OpenMPOp(COp[P, R_co]):
    """An Op whose C code is compiled with OpenMP, where that is asked for and the compiler has it: otherwise its pragmas mean nothing.

    Parameters
    ----------
    openmp
        Whether to use several threads; None to follow the flag ``openmp``. It is no part of what the Op is: Ops that differ in it are equal.

    Attributes
    ----------
    openmp
        What was asked for.
    """

    not_identity: ClassVar[frozenset[str]] = frozenset({"openmp"})

    __props__: ClassVar[tuple[str, ...] | None] = ()

    def __init__(self, openmp: bool | None = None) -> None:
        self.openmp = openmp

    @property
    def uses_openmp(self) -> bool:
        """Whether the code is compiled with OpenMP. Warns, once, of a compiler that has none."""
        if not (config.openmp if self.openmp is None else self.openmp):
            return False
        compiler = find_compiler(self.c_compiler() or "")
        if has_openmp(compiler):
            return True
        if _warned.first(compiler):
            warnings.warn(
                f"{compiler.command[0]} has no OpenMP ({compiler.version}): Ops run in one thread. Install its OpenMP library, or set "
                "the flag openmp to false",
                RuntimeWarning,
                stacklevel=2,
            )
        return False

    @override
    def c_compile_args(self, **kwargs: Any) -> Sequence[str]:
        return ["-fopenmp"] if self.uses_openmp else []

    @override
    def c_headers(self, **kwargs: Any) -> Sequence[str]:
        return ["<omp.h>"] if self.uses_openmp else []
