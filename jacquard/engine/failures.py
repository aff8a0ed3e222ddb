"""Selects the errors of the engine that contain the cause of a failure."""

from collections.abc import Iterable

from jacquard.engine.events import Diagnostic
from stacks.markers import WAITING

_ECHOES = (
    "update failed",
    "preview failed",
    "destroy failed",
    "resource operation failed",
    "an unhandled error occurred: the program ended with exit code",
)
"""Prefixes of messages that only report a failure, without its cause."""


def causes(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the errors that contain a cause, without duplicates; or all errors if none does."""
    unique = {(error.urn.text, error.message): error for error in errors}
    specific = [error for error in unique.values() if not error.message.startswith(_ECHOES)]
    return specific or list(unique.values())


def unmet_gate(errors: Iterable[Diagnostic]) -> str | None:
    """Return the pending gate of a stack and how to resume, if one of ``errors`` reports an unmet gate."""
    waiting = (error.message for error in errors if error.message.startswith(WAITING))
    return next((message.removeprefix(WAITING) for message in waiting), None)
