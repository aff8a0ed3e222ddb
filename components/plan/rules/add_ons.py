"""Add-ons: declared, complete with what they need, and on nodes that can run them."""

from __future__ import annotations

from collections.abc import Iterator

from components.plan.pools import PlacedCluster, clusters, place, problem
from components.plan.rules.references import undeclared
from components.specs.add_ons import AddOn
from components.specs.environment import Environment
from components.specs.loader import ADD_ONS, VERSIONS
from components.specs.node_pool import PoolRole
from components.specs.problems import Problem, listed, suggestion

DEFAULT = "default"


def add_on_references(environment: Environment) -> Iterator[Problem]:
    """Report charts and add-ons that are named in vain."""
    charts = [chart.name for chart in environment.versions.charts]
    declared = [entry.name for entry in environment.add_ons.add_ons]
    for index, entry in enumerate(environment.add_ons.add_ons):
        if entry.chart not in charts:
            text = f"'{entry.chart}' is not in charts of {VERSIONS}; add it there{suggestion(entry.chart, charts)}"
            yield problem(environment, ADD_ONS, ("add_ons", index, "chart"), text)
        for at, name in enumerate(entry.needs):
            if name not in declared:
                path = ("add_ons", index, "needs", at)
                yield problem(environment, ADD_ONS, path, undeclared(name, declared, "this file"))
    for placed in clusters(environment):
        for at, name in enumerate(placed.cluster.add_ons if placed.cluster.add_ons != DEFAULT else ()):
            if name not in declared:
                text = undeclared(name, declared, ADD_ONS)
                yield problem(environment, placed.file, (*placed.path, "add_ons", at), text)


def add_on_cycles(environment: Environment) -> Iterator[Problem]:
    """Report add-ons that need each other: none of them could be installed first."""
    needs = {entry.name: set(entry.needs) for entry in environment.add_ons.add_ons}
    while done := [name for name in needs if not needs[name] & needs.keys() or not _needed(name, needs)]:
        for name in done:
            del needs[name]
    for index, entry in enumerate(environment.add_ons.add_ons):
        waiting = [name for name in entry.needs if name in needs]
        if entry.name in needs:
            text = f"{entry.name} waits for {listed(waiting)}, and that for it in turn; remove one of the needs"
            yield problem(environment, ADD_ONS, ("add_ons", index, "needs"), text)


def _needed(name: str, needs: dict[str, set[str]]) -> bool:
    return any(name in others for others in needs.values())


def add_on_needs(environment: Environment) -> Iterator[Problem]:
    """Report clusters that have an add-on without the ones it needs, or without the GPUs it is for."""
    every = {entry.name: entry for entry in environment.add_ons.add_ons}
    for placed in clusters(environment):
        chosen = add_ons(environment, placed)
        names = [entry.name for entry in chosen]
        gpus = _has_gpus(environment, placed)
        for entry in chosen:
            path = (*placed.path, "add_ons")
            there = place(environment, ADD_ONS, ("add_ons", environment.add_ons.add_ons.index(entry)))
            missing = [name for name in entry.needs if name in every and name not in names]
            if missing:
                text = f"{entry.name} needs {listed(missing)} ({there}), which the cluster does not have; add it"
                yield problem(environment, placed.file, path, text)
            if entry.gpu_only and not gpus and placed.cluster.add_ons != DEFAULT:
                text = f"{entry.name} is for nodes with GPUs ({there}), and no pool has any; remove it"
                yield problem(environment, placed.file, path, text)


def system_pools(environment: Environment) -> Iterator[Problem]:
    """Report clusters with add-ons and no nodes to run them on, and system pools that would waste GPUs."""
    kinds = environment.instance_types.by_name
    for placed in clusters(environment):
        system = [(at, pool) for at, pool in enumerate(placed.cluster.pools) if pool.role is PoolRole.SYSTEM]
        for at, pool in system:
            kind = kinds.get(pool.instance_type)
            if kind and kind.gpu:
                plain = [name for name, other in kinds.items() if not other.gpu]
                text = f"a system pool has no GPUs, {kind.name} has {kind.gpu.count}; pick one of {listed(plain)}"
                yield problem(environment, placed.file, (*placed.path, "pools", at, "instance_type"), text)
        chosen = add_ons(environment, placed)
        if chosen and not system:
            text = (
                f"no pool has role system, and add-ons run there ({listed(entry.name for entry in chosen)}); add a pool"
                " of CPU nodes with role: system, or write add_ons: []"
            )
            yield problem(environment, placed.file, (*placed.path, "pools"), text)


def add_ons(environment: Environment, placed: PlacedCluster) -> list[AddOn]:
    """Return the add-ons of a cluster, in the order of the catalogue; by default none for GPUs that it lacks."""
    asked, gpus = placed.cluster.add_ons, _has_gpus(environment, placed)
    return [
        entry
        for entry in environment.add_ons.add_ons
        if (entry.default and (gpus or not entry.gpu_only) if asked == DEFAULT else entry.name in asked)
    ]


def _has_gpus(environment: Environment, placed: PlacedCluster) -> bool:
    kinds = environment.instance_types.by_name
    return any(kind.gpu for pool in placed.cluster.pools if (kind := kinds.get(pool.instance_type)))
