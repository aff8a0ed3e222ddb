"""Natural order of names and versions: digits compare as numbers."""

import re
from collections.abc import Iterable
from functools import lru_cache

_DIGITS = re.compile(r"(\d+)")
_NUMBER = re.compile("[0-9]+")


@lru_cache(maxsize=1 << 16)
def natural(text: str) -> tuple[str | int, ...]:
    """Return a sort key that puts ``rack-9`` before ``rack-10``."""
    return tuple(int(part) if index % 2 else part for index, part in enumerate(_DIGITS.split(text)))


def naturally(names: Iterable[str]) -> list[str]:
    """Return ``names`` in natural sort order."""
    return sorted(names, key=natural)


def numbers(version: str) -> tuple[int, ...]:
    """Return all numbers in ``version``, to compare releases: ``580.105.08`` becomes ``(580, 105, 8)``."""
    return tuple(map(int, _NUMBER.findall(version)))
