"""NumPy's functions on symbolic tensors: ``np.exp(x)``, ``np.add(array, x)``, ``np.sum(x, axis=0)`` build the graph.

NumPy asks its operands first (``__array_ufunc__``, ``__array_function__``); tensor variables answer with what stands here and in
``numpy_functions.py``. Operators of arrays, as in ``array + x``, are ufuncs too.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np

import lamella.ir.tensor.functions as lt
from lamella.ir.tensor.conversion import as_tensor_variable
from lamella.ir.tensor.numpy_functions import FUNCTIONS
from lamella.ir.tensor.variable import TensorLike, TensorVariable

__all__ = ["apply_array_function", "apply_ufunc"]

_BY_UFUNC: Final[dict[np.ufunc, str]] = {
    np.absolute: "abs",
    np.add: "add",
    np.arccos: "arccos",
    np.arccosh: "arccosh",
    np.arcsin: "arcsin",
    np.arcsinh: "arcsinh",
    np.arctan: "arctan",
    np.arctan2: "arctan2",
    np.arctanh: "arctanh",
    np.bitwise_and: "bitwise_and",
    np.bitwise_or: "bitwise_or",
    np.bitwise_xor: "bitwise_xor",
    np.ceil: "ceil",
    np.conjugate: "conj",
    np.copysign: "copysign",
    np.cos: "cos",
    np.cosh: "cosh",
    np.deg2rad: "deg2rad",
    np.degrees: "rad2deg",
    np.equal: "eq",
    np.exp: "exp",
    np.exp2: "exp2",
    np.expm1: "expm1",
    np.floor: "floor",
    np.floor_divide: "floor_divide",
    np.greater: "gt",
    np.greater_equal: "ge",
    np.hypot: "hypot",
    np.invert: "bitwise_not",
    np.isfinite: "isfinite",
    np.isinf: "isinf",
    np.isnan: "isnan",
    np.left_shift: "left_shift",
    np.less: "lt",
    np.less_equal: "le",
    np.log: "log",
    np.log10: "log10",
    np.log1p: "log1p",
    np.log2: "log2",
    np.logaddexp: "logaddexp",
    np.logaddexp2: "logaddexp2",
    np.logical_and: "logical_and",
    np.logical_not: "logical_not",
    np.logical_or: "logical_or",
    np.logical_xor: "logical_xor",
    np.matmul: "matmul",
    np.maximum: "maximum",
    np.minimum: "minimum",
    np.multiply: "mul",
    np.negative: "neg",
    np.not_equal: "neq",
    np.positive: "tensor_copy",
    np.power: "power",
    np.rad2deg: "rad2deg",
    np.radians: "deg2rad",
    np.reciprocal: "reciprocal",
    np.remainder: "mod",
    np.right_shift: "right_shift",
    np.rint: "rint",
    np.sign: "sign",
    np.signbit: "signbit",
    np.sin: "sin",
    np.sinh: "sinh",
    np.sqrt: "sqrt",
    np.square: "square",
    np.subtract: "sub",
    np.tan: "tan",
    np.tanh: "tanh",
    np.true_divide: "true_divide",
    np.trunc: "trunc",
}

_BY_SCIPY_NAME: Final = {
    "erf": "erf",
    "erfc": "erfc",
    "erfcx": "erfcx",
    "expit": "sigmoid",
    "gammaln": "gammaln",
    "log_expit": "log_sigmoid",
    "psi": "digamma",
    "xlogy": "xlogy",
}

_REDUCTIONS: Final[dict[np.ufunc, str]] = {
    np.add: "sum",
    np.bitwise_and: "bitwise_and_reduce",
    np.bitwise_or: "bitwise_or_reduce",
    np.bitwise_xor: "bitwise_xor_reduce",
    np.logaddexp: "logsumexp",
    np.logical_and: "all",
    np.logical_or: "any",
    np.maximum: "max",
    np.minimum: "min",
    np.multiply: "prod",
}

_ACCUMULATIONS: Final[dict[np.ufunc, str]] = {np.add: "cumsum", np.multiply: "cumprod"}


def _named(name: str) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(lt, name)
    return function


def _divmod(x: TensorLike, y: TensorLike) -> tuple[TensorVariable, TensorVariable]:
    return lt.floor_divide(x, y), lt.mod(x, y)


def _elementwise(ufunc: np.ufunc) -> Callable[..., Any] | None:
    if ufunc in _BY_UFUNC:
        return _named(_BY_UFUNC[ufunc])
    if ufunc is np.divmod:
        return _divmod
    special = sys.modules.get("scipy.special")  # who has one of its functions has loaded it
    name = ufunc.__name__
    if special is not None and name in _BY_SCIPY_NAME and getattr(special, name, None) is ufunc:
        return _named(_BY_SCIPY_NAME[name])
    return None


def _refuse(what: str, kwargs: Mapping[str, Any]) -> None:
    for name in kwargs:
        if name == "out":
            raise TypeError(f"{what} of symbolic tensors takes no out: they have no memory; use the result")
        raise TypeError(f"{what} of symbolic tensors takes no argument {name!r}")


def apply_ufunc(
    ufunc: np.ufunc, method: str, inputs: Sequence[Any], kwargs: Mapping[str, Any]
) -> TensorVariable | tuple[TensorVariable, ...]:
    """Build what a NumPy (or SciPy) ufunc means for symbolic tensors: the answer to ``__array_ufunc__``.

    Parameters
    ----------
    ufunc
        The ufunc.
    method
        ``"__call__"``, or ``"reduce"``, ``"accumulate"``, ``"outer"`` of those that are reductions, running sums and products, and
        binary functions here.
    inputs
        Its operands.
    kwargs
        Its keyword arguments: `axis`, `keepdims` and `dtype` of reductions; none else, and no `out` and `where`.

    Raises
    ------
    TypeError
        There is no such function of symbolic tensors, or an argument means nothing to them.
    """
    options = {name: value for name, value in kwargs.items() if value is not None or name == "axis"}
    what = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    function = _elementwise(ufunc)
    if method == "__call__" and function is not None:
        _refuse(what, options)
        result: TensorVariable | tuple[TensorVariable, ...] = function(*inputs)
        return result
    if method == "outer" and function is not None and len(inputs) == 2:
        _refuse(what, options)
        x, y = [as_tensor_variable(operand) for operand in inputs]
        result = function(x.dimshuffle(list(range(x.ndim)) + ["x"] * y.ndim), y)
        return result
    axis = options.pop("axis", 0)
    if method == "accumulate" and ufunc in _ACCUMULATIONS:
        _refuse(what, {name: value for name, value in options.items() if name != "dtype"})
        accumulated: TensorVariable = _named(_ACCUMULATIONS[ufunc])(*inputs, axis=axis, **options)
        return accumulated
    if method == "reduce" and ufunc in _REDUCTIONS:
        taken = ("keepdims", "dtype") if ufunc in _ACCUMULATIONS else ("keepdims",)
        _refuse(what, {name: value for name, value in options.items() if name not in taken})
        reduced: TensorVariable = _named(_REDUCTIONS[ufunc])(*inputs, axis=axis, **options)
        return reduced
    raise TypeError(f"{what} is not defined for symbolic tensors")


def apply_array_function(
    func: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
) -> TensorVariable | tuple[TensorVariable, ...] | list[TensorVariable] | int | bool:
    """Build what a NumPy function means for symbolic tensors: the answer to ``__array_function__``.

    Parameters
    ----------
    func
        The function.
    args, kwargs
        Its arguments, under NumPy's names.

    Raises
    ------
    TypeError
        There is no such function of symbolic tensors, or an argument means nothing to them.
    """
    what = f"{func.__module__.replace('numpy', 'np', 1)}.{func.__name__}"
    if func not in FUNCTIONS:
        raise TypeError(f"{what} is not defined for symbolic tensors")
    build = FUNCTIONS[func]
    taken = inspect.signature(build)
    options = dict(kwargs)
    if options.get("out", 0) is None:
        del options["out"]
    if "out" in options:
        _refuse(what, {"out": options["out"]})
    try:
        bound = taken.bind(*args, **options)
    except TypeError as error:
        raise TypeError(f"{what} of symbolic tensors takes {', '.join(taken.parameters)}: {error}") from error
    made: TensorVariable | tuple[TensorVariable, ...] | list[TensorVariable] | int | bool = build(
        *bound.args, **bound.kwargs
    )
    return made
