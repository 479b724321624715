"""Letting other threads run while a step computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lamella.codegen.c.step import Step

__all__ = ["unlocked_for_long", "unlocked_for_long_rows"]


@contextmanager
def unlocked_for_long(step: Step, length: str) -> Iterator[None]:
    """Let other threads run while the statements inside go through many elements. They must not do so themselves."""
    step.unit.need("rows")
    with _unlocked_if(step, f"{length} >= LM_LONG"):
        yield


@contextmanager
def unlocked_for_long_rows(step: Step, rows: str, length: str) -> Iterator[None]:
    """Let other threads run while the statements inside go through rows, where these are few and long.

    The statements are one `Step.nest` over the rows, which does so itself where the rows are many.
    """
    step.unit.need("rows")
    with _unlocked_if(step, f"lm_is_long({rows}, {length})"):
        yield


@contextmanager
def _unlocked_if(step: Step, condition: str) -> Iterator[None]:
    name = f"unlocked{step.number}"
    step.emit(f"void *const {name} = {condition} ? call->serve->unlock() : NULL;")
    yield
    step.emit(f"if ({name} != NULL) call->serve->lock({name});")
