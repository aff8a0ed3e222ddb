"""Natural sort order of names: digits compare as numbers."""

import re
from collections.abc import Iterable
from functools import lru_cache

_DIGITS = re.compile(r"(\d+)")


@lru_cache(maxsize=1 << 16)
def natural(text: str) -> tuple[str | int, ...]:
    """Return a sort key that puts ``rack-9`` before ``rack-10``."""
    return tuple(int(part) if index % 2 else part for index, part in enumerate(_DIGITS.split(text)))


def naturally(names: Iterable[str]) -> list[str]:
    """Return ``names`` in natural sort order."""
    return sorted(names, key=natural)
