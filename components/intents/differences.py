"""Differences between a pinned intent and the data, field by field, with the place in the data."""

from collections.abc import Collection, Mapping
from typing import Any

from components.lookups.pools import DataPath, place
from components.specs.environment import Environment
from components.specs.pools.intents import Intent
from components.specs.reading.lock_text import entry_text
from components.specs.struct import Struct

At = tuple[str, DataPath]
"""Data file, and the path of a value in it."""


class Difference(Struct):
    """Field whose pinned value differs from the data."""

    field: str
    """Field of the intent."""
    pinned: str
    """Pinned value, in the format of lock files."""
    data: str
    """Value declared in the data, in the format of lock files."""
    where: str
    """File and line of the value in the data."""

    def __str__(self) -> str:
        return f"{self.field} is {self.pinned}, data has {self.data} ({self.where})"


class Change(Struct):
    """Field with different values in two successive intents."""

    field: str
    """Field of the intent."""
    before: str
    """Old value, in the format of lock files."""
    after: str
    """New value, in the format of lock files."""

    def __str__(self) -> str:
        return f"{self.field} {self.before} -> {self.after}"


def changes(before: Intent, after: Intent) -> tuple[Change, ...]:
    """Return the fields whose values differ between ``before`` and ``after``."""
    old, new = (intent.model_dump(mode="json", exclude_none=True) for intent in (before, after))
    return tuple(
        Change(field=name, before=_text(old.get(name)), after=_text(new.get(name)))
        for name in type(before).model_fields
        if old.get(name) != new.get(name)
    )


def differences(
    environment: Environment, pinned: Intent, wanted: Intent, places: Mapping[str, At], of_image: Collection[str]
) -> tuple[Difference, ...]:
    """Return the fields whose values differ between ``pinned`` and ``wanted``.

    Args:
        environment: environment whose data declare ``wanted``.
        pinned: intent in the lock file.
        wanted: intent declared in the data, at the same revision.
        places: file and path of the value in the data that determines the field, by field.
        of_image: fields that the image determines; omitted if the image itself differs.
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
