"""Differences between a pinned intent and the data, field by field, with the place in the data."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from components.lookups.pools import DataPath, place
from components.specs.environment import Environment
from components.specs.pools.intents import Intent
from components.specs.reading.lock_text import entry_text

At = tuple[str, DataPath]
"""File and path of a value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A field whose pinned value differs from the data."""

    field: str
    """Field of the intent."""
    pinned: str
    """Pinned value, formatted as in lock files."""
    data: str
    """Value declared by the data."""
    where: str
    """File and line of the value in the data."""

    def __str__(self) -> str:
        return f"{self.field} is {self.pinned}, data has {self.data} ({self.where})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """A field that differs between two successive intents."""

    field: str
    """Field of the intent."""
    before: str
    """Old value, formatted as in lock files."""
    after: str
    """New value, formatted as in lock files."""

    def __str__(self) -> str:
        return f"{self.field} {self.before} -> {self.after}"


def changes(before: Intent, after: Intent) -> tuple[Change, ...]:
    """Return the fields in which ``after`` differs from ``before``."""
    old, new = (intent.model_dump(mode="json", exclude_none=True) for intent in (before, after))
    return tuple(
        Change(field=name, before=_text(old.get(name)), after=_text(new.get(name)))
        for name in type(before).model_fields
        if old.get(name) != new.get(name)
    )


def differences(
    environment: Environment, pinned: Intent, wanted: Intent, places: Mapping[str, At], of_image: Collection[str]
) -> tuple[Difference, ...]:
    """Return the fields in which ``pinned`` differs from ``wanted``.

    Args:
        environment: its data declare ``wanted``.
        pinned: intent of the lock file.
        wanted: intent declared by the data, at the same revision.
        places: file and path of the deciding value in the data, by field.
        of_image: fields that follow from the image; they are omitted if the image itself differs.
    """
    changed = changes(pinned, wanted)
    if any(change.field == "image" for change in changed):
        changed = tuple(change for change in changed if change.field not in of_image)
    return tuple(
        Difference(
            field=change.field, pinned=change.before, data=change.after, where=place(environment, *places[change.field])
        )
        for change in changed
    )


def _text(value: Any) -> str:
    return "none" if value in (None, [], {}) else entry_text(value)
