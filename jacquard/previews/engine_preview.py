"""Asks the engine what it would do in a stack, and what somebody changed there in the cluster since it was applied."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from jacquard.engine.driver import Run
from jacquard.engine.failures import causes
from jacquard.engine.steps import Step

REFRESH = "--refresh"
"""Option of pulumi by which it first looks at each object that the state has, and forgets what it saw afterwards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What the engine answered about one stack."""

    run: Run
    """Preview of exactly what ``up`` would do."""
    drift: tuple[Step, ...] = ()
    """What would put back what somebody changed."""
    note: str | None = None
    """Why nobody knows of drift; None where somebody does."""
    seconds: float
    """How long that took."""


def ask(preview: Callable[..., Run]) -> Answer:
    """Return what the engine answers.

    ``up`` looks at no object that it does not change. So a preview that looks and sees something stands for another
    plan, or for none where an object belongs to others meanwhile: then the engine is asked again, as ``up`` asks it.

    Args:
        preview: runs the preview of a stack with further options, and returns however it ends.
    """
    looked = preview(REFRESH)
    drift = tuple(looked.progress.steps.drift.values())
    refused = bool(looked.progress.refused)
    if not drift and (looked.code == 0 or refused):
        return Answer(run=looked, seconds=looked.duration_seconds)
    plain = preview()
    seconds = looked.duration_seconds + plain.duration_seconds
    if drift or looked.code == 0 or refused or plain.code:
        return Answer(run=plain, drift=drift, seconds=seconds)
    why = next(
        (error.message.partition("\n")[0] for error in causes(looked.progress.errors)), "the engine said nothing"
    )
    return Answer(run=plain, note=f"drift is unknown: {why}", seconds=seconds)
