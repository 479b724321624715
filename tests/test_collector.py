"""The garbage collector looks less often inside a block, and as before after it."""

import gc
from collections.abc import Iterator

import pytest

from lamella.collector import collecting_rarely


@pytest.fixture(autouse=True)
def threshold_kept() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(700, 10, 10)
    yield
    gc.set_threshold(*usual)


def test_it_looks_less_often_inside_and_as_before_afterwards() -> None:
    with collecting_rarely():
        assert gc.get_threshold()[0] > 10_000
        with collecting_rarely():
            assert gc.get_threshold()[0] > 10_000
        assert gc.get_threshold()[0] > 10_000
    assert gc.get_threshold() == (700, 10, 10)


def test_an_error_changes_nothing_for_good() -> None:
    with pytest.raises(ZeroDivisionError), collecting_rarely():
        _ = 1 / 0
    assert gc.get_threshold() == (700, 10, 10)


@pytest.mark.parametrize("first", [0, 1_000_000])
def test_a_collector_that_is_off_or_looks_as_seldom_is_left_alone(first: int) -> None:
    gc.set_threshold(first, 10, 10)
    with collecting_rarely():
        assert gc.get_threshold()[0] == first
    assert gc.get_threshold()[0] == first
