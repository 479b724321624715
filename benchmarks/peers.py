"""The packages that are compared, each behind the same small interface.

A workload is written over names: those of NumPy, and `constant` (an array that is no input), `with_entries` (a copy of an array with some
entries replaced), `logsumexp` and `softmax`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from benchmarks.workloads.workload import Array, Workload

__all__ = ["PEERS", "Bind", "Call", "Lamella", "Peer", "Unsupported"]

Call = Callable[[], Any]
Bind = Callable[[Sequence[Array]], Call]


class Unsupported(Exception):
    """The package cannot express a workload."""


class Peer(Protocol):
    """A package."""

    @property
    def module(self) -> str:
        """What is imported."""

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return environment variables for a process that uses this package, with its caches in a folder."""

    def start(self) -> None:
        """Compile something tiny: what a package does once in a process is no part of compiling a workload."""

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return what is given arrays like these, and returns what computes the workload of them once."""


def _outputs(result: Any) -> list[Any]:
    return list(result) if isinstance(result, list | tuple) else [result]


def _known_lengths(workload: Workload, array: Array) -> tuple[int | None, ...]:
    """Return the lengths that a package is told of: an axis that is broadcast has to be known."""
    return tuple([length if workload.static or length == 1 else None for length in array.shape])


class _NumpyNames:
    """Eager NumPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def constant(self, value: Any) -> Array:
        return np.asarray(value)

    def with_entries(self, x: Array, key: Any, value: Array) -> Array:
        changed = x.copy()
        changed[key] = value
        return changed

    def logsumexp(self, x: Array, axis: int) -> Array:
        top = np.max(x, axis=axis, keepdims=True)
        result: Array = np.squeeze(top, axis) + np.log(np.sum(np.exp(x - top), axis=axis))
        return result

    def softmax(self, x: Array, axis: int) -> Array:
        shares = np.exp(x - np.max(x, axis=axis, keepdims=True))
        shares /= np.sum(shares, axis=axis, keepdims=True)
        result: Array = shares
        return result


class Numpy:
    """NumPy, by hand where a gradient is asked for."""

    module = "numpy"

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return nothing: there is no cache."""
        return {}

    def start(self) -> None:
        """Do nothing."""

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return the workload as it is run by hand."""
        by_hand = workload.by_hand
        if by_hand is not None:
            return lambda given: lambda: by_hand(*given)
        names = _NumpyNames()
        return lambda given: lambda: workload.body(names, *given)


class Lamella:
    """Lamella, in its default mode; calls check their arguments."""

    module = "lamella"

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return where its cache is."""
        return {"LAMELLA_FLAGS": f"cache_dir={cache / 'lamella'}"}

    def start(self) -> None:
        """Compile a function."""
        lm, lt = importlib.import_module("lamella"), importlib.import_module("lamella.tensor")
        x = lt.dvector("x")
        lm.function([x], x * 7.0)(np.zeros(3))

    def graph(self, workload: Workload, arrays: Sequence[Array]) -> tuple[list[Any], list[Any]]:
        """Return the inputs and the outputs of a workload."""
        lm, lt = importlib.import_module("lamella"), importlib.import_module("lamella.tensor")

        class Names:
            with_entries = staticmethod(lambda x, key, value: lt.set_subtensor(x[key], value))

            def __getattr__(self, name: str) -> Any:
                return getattr(lt, name)

        inputs = [lt.tensor(f"x{i}", a.dtype, _known_lengths(workload, a)) for i, a in enumerate(arrays)]
        outputs = _outputs(workload.body(Names(), *inputs))
        if workload.wrt:
            outputs += lm.grad(outputs[0], [inputs[i] for i in workload.wrt])
        return inputs, outputs

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return the compiled workload."""
        lm = importlib.import_module("lamella")
        inputs, outputs = self.graph(workload, arrays)
        f = lm.function(inputs, outputs)
        return lambda given: lambda: f(*given)


class Pytensor:
    """PyTensor, with one of its linkers; calls trust their arguments."""

    module = "pytensor"

    def __init__(self, linker: str) -> None:
        self.linker = linker

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return where its cache is, and whether it uses threads."""
        openmp = ",openmp=True" if threads > 1 and self.linker == "cvm" else ""
        return {"PYTENSOR_FLAGS": f"base_compiledir={cache / self.linker},cxx=g++{openmp}"}

    def start(self) -> None:
        """Compile a function."""
        names: Any = importlib.import_module("pytensor.tensor")
        x = names.dvector("x")
        self._function([x], [x * 7.0])(np.zeros(3))

    def _function(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> Any:
        pytensor: Any = importlib.import_module("pytensor")
        mode = pytensor.compile.mode.get_mode("FAST_RUN" if self.linker == "cvm" else "NUMBA")
        if self.linker == "cvm":
            mode = pytensor.compile.mode.Mode(linker="cvm", optimizer=mode.optimizer)
        return pytensor.function(inputs, outputs, mode=mode, trust_input=True, on_unused_input="ignore")

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return the compiled workload."""
        pytensor: Any = importlib.import_module("pytensor")
        names: Any = importlib.import_module("pytensor.tensor")
        special: Any = importlib.import_module("pytensor.tensor.special")

        class Names:
            softmax = staticmethod(lambda x, axis: special.softmax(x, axis=axis))
            logsumexp = staticmethod(lambda x, axis: special.logsumexp(x, axis=axis))
            with_entries = staticmethod(lambda x, key, value: names.set_subtensor(x[key], value))

            def __getattr__(self, name: str) -> Any:
                return getattr(names, name)

        inputs = [
            names.tensor(f"x{i}", dtype=str(a.dtype), shape=_known_lengths(workload, a)) for i, a in enumerate(arrays)
        ]
        outputs = _outputs(workload.body(Names(), *inputs))
        if workload.wrt:
            outputs += pytensor.grad(outputs[0], [inputs[i] for i in workload.wrt])
        f = self._function(inputs, outputs)
        return lambda given: lambda: f(*given)


class Jax:
    """JAX on the CPU, on device arrays, waiting for the result."""

    module = "jax"

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return where its cache is, and how many threads it has."""
        return {
            "JAX_ENABLE_X64": "1",
            "JAX_PLATFORMS": "cpu",
            "JAX_COMPILATION_CACHE_DIR": str(cache / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            "NPROC": str(threads),
            "PJRT_NPROC": str(threads),
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false" if threads == 1 else "",
        }

    def start(self) -> None:
        """Compile a function."""
        jax: Any = importlib.import_module("jax")
        jax.jit(lambda x: x * 7.0)(jax.numpy.zeros(3)).block_until_ready()

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return the compiled workload."""
        jax: Any = importlib.import_module("jax")
        special: Any = importlib.import_module("jax.scipy.special")

        class Names:
            softmax = staticmethod(lambda x, axis: jax.nn.softmax(x, axis=axis))
            logsumexp = staticmethod(special.logsumexp)
            constant = staticmethod(lambda value: jax.numpy.asarray(value))
            with_entries = staticmethod(lambda x, key, value: x.at[key].set(value))

            def __getattr__(self, name: str) -> Any:
                return getattr(jax.numpy, name)

        def body(*inputs: Any) -> Any:
            return workload.body(Names(), *inputs)

        f = jax.jit(jax.value_and_grad(body, argnums=workload.wrt) if workload.wrt else body)

        def bind(given: Sequence[Array]) -> Call:
            device = [jax.numpy.asarray(a) for a in given]
            return lambda: jax.tree_util.tree_leaves(jax.block_until_ready(f(*device)))

        return bind


class _Text:
    """An expression for numexpr, made by the operations it is for."""

    def __init__(self, text: str) -> None:
        self.text = text

    def _with(self, operator: str, other: Any, swapped: bool = False) -> _Text:
        pair = [self.text, other.text if isinstance(other, _Text) else repr(other)]
        first, second = reversed(pair) if swapped else pair
        return _Text(f"({first} {operator} {second})")

    def __add__(self, other: Any) -> _Text:
        return self._with("+", other)

    def __sub__(self, other: Any) -> _Text:
        return self._with("-", other)

    def __mul__(self, other: Any) -> _Text:
        return self._with("*", other)

    def __rmul__(self, other: Any) -> _Text:
        return self._with("*", other, swapped=True)

    def __truediv__(self, other: Any) -> _Text:
        return self._with("/", other)

    def __pow__(self, other: Any) -> _Text:
        return self._with("**", other)

    def __neg__(self) -> _Text:
        return _Text(f"(-{self.text})")


class _NumexprNames:
    """The functions that numexpr has and workloads use."""

    def _called(self, name: str, *args: Any) -> _Text:
        shown = ", ".join([arg.text if isinstance(arg, _Text) else repr(arg) for arg in args])
        return _Text(f"{name}({shown})")

    def __getattr__(self, name: str) -> Any:
        if name not in ("exp", "sin", "log1p"):
            raise Unsupported(f"numexpr has no {name} that can be a part of an expression")
        return lambda x: self._called(name, x)

    def maximum(self, x: Any, y: Any) -> _Text:
        shown = [value.text if isinstance(value, _Text) else repr(value) for value in (x, y)]
        return _Text(f"where({shown[0]} > {shown[1]}, {shown[0]}, {shown[1]})")

    def sum(self, x: Any, axis: int | None = None) -> _Text:
        return self._called("sum", x) if axis is None else self._called("sum", x, axis)


class Numexpr:
    """numexpr: one expression of elementwise operations, and perhaps a sum of it."""

    module = "numexpr"

    def environment(self, cache: Path, threads: int) -> Mapping[str, str]:
        """Return how many threads it has."""
        return {"NUMEXPR_MAX_THREADS": str(threads)}

    def start(self) -> None:
        """Do nothing."""

    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Bind:
        """Return what evaluates the workload as one expression."""
        numexpr: Any = importlib.import_module("numexpr")
        names = [f"x{i}" for i in range(len(arrays))]
        expression = None if workload.wrt else workload.body(_NumexprNames(), *map(_Text, names))
        if not isinstance(expression, _Text) or len(expression.text) > 2000:
            raise Unsupported("numexpr evaluates single expressions, without gradients")
        text = expression.text

        def bind(given: Sequence[Array]) -> Call:
            values = dict(zip(names, given, strict=True))
            return lambda: numexpr.evaluate(text, local_dict=values)

        return bind


PEERS: Mapping[str, Peer] = {
    "lamella": Lamella(),
    "numpy": Numpy(),
    "numexpr": Numexpr(),
    "pytensor_c": Pytensor("cvm"),
    "pytensor_numba": Pytensor("numba"),
    "jax": Jax(),
}
"""The packages, by name."""
