"""Nothing of a graph can be changed, whichever Op, Type or Variable it is; constants are private and read-only; equal graphs are one."""

import gc
import pickle
from collections.abc import Iterator
from typing import Any

import attrs
import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella.ir import FunctionGraph, ScalarType, Type, Variable, ancestors

FROZEN = attrs.exceptions.FrozenInstanceError


def expressions() -> list[Variable[Any]]:
    """Some of every kind."""
    x, m, i, b = lt.dvector("x"), lt.dmatrix("m"), lt.lvector("i"), lt.vector("b", dtype="bool")
    state = lm.shared(np.ones(3), name="state")
    return [
        lt.exp(x) + state * 2.0,
        lt.sum(m, axis=0),
        lt.max(m) + lt.argmax(m),
        x[1:][i].inc(1.0),
        x[b],
        m @ x,
        lt.softmax(m) + lt.log_softmax(m),
        lt.concatenate([x, x[::-1]]),
        lt.reshape(m, (-1,))[0],
        lt.alloc(0.0, x.shape[0]),
        lt.cumsum(x),
        lt.sort(x),
        lt.eye(x.shape[0]),
        lt.diagonal(m),
        lt.arange(x.shape[0]),
        lt.switch(x > 0, x, -x),
        lt.specify_shape(x, (3,)),
        lm.grad(lt.sum(m @ x), m),
        lm.disconnected_grad(x),
        lt.constant([1.0, 2.0]),
        lm.NullType("why")(),
        ScalarType("float64")("s"),
    ]


def things() -> Iterator[tuple[str, Any]]:
    """Every Variable, node, Op and Type of the expressions, one of each class."""
    seen: dict[type, Any] = {}
    for variable in ancestors(expressions()):
        for thing in (variable, variable.type, variable.owner, variable.owner and variable.owner.op):
            if thing is not None:
                seen.setdefault(type(thing), thing)
                scalar_op = getattr(thing, "scalar_op", None)
                if scalar_op is not None:
                    seen.setdefault(type(scalar_op), scalar_op)
    x = lt.dvector("x")
    for extra in (FunctionGraph([x], [x + 1]), lm.In(x), lm.Out(x), lm.FAST_RUN, lm.FAST_RUN.query, lm.FAST_RUN.linker):
        seen.setdefault(type(extra), extra)
    for node in lm.FAST_RUN.rewrite(FunctionGraph([x], [lt.exp(x) * 2 + 1])).order:
        seen.setdefault(type(node.op), node.op)
    yield from sorted([(kind.__name__, thing) for kind, thing in seen.items()], key=lambda pair: pair[0])


def attributes(thing: Any) -> list[str]:
    slots = [name for cls in type(thing).__mro__ for name in getattr(cls, "__slots__", ()) if not name.startswith("__")]
    public = [name for name in dir(thing) if not name.startswith("__")]
    return sorted({*slots, *public, *getattr(thing, "__dict__", ()), "tag", "something_new"})


THINGS = dict(things())


@pytest.mark.parametrize("name", THINGS)
def test_no_attribute_can_be_set_or_deleted(name: str) -> None:
    thing = THINGS[name]
    for attribute in attributes(thing):
        with pytest.raises((FROZEN, AttributeError)):
            setattr(thing, attribute, None)
        with pytest.raises((FROZEN, AttributeError)):
            delattr(thing, attribute)
    for attribute in (
        "name",
        "owner",
        "inputs",
        "outputs",
        "op",
        "type",
        "dtype",
        "shape",
        "data",
        "scalar_op",
        "axis",
    ):
        if attribute in attributes(thing) and not isinstance(getattr(type(thing), attribute, None), property):
            with pytest.raises(FROZEN):
                setattr(thing, attribute, None)


def test_there_are_things_of_every_kind() -> None:
    assert len(THINGS) > 45, sorted(THINGS)
    assert {"Apply", "FunctionGraph", "TensorVariable", "TensorConstant", "TensorType", "Elemwise"} <= {*THINGS}
    assert "TensorSharedVariable" in THINGS
    assert sum(isinstance(thing, lm.Op) for thing in THINGS.values()) > 30
    assert sum(isinstance(thing, Type) for thing in THINGS.values()) >= 3


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0,), (0, 3), (1, 1)])
@pytest.mark.parametrize("dtype", ["float64", "int8", "bool", "complex64"])
def test_the_data_of_a_constant_is_a_private_read_only_copy(dtype: str, shape: tuple[int, ...]) -> None:
    given = np.ones(shape, dtype)
    constant = lt.constant(given)
    given[...] = 0
    assert np.all(constant.data == 1)
    assert not np.shares_memory(constant.data, given)
    assert not constant.data.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        constant.data[...] = 0
    with pytest.raises(ValueError, match="WRITEABLE"):
        constant.data.flags.writeable = True
    with pytest.raises(ValueError, match="WRITEABLE"):
        constant.data.setflags(write=True)
    assert not np.asarray(constant.data).flags.writeable
    with pytest.raises(FROZEN):
        setattr(constant, "data", given)  # noqa: B010  # a type checker refuses the assignment
    result = constant.eval()
    result[...] = 0
    assert np.all(constant.data == 1)
    assert pickle.loads(pickle.dumps(constant)) is constant


def test_equal_graphs_are_one() -> None:
    x, m, i = lt.dvector("x"), lt.dmatrix("m"), lt.lvector("i")
    assert lt.exp(x) is lt.exp(x)
    assert x + 1 is x + 1.0  # of float64, as x is
    assert lt.constant(1) is not lt.constant(1.0)
    assert x + 0.0 is not x + -0.0
    assert lt.sum(m, axis=1) is m.sum(axis=-1)
    assert lt.sum(m, axis=(0, 1)) is lt.sum(m)
    assert m.T is lt.transpose(m)
    assert x[1:] is x[slice(1, None)]
    assert x[i].set(0.0) is lt.set_subtensor(x[i], 0.0)
    assert m @ x is lt.matmul(m, x)
    assert x.shape[0] is x.shape[0]
    assert lm.grad(lt.sum(lt.exp(m @ x)), x) is lm.grad(lt.sum(lt.exp(m @ x)), x)
    by_numpy: object = np.exp(x)
    assert by_numpy is lt.exp(x)
    assert lt.dvector("x") is not lt.dvector("x")


def test_dropped_graphs_and_functions_are_collected() -> None:
    def work(scale: float) -> int:
        x, m = lt.dvector("x"), lt.dmatrix("m")
        cost = lt.sum(lt.exp(x) * scale) + lt.mean(lt.log_softmax(m @ x))
        outputs = [cost, lm.grad(cost, x), lm.hessian(cost, x)]
        for mode in ("FAST_COMPILE", "FAST_RUN"):
            lm.function([x, m], outputs, mode=mode)(np.ones(2), np.ones((2, 2)))
        x[::-1][1:].set(0.0).eval({x: np.ones(3)})
        return lm.interned_nodes()

    work(1.5)  # what is remembered of Ops, once and for all, is remembered here
    gc.collect()
    before = lm.interned_nodes()
    for scale in (2.5, 3.5, 4.5):
        assert work(scale) > before
        gc.collect()
        assert lm.interned_nodes() <= before  # fewer where what others left behind dies meanwhile
