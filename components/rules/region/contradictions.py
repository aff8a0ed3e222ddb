"""Rules about hand edits of lock files that contradict other entries about running nodes."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.number_kinds import ADDRESS_BITS
from components.lookups.pools import DataPath, clusters, place, problem
from components.render.add_ons.cni import POD_PREFIX_PER_NODE
from components.rules.network.tenant_network import SERVICE_PREFIXES
from components.rules.region.running import restored, running_nodes
from components.rules.rule import Rules
from components.specs.base import Network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.problems import Problem


def owners(environment: Environment) -> Iterator[Problem]:
    """Report clusters with nodes in a VPC of another tenant according to the lock file: one entry was edited."""
    lock, nodes = environment.allocations, running_nodes(environment)
    owner = {placed.cluster.name: placed.tenant.tenant for placed in clusters(environment)}
    owner_of_vpc = {vpc.name: tenant.tenant for tenant in environment.tenants for vpc in tenant.vpcs}
    for name, cluster in lock.clusters.items():
        vpc_name = cluster.vpc or ""
        vpc = lock.vpcs.get(vpc_name)
        if vpc is None or vpc.tenant == cluster.tenant or not nodes["clusters", name]:
            continue
        here: DataPath = ("clusters", name)
        there: DataPath = ("vpcs", vpc_name)
        if owner.get(name) != cluster.tenant:
            path, says, other = (*here, "tenant"), f"'{cluster.tenant}', but its VPC belongs to {vpc.tenant}", there
        elif owner_of_vpc.get(vpc_name) != vpc.tenant:
            path, says, other = (
                (*there, "tenant"),
                (f"'{vpc.tenant}', but {name} in it belongs to {cluster.tenant}"),
                here,
            )
        else:
            path, says, other = (
                (*here, "vpc"),
                f"'{vpc_name}', a VPC of {vpc.tenant}, but the cluster belongs to {cluster.tenant}",
                there,
            )
        text = f"{says} ({place(environment, ALLOCATIONS, other)}); {restored(path[:2], nodes['clusters', name])}"
        yield problem(environment, ALLOCATIONS, path, text)


def backends(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose backend in the lock file differs from the backend that created their nodes."""
    pins, nodes = environment.image_pins, running_nodes(environment)
    made: dict[str, Counter[tuple[str, str, str]]] = defaultdict(Counter)
    for group, pinned in pins.groups.items():
        by = pins.intents[pinned]
        made[cluster_of(group)][by.control_planes, by.bare_metal, pinned] += 1
    for name, cluster in environment.allocations.clusters.items():
        for control_planes, bare_metal, intent in list(made[name])[:1]:
            for key, backend in (("control_planes", control_planes), ("bare_metal", bare_metal)):
                recorded = getattr(cluster, key)
                if recorded not in {None, backend}:
                    there = place(environment, IMAGE_PINS, ("intents", intent))
                    text = (
                        f"'{recorded}', but its nodes were created by {backend} ({there});"
                        f" {restored(('clusters', name), nodes['clusters', name])}"
                    )
                    yield problem(environment, ALLOCATIONS, ("clusters", name, key), text)


def prefixes(environment: Environment) -> Iterator[Problem]:
    """Report VPC prefixes in the lock file that differ from the data and are too small for running Services or pods."""
    nodes = running_nodes(environment)
    vpcs = {vpc.name: vpc for tenant in environment.tenants for vpc in tenant.vpcs}
    for name, allocation in environment.allocations.vpcs.items():
        count, declared = nodes["vpcs", name], vpcs.get(name)
        if not count or declared is None:
            continue
        fits = {
            "services": allocation.services.prefixlen in SERVICE_PREFIXES,
            "pods": count << ADDRESS_BITS - POD_PREFIX_PER_NODE
            <= sum(network.num_addresses for network in allocation.of_kind("pods")),
        }
        for key, is_right in fits.items():
            prefix: Network = getattr(allocation, key)
            if not is_right and prefix.prefixlen != getattr(declared, key):
                text = f"{prefix} is too small for the {key} that run in it; {restored(('vpcs', name), count)}"
                yield problem(environment, ALLOCATIONS, ("vpcs", name, key), text)


RULES = Rules(belonging=(owners, backends, prefixes))
