"""The program of a scheduled graph: its translation unit as text, and the constants that go with it.

static int step0(lm_call *const call, void *const *const operands) {...}    what computes a node; nodes that are computed alike share it
static const lm_variable variables[] = {...};                          inputs, constants, computed variables
static const lm_step steps[] = {                                       for each node its function and its variables
    /* 0: v2 = Add(v0, v1) */
    {step0, 2, 1, 0, (const int[]){0, 1, 2}},
};
const lm_program lamella_program = {...};                              what the host looks for, and runs
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, Final, final

import attrs
import numpy as np

from lamella.codegen.c import scalar_expressions as scalar_expressions  # it fills the table of expressions
from lamella.codegen.c.demand import demand_tables, has_choices
from lamella.codegen.c.interfaces import cffi_array_call as cffi_array_call  # it adds to the table of lowerings
from lamella.codegen.c.interfaces.user_code import Build, UserCode, c_linker_op
from lamella.codegen.c.lowerings import c_lowering
from lamella.codegen.c.step import Array, Object, Place, Step, Storage, array_type_of
from lamella.codegen.c.unit import KERNEL_NAME, Unit, initializer
from lamella.errors import LoweringError
from lamella.ir import Apply, Constant, Elemwise, ScalarType, TensorType, Variable, canonical
from lamella.typing_layer import ScheduledGraph

__all__ = ["CProgram", "write_program"]

_POINTER: Final = 8
_MOST_BYTES_IN_FRAME: Final = 1024
_MOST_BYTES_OF_FRAME: Final = 32768


@final
@attrs.frozen
class CProgram:
    """A translation unit, and what it is linked with.

    Attributes
    ----------
    text
        The text.
    constants
        The values of the constants, in the order in which the unit expects them.
    build
        How it is compiled, if it holds C code of users' Ops; else None.
    params
        For each node with C code of a user's its params.
    cxx
        The text of users' code, if that is C++; a unit of its own.
    needs_python
        The steps that nothing but Python can run, and why.
    """

    text: str
    constants: tuple[Any, ...]
    build: Build | None = None
    params: tuple[Any, ...] = ()
    cxx: str = ""
    needs_python: Mapping[int, str] = attrs.field(factory=dict, eq=False)


def write_program(scheduled: ScheduledGraph) -> CProgram:
    """Return the program of a scheduled graph.

    Parameters
    ----------
    scheduled
        The graph, with the order of its nodes and the storage facts.
    """
    return _Writer(scheduled).write()


@final
@attrs.frozen
class _WrittenStep:
    """A node, the name of its function (None if the reference interpreter computes it), which inputs it reads, and whose code it is."""

    node: Apply[Any]
    function: str | None
    reads: tuple[bool, ...]
    is_of_user: bool = False


@final
class _Writer:
    def __init__(self, scheduled: ScheduledGraph) -> None:
        self._scheduled = scheduled
        self._unit = Unit()
        self._user = UserCode()
        self._in_frame = _stored_in_frame(scheduled)
        self._given = frozenset(scheduled.fgraph.inputs)
        self._lowered: dict[tuple[Hashable, ...], tuple[str | None, tuple[bool, ...]]] = {}

    def write(self) -> CProgram:
        fgraph, order = self._scheduled.fgraph, self._scheduled.order
        steps = [self._write_step(node, i) for i, node in enumerate(order)]
        read: dict[Variable[Any], None] = dict.fromkeys(fgraph.outputs)
        for step in steps:
            read.update(dict.fromkeys([v for v, used in zip(step.node.inputs, step.reads, strict=True) if used]))
        given = dict.fromkeys(fgraph.inputs)
        constants = [v for v in read if isinstance(v, Constant) and v not in given]
        computed = [v for node in order for v in node.outputs if v not in given]
        numbers = {variable: i for i, variable in enumerate([*given, *constants, *computed])}
        tables = [
            self._write_variables(list(numbers)),
            self._write_steps(steps, numbers),
            *([demand_tables(self._scheduled, numbers)] if has_choices(self._scheduled) else []),
            self._write_ends(numbers, len(constants)),
        ]
        body = "\n\n".join(tables)
        values = tuple([constant.data for constant in constants])
        flags, in_python = self._unit.users_flags, {i: why for i, s in enumerate(steps) if (why := _why_python(s))}
        if not self._user.nodes:
            build = Build().with_flags(flags) if flags else None
            return CProgram(self._unit.text(body), values, build, needs_python=in_python)
        build, users = self._user.build().with_flags(flags), self._user.text()
        if build.is_cxx:
            text = f"{self._unit.prologue(body)}\n\n{self._user.declarations()}\n\n{body}\n"
            return CProgram(text, values, build, self._user.params(), users, in_python)
        text = f"{self._unit.prologue(body, users)}\n\n{body}\n"
        return CProgram(text, values, build, self._user.params(), needs_python=in_python)

    def _type_name(self, variable: Variable[Any]) -> str:
        type = variable.type
        if isinstance(type, ScalarType):
            return self._unit.number_type(type)
        return self._unit.tensor_type(type) if isinstance(type, TensorType) else self._unit.object_type()

    def _write_step(self, node: Apply[Any], number: int) -> _WrittenStep:
        of_users = c_linker_op(node)
        if of_users is not None:
            owned = self._scheduled.storage.recyclable
            shared = {*node.op.view_map, *node.op.destroy_map}
            is_kept = [v in owned and i not in shared for i, v in enumerate(node.outputs)]
            try:
                function = self._user.add(self._user.name_node(node, of_users, is_kept), number)
                return _WrittenStep(node, function, (True,) * node.nin, True)
            except (LoweringError, NotImplementedError):
                pass
        key = self._what_lowering_sees(node)
        known = self._lowered.get(key)
        if known is None:
            step = self._new_step(node)
            known = self._write_function(step)
            if not step.asked_aliases:  # which is a fact about the node and its place in the graph
                self._lowered[key] = known
        return _WrittenStep(node, *known)

    def _what_lowering_sees(self, node: Apply[Any]) -> tuple[Hashable, ...]:
        """Return what is equal for two nodes only if they are lowered alike; it holds addresses of what the graph keeps alive."""
        op, escaping = node.op, self._scheduled.storage.escaping
        return (
            id(op if op.not_identity else canonical(op)),
            tuple([id(v if isinstance(v, Constant) else canonical(v.type)) for v in node.inputs]),
            tuple([(id(canonical(v.type)), v in escaping, v in self._in_frame) for v in node.outputs]),
        )

    def _write_function(self, step: Step) -> tuple[str | None, tuple[bool, ...]]:
        """Return the name of the function of a step (None if the reference interpreter computes it), and which inputs it reads."""
        node = step.node
        every = (True,) * len(node.inputs)
        try:
            c_lowering.lower(step)
        except LoweringError:
            return None, every
        body = "\n".join(step.lines)
        if body == "return LM_REFER;":
            return None, every
        names = set(re.findall(r"\b[xz]\d+\b", body))
        lines: list[str] = []
        for i, variable in enumerate(node.inputs):
            if f"x{i}" in names and (type := array_type_of(variable.type)) is not None:
                c_type = self._unit.array_type(type.ndim)
                lines.append(f"const {c_type} x{i} = *(const {c_type} *)operands[{i}];")
        for i, variable in enumerate(node.outputs):
            if f"z{i}" in names and (type := array_type_of(variable.type)) is not None:
                lines.append(f"{self._unit.array_type(type.ndim)} *const z{i} = operands[{len(node.inputs) + i}];")
        if not lines and "operands" not in body:
            lines.append("(void)operands;")
        statements = "\n".join([f"    {line}" for line in (*lines, *step.lines, "return 0;")])
        function = self._unit.kernel(
            f"/* {_title(node)} */\nstatic LM_BESIDE int {KERNEL_NAME}(lm_call *const call, void *const *const operands)\n{{\n"
            f"    (void)call;\n{statements}\n}}",
            "step",
        )
        reads = every if step.may_refer else tuple([f"x{i}" in names for i in range(len(node.inputs))])
        return function, reads

    def _new_step(self, node: Apply[Any]) -> Step:
        def place(variable: Variable[Any], name: str, is_output: bool) -> Place:
            type = array_type_of(variable.type)
            if type is None:
                return Object(name, self._type_name(variable))
            constant = np.asarray(variable.data) if isinstance(variable, Constant) else None
            return Array(name, type, self._type_name(variable), constant, is_output)

        escaping = self._scheduled.storage.escaping
        return Step(
            node,
            self._unit,
            [place(variable, f"x{i}", False) for i, variable in enumerate(node.inputs)],
            [place(variable, f"z{i}", True) for i, variable in enumerate(node.outputs)],
            [Storage(variable in escaping, variable in self._in_frame) for variable in node.outputs],
            self._scheduled.aliases,
            self._given,
        )

    def _write_variables(self, variables: Sequence[Variable[Any]]) -> str:
        """Lay out the frame: structures first, then the elements of small arrays."""
        sizes = [_place_size(variable) for variable in variables]
        storage = _aligned(sum(sizes))
        offset = 0
        entries: list[str] = []
        for variable, size in zip(variables, sizes, strict=True):
            place = 0
            if variable in self._in_frame:
                place = storage
                storage += _aligned(self._in_frame[variable])
            entries.append(f"{{{offset}, {place}, &{self._type_name(variable)}}},")
            offset += size
        self._frame_size = _aligned(storage)
        return _table("lm_variable", "variables", entries, "{0, 0, NULL},")

    def _write_steps(self, steps: Sequence[_WrittenStep], numbers: dict[Variable[Any], int]) -> str:
        entries: list[str] = []
        self._most_operands = max([len(step.reads) + len(step.node.outputs) for step in steps], default=0)
        for i, (step, dead) in enumerate(zip(steps, self._scheduled.storage.last_read_after, strict=True)):
            node = step.node
            listed = [str(numbers[v]) if used else "-1" for v, used in zip(node.inputs, step.reads, strict=True)]
            listed += [str(numbers[variable]) for variable in (*node.outputs, *dead)]
            given = ", ".join([_shown(v, numbers) for v in node.inputs])
            made = ", ".join([_shown(v, numbers) for v in node.outputs])
            counts = f"{len(node.inputs)}, {len(node.outputs)}, {len(dead)}"
            entries.append(f"/* {i}: {made} = {_op_name(node)}({given}) */")
            entries.append(f"{{{step.function or 'NULL'}, {counts}, (const int[]){initializer(listed)}}},")
        return _table("lm_step", "steps", entries, "{NULL, 0, 0, 0, NULL},")

    def _write_ends(self, numbers: dict[Variable[Any], int], n_constants: int) -> str:
        """Write what tells the host of the function."""
        fgraph, aliases = self._scheduled.fgraph, self._scheduled.aliases
        destroyed = aliases.overwritten(self._scheduled.order)
        overwritten = [str(int(variable in destroyed)) for variable in fgraph.inputs]
        outputs = [str(numbers[variable]) for variable in fgraph.outputs]
        counts = [len(fgraph.inputs), n_constants, len(numbers), len(outputs), len(self._scheduled.order)]
        return f"""static const int outputs[] = {initializer(outputs)};
static const unsigned char overwritten[] = {initializer(overwritten)};

__attribute__((visibility("default"))) const lm_program lamella_program = {{
    {", ".join([str(n) for n in (*counts, self._most_operands, self._frame_size)])}, variables, outputs, overwritten, steps, {"&demand" if has_choices(self._scheduled) else "NULL"},
}};"""


def _stored_in_frame(scheduled: ScheduledGraph) -> dict[Variable[Any], int]:
    """Return the Variables whose elements are part of the frame, and their sizes in bytes."""
    found: dict[Variable[Any], int] = {}
    total = 0
    for node in scheduled.order:
        for variable in node.outputs:
            type = array_type_of(variable.type)
            if variable not in scheduled.storage.recyclable or type is None or None in type.shape:
                continue
            size = type.numpy_dtype.itemsize
            for length in type.shape:
                size *= length or 0
            if size <= _MOST_BYTES_IN_FRAME and total + _aligned(size) <= _MOST_BYTES_OF_FRAME:
                total += _aligned(size)
                found[variable] = size
    return found


def _place_size(variable: Variable[Any]) -> int:
    """Return the size of a variable in the frame: of an ``lm_array`` with its lengths and strides, or of a pointer."""
    type = array_type_of(variable.type)
    return _POINTER if type is None else (2 + 2 * type.ndim) * _POINTER


def _aligned(size: int) -> int:
    return max(size + 63, 64) // 64 * 64


def _table(c_type: str, name: str, entries: Sequence[str], empty: str) -> str:
    lines = "\n".join([f"    {entry}" for entry in entries or [empty]])
    return f"static const {c_type} {name}[] = {{\n{lines}\n}};"


def _shown(variable: Variable[Any], numbers: dict[Variable[Any], int]) -> str:
    return f"v{numbers[variable]}" if variable in numbers else "constant"


def _why_python(step: _WrittenStep) -> str:
    """Return why a step needs Python; nothing where it does not."""
    if step.function is None:
        return "its Op has no C code for these types"
    if step.is_of_user:
        return "the C code of its Op is written against Python"
    read = [v for v, used in zip(step.node.inputs, step.reads, strict=True) if used]
    others = [v for v in (*read, *step.node.outputs) if array_type_of(v.type) is None]
    return f"it works on a value of type {others[0].type}, which is no array" if others else ""


def _op_name(node: Apply[Any]) -> str:
    """Return what tells a reader which Op this is; nothing that varies from process to process."""
    return type(node.op.scalar_op if isinstance(node.op, Elemwise) else node.op).__name__


def _title(node: Apply[Any]) -> str:
    known = (TensorType, ScalarType)
    types = ", ".join([str(v.type) if isinstance(v.type, known) else type(v.type).__name__ for v in node.inputs])
    return f"{_op_name(node)}({types})"
