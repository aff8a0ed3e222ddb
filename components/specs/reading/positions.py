"""Line numbers of the values of data files, for later error reports."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Place:
    """Line of a value, and the positions of its inner values."""

    line: int
    """Line of the value, counted from 1."""
    inner: dict[str | int, Place] = field(default_factory=dict)
    """Positions of inner values, by key or index."""


class Positions:
    """Positions of all values of an environment's files.

    The keys are indexes for entries of a list, and host names for rows of an inventory file.
    """

    def __init__(self, files: Mapping[str, Place] | None = None) -> None:
        self._files = dict(files or {})

    def line(self, file: str, path: Sequence[str | int] = ()) -> int:
        """Return the line of the value at ``path``, or of the nearest enclosing value; 0 for an unknown file."""
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
        """Return a copy with the positions of ``file`` replaced by ``place``."""
        return Positions({**self._files, file: place})

    def __eq__(self, other: object) -> bool:
        """Return True for all positions, because the equality of environments must not depend on positions."""
        return isinstance(other, Positions)

    __hash__ = None  # type: ignore[assignment]  # all positions are equal, so a hash would be meaningless
