"""`ARange`, as NumPy fills it: from the first two elements, and their difference.

z = arange(0, n, 2)
->  length = lm_range_length(0, n, 2);
    z[0] = first;  z[1] = second;  z[i] = first + i * (second - first);
"""

from __future__ import annotations

from lamella.codegen.c.lowering import c_lowering
from lamella.codegen.c.lowerings.creation import require_addressable
from lamella.codegen.c.lowerings.interpreter_lock import unlocked_for_long
from lamella.codegen.c.scalar_body import ScalarBody, TypedText
from lamella.codegen.c.step import Array, Step
from lamella.ir import Add, ARange, Sub, TrueDivide


@c_lowering.register(ARange)
def arange(op: ARange, step: Step) -> None:
    """Count the elements, then fill."""
    start, stop, by = step.inputs
    z = step.output()
    if {x.c.kind for x in (start, stop, by)} <= {"i", "u"}:
        _integer_ends(step, z, start, stop, by)
    else:
        _float_ends(step, z, start, stop, by)
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
    """Define the length and the first two elements, by the arithmetic of numbers of the bounds' dtypes, as NumPy has them."""
    body = ScalarBody()
    for x in (start, stop, by):
        body.need_for(x.type.dtype)
    body.need_for(z.type.dtype)
    first, last, between = [body.temporary(x.value(), x.type.dtype) for x in (start, stop, by)]
    (following,) = body.apply(Add(), [first, between])
    (distance,) = body.apply(Sub(), [last, first])
    (steps,) = body.apply(TrueDivide(), [distance, between])
    step.unit.need("maths", *body.headers)
    step.emit(*body.lines)
    # A quotient that vanishes, is no number, or is too large for a length wants more care.
    step.require(f"{steps.text} > -0x1p58 && {steps.text} < 0x1p58 && ({steps.text} != 0 || {distance.text} == 0)")
    step.emit(f"const lm_int {_name('length', step)} = {steps.text} > 0 ? (lm_int)ceil((double){steps.text}) : 0;")
    for what, least, end in (("first", 1, first), ("second", 2, following)):
        name = _name(what, step)
        if z.c.kind == "f":
            step.emit(f"const {z.c.computed} {name} = {_through_double(step, end, z)};")
            continue
        # Floats are cut to integers; what the dtype cannot hold is the interpreter's to refuse.
        low, bound = (f"-0x1p{z.c.bits - 1}", f"0x1p{z.c.bits - 1}") if z.c.kind == "i" else ("0", f"0x1p{z.c.bits}")
        fits = f"(double){end.text} >= {low} && (double){end.text} < {bound}"
        step.require(f"{_name('length', step)} < {least} || ({fits})")
        step.emit(f"const {z.c.computed} {name} = {fits} ? ({z.c.computed}){end.text} : 0;")


def _through_double(step: Step, x: TypedText, z: Array) -> str:
    """Return a number in the dtype of the range: NumPy takes it out of its own dtype as a double."""
    if x.dtype == z.type.dtype:
        return x.text
    if z.type.dtype == "float16":
        step.unit.need("half")
        return f"lm_round_to_half_f64((double){x.text})"
    return f"({z.c.computed})(double){x.text}"


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
