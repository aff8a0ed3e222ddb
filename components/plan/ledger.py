"""Who has which number, what is free, and what is in quarantine.

A number that is freed stays in quarantine, listed with who had it, until it is released: routes, leases and partitions
may outlive the change that frees it, and nobody else must answer to them. The same holder coming back gets it again.
There is no clock here: only people know when the last route is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from components.plan.numbers import Block, Blocks, as_block, hosts_of
from components.plan.pools import DataPath
from components.specs.base import Address, Network
from components.specs.environment import Environment
from components.specs.fabric import GuidNumbers
from components.specs.locks import ClusterAllocation, Freed, VpcAllocation

ADDRESS_BITS = 32
PREFIXES = ("pods", "services", "hosts", "load_balancers")
"""Keys of a VPC's prefixes, in the order they are given: the wide ones first leaves fewer gaps."""


class Kind(NamedTuple):
    """A sort of number, as quarantine calls it; PKeys and GUIDs are counted for each fabric."""

    section: str
    fabric: str = ""


VNIS = Kind("vnis")
ASNS = Kind("asns")
ROUTE_TARGETS = Kind("route_targets")
VPC_PREFIXES = Kind("prefixes")
VIPS = Kind("vips")
PUBLIC_IPS = Kind("public_ips")
_RANGES = {
    "vnis": "vni",
    "asns": "asn",
    "route_targets": "route_targets",
    "prefixes": "tenants",
    "vips": "control_plane_vips",
    "public_ips": "public",
}
"""Key of the range in ``networks``, by section."""


def pkeys(fabric: str) -> Kind:
    """Return the kind of the partition keys of ``fabric``."""
    return Kind("pkeys", fabric)


def guids(fabric: str) -> Kind:
    """Return the kind of the GUIDs of ``fabric``."""
    return Kind("guids", fabric)


Given = Iterator[tuple[Kind, tuple[str, ...], Block]]
"""Numbers that an entry has, each with its key in the entry."""


def ranges(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return the region's ranges, by kind."""
    networks = environment.region.networks
    found = {
        VNIS: (as_block(networks.vni),),
        ASNS: (as_block(networks.asn),),
        VPC_PREFIXES: (as_block(networks.tenants),),
        VIPS: (hosts_of(networks.control_plane_vips),),
        PUBLIC_IPS: tuple(map(hosts_of, networks.public)),
    }
    if networks.route_targets is not None:
        found[ROUTE_TARGETS] = (as_block(networks.route_targets),)
    for fabric in environment.region.fabrics:
        if fabric.pkeys is not None:
            found[pkeys(fabric.name)] = (as_block(fabric.pkeys),)
        if fabric.guids is not None:
            found[guids(fabric.name)] = (as_block(fabric.guids),)
    return found


def room(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return what the region may give out, by kind.

    DPUs take their ASN from the end of the range, one for each loopback (``render.nvue``), so VPCs stay below that.
    """
    asn, loopbacks = environment.region.networks.asn, environment.region.networks.dpu_loopbacks
    return ranges(environment) | {ASNS: (Block(asn.first, asn.last - loopbacks.num_addresses),)}


class Ledger:
    """Gives numbers of some ranges. First all that is kept and freed is entered, then numbers are taken."""

    def __init__(self, allowed: Mapping[Kind, tuple[Block, ...]], quarantine: Mapping[str, Freed]) -> None:
        self._blocks = {kind: Blocks(parts) for kind, parts in allowed.items()}
        self._freed: dict[str, dict[Kind, list[Block]]] = defaultdict(lambda: defaultdict(list))
        for holder, freed in quarantine.items():
            for kind, _, block in freed_numbers(freed):
                self.free(holder, kind, block)

    def keep(self, given: Given) -> None:
        """Enter numbers that stay where they are."""
        for kind, _, block in given:
            if kind in self._blocks:
                self._blocks[kind].occupy(block)

    def free(self, holder: str, kind: Kind, block: Block) -> None:
        """Put a number of ``holder`` into quarantine."""
        if kind == ROUTE_TARGETS and kind not in self._blocks:
            return  # the VNI by another name
        if block not in self._freed[holder][kind]:
            self._freed[holder][kind].append(block)
        if kind in self._blocks:
            self._blocks[kind].occupy(block)

    def free_all(self, holder: str, given: Given) -> None:
        """Put all numbers of an entry of ``holder`` into quarantine."""
        for kind, _, block in given:
            self.free(holder, kind, block)

    def take(self, holder: str, kind: Kind, size: int = 1) -> Block | None:
        """Return a block of ``size`` numbers: what ``holder`` had before, or the lowest; None when none is free."""
        blocks = self._blocks.get(kind)
        if blocks is None:
            return None
        had = self._freed[holder][kind]
        for block in had:
            if block.size == size and block in blocks:
                had.remove(block)
                return block
        return blocks.take(size)

    def grow(self, holder: str, kind: Kind, block: Block, size: int) -> Block | None:
        """Return ``block`` with more numbers behind it; if these are taken another one, the old in quarantine."""
        grown = self._blocks[kind].grow(block, size) if kind in self._blocks else None
        if grown is None:
            grown = self.take(holder, kind, size)
            if grown is not None:
                self.free(holder, kind, block)
        return grown

    def quarantine(self) -> dict[str, Freed]:
        """Return what is in quarantine, by holder."""
        held = {holder: _freed(by_kind) for holder, by_kind in sorted(self._freed.items())}
        return {holder: freed for holder, freed in held.items() if freed != Freed()}

    def quarantined(self, kind: Kind) -> dict[str, list[Block]]:
        """Return what is in quarantine of one kind, by holder."""
        return {holder: by_kind[kind] for holder, by_kind in sorted(self._freed.items()) if by_kind.get(kind)}


def vpc_numbers(vpc: VpcAllocation) -> Given:
    """Yield the numbers of a VPC."""
    yield VNIS, ("vni",), as_block(vpc.vni)
    yield ASNS, ("asn",), as_block(vpc.asn)
    yield ROUTE_TARGETS, ("route_target",), as_block(vpc.route_target)
    for key in PREFIXES:
        yield VPC_PREFIXES, (key,), as_block(getattr(vpc, key))
    for fabric, number in vpc.pkeys.items():
        yield pkeys(fabric), ("pkeys", fabric), as_block(number)


def cluster_numbers(cluster: ClusterAllocation) -> Given:
    """Yield the numbers of a cluster."""
    yield VIPS, ("vip",), as_block(cluster.vip)
    for fabric, numbers in cluster.guids.items():
        yield guids(fabric), ("guids", fabric), as_block(numbers)


def freed_numbers(freed: Freed) -> Given:
    """Yield the numbers of one holder in quarantine."""
    for section in Freed.model_fields:
        value = getattr(freed, section)
        by_fabric: Mapping[str, Iterable[Any]] = value if isinstance(value, dict) else {"": value}
        for fabric, items in by_fabric.items():
            for item in items:
                yield Kind(section, fabric), (section, fabric) if fabric else (section,), as_block(item)


def shown(kind: Kind, block: Block) -> str:
    """Return a number as people write it."""
    value = as_value(kind, block)
    return f"{value:#x}" if kind.section == "pkeys" else str(value)


def written(environment: Environment, kind: Kind) -> tuple[DataPath, str]:
    """Return where the range of ``kind`` stands in ``region.yaml``, and what is there."""
    if kind.fabric:
        for index, fabric in enumerate(environment.region.fabrics):
            if fabric.name == kind.fabric:
                return ("fabrics", index, kind.section), str(getattr(fabric, kind.section))
    key = _RANGES[kind.section]
    value = getattr(environment.region.networks, key)
    return ("networks", key), ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def as_value(kind: Kind, block: Block) -> Any:
    """Return the value of ``block`` in a lock file."""
    match kind.section:
        case "prefixes":
            return Network((block.first, ADDRESS_BITS - (block.size - 1).bit_length()))
        case "vips" | "public_ips":
            return Address(block.first)
        case "guids":
            return GuidNumbers(first=block.first, last=block.last)
        case _:
            return block.first


def _freed(by_kind: Mapping[Kind, list[Block]]) -> Freed:
    found: dict[str, Any] = {}
    for kind, blocks in sorted(by_kind.items()):
        values = tuple(as_value(kind, block) for block in blocks)
        if not values:
            continue
        if kind.fabric:
            found.setdefault(kind.section, {})[kind.fabric] = values
        else:
            found[kind.section] = values
    return Freed(**found)
