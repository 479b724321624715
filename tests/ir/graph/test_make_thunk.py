"""`Op.make_thunk`: by default it performs; an Op may prepare something of its own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Op, OutputStorage, Variable
from lamella.tensor import TensorLike, TensorVariable, as_tensor_variable


class _Scale(Op[[TensorLike], TensorVariable]):
    """Multiplies by a number that it works out once it knows the node."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def make_node(self, x: TensorLike) -> Apply[TensorVariable]:
        variable = as_tensor_variable(x)
        return Apply(self, [variable], [variable.type])

    def perform(self, node: Apply[Any], inputs: Sequence[Any], output_storage: OutputStorage) -> None:
        raise AssertionError("the thunk computes")

    def make_thunk(
        self,
        node: Apply[Any],
        storage_map: Mapping[Variable[Any], list[Any]],
        compute_map: Mapping[Variable[Any], list[bool]],
        no_recycling: Sequence[Variable[Any]] = (),
        impl: str | None = None,
    ) -> Callable[[], None]:
        factor = float(node.inputs[0].type.ndim + 1)
        (x,), (out,) = node.inputs, node.outputs

        def thunk() -> None:
            storage_map[out][0] = storage_map[x][0] * factor
            compute_map[out][0] = True

        return thunk


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE"])
def test_an_ops_own_thunk_computes(mode: str) -> None:
    x = lt.vector("x")
    y = _Scale()(x) + 1.0
    np.testing.assert_array_equal(y.eval({x: [1.0, 2.0]}), [3.0, 5.0])
    np.testing.assert_array_equal(lm.function([x], y, mode=mode)([1.0, 2.0]), [3.0, 5.0])


def test_the_default_thunk_performs() -> None:
    x = lt.vector("x")
    y = lt.exp(x)
    node = y.owner
    assert node is not None
    storage: dict[Variable[Any], list[Any]] = {x: [np.zeros(2)], y: [None]}
    computed: dict[Variable[Any], list[bool]] = {y: [False]}
    node.op.make_thunk(node, storage, computed)()
    np.testing.assert_array_equal(storage[y][0], [1.0, 1.0])
    assert computed[y] == [True]
