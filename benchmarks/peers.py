"""The packages that are compared, each behind the same small interface."""

from __future__ import annotations

import importlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import override

from benchmarks.workloads import Workload

__all__ = ["PEERS", "Peer", "Unsupported"]

Array = npt.NDArray[Any]
Call = Callable[[], Any]


class Unsupported(Exception):
    """The package cannot express a workload."""


class Peer(ABC):
    """A package."""

    module: str

    def environment(self, cache: Path) -> Mapping[str, str]:
        """Return environment variables for a process that uses this package, with its caches in a folder."""
        return {}

    @abstractmethod
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        """Return what computes the workload once."""


class _NumpyNames:
    """Eager NumPy."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)

    def logsumexp(self, x: Array, axis: int) -> Array:
        top = np.max(x, axis=axis, keepdims=True)
        result: Array = np.squeeze(top, axis) + np.log(np.sum(np.exp(x - top), axis=axis))
        return result

    def softmax(self, x: Array, axis: int) -> Array:
        shifted = np.exp(x - np.max(x, axis=axis, keepdims=True))
        result: Array = shifted / np.sum(shifted, axis=axis, keepdims=True)
        return result


class Numpy(Peer):
    """NumPy, by hand where a gradient is asked for."""

    module = "numpy"

    @override
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        by_hand = workload.by_hand
        if by_hand is not None:
            return lambda: by_hand(*arrays)
        names = _NumpyNames()
        return lambda: workload.body(names, *arrays)


class Lamella(Peer):
    """Lamella, in its default mode."""

    module = "lamella"

    @override
    def environment(self, cache: Path) -> Mapping[str, str]:
        return {"LAMELLA_FLAGS": f"cache_dir={cache / 'lamella'}"}

    @override
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        import lamella as lm
        import lamella.tensor as lt

        inputs = [lt.tensor(f"x{i}", dtype=a.dtype, shape=(None,) * a.ndim) for i, a in enumerate(arrays)]
        outputs = workload.body(lt, *inputs)
        if workload.gradient:
            outputs = [outputs, lm.grad(outputs, inputs[0])]
        f = lm.function(inputs, outputs)
        return lambda: f(*arrays)


class Pytensor(Peer):
    """PyTensor, with its C linker and trusted inputs."""

    module = "pytensor"
    linker = "cvm"

    @override
    def environment(self, cache: Path) -> Mapping[str, str]:
        return {"PYTENSOR_FLAGS": f"base_compiledir={cache / self.linker},cxx=g++"}

    @override
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        pytensor: Any = importlib.import_module("pytensor")
        names: Any = importlib.import_module("pytensor.tensor")
        special: Any = importlib.import_module("pytensor.tensor.special")

        class Names:
            softmax = staticmethod(lambda x, axis: special.softmax(x, axis=axis))
            logsumexp = staticmethod(lambda x, axis: names.logsumexp(x, axis=axis))

            def __getattr__(self, name: str) -> Any:
                return getattr(names, name)

        inputs = [names.tensor(f"x{i}", dtype=str(a.dtype), shape=(None,) * a.ndim) for i, a in enumerate(arrays)]
        outputs = workload.body(Names(), *inputs)
        if workload.gradient:
            outputs = [outputs, pytensor.grad(outputs, inputs[0])]
        mode = pytensor.compile.mode.get_mode("FAST_RUN" if self.linker == "cvm" else "NUMBA")
        if self.linker == "cvm":
            mode = pytensor.compile.mode.Mode(linker="cvm", optimizer=mode.optimizer)
        f = pytensor.function(inputs, outputs, mode=mode, trust_input=True)
        return lambda: f(*arrays)


class PytensorNumba(Pytensor):
    """PyTensor, with its Numba linker and trusted inputs."""

    linker = "numba"


class Jax(Peer):
    """JAX on the CPU, on device arrays, waiting for the result."""

    module = "jax"

    @override
    def environment(self, cache: Path) -> Mapping[str, str]:
        return {
            "JAX_ENABLE_X64": "1",
            "JAX_PLATFORMS": "cpu",
            "JAX_COMPILATION_CACHE_DIR": str(cache / "jax"),
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
            "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false" if os.environ.get("OMP_NUM_THREADS") == "1" else "",
        }

    @override
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        jax: Any = importlib.import_module("jax")

        class Names:
            softmax = staticmethod(lambda x, axis: jax.nn.softmax(x, axis=axis))
            logsumexp = staticmethod(lambda x, axis: jax.scipy.special.logsumexp(x, axis=axis))

            def __getattr__(self, name: str) -> Any:
                return getattr(jax.numpy, name)

        def body(*inputs: Any) -> Any:
            return workload.body(Names(), *inputs)

        f = jax.jit(jax.value_and_grad(body) if workload.gradient else body)
        device = [jax.numpy.asarray(a) for a in arrays]
        return lambda: jax.block_until_ready(f(*device))


class Numexpr(Peer):
    """numexpr: single elementwise expressions."""

    module = "numexpr"

    @override
    def compile(self, workload: Workload, arrays: Sequence[Array]) -> Call:
        if workload.gradient or not workload.name.startswith("fused"):
            raise Unsupported("only elementwise expressions")
        numexpr: Any = importlib.import_module("numexpr")
        values = {"x": arrays[0]}
        return lambda: numexpr.evaluate("exp(-x*x/2)*sin(3*x)+log1p(x*x)", local_dict=values)


PEERS: Mapping[str, Peer] = {
    "lamella": Lamella(),
    "numpy": Numpy(),
    "pytensor_c": Pytensor(),
    "pytensor_numba": PytensorNumba(),
    "jax": Jax(),
    "numexpr": Numexpr(),
}
"""The packages, by name."""
