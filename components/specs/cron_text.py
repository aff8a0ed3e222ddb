"""Validation of cron schedules: five fields, each within the range of its unit."""

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
    """Return ``value``, a schedule of five fields, if every field is in range.

    Raises:
        ValueError: The message names the field and its valid range.
    """
    for (name, (least, most)), field in zip(_FIELDS.items(), value.split(), strict=True):
        for part in field.split(","):
            match = _PART.fullmatch(part)
            numbers = [int(number) for number in match.groups() if number] if match else []
            if not match or numbers != sorted(numbers) or not all(least <= number <= most for number in numbers):
                msg = f"has '{part}' for the {name}; write a number from {least} to {most}, a range, or *"
                raise ValueError(msg)
    return value
