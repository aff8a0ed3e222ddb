"""Number ranges of a cluster on fabrics: GUIDs of virtual functions, and prefixes of rails.

Both sizes depend on the number of nodes. GUID ranges grow in place. A prefix is divided into one subnet per rail, and
the subnets are configured in address pools and on switches. A prefix therefore initially has capacity for twice the
nodes and does not grow. Its division stays the same when the fabric gets more rails.
"""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from components.allocate.demands import Taker, Want
from components.allocate.ledger import Ledger
from components.lookups.network.fabrics import guids_needed
from components.lookups.network.rails import prefix_length, rail_ports, rails_needed, room_of_rail
from components.lookups.number_kinds import ADDRESS_BITS, Kind, guids, rail_prefixes
from components.lookups.numbers import as_block
from components.lookups.pools import PlacedCluster, problem
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.locks import ClusterAllocation
from components.specs.network.fabrics import FEW_RAILS, FabricSpec, GuidNumbers
from components.specs.reading.problems import Problem

_NEEDED = {"guids": (guids, guids_needed), "rail_prefixes": (rail_prefixes, rails_needed)}
"""Functions by key of a cluster's entry: number kind of a fabric, and required amount of a cluster on each fabric."""


class ClusterRanges:
    """Allocator of the ranges of clusters on fabrics."""

    def __init__(self, environment: Environment, ledger: Ledger, taker: Taker) -> None:
        self._environment = environment
        self._ledger = ledger
        self._taker = taker
        self._nodes = Counter[str]()
        for key, group in environment.allocations.groups.items():
            self._nodes[cluster_of(key)] += group.nodes

    def kept(self, holder: str, placed: PlacedCluster, old: ClusterAllocation) -> dict[str, Any]:
        """Return the ranges that a cluster still needs, by key of its entry; release all other ranges."""
        kept = {}
        for key, (kind, needed) in _NEEDED.items():
            current, wanted = getattr(old, key), needed(self._environment, placed)
            for fabric in current.keys() - wanted.keys():
                self._ledger.free(holder, kind(fabric), as_block(current[fabric]))
            kept[key] = {fabric: value for fabric, value in current.items() if fabric in wanted}
        return kept

    def given(self, want: Want, placed: PlacedCluster, old: ClusterAllocation | None) -> dict[str, Any]:
        """Return the ranges of a cluster, by key of its entry."""
        return {
            "guids": self._guids(want, placed, old.guids if old else {}),
            **self._rails(want, placed, old),
        }

    def _rails(self, want: Want, placed: PlacedCluster, old: ClusterAllocation | None) -> dict[str, Any]:
        """Return the rail prefixes of a cluster and the number of subnets; both are unchanged while nodes use rails."""
        prefixes, subnets = (dict(old.rail_prefixes), old.rail_subnets) if old else ({}, FEW_RAILS)
        fabrics = self._environment.region.fabrics_by_name
        for name, needed in rails_needed(self._environment, placed).items():
            current, new_subnets, kind = prefixes.get(name), fabrics[name].rail_subnets, rail_prefixes(name)
            length = prefix_length(new_subnets, needed)
            if current is None:
                prefix = self._taker.take(want, f"/{length}", kind, size=1 << (ADDRESS_BITS - length))
            elif not (shortage := self._rail_shortage(placed, fabrics[name], current, subnets, needed)):
                continue
            elif self._nodes[placed.cluster.name]:
                self._taker.problems.append(problem(self._environment, want.file, want.path, shortage))
                continue
            else:
                block = self._ledger.move(want.holder, kind, as_block(current), 1 << (ADDRESS_BITS - length))
                prefix = self._taker.value(want, f"/{length}", kind, "", block)
            if prefix:
                prefixes[name], subnets = prefix, new_subnets
        return {"rail_prefixes": dict(sorted(prefixes.items())), "rail_subnets": subnets if prefixes else FEW_RAILS}

    def _rail_shortage(
        self, placed: PlacedCluster, fabric: FabricSpec, prefix: Network, subnets: int, needed: int
    ) -> str:
        """Return why ``prefix``, divided into ``subnets``, is too small for the cluster; empty if it is sufficient."""
        # Rule rails.enough reports ports beyond the rails of the fabric.
        ports = min(rail_ports(self._environment, placed), fabric.rails or 0)
        room = room_of_rail(subnets, prefix)
        if ports > subnets:
            return (
                f"has nodes with ports on {ports} rails of {fabric.name}, and {prefix} is divided into {subnets}"
                " subnets, one per rail; pods and switches use it, so it cannot change: move these nodes to another"
                " cluster"
            )
        if needed > room:
            return (
                f"needs {needed} addresses on each rail of {fabric.name}, and {prefix} has {room}; pods and switches"
                " use it, so it cannot change: shrink pools with RoCE functions, or add the new nodes to another"
                " cluster"
            )
        return ""

    def _guids(self, want: Want, placed: PlacedCluster, old: Mapping[str, GuidNumbers]) -> dict[str, GuidNumbers]:
        ranges = dict(old)
        for fabric, needed in guids_needed(self._environment, placed).items():
            kind, size = guids(fabric), 1 << (needed - 1).bit_length()
            current = as_block(old[fabric]) if fabric in old else None
            if current is None:
                block = self._ledger.take(want.holder, kind, size)
            elif current.size >= needed:
                continue
            else:
                block = self._ledger.grow(kind, current, size) or self._ledger.grow(kind, current, needed)
                if block is None and self._nodes[placed.cluster.name]:
                    self._taker.problems.append(self._cannot_grow(want, kind, old[fabric], needed))
                    continue
                block = block or self._ledger.move(want.holder, kind, current, size)
            taken = self._taker.value(want, f"range of {size} GUIDs", kind, "", block)
            ranges |= {fabric: taken} if taken else {}
        return dict(sorted(ranges.items()))

    def _cannot_grow(self, want: Want, kind: Kind, current: GuidNumbers, needed: int) -> Problem:
        """Return the problem of a GUID range in use that cannot grow because the following numbers are taken."""
        size = as_block(current).size
        text = (
            f"needs {needed} GUIDs on {kind.fabric}, and its range ({current}, {size} GUIDs) cannot grow because the"
            f" numbers after it are taken; pods use the range, so it cannot move: shrink pools until they need {size}"
            " GUIDs, or add the new nodes to another cluster" + self._ledger.releasable(kind, self._environment.name)
        )
        return problem(self._environment, want.file, want.path, text)
