"""Rule about the pod network (CNI) of a cluster: it does not change while nodes run."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons, brings_network
from components.lookups.pools import PlacedCluster, clusters, place, problem
from components.rules.region.running import running_nodes
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.reading.problems import Problem

AREA = "add-ons"
"""Prefix of the name of this rule in reports."""


def network_kept(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report changes that give a cluster with nodes another pod network (CNI).

    Flux would uninstall the former network, with which all pods of the cluster run, and a node has one network only.
    Commands with ``--base`` evaluate this rule. A waiver with the cluster as its subject permits a network that you
    migrate yourself.
    """
    nodes = running_nodes(base)
    former = {(placed.tenant.tenant, placed.cluster.name): placed for placed in clusters(base)}
    for placed in clusters(head):
        name = placed.cluster.name
        before = former.get((placed.tenant.tenant, name))
        if before is None or not nodes["clusters", name]:
            continue
        (old_key, old, was), (key, new, now) = _network(base, before), _network(head, placed)
        if old and new and old != new:
            there = place(base, before.file, (*before.path, old_key))
            text = (
                f"{now} instead of {was} (base: {there}) is another network for the pods of {name}, and pods of its"
                f" {nodes['clusters', name]} nodes would lose their connections; restore {was}, or create a new cluster"
                f" with {now} and move the workloads"
            )
            yield problem(head, placed.file, (*placed.path, key), text, subject=name)


def _network(environment: Environment, placed: PlacedCluster) -> tuple[str, str, str]:
    """Return the field that determines the network of a cluster, and identity and name of the network.

    Both are empty for the network of a VPC, which is immutable by another rule.
    """
    if seed := placed.cluster.cni_seed:
        return "cni_seed", f"seed {seed}", f"cni_seed {seed}"
    if brings_network(placed):
        return "vpc", "", ""
    chosen = (entry for entry in add_ons(environment, placed) if entry.gives is Capability.NETWORK)
    return "add_ons", *next(((entry.chart, entry.name) for entry in chosen), ("", ""))


CHANGES = (network_kept,)
"""Rules about the change from a base to a head."""
