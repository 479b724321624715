"""Compiled functions from outside: what they accept, what they return, what their errors say, that threads may share them."""

from __future__ import annotations

import contextvars
import pickle
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from typing import Any

import attrs
import numpy as np
import numpy.typing as npt
import pytest

from lamella.codegen import CompiledModule, lower_to_c, write_program
from lamella.errors import OutputTypeError
from lamella.ir import (
    AllocEmpty,
    Apply,
    FunctionGraph,
    Op,
    TensorLike,
    TensorType,
    TensorVariable,
    Variable,
    as_tensor_variable,
    generic,
    lt,
)
from lamella.testing import in_layout
from lamella.typing_layer import schedule
from tests.codegen.agreement import compiled

Array = npt.NDArray[Any]


def vector(dtype: str = "float64", name: str = "x") -> TensorVariable:
    return TensorType(dtype, (None,))(name)


def matrix(name: str = "x") -> TensorVariable:
    return TensorType("float64", (None, None))(name)


def lowered(inputs: Sequence[Variable[Any]], outputs: Sequence[Variable[Any]]) -> CompiledModule:
    return lower_to_c(schedule(FunctionGraph(inputs, outputs)))


@attrs.frozen(repr=False)
class Reverse(Op[[TensorLike], TensorVariable]):
    """Has no lowering; its result is a view."""

    view_map = {0: [0]}

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        output_storage[0][0] = inputs[0][::-1]


@attrs.frozen(repr=False)
class AddInPlace(Op[[TensorLike, TensorLike], TensorVariable]):
    """Has no lowering; works in place."""

    destroy_map: Mapping[int, Sequence[int]] = attrs.field(init=False, eq=False, default={0: [0]})

    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        variables = [as_tensor_variable(v) for v in (x, y)]
        return Apply(self, variables, [variables[0].type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        inputs[0][...] += inputs[1]
        output_storage[0][0] = inputs[0]


@attrs.frozen(repr=False)
class Wrong(Op[[TensorLike], TensorVariable]):
    """Stores something that it did not promise."""

    stored: str

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: Sequence[list[Any]]) -> None:
        stored = {"dtype": inputs[0].astype("float32"), "dimensions": inputs[0][None], "kind": "text", "nothing": None}
        if self.stored == "raise":
            raise RuntimeError("it does not work")
        output_storage[0][0] = stored[self.stored]


class TestInputs:
    def test_arrays_that_are_no_such_inputs_are_refused(self) -> None:
        x = TensorType("float64", (None, 3))("x")
        function = compiled([x], [lt.exp(x)])
        for value, message in [
            (np.zeros((2, 3), "float32"), "dtype"),
            (np.zeros((2, 3), "int64"), "dtype"),
            (np.zeros(3), "1 dimensions"),
            (np.zeros((2, 4)), "lengths it was compiled for"),
            ([[1.0, 2.0, 3.0]], "not list"),
            (None, "not NoneType"),
            (np.zeros((2, 3), object), "object"),
        ]:
            with pytest.raises(TypeError, match=f"input 0 of a compiled function.*{message}"):
                function([value])

    def test_wrong_numbers_of_inputs(self) -> None:
        x = vector()
        function: Any = compiled([x], [lt.exp(x)])
        for wrong in ([], [np.zeros(2)] * 2):
            with pytest.raises(TypeError, match=f"takes 1 inputs, not {len(wrong)}"):
                function(wrong)
        with pytest.raises(TypeError, match="are a sequence"):
            function(3)
        with pytest.raises(TypeError, match="takes one argument"):
            function()
        with pytest.raises(TypeError, match="takes one argument"):
            function([np.zeros(2)], inputs=1)

    def test_equal_dtypes_of_other_names_are_accepted(self) -> None:
        x = vector("int64")
        function = compiled([x], [lt.add(x, x)])
        for name in ("longlong", "long", "intp", "int64"):
            if np.dtype(name).itemsize == 8:
                assert function([np.arange(3, dtype=name)])[0].tolist() == [0, 2, 4]

    def test_another_byte_order_and_odd_addresses_are_accepted(self) -> None:
        x = vector()
        function = compiled([x], [lt.neg(x)])
        assert function([np.arange(3.0).astype(">f8")])[0].tolist() == [0.0, -1.0, -2.0]
        assert function([in_layout(np.arange(3.0), "unaligned")])[0].tolist() == [0.0, -1.0, -2.0]

    def test_subclasses_of_arrays_are_accepted(self) -> None:
        x = matrix()
        masked = np.ma.masked_array(np.ones((2, 2)), mask=False)
        assert type(compiled([x], [lt.neg(x)])([masked])[0]) is np.ndarray

    def test_a_tuple_or_a_list(self) -> None:
        x, y = vector(), vector(name="y")
        function = compiled([x, y], [lt.add(x, y)])
        assert (
            function((np.ones(2), np.ones(2)))[0].tolist() == function([np.ones(2), np.ones(2)])[0].tolist() == [2, 2]
        )


class TestOutputs:
    def test_results_own_their_memory(self) -> None:
        x = matrix()
        y = lt.exp(x)
        function = compiled([x], [y, lt.sum(y, axis=0), lt.transpose(lt.add(y, 1.0))])
        value = np.ones((2, 3))
        first, second = function([value]), function([value])
        for a, b in zip(first, second, strict=True):
            assert not np.shares_memory(a, b)
            assert not np.shares_memory(a, value)
            a[...] = 0
            assert np.all(b != 0)
        assert first[0].base is None
        assert first[1].flags.owndata

    def test_views_of_inputs_are_views(self) -> None:
        x = matrix()
        value = np.arange(6.0).reshape(2, 3)
        y, z = compiled([x], [lt.transpose(x), x])([value])
        assert np.shares_memory(y, value)
        assert z is value
        value.setflags(write=False)
        assert not compiled([x], [lt.transpose(x)])([value])[0].flags.writeable

    def test_an_input_twice_and_no_output(self) -> None:
        x = vector()
        value = np.arange(3.0)
        assert all(result is value for result in compiled([x], [x, x])([value]))
        assert compiled([x], [])([value]) == []

    def test_constants_are_returned_as_they_are(self) -> None:
        x = vector()
        number = as_tensor_variable(np.arange(3.0))
        (got,) = compiled([x], [number])([np.zeros(1)])
        assert got.tolist() == [0, 1, 2]
        assert not got.flags.writeable

    def test_memory_of_the_last_call_is_used_again_but_never_given_out_twice(self) -> None:
        x = vector()
        y = lt.sum(lt.exp(lt.mul(x, x)))
        function = compiled([x], [lt.mul(lt.sub(x, y), lt.add(x, y))])
        values = [np.linspace(0, 1e-3, n) for n in (5, 1000, 17, 1000, 5)]
        results = [function([v])[0] for v in values]
        for value, result in zip(values, results, strict=True):
            constant = np.sum(np.exp(value * value))
            np.testing.assert_allclose(result, (value - constant) * (value + constant))


class TestObjects:
    def test_values_that_are_no_arrays_pass_through(self) -> None:
        thing = object()
        x, o = vector(), generic("o")
        result, same = compiled([x, o], [lt.exp(x), o])([np.zeros(2), thing])
        assert same is thing
        assert result.tolist() == [1, 1]
        before = sys.getrefcount(thing)
        for _ in range(100):
            compiled([x, o], [o])([np.zeros(2), thing])
        assert sys.getrefcount(thing) == before


class TestReferenceSteps:
    def test_an_op_without_a_lowering_in_the_middle(self) -> None:
        x = vector()
        y = lt.mul(Reverse()(lt.add(x, 1.0)), 2.0)
        function = compiled([x], [y, Reverse()(x)])
        value = np.arange(4.0)
        result, view = function([value])
        assert result.tolist() == [8, 6, 4, 2]
        assert view.tolist() == [3, 2, 1, 0]
        assert np.shares_memory(view, value)

    def test_an_op_without_a_lowering_that_works_in_place(self) -> None:
        x, y = vector(), vector(name="y")
        function = compiled([x, y], [AddInPlace()(lt.mul(x, 2.0), y)])
        assert function([np.arange(3.0), np.ones(3)])[0].tolist() == [1, 3, 5]
        on_input = compiled([x, y], [AddInPlace()(x, y)])
        value = np.arange(3.0)
        (result,) = on_input([value, np.ones(3)])
        assert np.shares_memory(result, value)
        read_only = np.arange(3.0)
        read_only.setflags(write=False)
        assert on_input([read_only, np.ones(3)])[0].tolist() == [1, 2, 3]
        assert read_only.tolist() == [0, 1, 2]

    def test_small_results_whose_memory_is_in_the_frame(self) -> None:
        x = TensorType("float64", (2, 2))("x")
        y = Reverse()(lt.exp(x))
        function = compiled([x], [lt.sum(y, axis=0), y])
        _, kept = function([np.zeros((2, 2))])
        function([np.ones((2, 2))])
        assert kept.tolist() == [[1, 1], [1, 1]]

    @pytest.mark.parametrize("stored", ["dtype", "dimensions", "kind", "nothing"])
    def test_a_result_that_was_not_promised_is_an_error(self, stored: str) -> None:
        x = vector()
        with pytest.raises(OutputTypeError, match="output 0 of Wrong") as caught:
            compiled([x], [lt.exp(Wrong(stored)(x))])([np.zeros(2)])
        assert any("node: Wrong" in note for note in caught.value.__notes__)


class TestErrors:
    def test_an_error_tells_the_node_its_inputs_and_the_line(self) -> None:
        x, i = vector(), TensorType("int64", ())("i")
        y = lt.exp(lt.exp(x)[i])  # the line
        function = compiled([x, i], [y])
        assert function([np.zeros(3), np.array(1)])[0] == np.exp(1)
        with pytest.raises(IndexError, match="index 7 is out of bounds for axis 0 with size 3") as caught:
            function([np.zeros(3), np.array(7)])
        (note,) = caught.value.__notes__
        assert "node: Subtensor" in note
        assert "float64[?], shape (3,)" in note
        assert "test_compiled_function.py" in note

    def test_an_error_of_perform_keeps_its_class(self) -> None:
        x = vector()
        with pytest.raises(RuntimeError, match="it does not work") as caught:
            compiled([x], [Wrong("raise")(x)])([np.zeros(2)])
        assert len(caught.value.__notes__) == 1

    @pytest.mark.parametrize("n", [2**40, 2**61])
    def test_too_little_memory_is_a_memory_error_with_a_note(self, n: int) -> None:
        length = TensorType("int64", ())("n")
        function = compiled([length], [lt.sum(AllocEmpty("float64")(length, length))])
        with pytest.raises((MemoryError, ValueError)) as caught:
            function([np.array(n)])
        assert any("node: AllocEmpty" in note for note in caught.value.__notes__)
        assert np.isfinite(function([np.array(0)])[0])

    def test_after_an_error_the_function_works_as_before(self) -> None:
        x, i = vector(), TensorType("int64", ())("i")
        function = compiled([x, i], [lt.add(lt.exp(x)[i], lt.sum(x))])
        for k in range(50):
            if k % 2:
                with pytest.raises(IndexError):
                    function([np.zeros(3), np.array(5)])
            else:
                assert function([np.zeros(3), np.array(2)])[0] == 1


class TestThreads:
    def test_threads_share_one_function_with_changing_shapes(self) -> None:
        x, y = matrix(), matrix("y")
        z = lt.sum(lt.exp(lt.mul(x, lt.transpose(y))), axis=0)
        function = compiled([x, y], [z, lt.mul(z, 2.0), Reverse()(z)])
        failures: list[object] = []
        start = threading.Barrier(8)

        def run(seed: int) -> None:
            rng = np.random.default_rng(seed)
            start.wait()
            for _ in range(1250):
                m, n = rng.integers(0, 40, 2)
                a, b = rng.normal(size=(m, n)), rng.normal(size=(n, m))
                first, second, third = function([a, b])
                expected = np.sum(np.exp(a * b.T), axis=0)
                if not (
                    np.allclose(first, expected)
                    and np.allclose(second, 2 * expected)
                    and np.allclose(third, expected[::-1])
                ):
                    failures.append((a, b))

        threads = [threading.Thread(target=contextvars.copy_context().run, args=(run, seed)) for seed in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not failures

    def test_long_work_lets_others_run(self) -> None:
        x = vector()
        function = compiled([x], [lt.sum(lt.exp(lt.sin(lt.exp(lt.sin(x)))))])
        value = np.zeros(4_000_000)
        ticks = 0
        done = threading.Event()

        def run() -> None:
            for _ in range(3):
                function([value])
            done.set()

        thread = threading.Thread(target=contextvars.copy_context().run, args=(run,))
        thread.start()
        while not done.wait(0.001):
            ticks += 1
        thread.join()
        assert ticks > 5


class TestModule:
    def test_the_text_depends_on_structure_alone(self) -> None:
        def text(name: str) -> str:
            x = vector(name=name)
            y = lt.exp(lt.mul(x, 2.0)).named(name + "!")
            return write_program(schedule(FunctionGraph([x], [y]))).text

        assert text("x") == text("another")
        program = (
            "from lamella.codegen import write_program; from lamella.ir import *; import lamella.ir as ir\n"
            "from lamella.typing_layer import schedule\n"
            "x = ir.TensorType('float64', (None,))('y'); y = ir.lt.exp(ir.lt.mul(x, 2.0))\n"
            "print(write_program(schedule(ir.FunctionGraph([x], [y]))).text, end='')"
        )
        for seed in ("1", "2"):
            run = subprocess.run(
                [sys.executable, "-c", program],
                capture_output=True,
                text=True,
                check=True,
                env={"PYTHONHASHSEED": seed},
            )
            assert run.stdout == text("x")

    def test_equal_texts_share_a_library(self) -> None:
        x, y = vector(), vector(name="y")
        assert lowered([x], [lt.exp(x)]).library is lowered([y], [lt.exp(y)]).library
        first = lowered([x], [lt.add(x, np.arange(3.0))])
        second = lowered([x], [lt.add(x, np.arange(3.0) * 2)])
        assert first.library is second.library
        zeros = np.zeros(3)
        assert first.executable()([zeros])[0].tolist() == [0, 1, 2]
        assert second.executable()([zeros])[0].tolist() == [0, 2, 4]

    def test_order_of_inputs_and_constants_make_functions_of_their_own(self) -> None:
        x, y = vector(), vector(name="y")
        ones, twos = np.ones(1), np.full(1, 2.0)
        assert compiled([x, y], [lt.sub(x, y)])([ones, twos])[0] == -1
        assert compiled([y, x], [lt.sub(x, y)])([ones, twos])[0] == 1
        for number in (1.0, 2.0, -0.0):
            assert compiled([x], [lt.sub(x, number)])([ones])[0] == 1 - number

    def test_pickling(self) -> None:
        x = vector()
        module = lowered([x], [lt.exp(x)])
        assert repr(module).startswith("CompiledModule(1 nodes, ")
        copied = pickle.loads(pickle.dumps(module))
        assert copied.source == module.source
        assert copied.executable()([np.zeros(2)])[0].tolist() == [1, 1]

    def test_thousands_of_nodes(self) -> None:
        x = vector()
        y = x
        for i in range(3000):
            y = lt.add(y, x) if i % 2 else lt.mul(y, x)
        module = lowered([x], [y])
        assert module.source.count("static int step") <= 4
        value = np.array([0.5, -0.25])
        expected = value
        for i in range(3000):
            expected = expected + value if i % 2 else expected * value
        assert np.array_equal(module.executable()([value])[0], expected)


def test_a_timed_call_tells_what_each_step_costs() -> None:
    x, y = lt.dvector("x"), lt.dmatrix("y")
    graph = FunctionGraph([x, y], [lt.exp(x), y.T, lt.sum(y)])
    scheduled = schedule(graph)
    entry = lower_to_c(scheduled).executable()
    given = [np.ones(10), np.ones((3, 4))]
    results, costs = entry.timed(given)
    for found, wanted in zip(results, entry(given), strict=True):
        np.testing.assert_array_equal(found, wanted)
    ran = [cost for cost in costs if cost is not None]
    sizes = {type(node.op).__name__: size for node, (_, size) in zip(scheduled.order, ran, strict=True)}
    assert sizes == {"Elemwise": 80, "DimShuffle": 0, "Sum": 8}
    assert all(0 <= seconds < 1 for seconds, _ in ran)
    with pytest.raises(TypeError, match="takes 2 inputs, not 1"):
        entry.timed(given[:1])
    failing = lower_to_c(schedule(FunctionGraph([x, y], [x + y]))).executable()
    with pytest.raises(ValueError, match=r"10|4"):
        failing.timed(given)
