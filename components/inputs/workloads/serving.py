"""Inputs of the endpoints in a cluster: GPUs, ports, taints and topology of their pools, and their DNS names."""

from collections.abc import Iterator

from components.inputs.workloads.queues import HOST_LABELS, queued_pool
from components.lookups.network.dns import has_names
from components.lookups.network.pod_ports import joins_host_network, ports_of_node
from components.lookups.pools import PlacedCluster
from components.render import labels as keys
from components.render.backends import BARE_METAL
from components.render.region.dns import domain_of
from components.render.workloads.serving import ServedEndpoint, ServingInput
from components.specs.control_planes.cluster_namespaces import NamespaceIsolation, PodSecurity
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.workloads.queues import GangDomain
from components.specs.workloads.serving import EndpointSpec, Exposure

DOMAIN_LABELS = dict(zip((GangDomain.LEAF, GangDomain.RACK), HOST_LABELS, strict=True))
"""Label of a host by the domain of a group."""


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[ServingInput]:
    """Yield the endpoints of a cluster; nothing if the data define none."""
    cluster, spec = placed.cluster, placed.cluster.serving
    if spec is not None:
        networks, numbers = environment.region.networks, environment.allocations.vpcs[cluster.vpc]
        yield ServingInput(
            name=cluster.name,
            cluster=cluster.name,
            spec=spec,
            endpoints=tuple(_served(environment, placed, endpoint) for endpoint in spec.endpoints),
            queue_class=queue_class(cluster),
            inside=tuple(numbers.prefixes.values()),
            hidden=networks.closed_networks,
        )


def queue_class(cluster: ClusterSpec) -> str | None:
    """Return the class of queues with the priority of the endpoints; None without queues or without such a class."""
    if cluster.queues is None or cluster.serving is None:
        return None
    classes = cluster.queues.classes.items()
    return next((name for name, priority in classes if priority == cluster.serving.priority), None)


def host_name(environment: Environment, placed: PlacedCluster, endpoint: EndpointSpec) -> str | None:
    """Return the DNS name of ``endpoint``; None if it has no load balancer address, or the cluster no names."""
    dns = environment.region.dns
    if dns is None or endpoint.exposure is not Exposure.LOAD_BALANCER or not has_names(environment, placed):
        return None
    return f"{endpoint.name}.{domain_of(placed.cluster.name, dns)}"


def _served(environment: Environment, placed: PlacedCluster, endpoint: EndpointSpec) -> ServedEndpoint:
    cluster = placed.cluster
    [pool] = [pool for pool in cluster.pools if pool.name == endpoint.pool]
    [space] = [space for space in cluster.namespaces if space.name == endpoint.namespace]
    kind = environment.instance_types.by_name[pool.instance_type]
    nodes = queued_pool(environment, cluster.name, pool)
    ports, networks = ports_of_node(environment, placed, kind)
    # Pods reach ports in the network of the node only if they are in it, which only privileged namespaces allow.
    attached = endpoint.nodes > 1 and not joins_host_network(environment, placed, kind)
    return ServedEndpoint(
        spec=endpoint,
        limits={**(dict([nodes.gpus]) if nodes.gpus else {}), **(ports if attached else {})},
        taints=nodes.taints,
        networks=networks if attached else (),
        domain=_label(environment, endpoint.within) if endpoint.within else None,
        restricted=space.pod_security is PodSecurity.RESTRICTED,
        isolated=space.isolation is NamespaceIsolation.DEFAULT_DENY,
        host_name=host_name(environment, placed, endpoint),
    )


def _label(environment: Environment, domain: GangDomain) -> str:
    """Return the label of nodes with ``domain``; a backend that copies no labels of hosts has failure domains only."""
    copied = BARE_METAL[environment.region.bare_metal.backend].labels_nodes
    return DOMAIN_LABELS[domain] if copied else keys.NODE_FAILURE_DOMAIN
