"""Home of the DNS zone of the fleet, and the regions that the zone delegates."""

import re
from collections.abc import Callable

from components.specs.fleet.fleet import FleetSpec, RegionStatus
from components.specs.region.dns import DnsSpec
from components.specs.region.region import RegionSpec

_HOME = r"""\bhome["']?\s*:\s*["']?{}\b"""
"""Pattern of the key in a file of the fleet that makes a region the home of the fleet's DNS zone."""


def may_be_home(fleet: str, name: str) -> bool:
    """Return whether the text of a ``fleet.yaml``, which may be invalid, makes region ``name`` the home of its zone."""
    return re.search(_HOME.format(re.escape(name)), fleet) is not None


def delegated(fleet: FleetSpec, region: Callable[[str], RegionSpec | None]) -> dict[str, DnsSpec]:
    """Return the DNS of the regions of ``fleet`` by name, without retired regions and regions without DNS.

    Args:
        fleet: content of ``fleet.yaml``.
        region: returns ``region.yaml`` of a region; None if it is not readable.
    """
    names = (name for name, entry in fleet.regions.items() if entry.status is not RegionStatus.RETIRED)
    regions = {name: region(name) for name in names}
    return {name: spec.dns for name, spec in regions.items() if spec and spec.dns}
