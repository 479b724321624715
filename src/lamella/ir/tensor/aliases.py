"""Other names of elementwise functions: those that NumPy and SciPy, and those that PyTensor, gave them."""

from __future__ import annotations

from typing import Final

from lamella.ir.tensor.elementwise import (
    abs,
    bitwise_and,
    bitwise_not,
    bitwise_or,
    bitwise_xor,
    conj,
    digamma,
    eq,
    floor_divide,
    ge,
    gt,
    le,
    lt,
    mod,
    mul,
    neg,
    neq,
    power,
    sigmoid,
    sign,
    square,
    sub,
    trigamma,
    true_divide,
)

__all__ = [
    "absolute",
    "and_",
    "conjugate",
    "divide",
    "equal",
    "expit",
    "greater",
    "greater_equal",
    "int_div",
    "invert",
    "less",
    "less_equal",
    "multiply",
    "negative",
    "not_equal",
    "or_",
    "pow",
    "psi",
    "remainder",
    "sgn",
    "sqr",
    "subtract",
    "tri_gamma",
    "true_div",
    "xor",
]

absolute: Final = abs
and_: Final = bitwise_and
conjugate: Final = conj
divide: Final = true_divide
equal: Final = eq
expit: Final = sigmoid
greater: Final = gt
greater_equal: Final = ge
int_div: Final = floor_divide
invert: Final = bitwise_not
less: Final = lt
less_equal: Final = le
multiply: Final = mul
negative: Final = neg
not_equal: Final = neq
or_: Final = bitwise_or
pow: Final = power
psi: Final = digamma
remainder: Final = mod
sgn: Final = sign
sqr: Final = square
subtract: Final = sub
tri_gamma: Final = trigamma
true_div: Final = true_divide
xor: Final = bitwise_xor
