"""Ranges of numbers that a cluster has on fabrics: GUIDs of its functions, and prefixes of its rails.

Both grow with its nodes, and pods use what they have. GUIDs grow in place. A prefix is cut into the subnets of rails,
which stand in pools and on switches, so it has room for twice the nodes from the beginning and does not grow. It stays
cut as it was when the fabric gets more rails.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from components.allocate.demands import Taker, Want
from components.allocate.ledger import Ledger
from components.lookups.fabrics import guids_needed
from components.lookups.number_kinds import ADDRESS_BITS, Kind, guids, rail_prefixes
from components.lookups.numbers import as_block
from components.lookups.pools import PlacedCluster, problem
from components.lookups.rails import prefix_length, rail_ports, rails_needed, room_of_rail
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.locks import ClusterAllocation
from components.specs.network.fabrics import FEW_RAILS, FabricSpec, GuidNumbers
from components.specs.reading.problems import Problem

_NEEDED = {"guids": (guids, guids_needed), "rail_prefixes": (rail_prefixes, rails_needed)}
"""Kind of the numbers by fabric, and how many a cluster needs on each, by key of its entry."""


class ClusterRanges:
    """Gives clusters their ranges on fabrics."""

    def __init__(self, environment: Environment, ledger: Ledger, taker: Taker) -> None:
        self._environment = environment
        self._ledger = ledger
        self._taker = taker
        self._nodes = Counter[str]()
        for key, group in environment.allocations.groups.items():
            self._nodes[cluster_of(key)] += group.nodes

    def kept(self, holder: str, placed: PlacedCluster, old: ClusterAllocation) -> dict[str, Any]:
        """Return the ranges that a cluster still needs, by key of its entry, and free the others."""
        kept = {}
        for key, (kind, needed) in _NEEDED.items():
            had, wanted = getattr(old, key), needed(self._environment, placed)
            for fabric in had.keys() - wanted.keys():
                self._ledger.free(holder, kind(fabric), as_block(had[fabric]))
            kept[key] = {fabric: value for fabric, value in had.items() if fabric in wanted}
        return kept

    def given(self, want: Want, placed: PlacedCluster, old: ClusterAllocation | None) -> dict[str, Any]:
        """Return the ranges of a cluster, by key of its entry."""
        return {
            "guids": self._guids(want, placed, old.guids if old else {}),
            **self._rails(want, placed, old),
        }

    def _rails(self, want: Want, placed: PlacedCluster, old: ClusterAllocation | None) -> dict[str, Any]:
        """Return the prefixes of a cluster's rails and how they are cut: as they are while its nodes use them."""
        found, subnets = (dict(old.rail_prefixes), old.rail_subnets) if old else ({}, FEW_RAILS)
        fabrics = self._environment.region.fabrics_by_name
        for name, needed in rails_needed(self._environment, placed).items():
            had, cut, kind = found.get(name), fabrics[name].rail_subnets, rail_prefixes(name)
            length = prefix_length(cut, needed)
            if had is None:
                prefix = self._taker.take(want, f"/{length}", kind, size=1 << (ADDRESS_BITS - length))
            elif not (lacking := self._lacking(placed, fabrics[name], had, subnets, needed)):
                continue
            elif self._nodes[placed.cluster.name]:
                self._taker.problems.append(problem(self._environment, want.file, want.path, lacking))
                continue
            else:
                block = self._ledger.move(want.holder, kind, as_block(had), 1 << (ADDRESS_BITS - length))
                prefix = self._taker.value(want, f"/{length}", kind, "", block)
            if prefix:
                found[name], subnets = prefix, cut
        return {"rail_prefixes": dict(sorted(found.items())), "rail_subnets": subnets if found else FEW_RAILS}

    def _lacking(self, placed: PlacedCluster, fabric: FabricSpec, had: Network, subnets: int, needed: int) -> str:
        """Return what a prefix of ``subnets`` lacks that pods have addresses of; nothing where it has all."""
        ports = min(rail_ports(self._environment, placed), fabric.rails or 0)  # more are told by rails.enough
        room = room_of_rail(subnets, had)
        if ports > subnets:
            return (
                f"has nodes with ports on {ports} rails of {fabric.name}, and {had} is cut into {subnets} subnets, one"
                " a rail; pods and switches use it, so it does not change: give these nodes to another cluster"
            )
        if needed > room:
            return (
                f"needs {needed} addresses on each rail of {fabric.name}, and {had} has {room}; pods and switches use"
                " it, so it does not change: make pools with functions on RoCE smaller, or give the new nodes to"
                " another cluster"
            )
        return ""

    def _guids(self, want: Want, placed: PlacedCluster, old: Mapping[str, GuidNumbers]) -> dict[str, GuidNumbers]:
        found = dict(old)
        for fabric, needed in guids_needed(self._environment, placed).items():
            kind, size = guids(fabric), 1 << (needed - 1).bit_length()
            had = as_block(old[fabric]) if fabric in old else None
            if had is None:
                block = self._ledger.take(want.holder, kind, size)
            elif had.size >= needed:
                continue
            else:
                block = self._ledger.grow(kind, had, size) or self._ledger.grow(kind, had, needed)
                if block is None and self._nodes[placed.cluster.name]:
                    self._taker.problems.append(self._stuck(want, kind, old[fabric], needed))
                    continue
                block = block or self._ledger.move(want.holder, kind, had, size)
            taken = self._taker.value(want, f"range of {size} GUIDs", kind, "", block)
            found |= {fabric: taken} if taken else {}
        return dict(sorted(found.items()))

    def _stuck(self, want: Want, kind: Kind, had: GuidNumbers, needed: int) -> Problem:
        """Return that the GUIDs behind those of a cluster are taken, and that its nodes run with the ones it has."""
        size = as_block(had).size
        text = (
            f"needs {needed} GUIDs on {kind.fabric}, and the numbers behind its own are taken ({had}, {size} of them);"
            f" pods use these, so the range does not move: make pools smaller until they need {size}, or give the new"
            " nodes to another cluster" + self._ledger.releasable(kind, self._environment.name)
        )
        return problem(self._environment, want.file, want.path, text)
