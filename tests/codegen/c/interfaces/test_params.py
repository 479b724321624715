"""`ParamsType`, `Params` and enumerations."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import lamella as lm
import lamella.tensor as lt
from lamella import Apply, Generic, ScalarType, Variable
from lamella.codegen import CEnumType, COp, EnumList, EnumType, Params, ParamsType
from lamella.tensor import TensorType, TensorVariable

from .ops import Names, Statistic, Sub, double

x = lt.dvector("x")


def test_a_structure_holds_numbers_arrays_enumerations_and_types_of_ones_own() -> None:
    values = np.array([1.0, 2.0, 6.0])
    total, mean = Statistic("total", 2.0, [1, 2, 3]), Statistic("average", 1.0, [1, 1, 1], 0.5)
    f = lm.function([x], [total(x + 1) * 2, mean(x)])
    assert f(values) == [2 * 2 * (2 + 6 + 21), 3.5]
    assert total(x).eval({x: values}) == 2 * (1 + 4 + 18)
    assert lm.function([x], mean(x), mode="FAST_COMPILE")(values) == 3.5
    with pytest.raises(ValueError, match="not as many weights"):
        f(np.ones(2))


def test_params_that_do_not_fit_are_refused_with_the_member() -> None:
    with pytest.raises(TypeError, match="'MODE' is none of the constants SUM, MEAN") as caught:
        lm.function([x], Statistic("MODE", 1.0, [1.0])(x))
    assert "as the member 'kind'" in caught.value.__notes__[0]


WRONG: dict[str, tuple[Callable[[], object], type[Exception], str]] = {
    "no members": (lambda: ParamsType(), ValueError, "at least one member"),
    "keyword": (lambda: ParamsType(register=double), ValueError, "'register' is no name for a member"),
    "no type": (lambda: ParamsType(a=1.0), TypeError, "the member 'a' is a Type"),  # type: ignore[arg-type]
    "constant twice": (
        lambda: ParamsType(a=EnumList("A", "B"), b=EnumList("B", ctype="long")),
        ValueError,
        "share the names B",
    ),
    "lower case": (lambda: EnumType(a=1), ValueError, "'a' is written in capitals"),
    "text": (lambda: EnumType(A="b"), TypeError, "the constant A is a number"),  # type: ignore[arg-type]
    "alias": (lambda: EnumList(("A", "B"), "B"), ValueError, "'B' stands for a constant already"),
    "twice": (lambda: EnumList("A", "A"), ValueError, "A is there twice"),
    "C type": (lambda: EnumType(ctype="int*", A=1), ValueError, "no C type of numbers"),
    "member": (lambda: Params(ParamsType(a=double), b=1.0), TypeError, "has the members a, not b"),
    "nowhere": (lambda: ParamsType(a=double).get_params(3), TypeError, "the member 'a' of"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said(case: str) -> None:
    make, error, message = WRONG[case]
    with pytest.raises(error, match=message):
        make()


def test_params_are_values() -> None:
    kind = ParamsType(a=ScalarType("int32"), b=TensorType("float64", (None,)))
    p = Params(kind, a=3.0, b=[1, 2])
    assert p.a == 3
    assert type(p.a) is np.int32
    assert p["b"].dtype == "float64"
    assert p == Params(kind, a=3, b=np.array([1.0, 2.0]))
    assert p != Params(kind, a=3, b=[1.0, -0.0])
    assert hash(p) == hash(Params(kind, a=3, b=[1.0, 2.0]))
    assert pickle.loads(pickle.dumps(p)) == p == copy.deepcopy(p)
    with pytest.raises(AttributeError, match="never change"):
        p.a = 4
    with pytest.raises(AttributeError, match="no member 'c'"):
        _ = p.c
    assert kind == ParamsType(b=TensorType("float64", (None,)), a=ScalarType("int32"))
    assert kind.has_type(ScalarType("int32"))
    assert kind.get_field(ScalarType("int32")) == "a"
    assert kind.get_type("a") == ScalarType("int32")
    assert pickle.loads(pickle.dumps(kind)) == kind


def test_constants_have_names_values_and_aliases() -> None:
    numbers = EnumType(PI=3.5, ON=True, OFF=("off", 0))
    assert (numbers.PI, numbers.ON, numbers["OFF"], numbers.from_alias("off")) == (3.5, 1, 0, 0)
    assert "PI" in numbers
    assert numbers.get_aliases() == ("off",)
    assert numbers.filter("off") == numbers.filter("OFF") == 0
    with pytest.raises(TypeError, match="none of the constants"):
        numbers.filter(2)
    names = EnumList(("A", "alpha"), "B")
    assert (names.A, names.B) == (0, 1)
    wrapper = ParamsType(first=names, second=numbers)
    assert wrapper.PI == 3.5 == wrapper.get_enum("PI")
    assert wrapper.enum_from_alias("alpha") == 0
    assert names == EnumList(("A", "alpha"), "B") != EnumList("A", "B")
    assert pickle.loads(pickle.dumps(names)) == names
    with pytest.raises(AttributeError, match="no constant 'C'"):
        _ = names.C


def test_constants_of_headers_have_the_values_of_the_headers() -> None:
    class Limit(COp[[Any], TensorVariable]):
        params_type = CEnumType(("INT_MAX", "int"), ("SHRT_MAX", "short"), headers=("<limits.h>",), ctype="long")
        __props__ = ("kind",)

        def __init__(self, kind: str) -> None:
            self.kind = kind

        def get_params(self, node: Apply[Any]) -> int | float:
            return self.params_type.from_alias(self.kind)

        def make_node(self, v: Any) -> Apply[TensorVariable]:
            return Apply(self, [v], [TensorType("int64", ())])

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            z = outputs[0]
            return f"""
            char text[20];
            Py_XDECREF({z});
            {z} = (PyArrayObject *)PyArray_ZEROS(0, NULL, NPY_INT64, 0);
            if (lamella_enum_to_string_long({sub["params"]}, text) < 0) {sub["fail"]}
            *(npy_int64 *)PyArray_DATA({z}) = {sub["params"]} + (strlen(text) == 7 ? 0 : 1000);
            """

    s = lt.dscalar("s")
    assert lm.function([s], [Limit("int")(s), Limit("short")(s)])(0.0) == [2**31 - 1, 2**15 - 1 + 1000]


def test_an_op_with_params_of_another_type_has_to_say_what_they_are() -> None:
    class Silent(COp[[Any], Variable[Any]]):
        params_type = Generic()
        __props__ = ()

        def make_node(self, v: Any) -> Apply[Variable[Any]]:
            return Apply(self, [v], [v.type])

        def c_code(self, node: Apply[Any], name: str, inputs: Names, outputs: Names, sub: Sub) -> str:
            return ""

    with pytest.raises(NotImplementedError, match=r"Silent\.get_params"):
        lm.function([x], Silent()(x))
