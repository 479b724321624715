"""Making variables by name: dtypes, shapes, several at once."""

import numpy as np
import pytest

import lamella.tensor as lt
from lamella import config
from lamella.ir import TensorType

SHAPES = {
    "scalar": (),
    "vector": (None,),
    "row": (1, None),
    "col": (None, 1),
    "matrix": (None, None),
    **{f"tensor{n}": (None,) * n for n in range(3, 8)},
}
PLURALS = {kind: {"matrix": "matrices"}.get(kind, f"{kind}s") for kind in SHAPES}
LETTERS = dict(
    zip("bwilfdcz", ["int8", "int16", "int32", "int64", "float32", "float64", "complex64", "complex128"], strict=True)
)


@pytest.mark.parametrize("kind", SHAPES)
def test_default_dtype_is_the_configured_one(kind: str) -> None:
    make = getattr(lt, kind)
    made = make("x")
    assert made.type == TensorType("float64", SHAPES[kind])
    assert made.name == "x"
    assert make().name is None
    assert make("x") is not make("x")
    with config.override(floatX="float32"):
        assert make("x").dtype == "float32"
    assert make("x", dtype="int8").dtype == "int8"


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("letter", LETTERS)
def test_types_with_a_dtype_in_their_name(letter: str, kind: str) -> None:
    named = getattr(lt, letter + kind)
    assert named == TensorType(LETTERS[letter], SHAPES[kind])
    assert named("x").name == "x"
    made = getattr(lt, letter + PLURALS[kind])("x y", "z", 2)
    assert [v.name for v in made] == ["x", "y", "z", None, None]
    assert {v.type for v in made} == {named}


@pytest.mark.parametrize("kind", SHAPES)
def test_several_at_once(kind: str) -> None:
    made = getattr(lt, PLURALS[kind])("x y z")
    assert [v.name for v in made] == ["x", "y", "z"]
    assert all(v.type.shape == SHAPES[kind] for v in made)


def test_tensor() -> None:
    assert lt.tensor("x", "int64", (None, 3)).type == TensorType("int64", (None, 3))
    assert lt.tensor(dtype="bool", shape=(2,)).type == TensorType("bool", (2,))
    assert lt.tensor("x").type == TensorType("float64", ())
    assert lt.vector("x", shape=(3,)).type.shape == (3,)
    assert lt.matrix("x", dtype=np.float32, shape=(2, None)).type == TensorType("float32", (2, None))
    with pytest.raises(ValueError, match="a shape of 2 lengths is wanted here"):
        lt.matrix("x", shape=(3,))
