"""What Ops and Types promise, pickling, and errors at run time."""

import copy
import pickle
from collections.abc import Sequence
from typing import Any, ClassVar

import cloudpickle
import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.errors import BadDestroyMap, OutputTypeError
from lamella.ir import Apply, ScalarType, TensorType, TensorVariable
from tests.faults.three_ways import MODES, compiled

every_mode = pytest.mark.parametrize("mode", MODES.values(), ids=list(MODES))


class Stores(lm.Op[[TensorVariable], TensorVariable]):
    """Promises a float64 vector as long as its input, and stores what it was told to."""

    __props__: ClassVar[tuple[str, ...]] = ("what",)

    def __init__(self, what: str) -> None:
        self.what = what

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        (x,) = inputs
        stored = {
            "float32": x.astype(np.float32),
            "int64": x.astype(np.int64),
            "a float": 3.0,
            "a NumPy number": np.float64(3),
            "a list": [1.0, 2.0],
            "a matrix": x[None],
            "another length": np.zeros(len(x) + 1),
            "big-endian": x.astype(">f8"),
            "nothing": None,
            "an object array": x.astype(object),
        }
        output_storage[0][0] = stored[self.what]


WRONG = [
    "float32",
    "int64",
    "a float",
    "a NumPy number",
    "a list",
    "a matrix",
    "another length",
    "nothing",
    "an object array",
]


@pytest.mark.parametrize("what", WRONG)
def test_what_perform_stores_is_what_was_promised(what: str) -> None:
    x = lt.tensor("x", dtype="float64", shape=(2,))
    output = Stores(what)(x)
    with pytest.raises(OutputTypeError, match="Stores"):
        output.eval({x: np.ones(2)})
    for run in compiled([output * 2 + 1], [x]).values():
        with pytest.raises(OutputTypeError, match="Stores"):
            run(np.ones(2))
    for run in compiled([output], [x]).values():
        with pytest.raises(OutputTypeError, match="Stores"):
            run(np.ones(2))
    with pytest.raises(OutputTypeError):
        lm.rewrite_graph(Stores(what)(lt.constant(np.ones(2))) * x).eval({x: np.ones(2)})


def test_an_op_that_stores_nothing_at_all() -> None:
    class Forgets(lm.Op[[TensorVariable], TensorVariable]):
        __props__: ClassVar[tuple[str, ...]] = ()

        def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
            return Apply(self, [x], [x.type])

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
            return None

    x = lt.dvector("x")
    for run in compiled([Forgets()(x)], [x]).values():
        for _ in range(2):
            with pytest.raises(OutputTypeError):
                run(np.ones(2))


class Overwrites(lm.Op[[TensorVariable], TensorVariable]):
    """Works in place, and does not say so."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
        return Apply(self, [x], [x.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
        inputs[0][...] += 1
        output_storage[0][0] = inputs[0].copy()


def test_an_op_that_overwrites_its_input_and_does_not_say_so() -> None:
    x = lt.dvector("x")
    f = lm.function([x], [Overwrites()(x), 2 * x], mode="DebugMode")
    with pytest.raises(BadDestroyMap, match="Overwrites changes its input 0"):
        f(np.zeros(2))


@lm.as_op([lt.dvector], [lt.dvector])
def gives_a_number(x: Any) -> Any:
    return 3.0


@lm.as_op([lt.dvector], [lt.dvector])
def gives_narrow(x: Any) -> Any:
    return x.astype(np.float32)


@lm.as_op([lt.dvector], [lt.dvector])
def gives_its_input(x: Any) -> Any:
    return x


@lm.as_op([lt.dvector], [lt.dvector, lt.dscalar])
def gives_too_little(x: Any) -> Any:
    return x


def test_functions_that_return_something_else_than_declared() -> None:
    x = lt.dvector("x")
    for run in compiled([gives_a_number(x)], [x]).values():
        with pytest.raises(TypeError, match=r"vector|dimension"):
            run(np.ones(2))
    for run in compiled([gives_too_little(x)[0]], [x]).values():
        with pytest.raises(ValueError, match="1 values, but has 2 outputs"):
            run(np.ones(2))
    for run in compiled([gives_narrow(x), gives_its_input(x), x + gives_its_input(x)], [x]).values():
        given = np.ones(2)
        narrow, same, total = run(given)
        assert narrow.dtype == np.float64
        same += 5
        assert given.tolist() == [1, 1]
        assert total.tolist() == [2, 2]


def test_types_are_equal_after_pickling_and_copying() -> None:
    types = [
        TensorType("float64", (None, 3)),
        TensorType(np.dtype("f8"), (None, 3)),
        TensorType("bool", ()),
        ScalarType("int8"),
        lm.none_type_t,
        lm.SliceType(),
        lm.DisconnectedType(),
        lm.NullType("why"),
    ]
    assert types[0] == types[1]
    for kind in types:
        for made in (
            pickle.loads(pickle.dumps(kind)),
            copy.deepcopy(kind),
            copy.copy(kind),
            cloudpickle.loads(cloudpickle.dumps(kind)),
        ):
            assert made == kind
            assert hash(made) == hash(kind)
    assert len({*types}) == len(types) - 1
    for dtype in ("float64", "uint8", "complex64", "bool"):
        assert TensorType(pickle.loads(pickle.dumps(np.dtype(dtype))), (None,)) == TensorType(dtype, (None,))
        assert lt.constant(np.ones(2, dtype)) is pickle.loads(pickle.dumps(lt.constant(np.ones(2, dtype))))


@every_mode
def test_a_pickled_function_keeps_what_it_was_told(mode: lm.Mode) -> None:
    state = lm.shared(np.zeros(2), name="state")
    x, y = lt.dvector("x"), lt.dscalar("y")
    f = lm.function(
        [x, lm.In(y, name="scale", value=2.0)],
        {"sum": x + state, "twice": x * y},
        updates={state: state + x},
        mode=mode,
        name="step",
    )
    f.trust_input = True
    f(np.ones(2))
    for made in (pickle.loads(pickle.dumps(f)), copy.deepcopy(f), cloudpickle.loads(cloudpickle.dumps(f))):
        assert made.name == "step"
        assert made.trust_input is True
        result = made(np.ones(2))
        assert result["sum"].tolist() == [2, 2]
        assert result["twice"].tolist() == [2, 2]
        assert made(np.ones(2), scale=np.array(3.0))["twice"].tolist() == [3, 3]
    assert state.get_value().tolist() == [1, 1]  # copies have states of their own
    both = pickle.loads(pickle.dumps((f, state)))
    both[0](np.ones(2))
    assert both[1].get_value().tolist() == [2, 2]


@every_mode
def test_a_default_value_is_what_it_was(mode: lm.Mode) -> None:
    x, y = lt.dvector("x"), lt.dvector("y")
    default = np.zeros(2)
    f = lm.function([lm.In(x, value=default, mutable=True), lm.In(y, value=[1, 2])], [x[0].inc(1.0), x + y], mode=mode)
    default[:] = 9
    for _ in range(3):
        assert [v.tolist() for v in f()] == [[1, 0], [1, 2]]
    f.trust_input = True
    assert [v.tolist() for v in f()] == [[1, 0], [1, 2]]
    assert [v.tolist() for v in f(y=np.ones(2))] == [[1, 0], [1, 1]]
    with pytest.raises(TypeError):
        lm.function([lm.In(x, value="nothing like it")], x + 1, mode=mode)


def test_what_cannot_be_pickled_says_why() -> None:
    x = lt.dvector("x")
    double = lm.as_op([lt.dvector], [lt.dvector])(lambda a: 2 * a)
    f = lm.function([x], double(x), mode="FAST_COMPILE")
    for thing in (double, double(x), f):
        with pytest.raises(TypeError, match=r"cannot be pickled.*cloudpickle"):
            pickle.dumps(thing)
    restored = cloudpickle.loads(cloudpickle.dumps(f))
    assert restored(np.ones(2)).tolist() == [2, 2]
    named = pickle.loads(pickle.dumps(lm.function([x], gives_its_input(x))))
    assert named(np.ones(2)).tolist() == [1, 1]


@every_mode
def test_an_error_at_run_time_keeps_its_class_and_says_where(mode: lm.Mode) -> None:
    class Fails(lm.Op[[TensorVariable], TensorVariable]):
        __props__: ClassVar[tuple[str, ...]] = ()

        def make_node(self, x: TensorVariable) -> Apply[TensorVariable]:
            return Apply(self, [x], [x.type])

        def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: lm.OutputStorage) -> None:
            raise ZeroDivisionError("on purpose")

    x = lt.dvector("x")
    f = lm.function([x], lt.exp(Fails()(x * 2)), mode=mode)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="on purpose") as caught:
            f(np.ones((4,))[::2])
        notes = "\n".join(caught.value.__notes__)
        assert "Fails" in notes
        assert "float64" in notes
        assert "shape (2,)" in notes
        assert "test_contracts.py" in notes
    y = lt.dmatrix("y")
    g = lm.function([x, y], y @ x, mode=mode)
    with pytest.raises(ValueError, match="2") as caught_dot:
        g(np.ones(2), np.ones((3, 3)))
    assert "test_contracts.py" in "\n".join(caught_dot.value.__notes__)
    assert g(np.ones(3), np.ones((3, 3))).tolist() == [3, 3, 3]  # nothing is left behind


@every_mode
def test_wrong_arguments_are_refused_before_anything_runs(mode: lm.Mode) -> None:
    x, i, m = lt.dvector("x"), lt.lvector("i"), lt.tensor("m", dtype="float64", shape=(2, 3))
    f = lm.function([x, i, m], [x * 2, i + 1, m], mode=mode)
    good = (np.ones(2), np.arange(2), np.ones((2, 3)))
    wrongs: list[tuple[int, Any]] = [
        (0, np.ones((2, 2))),
        (0, 1.0),
        (0, "a"),
        (0, None),
        (0, np.ones(2, complex)),
        (0, np.array(["a"])),
        (1, np.ones(2)),
        (1, np.array([1, 2], np.uint64)[:0].astype(object)),
        (1, [1.5]),
        (2, np.ones((3, 2))),
        (2, np.ones(3)),
        (0, lt.dvector("z")),
    ]
    for place, wrong in wrongs:
        with pytest.raises((TypeError, ValueError)):
            f(*[wrong if k == place else value for k, value in enumerate(good)])
    fine: list[tuple[int, Any]] = [
        (0, [1, 2]),
        (0, np.ones(2, np.float32)),
        (0, np.ones(2, bool)),
        (0, np.ones(2, ">f8")),
        (0, np.ones(4)[::-2]),
        (1, [True, False]),
        (1, np.ones(2, np.int8)),
        (2, np.ones((3, 2)).T),
        (2, np.asfortranarray(np.ones((2, 3)))),
    ]
    for place, value in fine:
        results = f(*[value if k == place else good_one for k, good_one in enumerate(good)])
        assert results[place].shape == good[place].shape
    unaligned = np.frombuffer(b"x" + np.arange(2.0).tobytes(), np.float64, offset=1)
    assert f(unaligned, *good[1:])[0].tolist() == [0, 2]
