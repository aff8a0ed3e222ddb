"""Decision about the region of an order, with a verdict on each region."""

import datetime as dt
from enum import StrEnum
from typing import Any

from components.specs.struct import Struct, asdict


class Reason(StrEnum):
    """Reason why a region cannot get an order."""

    STATUS = "status"
    """The region is not open."""
    EXCLUDED = "excluded"
    """The order permits other regions only."""
    JURISDICTION = "jurisdiction"
    """The region has no permitted jurisdiction."""
    LATENCY = "latency"
    """The region is in another latency group."""
    CAPABILITY = "capability"
    """The region lacks a required capability."""
    INSTANCE_TYPE = "instance-type"
    """The region has no hosts of an instance type."""
    CAPACITY = "capacity"
    """The region has too few orderable nodes."""
    NVLINK_DOMAIN = "nvlink-domain"
    """The nodes do not fit into one NVLink domain."""
    FABRIC = "fabric"
    """The nodes do not fit onto one fabric."""
    DATA = "data"
    """The data of the region have problems without the order."""
    RULES = "rules"
    """``jacquard check`` would reject the result."""


class Refusal(Struct):
    """One reason why a region cannot get an order, with its text."""

    reason: Reason
    text: str
    """What the region lacks, in one line."""
    lacking: int = 0
    """Number of missing nodes; 0 if the reason is not a number of nodes."""


class Verdict(Struct):
    """Verdict on one region: its rank, or the reasons against it."""

    region: str
    rank: int | None = None
    """Position among the regions with room for the order, from 1; None for a region that cannot get the order."""
    left: int | None = None
    """Orderable nodes of the ordered types that the region would keep; None for a region without a rank."""
    refusals: tuple[Refusal, ...] = ()
    not_yet: tuple[Refusal, ...] = ()
    """Reasons why the region has room from the first day of the order, and not before."""


class Decision(Struct):
    """Region of an order, and the verdict on each region of the fleet, by rank and then by name."""

    order: str
    tenant: str
    needed_from: dt.date
    region: str | None
    """Region of the order; None if no region can get it."""
    was_placed: bool = False
    """Whether the order had a region before; there are no verdicts then."""
    is_reserved: bool = False
    """Whether the nodes are only reserved in the region, because they are not free yet."""
    verdicts: tuple[Verdict, ...] = ()

    @property
    def closest(self) -> str | None:
        """Return the refused region with the fewest reasons against it, then the fewest missing nodes."""
        refused = [verdict for verdict in self.verdicts if verdict.refusals]
        if self.region or not refused:
            return None
        return min(
            refused, key=lambda item: (len(item.refusals), sum(one.lacking for one in item.refusals), item.region)
        ).region

    def to_json(self) -> dict[str, Any]:
        """Return the decision as JSON data."""
        data = asdict(self) | {"needed_from": self.needed_from.isoformat(), "closest": self.closest}
        return {"schema_version": 1, **data}
