"""Lengths of what is computed, without computing it."""

import numpy as np

import lamella.tensor as lt
from lamella.rewriting.rules.joining import subtensor_of_make_vector
from lamella.rewriting.rules.shape import shape_i_of_computed, shape_of_lengths
from tests.rewriting.rules.before_and_after import after

RULES = (shape_i_of_computed, shape_of_lengths, subtensor_of_make_vector)
x, y = lt.matrix("x"), lt.matrix("y")
X, Y = np.ones((2, 3)), np.ones((3, 4))


def test_the_length_of_a_computed_array_is_that_of_an_input() -> None:
    product = lt.exp(x) @ lt.tanh(y)
    assert after([x, y], product.shape[1], [X, Y], *RULES) == "%0: int64[] = Shape_i{axis=1}(%y)\nreturn %0"
    assert after([x, y], [lt.shape_i(product, 0)], [X, Y], *RULES) == "%0: int64[] = Shape_i{axis=0}(%x)\nreturn %0"


def test_a_shape_is_made_of_lengths() -> None:
    assert after([x, y], lt.exp(x @ y).shape, [X, Y], *RULES) == (
        "%0: int64[] = Shape_i{axis=0}(%x)\n%1: int64[] = Shape_i{axis=1}(%y)\n"
        "%2: int64[2] = MakeVector{dtype=int64}(%0, %1)\nreturn %2"
    )


def test_the_size_of_a_part_is_computed_from_lengths() -> None:
    assert after([x], lt.size(x[1:].T), [X], *RULES) == (
        "%c0: int64[] = constant 1\n%0: int64[] = Shape_i{axis=1}(%x)\n%1: int64[] = Shape_i{axis=0}(%x)\n"
        "%2: int64[] = Minimum(%c0, %1)\n%3: int64[] = Sub(%1, %2)\n%4: int64[] = Mul(%0, %3)\nreturn %4"
    )


def test_an_input_keeps_its_length() -> None:
    length = lt.shape_i(x, 0)
    assert after([x], length, [X], *RULES) == "%0: int64[] = Shape_i{axis=0}(%x)\nreturn %0"
