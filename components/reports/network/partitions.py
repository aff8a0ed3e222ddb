"""Who must be in which partition of InfiniBand fabrics, by port: a contract with those who keep its manager (UFM).

Nothing here speaks to UFM for ports of hosts. Ports of a host are all of one VPC, that of its cluster, so a port is in
one partition, or in none but UFM's default one. A request is what UFM's REST API takes to enter ports:
``POST /ufmRest/resources/pkeys`` (Mellanox/ib-kubernetes:pkg/sm/plugins/ufm/ufm.go,
NVIDIA/infra-controller:crates/ib-fabric/src/ib/ufmclient/mod.rs, NVIDIA's guide of UFM's REST API, PKey GUIDs).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Literal

from components.lookups.fabrics import connected, ports_on, reached
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
    """What enters ports in a partition at UFM, as its REST API takes it; what is there already stays."""

    pkey: str
    """Partition key in hexadecimal, such as ``0x10``, never that of the default partition, ``0x7fff``."""
    membership: Literal["full"] = "full"
    """Full members hear each other."""
    index0: Literal[True] = True
    """Whether the key is the first of the port's table, by which jobs that choose none go."""
    ip_over_ib: Literal[True] = True
    """Whether IP runs over the partition."""
    guids: tuple[str, ...]
    """GUIDs of ports, 16 hexadecimal digits each, in the order of the inventory."""


class PartitionFunctions(Spec):
    """Virtual functions of a cluster in a partition, which ib-kubernetes enters and takes out."""

    cluster: str
    guids: GuidRange
    """GUIDs that they have, and no others: ib-kubernetes refuses any outside its range."""


class PartitionMembers(Spec):
    """The partition of a VPC on a fabric."""

    vpc: str
    tenant: str
    clusters: tuple[str, ...]
    """Clusters in the VPC with ports on the fabric."""
    request: MembersRequest
    """All ports that must be members; whatever else is a member, and in no range of ``functions``, must go."""
    hosts: dict[str, tuple[str, ...]]
    """GUIDs in the request by host. Its cluster may claim the host, and no other one may."""
    functions: tuple[PartitionFunctions, ...]
    """Members that come and go beside the ports."""
    unknown: tuple[str, ...]
    """Hosts with ports that must be members and whose GUIDs no inventory says."""


class FabricPartitions(Spec):
    """All partitions of a fabric."""

    fabric: str
    halls: tuple[str, ...]
    pkeys: str
    """Range of keys that are ours to fill and to empty; others are nobody's business here."""
    partitions: tuple[PartitionMembers, ...]
    """Partitions of VPCs, in the order of the data."""
    nobody: dict[str, tuple[str, ...]]
    """GUIDs by host of ports that are in none of them: nobody has the host, or its VPC has no partition here."""
    freed: tuple[str, ...]
    """Keys of partitions that nobody has any more, which must have no member."""


class PartitionsContract(Spec):
    """Everything that ``jacquard show ENV network --partitions`` says."""

    schema_version: int = FORMAT
    environment: str
    fabrics: tuple[FabricPartitions, ...]
    """InfiniBand fabrics of the region. Ports there are limited members of the default partition, beside what is said
    of them here."""


def partitions(environment: Environment) -> PartitionsContract:
    """Return who must be in which partition of the InfiniBand fabrics of ``environment``.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
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
        nobody=_known(host for left in hosts.values() for host in left),
        freed=tuple(_key(pkey) for freed in quarantine.values() for pkey in freed.pkeys.get(fabric.name, ())),
    )


def _partition(
    environment: Environment, fabric: FabricSpec, tenant: TenantSpec, vpc: VpcSpec, hosts: Iterable[HostSpec]
) -> PartitionMembers:
    lock, known = environment.allocations, _known(hosts)
    placed = [one for one in clusters_of(tenant) if one.cluster.vpc == vpc.name and connected(environment, one)]
    return PartitionMembers(
        vpc=vpc.name,
        tenant=tenant.tenant,
        clusters=tuple(one.cluster.name for one in placed),
        request=MembersRequest(
            pkey=_key(lock.vpcs[vpc.name].pkeys[fabric.name]),
            guids=tuple(guid for guids in known.values() for guid in guids),
        ),
        hosts=known,
        functions=tuple(
            PartitionFunctions(cluster=one.cluster.name, guids=lock.clusters[one.cluster.name].guids[fabric.name])
            for one in placed
            if any(kind.port_use is PortUse.FUNCTIONS for kind in connected(environment, one))
        ),
        unknown=tuple(host.host for host in hosts if not host.port_guids),
    )


def _hosts(environment: Environment, fabric: FabricSpec) -> dict[str | None, list[HostSpec]]:
    """Return the hosts with ports on ``fabric`` by VPC, in the order of the inventory."""
    vpc_of, halls = vpc_of_host(environment), reached(environment, fabric)
    with_ports = {kind.name for kind in environment.instance_types.instance_types if ports_on(kind, fabric)}
    found: dict[str | None, list[HostSpec]] = defaultdict(list)
    for host in environment.hosts:
        if host.hall in halls and host.instance_type in with_ports:
            found[vpc_of(host)].append(host)
    return found


def _known(hosts: Iterable[HostSpec]) -> dict[str, tuple[str, ...]]:
    """Return the GUIDs of ports by host as UFM has them, without those that no inventory says."""
    return {host.host: tuple(guid.removeprefix("0x") for guid in host.port_guids) for host in hosts if host.port_guids}


def _ours(fabric: FabricSpec) -> NumberRange:
    if fabric.pkeys is None:
        msg = f"{fabric.name} has no partition keys, which no InfiniBand fabric is without"
        raise KeyError(msg)
    return fabric.pkeys


def _key(pkey: int) -> str:
    return f"{pkey:#x}"
