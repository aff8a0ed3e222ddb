"""In what an intent that is pinned differs from what the data say now, field by field, with the place in the data."""

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
    """One field in which what runs is not what the data say."""

    field: str
    """Field of the intent."""
    pinned: str
    """Value that runs, as lock files write it."""
    data: str
    """Value that the data have."""
    where: str
    """File and line that decide the value in the data."""

    def __str__(self) -> str:
        return f"{self.field} {self.pinned}, the data say {self.data} ({self.where})"


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One field in which an intent follows another."""

    field: str
    """Field of the intent."""
    before: str
    """Value that goes, as lock files write it."""
    after: str
    """Value that comes."""

    def __str__(self) -> str:
        return f"{self.field} {self.before} -> {self.after}"


def changes(before: Intent, after: Intent) -> tuple[Change, ...]:
    """Return the fields in which ``after`` is not ``before``."""
    was, will = (one.model_dump(mode="json", exclude_none=True) for one in (before, after))
    return tuple(
        Change(field=name, before=_text(was.get(name)), after=_text(will.get(name)))
        for name in type(before).model_fields
        if was.get(name) != will.get(name)
    )


def differences(
    environment: Environment, pinned: Intent, wanted: Intent, places: Mapping[str, At], of_image: Collection[str]
) -> tuple[Difference, ...]:
    """Return in what ``pinned`` is not ``wanted``.

    Args:
        environment: whose data say ``wanted``.
        pinned: what runs.
        wanted: what the data say, at the same revision.
        places: by field, the value of the data that decides it.
        of_image: fields that come with the image, and of which nothing is told when that is another one.
    """
    told = changes(pinned, wanted)
    if any(change.field == "image" for change in told):
        told = tuple(change for change in told if change.field not in of_image)
    return tuple(
        Difference(field=one.field, pinned=one.before, data=one.after, where=place(environment, *places[one.field]))
        for one in told
    )


def _text(value: Any) -> str:
    return "none" if value in (None, [], {}) else entry_text(value)
