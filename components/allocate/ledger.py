"""Ledger of allocated, free and quarantined numbers.

A freed number stays in quarantine, listed with its previous holder, until an operator releases the number. Routes,
leases and partitions may outlive the change that frees a number, and must not lead to a new holder. Only the previous
holder can get a quarantined number back. Quarantine has no timeout, because only an operator knows when the last route
is withdrawn.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.lookups.network.served import served_addresses
from components.lookups.number_kinds import ASNS, NUMBER_KINDS, ROUTE_TARGETS, VIPS, Kind, NumberKind
from components.lookups.numbers import Block, Blocks, as_block
from components.lookups.pools import DataPath
from components.specs.environment import Environment
from components.specs.locks import ClusterAllocation, Freed
from components.specs.network.vpc_allocation import MorePrefix, VpcAllocation

MAX_HOLDERS_SHOWN = 3
Given = Iterator[tuple[Kind, tuple[str, ...], Block]]
"""Numbers of a lock file entry, each with its kind and its key in the entry."""


def ranges(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return the region's ranges, by kind."""
    blocks = {}
    for section, kind in NUMBER_KINDS.items():
        for _, fabric, value in _declared(environment, kind):
            if value is not None:
                parts = value if isinstance(value, tuple) else (value,)
                blocks[Kind(section, fabric)] = tuple(map(kind.block, parts))
    return blocks


def room(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return the ranges available for allocation, by kind.

    DPUs use ASNs from the end of the range, one per loopback (``render.nvue``), so VPCs get ASNs below these. The
    addresses of services of the region may be in the network of control planes.
    """
    asn, loopbacks = environment.region.networks.asn, environment.region.networks.dpu_loopbacks
    every = ranges(environment)
    vips = every[VIPS]
    for address in served_addresses(environment.region).values():
        vips = tuple(part for block in vips for part in _without(block, int(address)))
    return every | {ASNS: (Block(asn.first, asn.last - loopbacks.num_addresses),), VIPS: vips}


def _without(block: Block, number: int) -> tuple[Block, ...]:
    if not block.first <= number <= block.last:
        return (block,)
    parts = Block(block.first, number - 1), Block(number + 1, block.last)
    return tuple(part for part in parts if part.size > 0)


_GROWING = "guids"
"""Section of the numbers whose blocks may have to grow in place."""


class Ledger:
    """Allocator of numbers from ranges. Record all kept and freed numbers before you take new numbers."""

    def __init__(self, allowed: Mapping[Kind, tuple[Block, ...]], quarantine: Mapping[str, Freed]) -> None:
        self._blocks = {kind: Blocks(parts) for kind, parts in allowed.items()}
        self._with_room = {kind: Blocks(parts) for kind, parts in allowed.items() if kind.section == _GROWING}
        """Ranges whose blocks may grow. The numbers after a block, up to its size, are allocated to other holders
        last."""
        self._freed: dict[str, dict[Kind, list[Block]]] = defaultdict(lambda: defaultdict(list))
        for holder, freed in quarantine.items():
            for kind, _, block in freed_numbers(freed):
                self.free(holder, kind, block)

    def keep(self, given: Given) -> None:
        """Record the numbers ``given`` as still allocated."""
        for kind, _, block in given:
            if kind in self._blocks:
                self._occupy(kind, block)

    def free(self, holder: str, kind: Kind, block: Block) -> None:
        """Put a number of ``holder`` into quarantine."""
        if kind == ROUTE_TARGETS and kind not in self._blocks:
            return  # The route target equals the VNI, which is quarantined separately.
        if block not in self._freed[holder][kind]:
            self._freed[holder][kind].append(block)
        if kind in self._blocks:
            self._occupy(kind, block)

    def free_all(self, holder: str, given: Given) -> None:
        """Put all numbers of an entry of ``holder`` into quarantine."""
        for kind, _, block in given:
            self.free(holder, kind, block)

    def take(self, holder: str, kind: Kind, size: int = 1) -> Block | None:
        """Return a block of ``size`` numbers: a quarantined block of ``holder``, or else the lowest free block."""
        blocks = self._blocks.get(kind)
        if blocks is None:
            return None
        quarantined = self._freed[holder][kind]
        for block in quarantined:
            if block.size == size and block in blocks:
                quarantined.remove(block)
                return block
        double = self._with_room[kind].take(2 * size) if kind in self._with_room else None
        taken = Block(double.first, double.first + size - 1) if double else blocks.take(size)
        if taken is not None:
            self._occupy(kind, taken)
        return taken

    def grow(self, kind: Kind, block: Block, size: int) -> Block | None:
        """Return ``block`` extended to ``size`` numbers; None if the following numbers are not all free."""
        grown = self._blocks[kind].grow(block, size) if kind in self._blocks else None
        if grown is not None:
            self._occupy(kind, grown)
        return grown

    def move(self, holder: str, kind: Kind, block: Block, size: int) -> Block | None:
        """Return a new block of ``size`` numbers and quarantine ``block``; None if no such block is free."""
        moved = self.take(holder, kind, size)
        if moved is not None:
            self.free(holder, kind, block)
        return moved

    def _occupy(self, kind: Kind, block: Block) -> None:
        self._blocks[kind].occupy(block)
        if kind in self._with_room:
            self._with_room[kind].occupy(Block(block.first, block.last + block.size))

    def quarantine(self) -> dict[str, Freed]:
        """Return the numbers in quarantine, by holder."""
        by_holder = {holder: _freed(by_kind) for holder, by_kind in sorted(self._freed.items())}
        return {holder: freed for holder, freed in by_holder.items() if freed != Freed()}

    def releasable(self, kind: Kind, region: str) -> str:
        """Return the remedy that releases quarantined numbers of ``kind`` in ``region``; empty without such numbers."""
        blocks_of = {holder: by_kind[kind] for holder, by_kind in sorted(self._freed.items()) if by_kind.get(kind)}
        if not blocks_of:
            return ""
        names = [f"{', '.join(shown(kind, block) for block in blocks)} of {key}" for key, blocks in blocks_of.items()]
        more = len(names) - MAX_HOLDERS_SHOWN
        listing = "; ".join(names[:MAX_HOLDERS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        count = sum(map(len, blocks_of.values()))
        return (
            f", or release quarantined numbers that are no longer used ({count}: {listing}):"
            f" jacquard allocate {region} --release-quarantine {next(iter(blocks_of))}"
        )


def numbers_of(entry: VpcAllocation | ClusterAllocation) -> Given:
    """Yield the numbers of a VPC or of a cluster."""
    for section, properties in NUMBER_KINDS.items():
        for key in properties.keys if properties.entry is type(entry) else ():
            value = getattr(entry, key)
            if value is None:
                continue
            if not isinstance(value, dict):
                yield Kind(section), (key,), as_block(value)
                continue
            for name, item in value.items():
                number = item.prefix if isinstance(item, MorePrefix) else item
                yield Kind(section, name if properties.by_fabric else ""), (key, name), as_block(number)


def freed_numbers(freed: Freed) -> Given:
    """Yield the quarantined numbers of one holder."""
    for section in Freed.model_fields:
        value = getattr(freed, section)
        by_fabric: Mapping[str, Iterable[Any]] = value if isinstance(value, dict) else {"": value}
        for fabric, items in by_fabric.items():
            for item in items:
                yield Kind(section, fabric), (section, fabric) if fabric else (section,), as_block(item)


def shown(kind: Kind, block: Block) -> str:
    """Return a number in its display format."""
    return format(as_value(kind, block), NUMBER_KINDS[kind.section].form)


def written(environment: Environment, kind: Kind) -> tuple[DataPath, str]:
    """Return the path of the range of ``kind`` in ``region.yaml``, and its value as text."""
    places = _declared(environment, NUMBER_KINDS[kind.section])
    path, value = next((path, value) for path, fabric, value in places if fabric == kind.fabric)
    if form := NUMBER_KINDS[kind.section].form:
        return path, f"{value.first:{form}}-{value.last:{form}}"
    return path, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def written_size(environment: Environment, kind: Kind) -> int:
    """Return the size of the range of ``kind`` in ``region.yaml``, including numbers in use."""
    value = next(
        value for _, fabric, value in _declared(environment, NUMBER_KINDS[kind.section]) if fabric == kind.fabric
    )
    return sum(as_block(part).size for part in (value if isinstance(value, tuple) else (value,)))


def _declared(environment: Environment, properties: NumberKind) -> Iterator[tuple[DataPath, str, Any]]:
    """Yield path, fabric and value of each range of ``properties``; the value is None if the range is not declared."""
    if not properties.by_fabric:
        yield ("networks", properties.range), "", getattr(environment.region.networks, properties.range)
        return
    for index, fabric in enumerate(environment.region.fabrics):
        yield ("fabrics", index, properties.range), fabric.name, getattr(fabric, properties.range)


def as_value(kind: Kind, block: Block) -> Any:
    """Return the value of ``block`` in a lock file."""
    return NUMBER_KINDS[kind.section].value(block)


def _freed(by_kind: Mapping[Kind, list[Block]]) -> Freed:
    sections: dict[str, Any] = {}
    for kind, blocks in sorted(by_kind.items()):
        values = tuple(as_value(kind, block) for block in blocks)
        if not values:
            continue
        if kind.fabric:
            sections.setdefault(kind.section, {})[kind.fabric] = values
        else:
            sections[kind.section] = values
    return Freed(**sections)
