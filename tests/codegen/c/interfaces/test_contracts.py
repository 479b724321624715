"""Ops with C code keep what every Op promises, on arrays of every layout; and what C is written for one."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import lamella.tensor as lt
from lamella import Apply, FunctionGraph, Op, ScalarType
from lamella.codegen import write_program
from lamella.ir import Elemwise
from lamella.testing import verify_op
from lamella.typing_layer import schedule

from .ops import Mix, Statistic, VectorTimesScalar, VectorTimesVector
from .test_kinds_of_ops import Softcube

GOLDEN = Path(__file__).parent / "user_step.c"

VECTOR = np.array([0.5, -1.5, 2.0])


@pytest.mark.parametrize(
    ("op", "inputs"),
    [
        (VectorTimesScalar(), (VECTOR, np.array(3.0))),
        (VectorTimesVector(), (VECTOR, VECTOR.astype("float32"))),
        (Statistic("average", 2.0, [1, 2, 3], 0.5), (VECTOR,)),
        (Mix(2.0, 0.5), ((ScalarType("float64"), np.float64(2)), (ScalarType("float64"), np.float64(5)))),
        (Elemwise(Softcube()), (VECTOR,)),
    ],
    ids=lambda case: str(case)[:20] if isinstance(case, Op) else "",
)
def test_the_op_keeps_its_promises(op: Op[Any, Any], inputs: tuple[Any, ...]) -> None:
    verify_op(op, *inputs)


class Recorded(VectorTimesScalar):
    """Its code says nothing but its names."""

    __props__ = ()

    def c_code(self, node: Apply[Any], name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return f"C_CODE({name}, {', '.join([*inputs, *outputs])}, {sub['struct_id']});\n{sub['fail']}"

    def c_code_cleanup(self, node: Apply[Any], name: str, inputs: Any, outputs: Any, sub: Any) -> str:
        return f"C_CODE_CLEANUP({name});"

    def c_support_code_apply(self, node: Apply[Any], name: str) -> str:
        return f"C_SUPPORT_CODE_APPLY({name})"

    def c_support_code_struct(self, node: Apply[Any], name: str) -> str:
        return f"C_SUPPORT_CODE_STRUCT({name})"

    def c_init_code_struct(self, node: Apply[Any], name: str, sub: Any) -> str:
        return f"C_INIT_CODE_STRUCT({name}); {sub['fail']}"

    def c_cleanup_code_struct(self, node: Apply[Any], name: str) -> str:
        return f"C_CLEANUP_CODE_STRUCT({name});"

    def c_init_code_apply(self, node: Apply[Any], name: str) -> str:
        return f"C_INIT_CODE_APPLY({name});"


def test_the_c_of_a_step_is_as_kept() -> None:
    x, s = lt.dvector("x"), lt.dscalar("s")
    text = write_program(schedule(FunctionGraph([x, s], [lt.sum(Recorded()(x, s))]))).text
    text = text[text.index("static const char lm_no_exception") : text.index("LM_DECLARE_ARRAY(1);")]
    if os.environ.get("LAMELLA_UPDATE_GOLDENS"):
        GOLDEN.write_text(text)
    assert text == GOLDEN.read_text(), (
        f"LAMELLA_UPDATE_GOLDENS=1 pytest {Path(__file__).name} writes {GOLDEN.name} anew"
    )
