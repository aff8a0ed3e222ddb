"""Decision about the next step of a campaign, with the state of each region and the reasons."""

import datetime as dt
from enum import StrEnum
from typing import Any

from components.campaigns.targets import Target
from components.specs.struct import Struct, asdict


class CampaignState(StrEnum):
    """State of a campaign."""

    READY = "ready"
    """Promotions can be written."""
    WAITING = "waiting"
    """The campaign waits, for the reasons of its regions."""
    STOPPED = "stopped"
    """The campaign is stopped, until the entry ``stopped`` is removed."""
    COMPLETE = "complete"
    """All regions have soaked."""


class RegionState(StrEnum):
    """State of a region in a campaign."""

    PENDING = "pending"
    """A previous step has not soaked yet."""
    PROMOTING = "promoting"
    """Nodes are promoted wave by wave."""
    SOAKING = "soaking"
    """All nodes are settled, and the soak time is not over."""
    SOAKED = "soaked"
    """The soak is proven."""
    STOPPED = "stopped"
    """The campaign was stopped in the region."""


class Reason(StrEnum):
    """Reason why a region waits, or why it stops the campaign."""

    STATUS = "status"
    """The region is draining or retired."""
    EVIDENCE = "evidence"
    """There is no usable evidence about the region."""
    ROLLOUT = "rollout"
    """Another rollout of a pool or chart is open."""
    FREEZE = "freeze"
    """A freeze protects a tenant whose nodes would be promoted."""
    SETTLING = "settling"
    """Promoted nodes are not settled yet."""
    WAVE = "wave"
    """The next wave of a pool or chart cannot start yet."""
    LIMIT = "limit"
    """A limit on nodes that are unavailable simultaneously; the next run continues."""
    REFUSED = "refused"
    """The version is not allowed in the region."""
    SOAK = "soak"
    """The soak time is not over."""
    FAILED_SOAK = "failed-soak"
    """More nodes failed than the stop rules allow."""
    NOT_SETTLED = "not-settled"
    """The nodes were not settled in the time that the stop rules allow."""
    ROLLED_BACK = "rolled-back"
    """A pool or chart that the campaign promoted was rolled back."""
    STOPPED = "stopped"
    """The file of the campaign contains a stop."""


STOPPING = frozenset({Reason.FAILED_SOAK, Reason.NOT_SETTLED, Reason.ROLLED_BACK, Reason.STOPPED})
"""Reasons that stop a campaign."""


class Waiting(Struct):
    """One reason why a region waits or stops."""

    reason: Reason
    text: str


class Promoted(Struct):
    """Wave of a pool or chart that the decision promotes, as ``jacquard promote`` would."""

    key: str
    version: str
    wave: int
    groups: tuple[str, ...]
    """Keys of the promoted groups in the lock file."""


class RegionDecision(Struct):
    """State of one region, and its next promotions."""

    region: str
    step: int
    """Number of the step, from 1."""
    state: RegionState
    targets: tuple[Target, ...] = ()
    """Pools and charts of the region; empty for a pending or soaked region."""
    until: dt.datetime | None = None
    """End of the soak; None if it has not started."""
    reasons: tuple[Waiting, ...] = ()
    promoted: tuple[Promoted, ...] = ()
    """Waves that are promoted now."""


class CampaignDecision(Struct):
    """Decision about a campaign."""

    campaign: str
    title: str
    state: CampaignState
    regions: tuple[RegionDecision, ...]
    """All regions, in the order of the steps."""

    @property
    def reasons(self) -> tuple[tuple[str, Waiting], ...]:
        """Return all reasons, each with its region."""
        return tuple((item.region, reason) for item in self.regions for reason in item.reasons)

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON data."""
        regions = [
            asdict(item) | {"until": item.until.isoformat() if item.until else None, "targets": _targets(item.targets)}
            for item in self.regions
        ]
        data = {"campaign": self.campaign, "title": self.title, "state": self.state, "regions": regions}
        return {"schema_version": 1, **data}


def _targets(every: tuple[Target, ...]) -> list[dict[str, Any]]:
    return [asdict(item) | {"done": item.is_done} for item in every]
