"""The program of a scheduled graph: its translation unit as text, and the constants that go with it.

struct frame { lm_array1 v0, v1; ... };                         the variables
static int steps0(lm_call *call, struct frame *f) {...}         some steps, in order; their cold parts after them
static int run(...) {...}                                       inputs in, steps, outputs out, everything released
const lm_program lamella_program = {...};                       what the host looks for
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final, final

import attrs

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.step import Array, Object, Place, Step, constant_value
from lamella.codegen.c.unit import Unit, initializer
from lamella.errors import LoweringError
from lamella.ir import Apply, Constant, Elemwise, TensorType, Variable
from lamella.typing_layer import ScheduledGraph

__all__ = ["CProgram", "write_program"]

_STEPS_PER_FUNCTION: Final = 40
_BYTES_IN_FRAME: Final = 1024
_BYTES_IN_ALL_FRAME: Final = 32768


@final
@attrs.frozen
class CProgram:
    """The text of a translation unit, and the values of its constants, in the order in which it expects them."""

    text: str
    constants: tuple[Any, ...]


def write_program(scheduled: ScheduledGraph) -> CProgram:
    """Return the program of a scheduled graph.

    Parameters
    ----------
    scheduled
        The graph, with the order of its nodes and the storage facts.
    """
    return _Writer(scheduled).write()


@final
class _Writer:
    def __init__(self, scheduled: ScheduledGraph) -> None:
        self._scheduled = scheduled
        self._unit = Unit()
        self._places: dict[Variable[Any], Place] = {}
        self._members: list[str] = []
        self._storage: dict[Variable[Any], str] = {}
        self._storage_members: list[str] = []
        self._bytes_in_frame = 0
        self._constants: dict[str, Constant[Any]] = {}
        self._computed: list[Place] = []

    def write(self) -> CProgram:
        fgraph = self._scheduled.fgraph
        inputs = [self._place(v, f"v{i}") for i, v in enumerate(fgraph.inputs)]
        for node in self._scheduled.order:
            for variable in node.outputs:
                self._place_computed(variable)
        chunks = [
            self._write_steps(start, self._scheduled.order[start : start + _STEPS_PER_FUNCTION])
            for start in range(0, len(self._scheduled.order), _STEPS_PER_FUNCTION)
        ]
        outputs = [self._operand(variable) for variable in fgraph.outputs]
        steps = "\n\n".join(chunks)
        used = set(re.findall(r"f->(c\d+)\b", steps)) | {place.name.removeprefix("f->") for place in outputs}
        constants = [(name, constant) for name, constant in self._constants.items() if name in used]
        run = self._write_run(inputs, [self._places[constant] for _, constant in constants], outputs)
        members = [*self._members, *self._storage_members] or ["char unused;"]
        frame = "struct frame {\n" + "\n".join([f"    {member}" for member in members]) + "\n};"
        body = "\n\n".join([part for part in (frame, steps, run) if part])
        text = f"{self._unit.prologue(body)}\n\n{body}\n"
        return CProgram(text, tuple([constant.data for _, constant in constants]))

    def _place(self, variable: Variable[Any], name: str) -> Place:
        type = variable.type
        place: Place
        if isinstance(type, TensorType):
            place = Array(f"f->{name}", type, self._unit.tensor_type(type), constant_value(variable))
            if name[0] != "c":
                self._members.append(f"{self._unit.array_type(type.ndim)} {name};")
        else:
            place = Object(f"f->{name}", self._unit.object_type())
            if name[0] != "c":
                self._members.append(f"void *{name};")
        self._places[variable] = place
        return place

    def _place_computed(self, variable: Variable[Any]) -> None:
        if variable in self._places:
            return  # an input that is an output of a node, too: nobody looks behind it
        number = len(self._scheduled.fgraph.inputs) + len(self._computed)
        place = self._place(variable, f"v{number}")
        self._computed.append(place)
        if isinstance(place, Array) and variable in self._scheduled.storage.recyclable:
            size = place.c.itemsize
            for length in place.type.shape:
                size = -1 if length is None or size < 0 else size * length
            if 0 <= size <= _BYTES_IN_FRAME and self._bytes_in_frame + size <= _BYTES_IN_ALL_FRAME:
                self._bytes_in_frame += size + 64
                self._storage[variable] = f"s{number}"
                self._storage_members.append(f"_Alignas({64 if size > 16 else 16}) char s{number}[{max(size, 1)}];")

    def _operand(self, variable: Variable[Any]) -> Place:
        place = self._places.get(variable)
        if place is None:
            if not isinstance(variable, Constant):
                raise LoweringError(f"{variable!r} is neither an input, nor a constant, nor computed by a node")
            name = f"c{len(self._constants)}"
            self._constants[name] = variable
            place = self._place(variable, name)
        return place

    def _write_steps(self, start: int, nodes: Sequence[Apply[Any]]) -> str:
        lines: list[str] = []
        cold: list[str] = []
        for number, node in enumerate(nodes, start):
            step = self._write_step(number, node)
            lines += [f"    /* {number}: {_title(node)} */", f"    call->step = {number};"]
            lines += [f"    {line}" for line in step.lines]
            if step.may_refer:
                reference = [f"    {line}" for line in self._write_reference(step)]
                if step.lines == [f"goto reference{number};"]:
                    lines[-1:] = reference
                else:
                    lines.append(f"done{number}:;")
                    cold += ["", f"reference{number}:;", *reference, f"    goto done{number};"]
            lines += [f"    {line}" for line in self._write_releases(number)]
        body = "\n".join([*lines, "    return 0;", *cold])
        return f"static int steps{start}(lm_call *const call, struct frame *const f)\n{{\n{body}\n}}"

    def _write_step(self, number: int, node: Apply[Any]) -> Step:
        inputs = [self._operand(variable) for variable in node.inputs]
        step = self._new_step(number, node, inputs)
        try:
            c_lowering.lower(step)
        except LoweringError:
            step = self._new_step(number, node, inputs)
            step.refer()
        return step

    def _new_step(self, number: int, node: Apply[Any], inputs: Sequence[Place]) -> Step:
        return Step(
            node,
            number,
            self._unit,
            inputs,
            [self._places[variable] for variable in node.outputs],
            [variable in self._scheduled.storage.escaping for variable in node.outputs],
            [self._storage.get(variable) for variable in node.outputs],
            self._scheduled.aliases,
        )

    def _write_reference(self, step: Step) -> list[str]:
        ins, outs = step.places
        return [
            f"if (call->serve->reference(call, {step.number}, {len(ins)}, {_values(ins)}, {len(outs)}, {_values(outs)}) < 0)",
            "    return -1;",
        ]

    def _write_releases(self, number: int) -> list[str]:
        lines: list[str] = []
        for variable in self._scheduled.storage.last_read_after[number]:
            place = self._places[variable]
            if isinstance(place, Object):
                lines += [f"call->serve->release_object({place.name});", f"{place.name} = NULL;"]
            else:
                lines.append(f"lm_release(call, &{place.name}.block);")
        return lines

    def _write_run(self, inputs: Sequence[Place], constants: Sequence[Place], outputs: Sequence[Place]) -> str:
        """Write the function that the host calls, and what tells the host of it."""
        destroyed = {
            variable
            for node in self._scheduled.order
            for places in node.op.destroy_map.values()
            for place in places
            for variable in self._scheduled.aliases.roots(node.inputs[place])
        }
        members = [f"{self._member_type(place)} {place.name.removeprefix('f->')};" for place in constants]
        self._members += members
        lines = ["struct frame frame, *const f = &frame;"]
        lines += [f"{place.name} = *({self._member_type(place)} *)inputs[{i}];" for i, place in enumerate(inputs)]
        lines += [f"{place.name} = *({self._member_type(place)} *)constants[{i}];" for i, place in enumerate(constants)]
        for place in self._computed:
            lines.append(f"{place.name}{'' if isinstance(place, Object) else '.block'} = NULL;")
        calls = [f"steps{start}(call, f) == 0" for start in range(0, len(self._scheduled.order), _STEPS_PER_FUNCTION)]
        lines.append(f"const int done = {' && '.join(calls) or '1'};")
        gives: list[str] = []
        for i, place in enumerate(outputs):
            gives.append(f"*({self._member_type(place)} *)outputs[{i}] = {place.name};")
            if isinstance(place, Object):
                gives.append(f"call->serve->share_object({place.name});")
            else:
                gives.append(f"lm_share({place.name}.block);")
        if gives:
            lines += ["if (done) {", *[f"    {give}" for give in gives], "}"]
        for place in self._computed:
            if isinstance(place, Object):
                lines.append(f"call->serve->release_object({place.name});")
            else:
                lines.append(f"lm_release(call, &{place.name}.block);")
        lines.append("return done ? 0 : -1;")
        body = "\n".join([f"    {line}" for line in lines])
        overwritten = [str(int(variable in destroyed)) for variable in self._scheduled.fgraph.inputs]
        return f"""static int run(lm_call *const call, void *const *const inputs, void *const *const constants, void *const *const outputs)
{{
    (void)inputs, (void)constants, (void)outputs;
{body}
}}

static const lm_type *const input_types[] = {_addresses(inputs)};
static const lm_type *const constant_types[] = {_addresses(constants)};
static const lm_type *const output_types[] = {_addresses(outputs)};
static const unsigned char overwritten[] = {initializer(overwritten)};

__attribute__((visibility("default"))) const lm_program lamella_program = {{
    {len(inputs)}, {len(constants)}, {len(outputs)}, input_types, constant_types, output_types, overwritten, run,
}};"""

    def _member_type(self, place: Place) -> str:
        return "void *" if isinstance(place, Object) else self._unit.array_type(place.ndim)


def _values(places: Sequence[Place]) -> str:
    if not places:
        return "NULL"
    return f"(const lm_value[]){{{', '.join([f'{{&{place.name}, &{place.type_name}}}' for place in places])}}}"


def _addresses(places: Sequence[Place]) -> str:
    return initializer([f"&{place.type_name}" for place in places]) if places else "{NULL}"


def _title(node: Apply[Any]) -> str:
    """Return what tells a reader which node this is; nothing that varies from process to process."""
    op = node.op.scalar_op if isinstance(node.op, Elemwise) else node.op
    types = ", ".join([str(v.type) if isinstance(v.type, TensorType) else type(v.type).__name__ for v in node.inputs])
    return f"{type(op).__name__}({types})"
