"""Common interface of promotable subjects: nodes of a pool, DPUs of a region, or a chart in tenant clusters."""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from components.intents.revisions import least
from components.lookups.pools import DataPath
from components.rollout.limits import Excess, RolloutLimits
from components.rollout.waves import PlannedGroup
from components.specs.locks import Wave
from components.specs.pools.intents import Intent, IntentName
from components.specs.region.evidence import Evidence
from components.specs.struct import Struct

DATA = "data"
"""Version of a promotion that reads all values from the data, including the image."""


class DeclaredIntent(Struct):
    """Intent declared by the data, for any revision of the renderer."""

    at: Callable[[int], Intent]
    """Function that returns the intent at a revision."""
    newest: int
    """Revision of a new intent."""

    @property
    def least(self) -> int:
        """Return the least revision whose templates work for the intent."""
        return least(self.at(self.newest))


class Subject(Protocol):
    """Subject of a promotion; its rollout groups are promoted separately."""

    @property
    def section(self) -> str:
        """Return the section of the lock file with the pins of the groups."""

    @property
    def intent_section(self) -> str:
        """Return the section of the lock file with the intents."""

    @property
    def place(self) -> tuple[str, DataPath]:
        """Return the file and path at which objections are reported."""

    @property
    def groups(self) -> Mapping[str, IntentName]:
        """Return the name of the intent of each rollout group, by its key in the lock file."""

    @property
    def canary(self) -> int:
        """Return the number of nodes or clusters in the canary wave; 0 if there is no canary."""

    @property
    def canary_rule(self) -> str:
        """Return the rule that requires a separate canary wave, as message text."""

    @property
    def intents(self) -> Mapping[IntentName, Intent]:
        """Return the intents in use, by name."""

    def declared_intent(self, version: str, today: dt.date | None) -> DeclaredIntent:
        """Return the intent for image ``version``, with other values from the data; `DATA` also reads the image there.

        Raises:
            SpecError: The version is unknown or not allowed; all reasons are reported.
        """

    def unfit(self, intent: Intent, today: dt.date | None) -> Iterable[str]:
        """Yield why ``intent`` is not allowed, as a target or as an existing pin."""

    def planned(self, groups: Iterable[str]) -> Mapping[str, PlannedGroup]:
        """Return the planned change of each of ``groups`` (keys of the lock file)."""

    def waves(self, limits: RolloutLimits, groups: Sequence[str], canary: int) -> list[list[str]]:
        """Return ``groups`` in waves; the first wave has at least ``canary`` nodes (0: no canary)."""

    def excess(self, limits: RolloutLimits, groups: Sequence[str]) -> Sequence[Excess]:
        """Return the limits that ``groups`` together with unsettled waves of other pools would exceed."""

    def backwards(self, limits: RolloutLimits, groups: Sequence[str], moved: Sequence[str]) -> list[list[str]]:
        """Return ``groups`` in the waves of a rollback: in reverse order of ``moved``, then the others."""

    def shortcomings(self, wave: Wave, target: Intent, evidence: Evidence, *, back: bool) -> Iterator[str]:
        """Yield why ``evidence`` does not prove that ``wave`` runs ``target`` and is settled; rollbacks skip soak."""
