"""Rules about the announcement of control plane addresses."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, place, problem
from components.rules.rule import Rules
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_PATH: DataPath = ("control_planes", "announcement")


def announced(environment: Environment) -> Iterator[Problem]:
    """Report a region on real hardware without an announcement of control plane addresses."""
    region = environment.region
    if region.stage is not Stage.REHEARSAL and region.control_planes.announcement is None:
        text = (
            f"is required at stage {region.stage}: nodes need a route to their control planes; add {{asn: ..., peers:"
            " [{address: ..., asn: ...}]} for the routers of the management cluster, or {one_network: true} if its"
            " hosts and networks.control_plane_vips share one VLAN"
        )
        yield problem(environment, REGION, _PATH, text)


def numbers(environment: Environment) -> Iterator[Problem]:
    """Report ASNs of hosts and routers that are in the range for VPCs and DPUs.

    A VPC or DPU with the same ASN would drop the routes as loops, and a VPC could have a route target of the network
    edge.
    """
    region = environment.region
    announcement, border, taken = region.control_planes.announcement, region.networks.border, region.networks.asn
    named: list[tuple[DataPath, int | None, str]] = []
    if border is not None and border.asn is not None:
        named.append((("networks", "border", "asn"), border.asn, "a VPC could have a route target of the network edge"))
    if announcement is not None:
        why = "a VPC or DPU with the same number drops routes as loops"
        named.append(((*_PATH, "asn"), announcement.asn, why))
        named += [((*_PATH, "peers", index, "asn"), peer.asn, why) for index, peer in enumerate(announcement.peers)]
    for path, asn, why in named:
        if asn is not None and taken.first <= asn <= taken.last:
            text = (
                f"{asn} is in networks.asn ({taken}, {place(environment, REGION, ('networks', 'asn'))}), and {why};"
                " pick another outside it"
            )
            yield problem(environment, REGION, path, text)


RULES = Rules(data=(announced, numbers))
