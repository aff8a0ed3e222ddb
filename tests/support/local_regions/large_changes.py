"""Changes of all nodes of a large local region: another image, and the loss of the power of all hosts."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jacquard.providers.kube import ObjectRef
from tests.support.changes.unavailable_nodes import Group, Watch, machines, uids
from tests.support.local_regions.broken_nodes import CHECK, counted_repairs
from tests.support.local_regions.local_region import JACQUARD, LocalRegion
from tests.support.local_regions.lost_power import node_uids, power_lost, wait_for_ready
from tests.support.local_regions.watches import watched_uids

_POOL, _TENANT = "train", "acme"
_PAST, _NEXT = "gpu-2026.10.2", "gpu-2026.11.1"
_AT_ONCE = "50%"
_NO_REPAIRS = "[100000-100000]"
"""Value that the page about a lost hall sets."""


class ImageWave:
    """Replacement of all nodes of the largest pool, half of each rollout group at a time."""

    def __init__(self, region: LocalRegion, cluster: str, folder: Path) -> None:
        self._region, self._pool, self._file = region, f"{cluster}/{_POOL}", folder / "machines.json"

    def pin_past_image(self) -> None:
        """Let the region start with the past image."""
        self._order(_PAST)
        self._promote(_PAST)
        self._order("channel")

    def roll_out(self, up: Callable[[], object]) -> str:
        """Roll out the next image with one ``up``, and return what was replaced.

        Raises:
            AssertionError: More nodes were unavailable than the limit of their rollout group, or a node was not
                replaced.
        """
        before, limit = self._machines(), int(_AT_ONCE[:-1]) / 100
        ordered = {group: len(those) for group, those in before.items()}
        watch, largest = Watch(self._region, self._file), Counter[Group]()
        self._promote(_NEXT)
        with watch.running():
            up()
        together = 0
        for unavailable in watch.unavailable(ordered):
            largest |= unavailable
            together = max(together, unavailable.total())
        too_many = {group: count for group, count in largest.items() if count > max(1, int(limit * ordered[group]))}
        assert not too_many, f"more nodes were unavailable than {_AT_ONCE} of the group: {too_many}"
        after = self._machines()
        left = {group for group, those in before.items() if those & after[group]}
        assert not left, f"nodes of {sorted(left)} were not replaced"
        nodes = sum(ordered.values())
        return f"{nodes} nodes of {len(ordered)} rollout groups were replaced, at most {together} at the same time"

    def _machines(self) -> dict[Group, set[str]]:
        return {group: those for group, those in machines(self._region).items() if group.startswith(f"{self._pool}/")}

    def _promote(self, image: str) -> None:
        command = (JACQUARD, "promote", self._region.environment, self._pool, "--to", image, "--all")
        outcome = self._region.run(*command)
        assert outcome.code == 0, outcome.text

    def _order(self, image: str) -> None:
        def change(tenant: dict[str, Any]) -> None:
            for pool in (pool for cluster in tenant["clusters"] for pool in cluster["pools"]):
                if pool["name"] == _POOL:
                    pool |= {"image": image, "rollout": {"strategy": "idle", "max_unavailable": _AT_ONCE}}

        self._region.rewrite(f"{self._region.environment}/tenants/{_TENANT}.yaml", change)


def outage(region: LocalRegion, cluster: str, folder: Path) -> str:
    """Cut the power of all hosts without repairs, return it, and report how long the nodes took.

    Raises:
        AssertionError: A Machine or node has another uid than before, or a repair was started.
    """
    before, repairs = (uids(region), node_uids(region, cluster)), folder / "repairs.json"
    _let_repair(region, _NO_REPAIRS)
    with counted_repairs(region, cluster, repairs):
        start = time.perf_counter()
        with power_lost(region, cluster):
            lost = time.perf_counter()
        wait_for_ready(region, cluster, len(before[1]))
        back = time.perf_counter()
    _let_repair(region, None)
    assert (uids(region), node_uids(region, cluster)) == before, "Machines or nodes were replaced"
    assert watched_uids(repairs) == set(), "repairs were started"
    return f"{len(before[1])} nodes were not ready after {lost - start:.0f} s, and ready {back - lost:.0f} s later"


def _let_repair(region: LocalRegion, bounds: str | None) -> None:
    patch = {"spec": {"remediation": {"triggerIf": {"unhealthyInRange": bounds}}}}
    for check in region.api().list(*CHECK):
        ref = ObjectRef(*CHECK, check["metadata"]["name"], check["metadata"]["namespace"])
        region.api().patch(ref, patch, field_manager="test")
