"""`Workload`: one thing that is measured, written once for every package."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
import numpy.typing as npt

__all__ = ["Array", "Workload"]

Array = npt.NDArray[Any]


# A package may be measured by an interpreter of its own, which has NumPy and not necessarily attrs.
@final
@dataclass(frozen=True)
class Workload:
    """Inputs, an expression of them, and which gradients of it are wanted.

    Attributes
    ----------
    name, about
        A name, and what it is.
    inputs
        Makes the inputs.
    body
        The expression, given names (NumPy's, and those of `benchmarks.peers`) and symbolic or real inputs.
    wrt
        The inputs by which the (single, scalar) output is differentiated; the gradients are further outputs.
    by_hand
        Value and gradients in NumPy, where there are gradients.
    bar
        How many times faster than the fastest other package it is to be; None where nothing is asked for.
    rtol
        How far results may be from NumPy's, relative to the largest of an array.
    static
        Tell packages the lengths of the inputs, if they can make use of them.
    """

    name: str
    about: str
    inputs: Callable[[np.random.Generator], Sequence[Array]]
    body: Callable[..., Any]
    wrt: tuple[int, ...] = ()
    by_hand: Callable[..., list[Any]] | None = None
    bar: float | None = None
    rtol: float = 1e-8
    static: bool = False
