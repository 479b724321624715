"""Letting other threads run while a step computes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from lamella.codegen.c.step import Step

__all__ = ["unlocked_for_long_rows"]


@contextmanager
def unlocked_for_long_rows(step: Step, rows: str, length: str) -> Iterator[None]:
    """Let other threads run while the statements inside go through rows, where these are few and long.

    The statements are one `Step.nest` over the rows, which does so itself where the rows are many.
    """
    name = f"unlocked{step.number}"
    step.unit.need("rows")
    step.emit(f"void *const {name} = lm_is_long({rows}, {length}) ? call->serve->unlock() : NULL;")
    yield
    step.emit(f"if ({name} != NULL) call->serve->lock({name});")
