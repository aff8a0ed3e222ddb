"""Capacity of a region and its use, by instance type and failure domain, in nodes and in GPUs."""

from __future__ import annotations

import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from typing import Any

from components.allocate.controllers import Budget, budgets
from components.lookups.contracts import promised_nodes
from components.lookups.host_use import CountedHost, HostUse, counted_hosts
from components.lookups.pools import (
    by_instance_type,
    clusters,
    declared_spares,
    most_nodes,
    pools,
    rack_hosts,
    wanted_nodes,
)
from components.lookups.spares import spares_for
from components.specs.environment import Environment
from components.specs.keys import cluster_of, domain_of, pool_of
from components.specs.natural import naturally
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.struct import Struct, replace

COLUMNS = ("installed", "contracted", "planned", "spare", "out_of_service", "free", "short")
"""Figures of a table row, in display order."""


class Figures(Struct):
    """Host counts: each installed host has a planned node, is a spare, is out of service, or is free."""

    installed: int = 0
    contracted: int | None = None
    """Contracted nodes; None for a failure domain, because contracts name no failure domains."""
    planned: int = 0
    """Number of nodes that pools request."""
    spare: int = 0
    out_of_service: int = 0
    free: int = 0
    short: int = 0
    """Number of hosts missing for planned nodes with their declared spares, or for contracted nodes."""

    def gpus(self, per_node: int) -> Figures:
        """Return the same figures in GPUs."""
        counts: dict[str, Any] = {
            name: None if count is None else count * per_node for name, count in self.to_json().items()
        }
        return Figures(**counts)

    def to_json(self) -> dict[str, Any]:
        """Return the figures by name."""
        return {name: getattr(self, name) for name in COLUMNS}


class TypeCapacity(Struct):
    """Capacity of one instance type: its failure domains in natural order, and the total."""

    instance_type: str
    gpus_per_node: int
    hardware: Mapping[str, Any]
    """Catalogue entry, without the name."""
    failure_domain: str
    """Kind of the failure domains of the type: rack, hall or leaf."""
    domains: Mapping[str, Figures]
    total: Figures


class Capacity(Struct):
    """Capacity of a region: instance types with hosts or demand, in catalogue order."""

    environment: str
    types: tuple[TypeCapacity, ...]
    controllers: tuple[Budget, ...] = ()

    @property
    def nodes(self) -> Figures:
        """Return the total over all instance types, in nodes."""
        return _sum(kind.total for kind in self.types)

    @property
    def gpus(self) -> Figures:
        """Return the total over all instance types, in GPUs."""
        return _sum(kind.total.gpus(kind.gpus_per_node) for kind in self.types)

    def to_json(self) -> dict[str, Any]:
        """Return the table as JSON data."""
        return {
            "environment": self.environment,
            "instance_types": [
                {
                    "instance_type": kind.instance_type,
                    "gpus_per_node": kind.gpus_per_node,
                    "hardware": kind.hardware,
                    "failure_domain": kind.failure_domain,
                    "nodes": kind.total.to_json(),
                    "gpus": kind.total.gpus(kind.gpus_per_node).to_json(),
                    "failure_domains": {name: figures.to_json() for name, figures in kind.domains.items()},
                }
                for kind in self.types
            ],
            "nodes": self.nodes.to_json(),
            "gpus": self.gpus.to_json(),
            "bare_metal_controllers": [budget.to_json() for budget in self.controllers],
        }


def capacity(environment: Environment, today: dt.date | None = None) -> Capacity:
    """Return the capacity of ``environment`` from its data and lock files.

    Args:
        environment: the region.
        today: day of the contracted nodes; by default, the highest number of each tenant counts.
    """
    by_type: dict[str, dict[str, list[CountedHost]]] = defaultdict(lambda: defaultdict(list))
    for placed in counted_hosts(environment):
        by_type[placed.host.instance_type][placed.failure_domain].append(placed)
    contracted = by_instance_type(promised_nodes(environment, today))
    demand = _demand(environment)
    types = []
    for kind in environment.instance_types.instance_types:
        hosts, wanted = by_type[kind.name], demand[kind.name]
        domains = {name: _figures(hosts.get(name, []), wanted.get(name, {})) for name in naturally({*hosts, *wanted})}
        if domains or contracted[kind.name]:
            types.append(
                TypeCapacity(
                    instance_type=kind.name,
                    gpus_per_node=kind.gpu.count if kind.gpu else 0,
                    hardware=kind.model_dump(mode="json", exclude={"name"}),
                    failure_domain=environment.failure_domain_kind(kind.name).value,
                    domains=domains,
                    total=_with_contracts(_sum(domains.values()), contracted[kind.name]),
                )
            )
    return Capacity(environment=environment.name, types=tuple(types), controllers=budgets(environment))


def most_hosts(environment: Environment) -> dict[str, int]:
    """Return the maximum number of hosts of each cluster, including spares, or the current number if higher."""
    current = Counter(map(cluster_of, environment.allocations.hosts.values()))
    return {
        placed.cluster.name: max(
            current[placed.cluster.name], sum(_planned(environment, pool) for pool in placed.cluster.pools)
        )
        for placed in clusters(environment)
    }


def _planned(environment: Environment, pool: NodePoolSpec) -> int:
    nodes = most_nodes(environment, pool)
    return max(rack_hosts(environment, pool), nodes + spares_for(nodes, declared_spares(environment, pool)))


class _Demand(Struct, kw_only=False):
    """Demand of one rollout group."""

    nodes: int
    spares: int


def _demand(environment: Environment) -> dict[str, dict[str, dict[str, _Demand]]]:
    """Return the demand by instance type, failure domain and pool.

    Nodes without a rollout group are counted under a failure domain with an empty name.
    """
    needed: dict[str, dict[str, dict[str, _Demand]]] = defaultdict(lambda: defaultdict(dict))
    groups: dict[str, dict[str, int]] = defaultdict(dict)
    for key, group in environment.allocations.groups.items():
        groups[pool_of(key)][domain_of(key)] = group.nodes
    for placed in pools(environment):
        pool = placed.pool
        spares = declared_spares(environment, pool)
        for domain, nodes in groups[placed.key].items():
            needed[pool.instance_type][domain][placed.key] = _Demand(nodes, spares_for(nodes, spares))
        missing = wanted_nodes(environment, pool) - sum(groups[placed.key].values())
        if missing > 0:
            needed[pool.instance_type][""][placed.key] = _Demand(missing, 0)
    return needed


def _figures(hosts: list[CountedHost], wanted: Mapping[str, _Demand]) -> Figures:
    uses = Counter(placed.use for placed in hosts)
    serving = Counter(placed.pool for placed in hosts if placed.use in {HostUse.NODE, HostUse.SPARE})
    return Figures(
        installed=len(hosts),
        planned=sum(demand.nodes for demand in wanted.values()),
        spare=uses[HostUse.SPARE],
        out_of_service=uses[HostUse.OUT_OF_SERVICE],
        free=uses[HostUse.FREE],
        short=sum(max(0, demand.nodes + demand.spares - serving[pool]) for pool, demand in wanted.items()),
    )


def _with_contracts(figures: Figures, contracted: int) -> Figures:
    usable = figures.installed - figures.out_of_service
    return replace(figures, contracted=contracted, short=max(figures.short, contracted - usable))


def _sum(figures: Iterable[Figures]) -> Figures:
    rows = [row.to_json() for row in figures]
    total: dict[str, Any] = {name: sum(row[name] or 0 for row in rows) for name in COLUMNS}
    if all(row["contracted"] is None for row in rows):
        total["contracted"] = None
    return Figures(**total)
