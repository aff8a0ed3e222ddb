"""What clusters go without that default add-ons would give them, why, and what follows."""

from __future__ import annotations

from collections.abc import Mapping

from components.lookups.add_ons import add_ons, takes_defaults
from components.lookups.pools import PlacedCluster, clusters
from components.specs.add_ons.add_ons import Gift
from components.specs.environment import Environment

CONSEQUENCES: Mapping[Gift | None, str] = {
    Gift.NODE_FEATURES: "nodes have no labels of their hardware",
    Gift.GPUS: "no pod gets a GPU",
    Gift.COMPUTE_DOMAINS: "NVLink ends at the node for jobs on several",
    Gift.NODE_PROBLEMS: "a GPU that fell off the bus and a link that went down are told by nobody",
    Gift.LOAD_BALANCERS: "Services of type LoadBalancer wait for an address for ever",
    Gift.MONITORING: "what goes wrong with add-ons and nodes is told by nobody",
    Gift.METRICS: "kubectl top and autoscaling by CPU have no figures",
    None: "what needs it cannot be installed",
}
"""What a cluster lacks without a gift; without a network ``jacquard check`` refuses it."""


def left_out(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return by cluster each default add-on that its data leave out and none replaces, with the reason and the loss."""
    found = {placed.cluster.name: tuple(_told(environment, placed)) for placed in clusters(environment)}
    return {name: told for name, told in found.items() if told}


def _told(environment: Environment, placed: PlacedCluster) -> list[str]:
    reasons = placed.cluster.without_add_ons if takes_defaults(placed.cluster) else {}
    given = {entry.gives for entry in add_ons(environment, placed) if entry.gives} if reasons else set()
    return [
        f"{entry.name} is left out ({reasons[entry.name]}), so {CONSEQUENCES[entry.gives]}"
        for entry in environment.add_ons.add_ons
        if entry.name in reasons and entry.default and entry.gives in CONSEQUENCES and entry.gives not in given
    ]
