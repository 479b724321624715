"""Users' C code in a translation unit: what its Ops and Types ask for, and the function of a node in the nested blocks that the texts expect.

{   c_declare, c_extract or c_init of a variable
    {   ... of the next
        {   c_code                      a failure jumps to the end of the block that it happens in, and so passes all that is to be cleaned up;
                                        an exception of C++ goes to the end of the block around it
        }   c_code_cleanup
    }   c_sync of an output, c_cleanup
}   c_cleanup
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np

from lamella.codegen.c.dtypes import C_DTYPES
from lamella.codegen.c.interfaces.c_sides import c_side
from lamella.codegen.c.interfaces.core_ops import registered_c_code
from lamella.codegen.c.interfaces.linker_object import (
    CLinkerObject,
    CLinkerOp,
    CLinkerType,
    ask,
    call_checked,
    included,
)
from lamella.codegen.c.interfaces.params import op_params, params_type_of
from lamella.codegen.c.unit import support_text
from lamella.errors import CompileError, LoweringError, MethodNotDefined
from lamella.ir import Apply, ScalarOp, ScalarType, TensorType, Type, Variable

__all__ = ["Build", "UserCode", "UserNode", "c_linker_op"]

_NO_EXCEPTION: Final = "C code of an Op has failed, and has not said why: it set no Python exception"


@final
@attrs.frozen
class Build:
    """How a unit with users' C code is compiled.

    Attributes
    ----------
    flags, without
        Flags for the compiler, and those that must not be given to it.
    libraries
        Flags for linking.
    compiler
        The command of the compiler that is asked for; empty for the configured one.
    is_stateful
        Whether each linked function needs a copy of the compiled code for itself.
    may_be_reused
        Whether the copy of a function that is no more serves another one.
    """

    flags: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    compiler: str = ""
    is_stateful: bool = False
    may_be_reused: bool = True

    @property
    def is_cxx(self) -> bool:
        """Whether users' code is C++."""
        return self.compiler.split(" ")[0].endswith("++")

    def with_flags(self, flags: Sequence[str]) -> Build:
        """Return this with further flags."""
        linking = tuple([flag for flag in flags if flag.startswith(("-l", "-L", "-Wl,"))])
        compiling = tuple([flag for flag in flags if flag not in linking])
        return attrs.evolve(self, flags=(*self.flags, *compiling), libraries=(*self.libraries, *linking))


def c_linker_op(node: Apply[Any]) -> CLinkerOp | None:
    """Return what has the C code of a node, if users wrote some: the Op, or what was registered for it and its Type."""
    op: object = node.op
    if isinstance(op, CLinkerOp) and not isinstance(op, ScalarOp) and not node.op.makes_own_thunk:
        return op
    return registered_c_code(node)


class _Sub(dict[str, str]):
    """What C code may insert; a key that is not there is a clear error."""

    def __missing__(self, key: str) -> str:
        raise KeyError(f"sub[{key!r}]: there are {', '.join(sorted(self))} (params where the Op has a params_type)")


@final
@attrs.frozen
class _Named:
    """A variable of the C code, with its name and its C side."""

    name: str
    side: CLinkerType

    def declared(self, sub: Mapping[str, str], check_input: bool) -> str:
        """Return the declarations."""
        return call_checked(self.side.c_declare, self.name, sub, check_input)


@final
@attrs.frozen
class UserNode:
    """A node with C code of a user's.

    Attributes
    ----------
    number
        Its number among such nodes of the unit; part of names.
    node, op
        The node, and what has its C code.
    inputs, outputs, params
        The variables.
    kept
        For each output the number under which the function keeps its value for the next call; -1 for one that is not kept.
    """

    number: int
    node: Apply[Any]
    op: CLinkerOp
    inputs: tuple[_Named, ...]
    outputs: tuple[_Named, ...]
    params: _Named | None
    kept: tuple[int, ...]

    @property
    def name(self) -> str:
        """What names in the node's code contain."""
        return f"node_{self.number}"

    @property
    def variables(self) -> Iterator[_Named]:
        """All variables."""
        yield from (*self.inputs, *self.outputs)
        if self.params is not None:
            yield self.params

    def sub(self, label: str) -> _Sub:
        """Return the texts to insert in code whose failures jump to a label."""
        fail = f"{{ lm_failed = 1; if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, lm_no_exception); goto {label}; }}"
        sub = _Sub(fail=fail, struct_id=str(self.number), id=str(self.number))
        if self.params is not None:
            sub["params"] = self.params.name
        return sub

    def _texts(self, label: str) -> tuple[Sequence[str], Sequence[str], _Sub]:
        """Return the arguments of `CLinkerOp.c_code` that differ from node to node."""
        return [v.name for v in self.inputs], [v.name for v in self.outputs], self.sub(label)

    def function(self, name: str, types: Sequence[str]) -> str:
        """Return the function that computes the node.

        Parameters
        ----------
        name
            Its name.
        types
            The constants that describe the types of inputs and outputs.

        Raises
        ------
        MethodNotDefined, NotImplementedError
            There is no C code for this node.
        """
        code_end = f"end_of_code_{self.number}"
        head: list[str] = []
        tail: list[str] = []
        check = self.op.check_input
        places = [f"operands[{i}], &{type}" for i, type in enumerate(types)]
        n_in = len(self.inputs)
        objects = ["int lm_failed = 0;"]
        objects += [f"PyObject *py_{v.name} = lm_take(call, {places[i]});" for i, v in enumerate(self.inputs)]
        for v, slot in zip(self.outputs, self.kept, strict=True):
            recalled = "NULL" if slot < 0 else f"(PyObject *)call->serve->recall(call, {slot})"
            objects.append(f"PyObject *py_{v.name} = {recalled};")
        freed = " ".join([f"Py_XDECREF(py_{v.name});" for v in (*self.inputs, *self.outputs)])
        if self.inputs:
            missing = " || ".join([f"py_{v.name} == NULL" for v in self.inputs])
            objects.append(f"if ({missing}) {{ {freed} return -1; }}")
        for v in self.inputs:
            label = f"end_of_{v.name}"
            sub = self.sub(label)
            head += ["{", v.declared(sub, check), call_checked(v.side.c_extract, v.name, sub, check), "LM_TRY"]
            tail.append(f"LM_CATCH\n{label}: __attribute__((unused));\n{v.side.c_cleanup(v.name, sub)}\n}}")
        for i, (v, slot) in enumerate(zip(self.outputs, self.kept, strict=True)):
            label = f"end_of_{v.name}"
            sub = self.sub(label)
            init = v.side.c_init(v.name, sub)
            head += ["{", v.declared(sub, check)]
            if slot >= 0:
                again = call_checked(v.side.c_extract_out, v.name, sub, check)
                head.append(f"if (py_{v.name} != NULL) {{\n{again}\n}} else {{\n{init}\n}}")
            else:
                head.append(init)
            head.append("LM_TRY")
            sync = v.side.c_sync(v.name, self.sub(f"synced_{v.name}"))
            synced = f"if (!lm_failed) {{\nif (py_{v.name} == NULL) py_{v.name} = Py_NewRef(Py_None);\n{sync}\n}}"
            given = f"lm_give(call, {places[n_in + i]}, py_{v.name}, {slot})"
            tail.append(
                f"LM_CATCH\n{label}: __attribute__((unused));\n{synced}\nsynced_{v.name}: __attribute__((unused));\n{v.side.c_cleanup(v.name, sub)}\n"
                f"if (!lm_failed) {{\nif ({given} < 0) lm_failed = 1;\npy_{v.name} = NULL;\n}}\n}}"
            )
        inputs, outputs, sub = self._texts(code_end)
        code = self.op.c_code(self.node, self.name, inputs, outputs, sub)
        cleanup = self.op.c_code_cleanup(self.node, self.name, inputs, outputs, sub)
        # A debugger can stop at the label.
        begin = "c_code: __attribute__((unused));"
        body = "\n".join(
            [
                *objects,
                "LM_TRY",
                *head,
                "{",
                begin,
                code,
                f"{code_end}: __attribute__((unused));",
                cleanup,
                "}",
                *reversed(tail),
                "LM_CATCH",
                freed,
            ]
        )
        return (
            f"LM_STEP int {name}(lm_call *const call, void *const *const operands)\n{{\n{body}\n"
            "return lm_failed || PyErr_Occurred() ? -1 : 0;\n}"
        )

    def opening(self) -> str:
        """Return the functions that prepare the node for a linked function, and that clean up after it."""
        k = self.number
        lines: list[str] = []
        end = f"end_of_opening_{k}"
        cleanup: list[str] = []
        if self.params is not None:
            p = self.params
            sub = self.sub(end)
            lines.append(f"py_{p.name} = Py_NewRef(given);\nlm_stage_{k} = 1;")
            lines.append(f"{{\n{call_checked(p.side.c_extract, p.name, sub, check_input=True)}\n}}")
            cleanup.append(f"if (lm_stage_{k} >= 1) {{\n{p.side.c_cleanup(p.name, sub)}\nPy_CLEAR(py_{p.name});\n}}")
        lines.append(f"lm_stage_{k} = 2;\n{{\n{self.op.c_init_code_struct(self.node, self.name, self.sub(end))}\n}}")
        cleanup.insert(0, f"if (lm_stage_{k} >= 2) {{\n{self.op.c_cleanup_code_struct(self.node, self.name)}\n}}")
        opened, closed = "\n".join(lines), "\n".join(cleanup)
        return (
            f"static int lm_open_{k}(PyObject *const given)\n{{\nint lm_failed = 0;\n(void)given;\nLM_TRY\n{opened}\nLM_CATCH\n"
            f"{end}: __attribute__((unused));\nreturn lm_failed || PyErr_Occurred() ? -1 : 0;\n}}\n\n"
            f"static void lm_close_{k}(void)\n{{\nint lm_failed = 0;\nLM_TRY\n{closed}\nLM_CATCH\n"
            f"lm_stage_{k} = 0;\nif (lm_failed) PyErr_WriteUnraisable(NULL);\n}}"
        )

    def file_scope(self) -> str:
        """Return what stands at file scope for this node."""
        parts = [f"static int lm_stage_{self.number};"]
        if self.params is not None:
            p = self.params
            parts.append(f"static PyObject *py_{p.name};\n{p.declared(self.sub('none'), True)}")
        parts += [
            self.op.c_support_code_apply(self.node, self.name),
            self.op.c_support_code_struct(self.node, self.name),
        ]
        return "\n".join([part for part in parts if part.strip()])


@final
class UserCode:
    """The users' code of a unit: the nodes, and what they and their Types ask for."""

    def __init__(self) -> None:
        self._objects: dict[CLinkerObject, None] = {}
        self._functions: list[str] = []
        self._types: dict[tuple[str, str], str] = {}
        self.nodes: list[UserNode] = []
        self.steps: list[int] = []
        self._n_variables = 0
        self._n_kept = 0

    def __bool__(self) -> bool:
        return bool(self.nodes)

    def name_node(self, node: Apply[Any], op: CLinkerOp, is_kept: Sequence[bool]) -> UserNode:
        """Give the variables of a node names.

        Raises
        ------
        LoweringError
            A variable has a Type without a C side, or the Op does not take half precision.
        """
        takes_half = getattr(op, "_f16_ok", False)
        if not takes_half and any([getattr(v.type, "dtype", "") == "float16" for v in (*node.inputs, *node.outputs)]):
            raise LoweringError(
                f"the C code of {node.op} is not written for float16; `_f16_ok = True` in its class says that it is"
            )
        n, kept = self._n_variables, self._n_kept

        def named(variable: Variable[Any]) -> _Named:
            nonlocal n
            n += 1
            return _Named(f"V{n - 1}", c_side(variable.type))

        inputs = tuple([named(v) for v in node.inputs])
        outputs = tuple([named(v) for v in node.outputs])
        params_type = params_type_of(op)
        params = None if params_type is None else _Named(f"P{len(self.nodes)}", c_side(params_type))
        slots: list[int] = []
        for output, variable, may_be in zip(outputs, node.outputs, is_kept, strict=True):
            # Arrays, for their memory; and what a Type says it can use.
            asks = type(output.side).c_extract_out is not CLinkerType.c_extract_out
            keeps = may_be and (asks or isinstance(variable.type, TensorType))
            slots.append(kept if keeps else -1)
            kept += keeps
        return UserNode(len(self.nodes), node, op, inputs, outputs, params, tuple(slots))

    def add(self, user_node: UserNode, step: int) -> str:
        """Add a node, and return the name of its function.

        Parameters
        ----------
        user_node
            What `name_node` returned just before.
        step
            The number of the step.

        Raises
        ------
        MethodNotDefined, NotImplementedError
            There is no C code for this node.
        """
        name = f"user_{user_node.number}"
        node = user_node.node
        names = [self._type(v.type) for v in (*node.inputs, *node.outputs)]
        parts = [user_node.file_scope(), user_node.function(name, names), user_node.opening()]
        self._functions.append("\n\n".join(parts))
        self.nodes.append(user_node)
        self.steps.append(step)
        self._n_variables += len(user_node.inputs) + len(user_node.outputs)
        self._n_kept += sum([slot >= 0 for slot in user_node.kept])
        for item in (user_node.op, *[v.side for v in user_node.variables]):
            self._objects[item] = None
        return name

    def _type(self, type: Type[Any]) -> str:
        """Return the name of the constant that describes a type: for C++ too, which has no addresses of compound literals."""
        name = f"user_type{len(self._types)}"
        if not isinstance(type, TensorType | ScalarType):
            return self._types.setdefault(("{LM_OBJECT, 0, 0, NULL, 0}", ""), name)
        c = C_DTYPES[type.dtype]
        if isinstance(type, ScalarType):
            return self._types.setdefault((f"{{{c.code}, 0, {c.itemsize}, NULL, 1}}", ""), name)
        lengths = ", ".join([str(-1 if length is None else length) for length in type.shape])
        return self._types.setdefault((f"{{{c.code}, {type.ndim}, {c.itemsize}, SHAPE, 0}}", lengths), name)

    def params(self) -> tuple[Any, ...]:
        """Return the params of each node; None for one that has none."""
        return tuple([op_params(n.op, n.node) if n.params is not None else None for n in self.nodes])

    def build(self) -> Build:
        """Return how the unit is compiled.

        Raises
        ------
        CompileError
            Two Ops or Types ask for different compilers.
        """
        wanted = {asked: item for item in self._objects if (asked := item.c_compiler())}
        if len(wanted) > 1:
            (a, x), (b, y), *_ = wanted.items()
            raise CompileError(
                f"{x} asks for the compiler {a!r}, and {y} for {b!r}: one function is compiled by one compiler"
            )
        compiler = next(iter(wanted), "") or ""
        flags: dict[str, None] = {}
        without: dict[str, None] = {}
        libraries: dict[str, None] = {}
        for item in self._objects:
            flags.update(dict.fromkeys([f"-I{folder}" for folder in ask(item.c_header_dirs, compiler)]))
            flags.update(dict.fromkeys(ask(item.c_compile_args, compiler)))
            without.update(dict.fromkeys(ask(item.c_no_compile_args, compiler)))
            for folder in ask(item.c_lib_dirs, compiler):
                libraries.update(dict.fromkeys([f"-L{folder}", f"-Wl,-rpath,{folder}"]))
        for item in self._objects:
            libraries.update(dict.fromkeys([f"-l{library}" for library in ask(item.c_libraries, compiler)]))
        struct = [
            text
            for n in self.nodes
            for text in (
                n.op.c_support_code_struct(n.node, n.name),
                n.op.c_init_code_struct(n.node, n.name, n.sub("none")),
                n.op.c_cleanup_code_struct(n.node, n.name),
            )
        ]
        is_stateful = any([n.params is not None for n in self.nodes]) or any([text.strip() for text in struct])
        may_be_reused = not any(["=" in n.op.c_support_code_struct(n.node, n.name) for n in self.nodes])
        return Build(tuple(flags), tuple(without), tuple(libraries), compiler, is_stateful, may_be_reused)

    def declarations(self) -> str:
        """Return the declarations of the functions of users' nodes, for a unit that does not hold them."""
        return "\n".join(
            [f"int user_{n.number}(lm_call *const call, void *const *const operands);" for n in self.nodes]
        )

    def text(self) -> str:
        """Return the users' part of the unit; it comes first, as Python's headers do."""
        build = self.build()
        compiler = build.compiler
        linkage = 'extern "C" ' if build.is_cxx else ""
        headers = dict.fromkeys([included(h) for item in self._objects for h in ask(item.c_headers, compiler)])
        support = dict.fromkeys([t for item in self._objects for t in ask(item.c_support_code, compiler)])
        init = [t for item in self._objects for t in ask(item.c_init_code, compiler)]
        init += [n.op.c_init_code_apply(n.node, n.name) for n in self.nodes]
        versions = ", ".join([f"{type(item).__name__} {_version(item)}" for item in self._objects])
        types: list[str] = []
        for (text, lengths), name in self._types.items():
            if lengths:
                types.append(f"static const lm_int {name}_shape[] = {{{lengths}}};")
            types.append(
                f"static const lm_type {name} = {text.replace('SHAPE', f'{name}_shape' if lengths else 'NULL')};"
            )
        entries = [
            f"{{{step}, lm_open_{n.number}, lm_close_{n.number}}}"
            for n, step in zip(self.nodes, self.steps, strict=True)
        ]
        statements = "\n".join([f"{{\n{text}\n}}\nif (PyErr_Occurred()) return -1;" for text in init if text.strip()])
        beginning = "int lm_failed = 0;\nif (PyArray_ImportNumPyAPI() < 0) return -1;"
        counts = f"{len(self.nodes)}, {self._n_kept}"
        return "\n\n".join(
            [
                f"/* NumPy {np.__version__}; versions of users' code: {versions.replace('*/', '* /')} */",
                support_text("user_headers.h"),
                "\n".join(headers),
                f"#define LM_STEP {linkage or 'static'}",
                support_text("lamella.h"),
                support_text("user.h"),
                f'static const char lm_no_exception[] = "{_NO_EXCEPTION}";',
                *support,
                "\n".join(types),
                *self._functions,
                f"static int lm_init(void)\n{{\n{beginning}\nLM_TRY\n{statements}\nLM_CATCH\nreturn lm_failed ? -1 : 0;\n}}",
                f"static const lm_user_node lm_user_nodes[] = {{{', '.join(entries)}}};",
                f"{linkage}LM_GIVEN_OUT const lm_user_code lamella_user_code = {{lm_init, {counts}, lm_user_nodes}};",
            ]
        )


def _version(item: CLinkerObject) -> str:
    try:
        return str(item.c_code_cache_version())
    except MethodNotDefined:
        return "()"
