"""The key of a graph: bytes that are equal only for graphs that compute the same in the same way, in any process.

A graph is written as flat tables, as when it is pickled, but without what has no part in computing it: names of Variables, lines of
the user's program, values of shared variables. Ops, Types and constants are written as they pickle.
"""

from __future__ import annotations

import hashlib
import io
import pickle
from types import BuiltinFunctionType, FunctionType
from typing import Any, Final, final

import numpy as np
from typing_extensions import override

from lamella.ir import Constant, FunctionGraph, SharedVariable, Variable, flatten

__all__ = ["graph_key"]

_KNOWN_PACKAGES: Final = frozenset(["lamella", "numpy", "builtins", "copyreg", "functools", "operator"])
"""Those of which `machine_state` tells the versions: code of others may change, and have the same name as before."""


_MOST_BYTES: Final = 1 << 24


class _NotKnown(Exception):
    """The graph depends on code whose changes nobody would notice, or on an array that takes long to read."""


@final
class _KeyPickler(pickle.Pickler):
    @override
    def reducer_override(self, value: Any) -> Any:
        if type(value).__module__.partition(".")[0] not in _KNOWN_PACKAGES:
            raise _NotKnown
        if isinstance(value, np.ndarray):
            if value.dtype.hasobject or value.nbytes > _MOST_BYTES:
                raise _NotKnown
            elements = hashlib.blake2b(value.tobytes("A"), digest_size=20).digest()
            return (_array, (value.dtype.str, value.shape, value.strides, elements))
        if isinstance(value, type | FunctionType | BuiltinFunctionType):
            module = getattr(value, "__module__", None) or ""
            if module.partition(".")[0] not in _KNOWN_PACKAGES:
                raise _NotKnown
        return NotImplemented


def _array(dtype: str, shape: tuple[int, ...], strides: tuple[int, ...], elements: bytes) -> None:
    """Stand for an array in a key, which nobody unpickles."""


def graph_key(fgraph: FunctionGraph, *further: object) -> bytes | None:
    """Return the key of a graph and further things; None where it depends on code of others, does not pickle, or holds an array of more than 16 MiB.

    Parameters
    ----------
    fgraph
        The graph. Its features have no part in it.
    *further
        Values that pickle.
    """
    flat = flatten(fgraph.outputs, fgraph.inputs)
    nodes = [(op, inputs, outputs) for op, inputs, outputs, _, _ in flat.nodes]
    written = io.BytesIO()
    try:
        pickler = _KeyPickler(written, protocol=5)
        pickler.dump(([_root(v) for v in flat.roots], flat.ops, flat.types, nodes, flat.outputs, len(fgraph.inputs)))
        pickler.dump(further)
    except (_NotKnown, pickle.PicklingError, TypeError, AttributeError, RecursionError):
        return None
    return written.getvalue()


def _root(variable: Variable[Any]) -> tuple[Any, ...]:
    kind = type(variable)
    if isinstance(variable, Constant):
        # Constants of one value and two names are two constants.
        return kind, variable.type, variable.data, variable.name
    if isinstance(variable, SharedVariable):
        return kind, variable.type
    return kind, variable.type
