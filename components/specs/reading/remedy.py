"""Remedies that are certain: what to write in place of a value, so that a program may do it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remedy:
    """One value to write in place of another."""

    path: tuple[str | int, ...]
    """Keys down to the value; of an inventory file, the line and the column."""
    text: str | None
    """What to write, as it stands in the file; the line goes when it is None."""
    is_key: bool = False
    """Whether the last key of ``path`` is to be written otherwise, not its value."""
    instead_of: str | None = None
    """What must stand there for the remedy to be certain; None when it is certain whatever the form."""


class FormError(ValueError):
    """A value that says what it should, in a form that is not taken."""

    def __init__(self, rule: str, write: str) -> None:
        super().__init__(f"{rule}; write {write}")
        self.write = write
        """The same in the form that is taken, as it stands in a file."""
