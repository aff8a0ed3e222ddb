"""Lines of all values of a data file, so that later errors can refer to the line to edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Place:
    """Line of a value, and the places of its inner values."""

    line: int
    """Line of the value, counted from 1."""
    inner: dict[str | int, Place] = field(default_factory=dict)
    """Places of inner values, by key or index."""


class Positions:
    """Places of all values of an environment's files.

    Entries of a list are keyed by index, rows of an inventory file by host name.
    """

    def __init__(self, files: Mapping[str, Place] | None = None) -> None:
        self._files = dict(files or {})

    def line(self, file: str, path: Sequence[str | int] = ()) -> int:
        """Return the line of the value at ``path``, or of the nearest enclosing value; 0 if the file is unknown."""
        place = self._files.get(file)
        if place is None:
            return 0
        for step in path:
            inner = place.inner.get(step)
            if inner is None:
                break
            place = inner
        return place.line

    def replaced(self, file: str, place: Place) -> Positions:
        """Return a copy with the places of ``file`` replaced by ``place``."""
        return Positions({**self._files, file: place})

    def __eq__(self, other: object) -> bool:
        """Return True for all positions: environments with equal values are equal wherever their values are written."""
        return isinstance(other, Positions)

    __hash__ = None  # type: ignore[assignment]  # equality above makes a hash meaningless
