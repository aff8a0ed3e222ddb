"""What can be promoted: the nodes of a pool, the DPUs of a region, a chart in clusters. The steps are the same."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from components.lookups.pools import DataPath
from components.rollout.limits import Excess, RolloutLimits
from components.rollout.waves import PlannedGroup
from components.specs.locks import Wave
from components.specs.pools.intents import Intent, IntentName
from components.specs.region.evidence import Evidence

DATA = "data"
"""What a promotion is asked for that takes everything as the data say it, the image too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What the data say that something is to be, at whatever revision of the renderer."""

    at: Callable[[int], Intent]
    """Returns the intent at a revision."""
    first: int
    """Oldest revision that can write it."""
    newest: int
    """Revision that a new intent takes."""


class Subject(Protocol):
    """What a promotion moves, one rollout group after the other."""

    @property
    def section(self) -> str:
        """Return the section of the lock file with the pins of its groups."""

    @property
    def intent_section(self) -> str:
        """Return the section of the lock file with its intents."""

    @property
    def place(self) -> tuple[str, DataPath]:
        """Return file and path that objections are told at."""

    @property
    def groups(self) -> Mapping[str, IntentName]:
        """Return the name of the intent of each rollout group, by its key in the lock file."""

    @property
    def canary(self) -> int:
        """Return how many nodes, or clusters, go first, alone."""

    @property
    def alone(self) -> str:
        """Return in words who goes first, alone, and what says so."""

    @property
    def intents(self) -> Mapping[IntentName, Intent]:
        """Return the intents in use, by name."""

    def wish(self, version: str, today: dt.date | None) -> Wish:
        """Return what the data say for image ``version``, or for theirs when that is `DATA`.

        Raises:
            SpecError: The version is unknown, or may not be run; all reasons are told.
        """

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:
        """Yield why ``intent`` may not be run, wherever it comes from."""

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return what is to be said of each of ``groups`` (keys of the lock file) that move."""

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:
        """Return ``groups`` in waves; the first one has ``canary`` nodes at least, 0: it is like the others."""

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> Sequence[Excess]:
        """Return the limits that ``groups`` break if they move together, with what else is in motion."""

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:
        """Return ``groups`` in the waves of a way back: the last of those that ``moved`` goes first."""

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:
        """Yield what ``evidence`` lacks to show that ``wave`` is ``target`` and well; a way back needs no soak."""
