"""Engine preview of a stack: planned changes, and drift of the cluster since the last apply."""

from collections.abc import Callable

from components.specs.struct import Struct
from jacquard.engine.driver import Run
from jacquard.engine.failures import causes
from jacquard.engine.steps import Step

REFRESH = "--refresh"
"""Pulumi option that reads the live objects of the state before the preview, without recording their values."""


class Answer(Struct):
    """Result of the engine preview of one stack."""

    run: Run
    """Preview of exactly the changes that ``up`` would make."""
    drift: tuple[Step, ...] = ()
    """Steps that would revert changes in the cluster."""
    note: str | None = None
    """Reason why drift is unknown; None if it is known."""
    seconds: float
    """Duration of the preview."""


def ask(preview: Callable[..., Run]) -> Answer:
    """Return the preview of a stack by the engine.

    ``up`` does not read live objects that it does not change. A preview with refresh that detects drift therefore has
    another plan, or no plan if an object now has another owner. In these cases the preview is repeated without refresh,
    like ``up``.

    Args:
        preview: runs the preview of a stack with additional options; a failed preview is returned, not raised.
    """
    refreshed = preview(REFRESH)
    drift = tuple(refreshed.progress.steps.drift.values())
    refused = bool(refreshed.progress.refused)
    if not drift and (refreshed.code == 0 or refused):
        return Answer(run=refreshed, seconds=refreshed.duration_seconds)
    plain = preview()
    seconds = refreshed.duration_seconds + plain.duration_seconds
    if drift or refreshed.code == 0 or refused or plain.code:
        return Answer(run=plain, drift=drift, seconds=seconds)
    errors = causes(refreshed.progress.errors)
    why = next((error.message.partition("\n")[0] for error in errors), "the engine reported no error")
    return Answer(run=plain, note=f"drift is unknown: {why}", seconds=seconds)
