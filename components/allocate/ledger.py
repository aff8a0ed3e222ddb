"""Who has which number, what is free, and what is in quarantine.

A number that is freed stays in quarantine, listed with who had it, until it is released: routes, leases and partitions
may outlive the change that frees it, and nobody else must answer to them. The same holder coming back gets it again.
There is no clock here: only people know when the last route is gone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.lookups.number_kinds import ASNS, ROUTE_TARGETS, SORTS, Kind, Sort
from components.lookups.numbers import Block, Blocks, as_block
from components.lookups.pools import DataPath
from components.specs.environment import Environment
from components.specs.locks import ClusterAllocation, Freed
from components.specs.network.vpc_allocation import MorePrefix, VpcAllocation

MAX_HOLDERS_SHOWN = 3
Given = Iterator[tuple[Kind, tuple[str, ...], Block]]
"""Numbers that an entry has, each with its key in the entry."""


def ranges(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return the region's ranges, by kind."""
    found = {}
    for section, sort in SORTS.items():
        for _, fabric, value in _written(environment, sort):
            if value is not None:
                parts = value if isinstance(value, tuple) else (value,)
                found[Kind(section, fabric)] = tuple(map(sort.block, parts))
    return found


def room(environment: Environment) -> dict[Kind, tuple[Block, ...]]:
    """Return what the region may give out, by kind.

    DPUs take their ASN from the end of the range, one for each loopback (``render.nvue``), so VPCs stay below that.
    """
    asn, loopbacks = environment.region.networks.asn, environment.region.networks.dpu_loopbacks
    return ranges(environment) | {ASNS: (Block(asn.first, asn.last - loopbacks.num_addresses),)}


_GROWING = "guids"
"""Sort of numbers of which a cluster may come to need more behind those that it has."""


class Ledger:
    """Gives numbers of some ranges. First all that is kept and freed is entered, then numbers are taken."""

    def __init__(self, allowed: Mapping[Kind, tuple[Block, ...]], quarantine: Mapping[str, Freed]) -> None:
        self._blocks = {kind: Blocks(parts) for kind, parts in allowed.items()}
        self._with_room = {kind: Blocks(parts) for kind, parts in allowed.items() if kind.section == _GROWING}
        """Ranges that may grow, each with as many numbers again behind it, which go to others last."""
        self._freed: dict[str, dict[Kind, list[Block]]] = defaultdict(lambda: defaultdict(list))
        for holder, freed in quarantine.items():
            for kind, _, block in freed_numbers(freed):
                self.free(holder, kind, block)

    def keep(self, given: Given) -> None:
        """Enter numbers that stay where they are."""
        for kind, _, block in given:
            if kind in self._blocks:
                self._occupy(kind, block)

    def free(self, holder: str, kind: Kind, block: Block) -> None:
        """Put a number of ``holder`` into quarantine."""
        if kind == ROUTE_TARGETS and kind not in self._blocks:
            return  # the VNI by another name
        if block not in self._freed[holder][kind]:
            self._freed[holder][kind].append(block)
        if kind in self._blocks:
            self._occupy(kind, block)

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
        apart = self._with_room[kind].take(2 * size) if kind in self._with_room else None
        taken = Block(apart.first, apart.first + size - 1) if apart else blocks.take(size)
        if taken is not None:
            self._occupy(kind, taken)
        return taken

    def grow(self, kind: Kind, block: Block, size: int) -> Block | None:
        """Return ``block`` with the numbers behind it up to ``size``; None when these are not all free."""
        grown = self._blocks[kind].grow(block, size) if kind in self._blocks else None
        if grown is not None:
            self._occupy(kind, grown)
        return grown

    def move(self, holder: str, kind: Kind, block: Block, size: int) -> Block | None:
        """Return ``size`` numbers instead of ``block``, which is in quarantine then; None when none are free."""
        moved = self.take(holder, kind, size)
        if moved is not None:
            self.free(holder, kind, block)
        return moved

    def _occupy(self, kind: Kind, block: Block) -> None:
        self._blocks[kind].occupy(block)
        if kind in self._with_room:
            self._with_room[kind].occupy(Block(block.first, block.last + block.size))

    def quarantine(self) -> dict[str, Freed]:
        """Return what is in quarantine, by holder."""
        held = {holder: _freed(by_kind) for holder, by_kind in sorted(self._freed.items())}
        return {holder: freed for holder, freed in held.items() if freed != Freed()}

    def releasable(self, kind: Kind, region: str) -> str:
        """Return how to get at numbers of ``region`` in quarantine, if there are any of ``kind``."""
        held = {holder: by_kind[kind] for holder, by_kind in sorted(self._freed.items()) if by_kind.get(kind)}
        if not held:
            return ""
        names = [f"{', '.join(shown(kind, block) for block in blocks)} of {holder}" for holder, blocks in held.items()]
        more = len(names) - MAX_HOLDERS_SHOWN
        listing = "; ".join(names[:MAX_HOLDERS_SHOWN]) + (f" and {more} more" if more > 0 else "")
        count = sum(map(len, held.values()))
        return (
            f", or release what nothing uses any more of the {count} in quarantine ({listing}):"
            f" jacquard allocate {region} --release-quarantine {next(iter(held))}"
        )


def numbers_of(entry: VpcAllocation | ClusterAllocation) -> Given:
    """Yield the numbers of a VPC or of a cluster."""
    for section, sort in SORTS.items():
        for key in sort.keys if sort.entry is type(entry) else ():
            value = getattr(entry, key)
            if value is None:
                continue
            if not isinstance(value, dict):
                yield Kind(section), (key,), as_block(value)
                continue
            for name, item in value.items():
                number = item.prefix if isinstance(item, MorePrefix) else item
                yield Kind(section, name if sort.by_fabric else ""), (key, name), as_block(number)


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
    return format(as_value(kind, block), SORTS[kind.section].form)


def written(environment: Environment, kind: Kind) -> tuple[DataPath, str]:
    """Return where the range of ``kind`` stands in ``region.yaml``, and what is there."""
    places = _written(environment, SORTS[kind.section])
    path, value = next((path, value) for path, fabric, value in places if fabric == kind.fabric)
    if form := SORTS[kind.section].form:
        return path, f"{value.first:{form}}-{value.last:{form}}"
    return path, ", ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def written_size(environment: Environment, kind: Kind) -> int:
    """Return how many numbers the range of ``kind`` has as it is written, whoever may have them."""
    value = next(value for _, fabric, value in _written(environment, SORTS[kind.section]) if fabric == kind.fabric)
    return sum(as_block(one).size for one in (value if isinstance(value, tuple) else (value,)))


def _written(environment: Environment, sort: Sort) -> Iterator[tuple[DataPath, str, Any]]:
    """Yield each range of ``sort``, with where it stands and the fabric it is of; a value of None is none."""
    if not sort.by_fabric:
        yield ("networks", sort.range), "", getattr(environment.region.networks, sort.range)
        return
    for index, fabric in enumerate(environment.region.fabrics):
        yield ("fabrics", index, sort.range), fabric.name, getattr(fabric, sort.range)


def as_value(kind: Kind, block: Block) -> Any:
    """Return the value of ``block`` in a lock file."""
    return SORTS[kind.section].value(block)


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
