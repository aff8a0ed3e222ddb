"""Report on Kubernetes versions: running version, next version and blockers of each control plane.

Chart releases in the same report are from `chart_upgrades`.
"""

from typing import Any

from components.lookups.control_planes import running_version
from components.lookups.pools import PlacedCluster, clusters, place
from components.reports.chart_upgrades import chart_upgrades
from components.rollout.upgrades import image_for, newest_step, step_objections, with_version
from components.specs.environment import Environment
from components.specs.struct import Struct, asdict


class Upgrade(Struct):
    """Next version of one control plane."""

    cluster: str
    tenant: str
    version: str
    """Running version of the control plane."""
    next: str | None
    """Version in the data, or else the newest version within one step; None if there is no such version."""
    images: dict[str, str | None]
    """Newest image for nodes at the next version, by pool; None if there is no such image yet."""
    blocks: tuple[str, ...]
    """Reasons that currently block the promotion, each with place and remedy."""
    do: str | None
    """Command that upgrades the control plane when there are no blockers."""


def upgrades(environment: Environment) -> tuple[Upgrade, ...]:
    """Return the next version of each control plane, in the order of tenants."""
    return tuple(_upgrade(environment, placed) for placed in clusters(environment))


def to_json(environment: Environment, found: tuple[Upgrade, ...]) -> dict[str, Any]:
    """Return the report as JSON data."""
    return {
        "schema_version": 1,
        "environment": environment.name,
        "clusters": [asdict(item) for item in found],
        "charts": [asdict(item) for item in chart_upgrades(environment)],
    }


def _upgrade(environment: Environment, placed: PlacedCluster) -> Upgrade:
    running, declared, name = running_version(environment, placed.cluster), placed.cluster.version, placed.cluster.name
    target = newest_step(environment, running) if declared == running else declared
    images: dict[str, str | None] = {}
    blocks: dict[str, str] = {}
    do = None
    if target is not None:
        moved = with_version(environment, name, target)
        for pool in placed.cluster.pools:
            image = image_for(moved, placed.cluster, pool)
            images[pool.name] = image.version if image else None
        for objection in step_objections(environment, placed, target):
            blocks.setdefault(objection.text, f"{objection.place} {objection.where}{objection.text}")
        there = place(environment, placed.file, (*placed.path, "version"))
        first = "" if target == declared else f"write version: {target} in {there}, then "
        do = f"{first}jacquard promote {environment.name} {name} --to {target}"
    return Upgrade(
        cluster=name,
        tenant=placed.tenant.tenant,
        version=running,
        next=target,
        images=images,
        blocks=tuple(blocks.values()),
        do=do,
    )
