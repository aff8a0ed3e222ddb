"""Fleet: all regions with their status, jurisdictions and latency groups."""

import re
from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, DataFile, DnsLabel, IpAddress, Label, Port, Spec
from components.specs.region.dns import TsigAlgorithm, Zone

STORAGE = "storage-"
"""First part of the capability to offer volumes of a storage driver, such as ``storage-vast``."""
DERIVED = ("infiniband", "roce", "vms")
"""Capabilities that the data of a region state, in addition to those of storage drivers."""
_DERIVED = re.compile(rf"{'|'.join(DERIVED)}|{STORAGE}.+")


class RegionStatus(StrEnum):
    """Status of a region in the fleet."""

    BUILDING = "building"
    """The region is being built. It takes no orders yet."""
    OPEN = "open"
    """The region takes orders."""
    DRAINING = "draining"
    """The region keeps its tenants and takes no orders. Its pools and tenants must not grow."""
    RETIRED = "retired"
    """The region has no tenants and no hosts."""


class FleetRegionSpec(CheckedSpec):
    """Facts about a region that its own data do not state."""

    status: RegionStatus
    """Whether the region takes orders."""
    jurisdictions: tuple[Label, ...] = ()
    """Jurisdictions whose laws apply to data in the region, such as ``[it, eu]``. An order is placed only in regions
    with one of its jurisdictions. Required, except while the region is being built."""
    latency_group: Label | None = None
    """Name of a group of regions with low latency between them. By default the region is near no other region."""
    capabilities: tuple[Label, ...] = ()
    """Capabilities that orders can require and that the data of the region do not state, such as ``iso-27001``.
    Fabrics, storage drivers and VMs are derived from the data of the region."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing jurisdictions, capabilities that are derived from the data of the region, and duplicates."""
        if not self.jurisdictions and self.status is not RegionStatus.BUILDING:
            text = (
                f"is required, because the region is {self.status}; write jurisdictions: [us], or status:"
                f" {RegionStatus.BUILDING}"
            )
            yield ConstraintViolation(text, ("jurisdictions",))
        for index, name in enumerate(self.capabilities):
            if _DERIVED.fullmatch(name):
                text = f"'{name}' is derived from the data of the region; remove it"
                yield ConstraintViolation(text, ("capabilities", index))
        for key in ("jurisdictions", "capabilities"):
            names = getattr(self, key)
            for index, name in enumerate(names):
                if name in names[:index]:
                    yield ConstraintViolation(f"'{name}' is listed twice; remove one", (key, index))


class FleetDnsSpec(Spec):
    """DNS zone of the fleet, which delegates the zone of each region to the name servers of the region."""

    zone: Zone
    """Zone of the fleet, such as ``cloud.example``. The zones of all regions are below it."""
    home: Label
    """Region whose management cluster writes the records, as the stack ``<home>.fleet``. The region is applied in
    slices, and has ``dns``."""
    server: IpAddress
    """Address of the primary name server of the zone, for signed updates over TCP."""
    port: Port = 53
    """Port of the name server for updates."""
    key_secret: DnsLabel = "fleet-dns-key"  # noqa: S105 - a name
    """Secret with the key that signs updates (TSIG), in namespace ``external-dns`` of ``home``: ``keyname``, and
    ``secret`` in base64."""
    key_algorithm: TsigAlgorithm = TsigAlgorithm.HMAC_SHA256
    """Signature algorithm of the key."""


class FleetSpec(DataFile):
    """``fleet.yaml``, an optional file beside the regions. Without it, no order can be placed."""

    regions: dict[Label, FleetRegionSpec] = Field(default_factory=dict)
    """Regions of the fleet, by name of their folder. Rehearsals may be omitted."""
    dns: FleetDnsSpec | None = None
    """DNS zone of the fleet. By default, the zones of regions are delegated by hand."""
