"""Schedules of cron: five fields, each within what its clock or calendar has."""

from __future__ import annotations

import re

_FIELDS = {
    "minute": (0, 59),
    "hour": (0, 23),
    "day of the month": (1, 31),
    "month": (1, 12),
    "day of the week": (0, 7),
}
_PART = re.compile(r"(?:\*|([0-9]+)(?:-([0-9]+))?)(?:/0*[1-9][0-9]*)?")


def cron(value: str) -> str:
    """Return ``value``, a schedule of five fields, when each can come to be.

    Raises:
        ValueError: with the field, and what it may be.
    """
    for (name, (least, most)), field in zip(_FIELDS.items(), value.split(), strict=True):
        for part in field.split(","):
            found = _PART.fullmatch(part)
            numbers = [int(number) for number in found.groups() if number] if found else []
            if not found or numbers != sorted(numbers) or not all(least <= number <= most for number in numbers):
                msg = f"has '{part}' for the {name}; write one from {least} to {most}, a range of them, or *"
                raise ValueError(msg)
    return value
