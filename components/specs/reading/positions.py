"""Where each value of a data file stands, so that later errors can name the line to edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Place:
    """The line of a value and the places of what is inside it."""

    line: int
    """Line of the value, counted from 1."""
    inner: dict[str | int, Place] = field(default_factory=dict)
    """Places of what is inside the value, by key or index."""


class Positions:
    """The places of all values of an environment's files.

    A list entry is found by its index, a row of an inventory file by the name of its host.
    """

    def __init__(self, files: Mapping[str, Place] | None = None) -> None:
        self._files = dict(files or {})

    def line(self, file: str, path: Sequence[str | int] = ()) -> int:
        """Return the line of the value at ``path``, or of the nearest place around it; 0 when the file is unknown."""
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
        """Return the same places with those of ``file`` replaced by ``place``."""
        return Positions({**self._files, file: place})

    def __eq__(self, other: object) -> bool:
        """Tell that two environments with the same values are equal wherever these stand."""
        return isinstance(other, Positions)

    __hash__ = None  # type: ignore[assignment]  # equality above makes a hash meaningless
