"""`Function.export_c`: a compiled graph as the files of a C library."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, final

import attrs
import numpy as np
import numpy.typing as npt

from lamella.codegen import (
    ExportedInput,
    ExportInterface,
    SharedState,
    distinct_identifiers,
    example_values,
    write_c_library,
)
from lamella.errors import ExportError
from lamella.ir import FunctionGraph, ScalarType, SharedVariable, StorageCell, TensorType, Variable
from lamella.runtime.inputs import REQUIRED, In
from lamella.typing_layer import ScheduledGraph

__all__ = ["Exportable"]

_MARK: Final = re.compile(r"^(?:/\*|#) \S+, written by Lamella \(the rest has the digest ([0-9a-f]{16})\)")


@final
@attrs.frozen(eq=False)
class Exportable:
    """What a function is made of, as far as a C library of it has to know.

    Attributes
    ----------
    name
        The name of the function.
    inputs
        The inputs that calls give.
    shared, updated
        The shared variables that are read, which are the further inputs of the graph; and those that are set, to its last outputs.
    keys
        The keys of the other outputs, where they are handed back as a dict.
    original
        The graph as it was written.
    scheduled
        The graph that is compiled, with the order of its nodes.
    """

    name: str | None
    inputs: tuple[In, ...]
    shared: tuple[SharedVariable[Any], ...]
    updated: tuple[SharedVariable[Any], ...]
    keys: tuple[Any, ...]
    original: FunctionGraph
    scheduled: ScheduledGraph

    def write(
        self, folder: str | os.PathLike[str], name: str | None, example: Sequence[Any] | None
    ) -> tuple[Path, ...]:
        """Write the library; see `Function.export_c`."""
        target = Path(folder)
        stem = re.sub(r"[^A-Za-z0-9_]", "_", name or self.name or target.resolve().name)
        if not re.match("[A-Za-z]", stem) or stem.lower() in ("lm", "lamella"):
            stem = f"function_{stem}"
        interface = self._interface(stem)
        texts = write_c_library(self.scheduled, interface, self._example(interface, example))
        marked = {file: _marked(file, text) for file, text in texts.items()}
        target.mkdir(parents=True, exist_ok=True)
        for file in marked:
            _refuse_foreign(target / file)
        for file, text in marked.items():
            _write(target / file, text)
        return tuple([target / file for file in marked])

    def _interface(self, stem: str) -> ExportInterface:
        names = distinct_identifiers([spec.keyword for spec in self.inputs], "in")
        inputs = [
            ExportedInput(name, _tensor_type(spec.variable, f"the input {name}"), _default(spec))
            for name, spec in zip(names, self.inputs, strict=True)
        ]
        cells: dict[StorageCell, SharedVariable[Any]] = {}
        for variable in (*self.shared, *self.updated):
            cells.setdefault(variable.cell, variable)
        numbers = {cell: i for i, cell in enumerate(cells)}
        shared_names = distinct_identifiers([v.name for v in cells.values()], "shared")
        shared = [
            SharedState(name, _tensor_type(v, f"the shared variable {name}"), np.array(cell.value))
            for name, (cell, v) in zip(shared_names, cells.items(), strict=True)
        ]
        count = len(self.scheduled.fgraph.outputs) - len(self.updated)
        # Rewriting may have given them to Variables of other names.
        wanted: list[str | None] = [v.name for v in self.original.outputs[:count]]
        if self.keys:
            wanted = [str(key) for key in self.keys]
        outputs = zip(distinct_identifiers(wanted, "out", names), self.scheduled.fgraph.outputs, strict=False)
        return ExportInterface(
            stem,
            tuple(inputs),
            tuple(shared),
            tuple([numbers[v.cell] for v in self.shared]),
            tuple([(name, _tensor_type(v, f"the output {name}")) for name, v in outputs]),
            tuple([numbers[v.cell] for v in self.updated]),
        )

    def _example(self, interface: ExportInterface, given: Sequence[Any] | None) -> list[npt.NDArray[Any]]:
        if given is None:
            return [example_values(i.type) if i.default is None else i.default for i in interface.inputs]
        if len(given) != len(self.inputs):
            raise ValueError(f"there are {len(self.inputs)} inputs, and the example has {len(given)} values")
        return [np.asarray(_fitting(spec, value)) for spec, value in zip(self.inputs, given, strict=True)]


def _tensor_type(variable: Variable[Any], what: str) -> TensorType:
    if isinstance(variable.type, ScalarType):
        return TensorType(variable.type.dtype, ())
    if not isinstance(variable.type, TensorType):
        raise ExportError(f"{what} is of type {variable.type}: a C library takes and gives arrays and numbers only")
    return variable.type


def _default(spec: In) -> npt.NDArray[Any] | None:
    return None if spec.value is REQUIRED else np.asarray(_fitting(spec, spec.value))


def _fitting(spec: In, value: object) -> Any:
    return spec.variable.type.filter(value, spec.strict, spec.allow_downcast)


def _marked(file: str, text: str) -> str:
    """Return a text with a first line by which it is known again, as long as nobody changes it."""
    mark = f"{file}, written by Lamella (the rest has the digest {_digest(text)})"
    return f"# {mark}\n{text}" if file.endswith(".sh") else f"/* {mark} */\n{text}"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def _refuse_foreign(path: Path) -> None:
    """Raise an error where there is a file that was not written here, or was changed since."""
    try:
        text = path.read_bytes().decode("utf-8", errors="replace")
    except FileNotFoundError:
        return
    first, _, rest = text.partition("\n")
    found = _MARK.match(first)
    if found is None or found[1] != _digest(rest):
        raise FileExistsError(
            f"{path} exists, and was not written by export_c, or was changed since: move it, or give another folder or name"
        )


def _write(path: Path, text: str) -> None:
    """Write a file at once: nobody sees a part of it."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        with open(temporary, "x", encoding="utf-8") as file:
            file.write(text)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
