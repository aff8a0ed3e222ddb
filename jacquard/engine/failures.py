"""Which of the errors that the engine tells say why it failed."""

from __future__ import annotations

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
"""How messages begin that say only that something failed; why is said by another one."""


def causes(errors: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return the errors that say why, each once; those that only say that something failed are left out."""
    unique = {(error.urn.text, error.message): error for error in errors}
    telling = [error for error in unique.values() if not error.message.startswith(_ECHOES)]
    return telling or list(unique.values())


def unmet_gate(errors: Iterable[Diagnostic]) -> str | None:
    """Return what a stack waits for and how to resume, when one of ``errors`` is an unmet gate."""
    waiting = (error.message for error in errors if error.message.startswith(WAITING))
    return next((message.removeprefix(WAITING) for message in waiting), None)
