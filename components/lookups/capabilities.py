"""Capabilities that a cluster lacks because it leaves out default add-ons, with reason and consequence."""

from __future__ import annotations

from collections.abc import Mapping

from components.lookups.add_ons import add_ons, takes_defaults
from components.lookups.pools import PlacedCluster, clusters
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment

CONSEQUENCES: Mapping[Capability | None, str] = {
    Capability.NODE_FEATURES: "nodes have no hardware labels",
    Capability.GPUS: "pods cannot use GPUs",
    Capability.COMPUTE_DOMAINS: "NVLink does not span nodes",
    Capability.NODE_PROBLEMS: "lost GPUs and failed links are not reported",
    Capability.LOAD_BALANCERS: "Services of type LoadBalancer never get an address",
    Capability.MONITORING: "problems of add-ons and nodes are not reported",
    Capability.METRICS: "kubectl top and autoscaling by CPU have no metrics",
    None: "dependent software cannot be installed",
}
"""Consequences of a missing capability. Without a network ``jacquard check`` reports a problem."""


def left_out(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return by cluster each default add-on that is left out without replacement, with reason and consequence."""
    found = {placed.cluster.name: tuple(_told(environment, placed)) for placed in clusters(environment)}
    return {name: lost for name, lost in found.items() if lost}


def _told(environment: Environment, placed: PlacedCluster) -> list[str]:
    reasons = placed.cluster.without_add_ons if takes_defaults(placed.cluster) else {}
    given = {entry.gives for entry in add_ons(environment, placed) if entry.gives} if reasons else set()
    return [
        f"{entry.name} is left out ({reasons[entry.name]}), so {CONSEQUENCES[entry.gives]}"
        for entry in environment.add_ons.add_ons
        if entry.name in reasons and entry.default and entry.gives in CONSEQUENCES and entry.gives not in given
    ]
