"""What C code of one's own is asked for: `CLinkerObject`, and with it `CLinkerType` for Types and `CLinkerOp` for Ops.

The methods return text. Those that describe how the text is compiled may take the keyword ``c_compiler``, the name of the compiler;
an override may also leave it out.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from lamella.errors import MethodNotDefined
from lamella.ir import Apply

__all__ = ["CLinkerObject", "CLinkerOp", "CLinkerType", "accepts_keyword", "ask", "call_checked", "included"]


class CLinkerObject:
    """What an Op or a Type may say of how its C code is compiled. Everything is optional."""

    __slots__ = ()

    def c_headers(self, **kwargs: Any) -> Sequence[str]:
        """Return headers to include: ``"name.h"``, ``"<name.h>"`` or ``'"name.h"'``. Those of Python and NumPy are there."""
        return ()

    def c_libraries(self, **kwargs: Any) -> Sequence[str]:
        """Return libraries to link with, as ``-l`` names them."""
        return ()

    def c_header_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Return folders to look for headers in."""
        return ()

    def c_lib_dirs(self, **kwargs: Any) -> Sequence[str]:
        """Return folders to look for libraries in, when linking and when loading."""
        return ()

    def c_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """Return further flags for the compiler."""
        return ()

    def c_no_compile_args(self, **kwargs: Any) -> Sequence[str]:
        """Return flags that must not be given to the compiler."""
        return ()

    def c_support_code(self, **kwargs: Any) -> str | Sequence[str]:
        """Return C at file scope, that all applications share: one text, or several. Equal texts are included once."""
        return ()

    def c_init_code(self, **kwargs: Any) -> Sequence[str]:
        """Return statements that run once when the compiled code is loaded, before anything else. They may leave a Python exception."""
        return ()

    def c_compiler(self) -> str | None:
        """Return the command of the compiler that has to compile the whole function; None for the configured one.

        A command that ends in ``++`` takes the code of Ops and Types as C++, and the rest as C.
        """
        return None

    def c_code_cache_version(self) -> tuple[Any, ...]:
        """Return the version of the code.

        It is a part of the key of the compiled code. As the whole text is too, nothing goes wrong where it stays the same.
        """
        return ()


class CLinkerType(CLinkerObject):
    """The C side of a Type: what a value is in C, and how it is converted from and to a Python object.

    A Type with a C side derives from both: ``class Double(Type[float], CLinkerType)``. The methods are given the ``name`` of a variable, and ``sub``, in
    which ``sub["fail"]`` is a statement to end with once a Python exception is set. The Python object is ``py_<name>``.
    """

    __slots__ = ()

    def c_declare(self, name: str, sub: Mapping[str, str], check_input: bool = True) -> str:
        """Return declarations of C variables whose names include `name`.

        Raises
        ------
        MethodNotDefined
            The class does not override it: there is no C side.
        """
        raise MethodNotDefined(f"{type(self).__name__}.c_declare")

    def c_init(self, name: str, sub: Mapping[str, str]) -> str:
        """Return statements that give the variables a first value where there is no Python object."""
        raise MethodNotDefined(f"{type(self).__name__}.c_init")

    def c_extract(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        """Return statements that give the variables the value of the object ``py_<name>``, which is borrowed.

        Nothing was initialised before. `c_cleanup` follows in any case.
        """
        raise MethodNotDefined(f"{type(self).__name__}.c_extract")

    def c_extract_out(self, name: str, sub: Mapping[str, str], check_input: bool = True, **kwargs: Any) -> str:
        """Return statements for an output whose value of an earlier call is ``py_<name>``; its memory may be reused.

        Without an override they are those of `c_init` where that object is None, else those of `c_extract`.
        """
        init, extract = self.c_init(name, sub), call_checked(self.c_extract, name, sub, check_input)
        return f"if (py_{name} == Py_None) {{\n{init}\n}} else {{\n{extract}\n}}"

    def c_sync(self, name: str, sub: Mapping[str, str]) -> str:
        """Return statements that put the value of the variables into ``py_<name>``, whose old reference they give up."""
        raise MethodNotDefined(f"{type(self).__name__}.c_sync")

    def c_cleanup(self, name: str, sub: Mapping[str, str]) -> str:
        """Return statements that free what the variables hold; they run after success and after failure."""
        return ""

    def c_element_type(self) -> str | None:
        """Return the C type of an element, where there is one that is worth a name."""
        return None

    def c_is_simple(self) -> bool:
        """Whether the C variable is a plain number."""
        return False

    def c_literal(self, data: Any) -> str:
        """Return a C expression for a value.

        Raises
        ------
        MethodNotDefined
            The Type has no literals.
        """
        raise MethodNotDefined(f"{type(self).__name__}.c_literal")


class CLinkerOp(CLinkerObject):
    """The C side of an Op. ``c_code`` is the one method that has to be written.

    ``name`` is a text that is part of a C name and belongs to this application alone. ``sub`` holds ``sub["fail"]``, the statement to end with once a
    Python exception is set, ``sub["params"]``, the variable with the Op's params where it has some, and ``sub["struct_id"]``, a number of the
    application. The interpreter lock is held.

    Attributes
    ----------
    check_input
        Whether the C sides of the Types check their objects. What a compiled function hands to an Op has been checked already.
    """

    __slots__ = ()

    check_input: ClassVar[bool] = True

    def c_code(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        """Return the statements that compute the outputs.

        Parameters
        ----------
        node
            The application.
        name
            Belongs to it alone.
        inputs, outputs
            The C variables. An output may hold an old value, whose memory may be reused, or (a pointer) be NULL.
        sub
            Texts to insert.

        Raises
        ------
        MethodNotDefined
            There is no C code for this node: `perform` computes it. `NotImplementedError` says the same.
        """
        raise MethodNotDefined(f"{type(self).__name__}.c_code")

    def c_code_cleanup(
        self, node: Apply[Any], name: str, inputs: Sequence[str], outputs: Sequence[str], sub: Mapping[str, str]
    ) -> str:
        """Return statements that run after those of `c_code`, also when these have failed."""
        return ""

    def c_support_code_apply(self, node: Apply[Any], name: str) -> str:
        """Return C at file scope for one application."""
        return ""

    def c_init_code_apply(self, node: Apply[Any], name: str) -> str:
        """Return statements for one application that run once when the compiled code is loaded."""
        return ""

    def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
        """Return declarations of variables, and functions that use them, of which each compiled function has its own."""
        return ""

    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Mapping[str, str]) -> str:
        """Return statements that run once for each compiled function, before its first call."""
        return ""

    def c_cleanup_code_struct(self, node: Apply[Any], name: str) -> str:
        """Return statements that run at the end of a compiled function's life, also where `c_init_code_struct` has failed."""
        return ""


def accepts_keyword(method: Callable[..., Any], keyword: str) -> bool:
    """Whether a method takes a keyword argument."""
    parameters = inspect.signature(method).parameters.values()
    return any([p.kind is p.VAR_KEYWORD or (p.name == keyword and p.kind is not p.POSITIONAL_ONLY) for p in parameters])


def ask(method: Callable[..., Any], c_compiler: str) -> tuple[str, ...]:
    """Return what a method of a `CLinkerObject` says, as a tuple of texts.

    Parameters
    ----------
    method
        The method.
    c_compiler
        The name of the compiler, passed on where the method wants to know it.
    """
    try:
        said = method(c_compiler=c_compiler) if accepts_keyword(method, "c_compiler") else method()
    except MethodNotDefined:
        return ()
    texts = [said] if isinstance(said, str) else list(said or ())
    return tuple([text for text in texts if text.strip()])


def call_checked(method: Callable[..., str], name: str, sub: Mapping[str, str], check_input: bool) -> str:
    """Call a method of a `CLinkerType` that may or may not take ``check_input``."""
    return method(name, sub, check_input=check_input) if accepts_keyword(method, "check_input") else method(name, sub)


def included(header: str) -> str:
    """Return the line that includes a header."""
    return f"#include {header}" if header.lstrip()[0] in '<"' else f"#include <{header}>"
