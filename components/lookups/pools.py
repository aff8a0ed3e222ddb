"""Names and walks that every part of the plan shares: tenants' files, pools, failure domains, rollout groups."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from components.lookups.spares import nodes_within
from components.specs.base import Address, PercentOrCount
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of, pool_key, vm_key
from components.specs.network.tenant_network import VpcSpec
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import FORM, Problem, SpecError, dotted, listed, suggestion
from components.specs.region.tenant import TenantSpec
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import VirtualMachineSpec, VmImage, VmsSpec

DataPath = tuple[str | int, ...]


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """What is written of a cluster, and where."""

    tenant: TenantSpec
    cluster: ClusterSpec
    path: DataPath

    @property
    def file(self) -> str:
        """Return the file of the tenant."""
        return tenant_file(self.tenant)

    @property
    def vpc(self) -> VpcSpec | None:
        """Return the VPC of the cluster; None where its tenant has no such VPC, which is a problem of its own."""
        return vpc_of(self.tenant.vpcs, self.cluster)

    @property
    def vpc_path(self) -> DataPath:
        """Return where the VPC of the cluster is written, which must be there."""
        return "vpcs", [vpc.name for vpc in self.tenant.vpcs].index(self.cluster.vpc)


@dataclass(frozen=True, kw_only=True)
class PlacedCluster(_Placed):
    """A cluster and where it is written."""


@dataclass(frozen=True, kw_only=True)
class PlacedPool(_Placed):
    """A pool and where it is written."""

    pool: NodePoolSpec

    @property
    def key(self) -> str:
        """Return the pool's key in lock files, ``cluster/pool``."""
        return pool_key(self.cluster.name, self.pool.name)

    @property
    def placed_cluster(self) -> PlacedCluster:
        """Return the cluster of the pool, and where it is written."""
        return PlacedCluster(tenant=self.tenant, cluster=self.cluster, path=self.path[:-2])

    @property
    def dual_stack(self) -> bool:
        """Tell whether the data ask for IPv6 beside IPv4 in the cluster."""
        return self.vpc is not None and self.vpc.ipv6_of(self.cluster.name) is not None


def vpc_of(vpcs: Iterable[VpcSpec], cluster: ClusterSpec) -> VpcSpec | None:
    """Return the VPC of ``cluster`` among ``vpcs``; None where it is not there."""
    return next((vpc for vpc in vpcs if vpc.name == cluster.vpc), None)


def vpc_of_host(environment: Environment) -> Callable[[HostSpec], str | None]:
    """Return what tells the VPC that a host belongs to by the lock file: None where nobody of the data has the host."""
    names = {placed.cluster.name: placed.cluster.vpc for placed in clusters(environment)}
    hosts = environment.allocations.hosts
    return lambda host: names.get(cluster_of(hosts.get(host.host, "")))


def tenant_file(tenant: TenantSpec) -> str:
    """Return the file that holds ``tenant``."""
    return f"tenants/{tenant.tenant}.yaml"


def vms_of(tenant: TenantSpec) -> Iterator[tuple[DataPath, VirtualMachineSpec]]:
    """Yield the VMs of a tenant with where they are written: the platform's own, and those that it ordered."""
    if tenant.vms is not None:
        for key, listing in (("platform", tenant.vms.platform), ("instances", tenant.vms.instances)):
            for index, vm in enumerate(listing):
                yield ("vms", key, index), vm


def system_of(environment: Environment, tenant: TenantSpec, vm: VirtualMachineSpec) -> GuestSystem | None:
    """Return what ``vm`` runs; None where nobody knows its image, which is a problem of its own."""
    images: list[VmImage] = [*environment.vm_catalog.images, *(tenant.vms.own_images if tenant.vms else ())]
    return next((image.os for image in images if image.name == vm.image), None)


def public_vms_of(tenant: TenantSpec) -> Iterator[tuple[DataPath, str]]:
    """Yield what asks for a public address of each VM of a tenant that has one, and the VM's key in the lock file."""
    if tenant.vms is not None:
        home = tenant.vms.cluster
        for path, vm in vms_of(tenant):
            if vm.public_ip:
                yield (*path, "public_ip"), vm_key(home, vm.name)
        for index, name in enumerate(tenant.vms.public_ips_for):
            yield ("vms", "public_ips_for", index), vm_key(home, name)


def vm_pools(environment: Environment, vms: VmsSpec, cluster: ClusterSpec) -> tuple[NodePoolSpec, ...]:
    """Return the pools of ``cluster`` that run VMs: those that ``vms`` names, or else those without GPUs."""
    if vms.pools:
        return tuple(pool for pool in cluster.pools if pool.name in vms.pools)
    known = environment.instance_types.by_name
    return tuple(pool for pool in cluster.pools if not (kind := known.get(pool.instance_type)) or kind.gpu is None)


def inventory_file(hall: str) -> str:
    """Return the file that holds the hosts of ``hall``."""
    return f"inventory/hall-{hall}.csv"


def clusters(environment: Environment) -> Iterator[PlacedCluster]:
    """Yield all clusters in order of file and entry; pools that retire, or whose cluster does, want no nodes."""
    for tenant in environment.tenants:
        yield from clusters_of(tenant)


def clusters_of(tenant: TenantSpec) -> Iterator[PlacedCluster]:
    """Yield the clusters of one tenant, as `clusters` does."""
    for index, cluster in enumerate(tenant.clusters):
        if cluster.retire or any(pool.retire for pool in cluster.pools):
            left = (_emptied(pool) if pool.retire or cluster.retire else pool for pool in cluster.pools)
            cluster = cluster.model_copy(update={"pools": tuple(left)})  # noqa: PLW2901 - the same, with fewer nodes
        yield PlacedCluster(tenant=tenant, cluster=cluster, path=("clusters", index))


def pools(environment: Environment) -> Iterator[PlacedPool]:
    """Yield all pools in order of file and entry."""
    for placed in clusters(environment):
        for index, pool in enumerate(placed.cluster.pools):
            path = (*placed.path, "pools", index)
            yield PlacedPool(tenant=placed.tenant, cluster=placed.cluster, pool=pool, path=path)


def pool_named(environment: Environment, pool: str, file: str, section: str) -> PlacedPool:
    """Return the pool that somebody calls ``pool`` (``cluster/pool``).

    Raises:
        SpecError: there is none, told of ``section`` of the lock file ``file``, which would change.
    """
    placed = {item.key: item for item in pools(environment)}
    if pool not in placed:
        text = f"there is no pool '{pool}' (pools: {listed(placed)}){suggestion(pool, placed)}"
        raise SpecError(environment.name, [Problem(file, 0, section, text)])
    return placed[pool]


def failure_domain(environment: Environment, host: HostSpec) -> str:
    """Return the name of what fails together with ``host``."""
    return environment.failure_domain(host)


def wanted_nodes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the nodes ``pool`` runs; none for racks of an unknown instance type, which is a problem of its own.

    Spares of whole racks stay inside them: a node elsewhere is in another NVLink domain.
    """
    if pool.racks is None:
        return pool.nodes or 0
    kind = environment.instance_types.by_name.get(pool.instance_type)
    return pool.racks * nodes_within(kind.nodes_per_rack, declared_spares(environment, pool)) if kind else 0


def most_nodes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return how many nodes ``pool`` may come to run."""
    if pool.autoscaling and pool.max_nodes is not None:
        return pool.max_nodes
    return wanted_nodes(environment, pool)


def rack_hosts(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the hosts of the whole racks that ``pool`` takes; none for a pool that counts in nodes."""
    kind = environment.instance_types.by_name.get(pool.instance_type)
    return (pool.racks or 0) * kind.nodes_per_rack if kind else 0


def declared_spares(environment: Environment, pool: NodePoolSpec) -> PercentOrCount:
    """Return the spares ``pool`` keeps per failure domain: its own figure, or else the region's."""
    return environment.region.spares if pool.spares is None else pool.spares


def _emptied(pool: NodePoolSpec) -> NodePoolSpec:
    size = {"nodes": 0} if pool.racks is None else {"racks": 0}
    nothing = {"min_nodes": None, "max_nodes": None, "autoscaling": False}
    rollout = pool.rollout.model_copy(update={"canary": 0})
    return pool.model_copy(update={**nothing, **size, "rollout": rollout})


def problem(
    environment: Environment, file: str, path: DataPath, text: str, subject: str = "", rule: str = FORM
) -> Problem:
    """Return a problem at the line where ``path`` stands in ``file``.

    Args:
        environment: knows the line.
        file: relative to the environment's folder.
        path: place in the file.
        text: what is wrong, and the remedy.
        subject: what a waiver of it names; nothing when there is none.
        rule: the policy that asks for it, when it is not the cross-check that reports it.
    """
    return Problem(file, environment.positions.line(file, path), dotted(path), text, rule=rule, subject=subject)


def place(environment: Environment, file: str, path: DataPath) -> str:
    """Return ``file:line`` of the value at ``path``, for the other side of a problem."""
    return problem(environment, file, path, "").place


def public_addresses(environment: Environment, placed: PlacedCluster) -> tuple[Address, ...]:
    """Return the public addresses of the VMs that a cluster runs, in the order of the data."""
    vms, given = placed.tenant.vms, environment.allocations.public_ips
    if vms is None or vms.cluster != placed.cluster.name:
        return ()
    return tuple(given[vm_key(vms.cluster, name)] for name in vms.public_names)
