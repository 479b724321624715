"""`ARange`, as NumPy fills it: from the first two elements, and their difference.

z = arange(0, n, 2)
->  length = lm_range_length(0, n, 2);
    z[0] = first;  z[1] = second;  z[i] = first + i * (second - first);
"""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.creation import require_addressable
from lamella.codegen.c.lowerings.interpreter_lock import unlocked_for_long
from lamella.codegen.c.step import Array, Step
from lamella.errors import LoweringError
from lamella.ir import ARange


@c_lowering.register(ARange)
def arange(op: ARange, step: Step) -> None:
    """Count the elements, then fill."""
    start, stop, by = step.inputs
    z = step.output()
    if {x.c.kind for x in (start, stop, by)} <= {"i", "u"}:
        _integer_ends(step, z, start, stop, by)
    elif z.type.dtype in ("float32", "float64") and {x.type.dtype for x in (start, stop, by)} == {z.type.dtype}:
        _float_ends(step, z, start, stop, by)
    else:
        raise LoweringError(f"a range of {z.type.dtype} between bounds of other dtypes is left to NumPy")
    require_addressable(step, [_name("length", step)], z.c.itemsize)
    step.allocate([_name("length", step)])
    _fill(step, z)


def _name(what: str, step: Step) -> str:
    return f"{what}{step.number}"


def _integer_ends(step: Step, z: Array, start: Array, stop: Array, by: Array) -> None:
    """Define the length and the first two elements; what the dtype cannot hold is an error."""
    length, first, second = _name("length", step), _name("first", step), _name("second", step)
    step.unit.need("indexing")
    step.emit(f"const lm_int {length} = lm_range_length({start.value()}, {stop.value()}, {by.value()});")
    step.require(f"{length} >= 0")
    step.emit(
        f"const lm_wide start{step.number} = {start.value()}, next{step.number} = start{step.number} + {by.value()};"
    )
    c_type = z.c.computed
    if z.c.kind == "f":
        through = "lm_round_to_half_f64((double)" if z.type.dtype == "float16" else f"({c_type})((double)"
        if z.type.dtype == "float16":
            step.unit.need("half")
        step.emit(f"const {c_type} {first} = {through}start{step.number}), {second} = {through}next{step.number});")
        return
    step.emit(f"const {c_type} {first} = ({c_type})start{step.number}, {second} = ({c_type})next{step.number};")
    step.require(f"{length} < 1 || {first} == start{step.number}")
    step.require(f"{length} < 2 || {second} == next{step.number}")


def _float_ends(step: Step, z: Array, start: Array, stop: Array, by: Array) -> None:
    """Define the length and the first two elements, in the dtype of the bounds."""
    length, first, second = _name("length", step), _name("first", step), _name("second", step)
    distance, steps = _name("distance", step), _name("steps", step)
    c_type = z.c.computed
    step.unit.need("maths")
    step.emit(
        f"const {c_type} {first} = {start.value()}, {second} = {first} + {by.value()};",
        f"const {c_type} {distance} = {stop.value()} - {first}, {steps} = {distance} / {by.value()};",
    )
    # A quotient that vanishes, is no number, or is too large for a length wants more care.
    step.require(f"{steps} > -0x1p58 && {steps} < 0x1p58 && ({steps} != 0 || {distance} == 0)")
    step.emit(f"const lm_int {length} = {steps} > 0 ? (lm_int)ceil((double){steps}) : 0;")


def _fill(step: Step, z: Array) -> None:
    length, first, second = _name("length", step), _name("first", step), _name("second", step)
    # Integers wrap.
    c_type = {"i": "uint64_t", "u": "uint64_t"}.get(z.c.kind, z.c.computed)
    element = f"({z.c.computed})(({c_type}){first} + ({c_type})i * (({c_type}){second} - ({c_type}){first}))"
    place = f"(({z.c.storage} *){z.data})"
    step.emit(
        f"if ({length} > 0) {place}[0] = {z.c.stored(first)};",
        f"if ({length} > 1) {place}[1] = {z.c.stored(second)};",
    )
    with unlocked_for_long(step, length):
        step.emit(f"for (lm_int i = 2; i < {length}; ++i) {place}[i] = {z.c.stored(element)};")
