"""`Function.export_c`: libraries that C programs call, compiled with all warnings, run under sanitizers, bit for bit the function."""

from __future__ import annotations

import ctypes
import os
import re
import subprocess
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.codegen.c.export.library import PLAIN_SERVICES
from lamella.errors import ExportError
from lamella.ir import DTYPES, ScalarType, Variable, ls

Array = npt.NDArray[Any]


class LamellaArray(ctypes.Structure):
    _fields_ = [
        ("data", ctypes.c_void_p),
        ("dtype", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("shape", ctypes.POINTER(ctypes.c_ssize_t)),
        ("strides", ctypes.POINTER(ctypes.c_ssize_t)),
        ("owner", ctypes.c_void_p),
    ]


def as_c(array: Array) -> LamellaArray:
    lengths = ctypes.c_ssize_t * array.ndim
    return LamellaArray(
        array.ctypes.data,
        DTYPES.index(array.dtype.name),
        array.ndim,
        lengths(*array.shape),
        lengths(*array.strides),
        None,
    )


def from_c(given: LamellaArray) -> Array:
    dtype = np.dtype(DTYPES[given.dtype])
    shape = [given.shape[i] for i in range(given.ndim)]
    strides = [given.strides[i] for i in range(given.ndim)]
    size = int(np.prod(shape)) * dtype.itemsize
    raw = (ctypes.c_uint8 * size).from_address(given.data) if size else b""
    return np.ndarray(shape, dtype, np.frombuffer(bytes(raw), np.uint8), strides=strides).copy()


def build(folder: Path, name: str, *arguments: str, flags: str = "") -> None:
    environment = {**os.environ, "CFLAGS": f"-Wall -Wextra -Werror {flags}"}
    script = ["sh", str(folder / f"{name}_build.sh"), *arguments]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""


class Exported:
    """An exported library, called through `ctypes`."""

    def __init__(self, folder: Path, name: str, n_outputs: int) -> None:
        build(folder, name, "library")
        self.c: Any = ctypes.CDLL(str(folder / f"lib{name}.so"))
        self.name, self.n_outputs = name, n_outputs
        self["error"].restype = ctypes.c_char_p

    def __getitem__(self, function: str) -> Any:
        return getattr(self.c, f"{self.name}_{function}")

    @property
    def message(self) -> str:
        return str(self["error"]().decode())

    def new_state(self) -> int:
        self["new"].restype = ctypes.c_void_p
        return int(self["new"]())

    def call(self, state: int | None, inputs: Sequence[Array | None]) -> list[Array]:
        given = [None if x is None else ctypes.byref(as_c(x)) for x in inputs]
        made = [LamellaArray() for _ in range(self.n_outputs)]
        status = self["call"](
            *([] if state is None else [ctypes.c_void_p(state)]), *given, *[ctypes.byref(out) for out in made]
        )
        if status != 0:
            assert all(out.data is None and out.owner is None for out in made)
            raise RuntimeError(status, self.message)
        results = [from_c(out) for out in made]
        for out in made * 2:  # twice is as good as once
            self["free"](ctypes.byref(out))
        return results

    def shared(self, state: int, name: str) -> Array:
        out = LamellaArray()
        assert self[f"get_{name}"](ctypes.c_void_p(state), ctypes.byref(out)) == 0
        value = from_c(out)
        self["free"](ctypes.byref(out))
        return value


def assert_same_bits(got: Sequence[Array], expected: Sequence[Array]) -> None:
    assert len(got) == len(expected)
    for i, (a, b) in enumerate(zip(got, map(np.asarray, expected), strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), i
        assert a.tobytes() == b.tobytes(), f"output {i}: {a} where {b} is expected"


def test_a_library_gives_what_the_function_gives(tmp_path: Path) -> None:
    x, n, q = lt.matrix("x"), lt.ivector("int"), lt.vector("q", dtype="float16")
    rate = lt.scalar("rate")
    w = lm.shared(np.array([0.5, -0.25, 0.125]), name="w")
    steps = lm.shared(np.int64(3), name="steps")
    table = np.array([[1.0, np.nan, -0.0], [np.inf, 5e-324, -1.5]])
    scores = lt.exp(-(x * x) / 2) * lt.sin(3 * x) + lt.log1p(x * x)
    outputs: dict[str, Variable[Any]] = {
        "scores": scores,
        "sum": scores.sum(axis=0),
        "softmax": lt.softmax(x, axis=1),
        "largest": lt.argmax(x, axis=1),
        "sorted": lt.sort(x, axis=0),
        "order": lt.argsort(q),
        "complex": lt.sort(x[0] * 1j + x[1], axis=0),
        "whole": lt.dot(n, n),
        "halves": q * q + q,
        "picked": x[:, n][::-1],
        "added": lt.inc_subtensor(x[:, n], 1.5),
        "at places": lt.inc_subtensor(lt.square(w)[n % 3], w[n % 3] * 2),
        "chosen": lm.ifelse(lt.gt(rate, 0.5), x.T, x.T + 1),
        "constant": lt.as_tensor_variable(table) * rate,
        "view": x.T,
        "is large": lt.gt(x, 0.3),
        "remainder": n % 2,
        "steps": steps + 1,
        "number": ls.square(lt.scalar_from_tensor(rate)),
    }
    updates = [(w, w - rate * scores.sum(axis=0)), (steps, steps + 1)]
    f = lm.function([x, n, q, (rate, 0.1)], outputs, updates=updates, name="many things")
    given: list[Array] = [
        np.linspace(-1, 1, 12).reshape(4, 3),
        np.array([2, 0, 0], "int32"),
        np.array([3, -1, 0.5], "float16"),
    ]
    written = f.export_c(tmp_path, example=[*given, 0.1])
    assert [file.name for file in written] == [f"many_things{end}" for end in (".h", ".c", "_example.c", "_build.sh")]

    build(tmp_path, "many_things", flags="-O0 -fsanitize=address,undefined -fno-sanitize-recover=all")
    example = subprocess.run([tmp_path / "many_things_example"], capture_output=True, text=True, check=False)
    assert (example.returncode, example.stderr) == (0, "")
    expected = f(*given)
    lines = example.stdout.splitlines()
    assert [line.partition(":")[0] for line in lines] == [re.sub(r"\W", "_", name) for name in outputs]
    shapes = [(result.shape, line) for result, line in zip(expected.values(), lines, strict=True)]
    assert all(f"shape ({', '.join(map(str, shape))}), sum " in line for shape, line in shapes)
    assert float(lines[1].split("sum ")[-1]) == pytest.approx(expected["sum"].sum())

    library = Exported(tmp_path, "many_things", len(outputs))
    state, other = library.new_state(), library.new_state()
    w.set_value(np.array([0.5, -0.25, 0.125]))
    steps.set_value(np.int64(3))
    wide = np.zeros((4, 6))
    wide[:, ::2] = given[0]
    unaligned = np.zeros(given[0].nbytes + 1, np.uint8)[1:].view(np.float64).reshape(4, 3)
    unaligned[...] = given[0]
    layouts = [given[0], wide[:, ::2], np.asfortranarray(given[0]), given[0][::-1], unaligned, np.zeros((2, 3))]
    for i, laid_out in enumerate(layouts):
        arguments = [laid_out, *given[1:], None if i % 2 == 0 else np.array(0.75)]
        before = laid_out.copy()
        assert_same_bits(library.call(state, arguments), list(f(*[a for a in arguments if a is not None]).values()))
        assert_same_bits(
            [library.shared(state, "w"), library.shared(state, "steps")], [w.get_value(), steps.get_value()]
        )
        np.testing.assert_array_equal(before, laid_out)
    assert_same_bits([library.shared(other, "w")], [np.array([0.5, -0.25, 0.125])])  # a state of its own

    assert library["set_w"](ctypes.c_void_p(other), ctypes.byref(as_c(np.arange(6.0)[::2]))) == 0
    assert_same_bits([library.shared(other, "w")], [np.array([0.0, 2, 4])])
    assert library["set_w"](ctypes.c_void_p(other), ctypes.byref(as_c(np.zeros((2, 2))))) == -1
    assert library.message == (
        "w: an array of dtype float64 and 1 dimensions is expected, not of dtype float64 and 2 dimensions"
    )
    for wrong, status, message in [
        ([None, *given[1:], None], -1, "x: it is NULL, and has no default value"),
        (
            [given[0], given[1].astype("int64"), given[2], None],
            -1,
            "int_: an array of dtype int32 and 1 dimensions is expected",
        ),
        ([given[0], given[1] + 5, given[2], None], -3, "cannot be computed; given: arrays of shapes (4, 3), (3)"),
        ([given[0][:, :2], given[1], given[2], None], -3, "cannot be computed; given: arrays of shapes"),
    ]:
        with pytest.raises(RuntimeError, match=re.escape(message)) as raised:
            library.call(state, wrong)
        assert raised.value.args[0] == status
    assert_same_bits([library.shared(state, "w")], [w.get_value()])  # as before the calls that failed
    library["delete"](ctypes.c_void_p(state))
    library["delete"](ctypes.c_void_p(other))


def test_products_need_no_blas(tmp_path: Path) -> None:
    a, b = lt.matrix("a"), lt.matrix("b")
    stack = lt.tensor("stack", dtype="float32", shape=(None, None, None))
    z = lt.cast(a, "complex128") * (1 + 2j)
    outputs: list[Variable[Any]] = [
        a @ b,
        a.T @ b.T,
        a.T @ a,
        a @ b[:, 0],
        a[0] @ b,
        (a.T @ a[:, 0])[::-1],
        2.5 * (a @ b) + b.T @ a.T,
    ]
    outputs += [z @ z.T, z.T @ z[:, 0], lt.matmul(stack, stack.transpose(0, 2, 1)), (a[::-1] @ b[:, ::-1])[:, ::-1]]
    # Whose code asks for an order of axes that these do not lie in: they are copied.
    outputs += [lt.softmax(a.T, axis=None), lt.argmax(a.T), lt.softmax(stack, axis=(0, 2))]
    factor = ScalarType("complex64")("factor")  # a number is an array without dimensions
    outputs += [factor, lt.tensor_from_scalar(ls.mul(factor, factor)) * stack]
    f = lm.function([a, b, stack, factor], outputs, name="products")
    f.export_c(tmp_path)
    library = Exported(tmp_path, "products", len(outputs))
    rng = np.random.default_rng(1)
    for shape in ((5, 5), (1, 1), (0, 0)):
        given = [rng.normal(size=shape), rng.normal(size=shape), rng.normal(size=(2, 3, 4)).astype("float32")]
        if shape == (0, 0):
            given = [np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((0, 3, 4), "float32")]
        given.append(np.array(0.5 - 2j, "complex64"))
        for got, expected in zip(library.call(None, given), f(*given), strict=True):
            np.testing.assert_allclose(got, expected, rtol=1e-5 if got.dtype == np.float32 else 1e-12, atol=1e-12)


def test_what_needs_python_is_named(tmp_path: Path) -> None:
    @lm.as_op(itypes=[lt.dvector], otypes=[lt.dvector])
    def doubled(x: Array) -> Array:
        return 2 * x

    x = lt.vector("x")
    f = lm.function([x], lt.exp(doubled(x)), mode="FAST_COMPILE")
    with pytest.raises(ExportError, match=r"nodes that do \(1\):\n  .*doubled.*float64\[\?\]\): its Op has no C code"):
        f.export_c(tmp_path / "library")
    assert not (tmp_path / "library").exists()


def test_files_of_others_are_left_alone(tmp_path: Path) -> None:
    x = lt.vector("x")
    f = lm.function([x], x + 1, mode="FAST_COMPILE")
    folder = tmp_path / "2nd library"
    written = f.export_c(folder)
    assert written[0].name == "function_2nd_library.h"
    assert sorted(folder.iterdir()) == sorted(written)
    f.export_c(folder)  # over its own
    before = written[1].read_text()
    written[0].write_text(written[0].read_text() + "/* mine */\n")
    with pytest.raises(
        FileExistsError, match=r"function_2nd_library\.h exists, and was not written by export_c, or was changed"
    ):
        lm.function([x], x + 2, mode="FAST_COMPILE").export_c(folder)
    assert written[1].read_text() == before
    with pytest.raises(ValueError, match="there are 1 inputs, and the example has 2 values"):
        f.export_c(tmp_path / "other", example=[1, 2])


def test_the_plain_host_has_every_service_that_units_ask_for() -> None:
    # A service that is new is one for the plain host too, unless it is for code that works on Python's objects.
    header = files("lamella.codegen.c").joinpath("support", "lamella.h").read_text()
    table = header.partition("What the host does for generated code")[2].partition("} lm_services;")[0]
    declared = set(re.findall(r"\(\*(\w+)\)\(", table))
    assert declared - set(PLAIN_SERVICES) == {
        "release_object",
        "share_object",
        "as_object",
        "from_object",
        "keep",
        "recall",
    }
