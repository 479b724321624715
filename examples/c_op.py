"""An Op with C code of its own, among others, in one compiled function: ``python -m examples.c_op``."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, COp
from lamella.tensor import TensorLike, TensorType, TensorVariable, as_tensor_variable


class VectorTimesScalar(COp[[TensorLike, TensorLike], TensorVariable]):
    """``x * y`` for a vector and a scalar."""

    __props__ = ()

    def make_node(self, x: TensorLike, y: TensorLike) -> Apply[TensorVariable]:
        """Say what it may be applied to, and of which type the result is."""
        vector, scalar = as_tensor_variable(x), as_tensor_variable(y)
        if vector.ndim != 1 or scalar.ndim != 0:
            raise TypeError("VectorTimesScalar takes a vector and a scalar")
        return Apply(self, [vector, scalar], [TensorType(vector.dtype, (None,))])

    def c_code(
        self,
        node: Apply[Any],
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        sub: Mapping[str, str],
    ) -> str:
        """Compute the result."""
        (x, y), (z,) = inputs, outputs
        return f"""
        const npy_intp n = PyArray_DIM({x}, 0);
        if ({z} == NULL || PyArray_DIM({z}, 0) != n) {{
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_EMPTY(1, PyArray_DIMS({x}), PyArray_TYPE({x}), 0);
            if ({z} == NULL) {sub["fail"]}
        }}
        const dtype_{y} factor = *(dtype_{y} *)PyArray_DATA({y});
        for (npy_intp i = 0; i < n; ++i)
            *(dtype_{z} *)PyArray_GETPTR1({z}, i) = *(dtype_{x} *)PyArray_GETPTR1({x}, i) * factor;
        """


times = VectorTimesScalar()
x, y = lt.dvector("x"), lt.dscalar("y")
compiled = lm.function([x, y], lt.exp(times(lt.log(x), y)))


if __name__ == "__main__":
    print(compiled(np.array([1.0, 2.0, 3.0]), 2.0))
