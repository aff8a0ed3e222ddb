"""Members of InfiniBand partitions, by port: a contract with the operators of the fabric manager (UFM).

Jacquard does not configure ports of hosts in UFM. All ports of a host belong to the VPC of its cluster, so a port is in
one partition, or only in UFM's default partition. A request has the format of UFM's REST API to add ports: ``POST
/ufmRest/resources/pkeys`` (Mellanox/ib-kubernetes:pkg/sm/plugins/ufm/ufm.go,
NVIDIA/infra-controller:crates/ib-fabric/src/ib/ufmclient/mod.rs, NVIDIA's guide of UFM's REST API, PKey GUIDs).
"""

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from components.lookups.network.fabrics import connected, ports_on, reached
from components.lookups.pools import clusters_of, vpc_of_host
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse
from components.specs.hosts.inventory import HostSpec
from components.specs.network.fabrics import FabricKind, FabricSpec, GuidRange
from components.specs.network.tenant_network import VpcSpec
from components.specs.ranges import NumberRange
from components.specs.region.tenant import TenantSpec

FORMAT = 1


class MembersRequest(Spec):
    """Request that adds ports to a partition in UFM, in the format of its REST API; existing members stay."""

    pkey: str
    """Partition key in hexadecimal, such as ``0x10``; never the key of the default partition, ``0x7fff``."""
    membership: Literal["full"] = "full"
    """Type of membership; full members communicate with each other."""
    index0: Literal[True] = True
    """Whether the key is the first entry in the port's table; jobs use the first entry by default."""
    ip_over_ib: Literal[True] = True
    """Whether the partition carries IP over InfiniBand."""
    guids: tuple[str, ...]
    """GUIDs of ports, 16 hexadecimal digits each, in the order of the inventory."""


class PartitionFunctions(Spec):
    """Virtual functions of a cluster in a partition; ib-kubernetes adds and removes these members."""

    cluster: str
    guids: GuidRange
    """Range of GUIDs of the functions; ib-kubernetes rejects all other GUIDs."""


class PartitionMembers(Spec):
    """Partition of a VPC on a fabric."""

    vpc: str
    tenant: str
    clusters: tuple[str, ...]
    """Clusters in the VPC with ports on the fabric."""
    request: MembersRequest
    """All required ports. Any other member outside the ranges of ``functions`` must be removed."""
    hosts: dict[str, tuple[str, ...]]
    """GUIDs in the request, by host. Only the cluster of a host may claim the host."""
    functions: tuple[PartitionFunctions, ...]
    """Dynamic members in addition to the ports."""
    unknown: tuple[str, ...]
    """Hosts with required ports whose GUIDs are not in the inventory."""


class FabricPartitions(Spec):
    """All partitions of a fabric."""

    fabric: str
    halls: tuple[str, ...]
    pkeys: str
    """Range of keys that Jacquard assigns; partitions with other keys are out of scope."""
    partitions: tuple[PartitionMembers, ...]
    """Partitions of VPCs, in the order of the data."""
    nobody: dict[str, tuple[str, ...]]
    """GUIDs of ports without a partition, by host: the host is free, or its VPC has no partition on the fabric."""
    freed: tuple[str, ...]
    """Keys of released partitions. These partitions must have no members."""


class PartitionsContract(Spec):
    """Report of ``jacquard show ENV network --partitions``."""

    schema_version: int = FORMAT
    environment: str
    fabrics: tuple[FabricPartitions, ...]
    """InfiniBand fabrics of the region. Ports there are limited members of the default partition, in addition to the
    partitions here."""


def partitions(environment: Environment) -> PartitionsContract:
    """Return the required members of each partition on the InfiniBand fabrics of ``environment``.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
    """
    return PartitionsContract(
        environment=environment.name,
        fabrics=tuple(
            _fabric(environment, fabric)
            for fabric in environment.region.fabrics
            if fabric.kind is FabricKind.INFINIBAND
        ),
    )


def _fabric(environment: Environment, fabric: FabricSpec) -> FabricPartitions:
    hosts, quarantine, ours = _hosts(environment, fabric), environment.allocations.quarantine, _ours(fabric)
    members = tuple(
        _partition(environment, fabric, tenant, vpc, hosts.pop(vpc.name, []))
        for tenant in environment.tenants
        for vpc in tenant.vpcs
        if fabric.name in vpc.fabrics
    )
    return FabricPartitions(
        fabric=fabric.name,
        halls=reached(environment, fabric),
        pkeys=f"{_key(ours.first)}-{_key(ours.last)}",
        partitions=members,
        nobody=_known(host for ports in hosts.values() for host in ports),
        freed=tuple(_key(pkey) for freed in quarantine.values() for pkey in freed.pkeys.get(fabric.name, ())),
    )


def _partition(
    environment: Environment, fabric: FabricSpec, tenant: TenantSpec, vpc: VpcSpec, hosts: Iterable[HostSpec]
) -> PartitionMembers:
    lock, known = environment.allocations, _known(hosts)
    placed = [
        cluster
        for cluster in clusters_of(tenant)
        if cluster.cluster.vpc == vpc.name and connected(environment, cluster)
    ]
    return PartitionMembers(
        vpc=vpc.name,
        tenant=tenant.tenant,
        clusters=tuple(cluster.cluster.name for cluster in placed),
        request=MembersRequest(
            pkey=_key(lock.vpcs[vpc.name].pkeys[fabric.name]),
            guids=tuple(guid for guids in known.values() for guid in guids),
        ),
        hosts=known,
        functions=tuple(
            PartitionFunctions(
                cluster=cluster.cluster.name, guids=lock.clusters[cluster.cluster.name].guids[fabric.name]
            )
            for cluster in placed
            if any(kind.port_use is PortUse.FUNCTIONS for kind in connected(environment, cluster))
        ),
        unknown=tuple(host.host for host in hosts if not host.port_guids),
    )


def _hosts(environment: Environment, fabric: FabricSpec) -> dict[str | None, list[HostSpec]]:
    """Return the hosts with ports on ``fabric`` by VPC, in the order of the inventory."""
    vpc_of, halls = vpc_of_host(environment), reached(environment, fabric)
    with_ports = {kind.name for kind in environment.instance_types.instance_types if ports_on(kind, fabric)}
    by_vpc: dict[str | None, list[HostSpec]] = defaultdict(list)
    for host in environment.hosts:
        if host.hall in halls and host.instance_type in with_ports:
            by_vpc[vpc_of(host)].append(host)
    return by_vpc


def _known(hosts: Iterable[HostSpec]) -> dict[str, tuple[str, ...]]:
    """Return the GUIDs of ports by host, in UFM's format; ports without a GUID in the inventory are omitted."""
    return {host.host: tuple(guid.removeprefix("0x") for guid in host.port_guids) for host in hosts if host.port_guids}


def _ours(fabric: FabricSpec) -> NumberRange:
    if fabric.pkeys is None:
        msg = f"{fabric.name} has no partition keys, which every InfiniBand fabric requires"
        raise KeyError(msg)
    return fabric.pkeys


def _key(pkey: int) -> str:
    return f"{pkey:#x}"
