"""Limits on nodes that are unavailable simultaneously during rollouts, per pool, fabric and NVLink domain.

A promotion checks the limits before it changes pins.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator

from components.lookups.pools import PlacedPool, pools
from components.rollout.replacement import replacements
from components.specs.base import PercentOrCount, limit_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import Scale
from components.specs.keys import group_key, pool_of
from components.specs.struct import Struct

PER_POOL = "max_unavailable_per_pool"
PER_FABRIC = "max_unavailable_per_fabric"
NVLINK = "max_rolling_nvlink_domains"
CLUSTERS = "max_clusters"
_EFFECT = {NVLINK: "NVLink domains would roll", CLUSTERS: "clusters would change"}


class Excess(Struct):
    """Limit that rollout groups would exceed if they rolled simultaneously."""

    limit: str
    """Name of the limit, a field of ``nodes.rollouts`` or ``chart_rollouts`` in ``region.yaml``."""
    subject: str
    """Pool, fabric or chart that the limit applies to."""
    away: int
    """Number of nodes that would be unavailable simultaneously, or of NVLink domains or clusters that would change."""
    allowed: int

    def __str__(self) -> str:
        effect = _EFFECT.get(self.limit, "nodes would be unavailable")
        return f"{self.away} {effect} simultaneously in {self.subject}, {self.limit} allows {self.allowed}"


class RolloutLimits:
    """Limits of one region, to check for any set of rollout groups."""

    def __init__(self, environment: Environment) -> None:
        self._limits = environment.region.nodes.rollouts
        self._away = {key: plan.max_unavailable for key, plan in replacements(environment).items()}
        self._pools = {placed.key: placed for placed in pools(environment)}
        self._rack_scale = {kind.name for kind in environment.instance_types.instance_types if kind.scale is Scale.RACK}
        limited = self._limits.max_unavailable_per_fabric is not None
        fabrics = _fabrics(environment, self._pools) if limited else {}
        self._fabrics_of: dict[str, list[str]] = defaultdict(list)
        self._nodes_of_pool, self._nodes_on = Counter[str](), Counter[str]()
        nodes = {key: environment.allocations.groups[key].nodes for key in self._away}
        for key, count in nodes.items():
            self._nodes_of_pool[pool_of(key)] += count
        for fabric, members in sorted(fabrics.items()):
            self._nodes_on[fabric] = sum(nodes.get(key, 0) for key in members)
            for key in members:
                self._fabrics_of[key].append(fabric)

    def broken_by(self, groups: Collection[str]) -> Iterator[Excess]:
        """Yield the limits that ``groups`` (keys of the lock file) would exceed if they rolled simultaneously."""
        rolling: dict[str, list[str]] = defaultdict(list)
        on_fabric: dict[str, list[str]] = defaultdict(list)
        for key in {key: None for key in groups if key in self._away}:
            rolling[pool_of(key)].append(key)
            for fabric in self._fabrics_of.get(key, ()):
                on_fabric[fabric].append(key)
        for pool, keys in sorted(rolling.items()):
            yield from self._excess(PER_POOL, pool, keys, self._nodes_of_pool[pool])
            most = self._limits.max_rolling_nvlink_domains
            if most is not None and len(keys) > most and self._pools[pool].pool.instance_type in self._rack_scale:
                yield Excess(limit=NVLINK, subject=pool, away=len(keys), allowed=most)
        for fabric, members in sorted(on_fabric.items()):
            yield from self._excess(PER_FABRIC, f"fabric {fabric}", members, self._nodes_on[fabric])

    def allowed_on_fabrics(self) -> dict[str, int]:
        """Return the number of nodes that may be unavailable on each fabric; empty if no limit is set."""
        amount = self._limits.max_unavailable_per_fabric
        return {} if amount is None else {fabric: limit_of(amount, nodes) for fabric, nodes in self._nodes_on.items()}

    def _excess(self, limit: str, subject: str, rolling: Collection[str], nodes: int) -> Iterator[Excess]:
        amount: PercentOrCount | None = getattr(self._limits, limit)
        if amount is None:
            return
        allowed = limit_of(amount, nodes)
        away = sum(self._away[key] for key in rolling)
        if away > allowed:
            yield Excess(limit=limit, subject=subject, away=away, allowed=allowed)


def _fabrics(environment: Environment, by_key: dict[str, PlacedPool]) -> dict[str, set[str]]:
    """Return the rollout groups on each fabric: groups of VPCs that use the fabric, with a host in its halls."""
    fabrics_of = {key: placed.vpc.fabrics if placed.vpc else () for key, placed in by_key.items()}
    groups: dict[str, set[str]] = defaultdict(set)
    halls: dict[str, set[str]] = defaultdict(set)
    for pool in by_key.keys() & environment.hosts_by_pool.keys():
        for host in environment.hosts_by_pool[pool]:
            halls[group_key(pool, environment.failure_domain(host))].add(host.hall)
    for fabric in environment.region.fabrics:
        for key, group_halls in halls.items():
            carried = not fabric.isolates_vpcs or fabric.name in fabrics_of[pool_of(key)]
            if carried and (not fabric.halls or not group_halls.isdisjoint(fabric.halls)):
                groups[fabric.name].add(key)
    return groups
