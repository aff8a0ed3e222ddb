"""Lookups and iterators shared by all components: tenants' files, clusters, pools, VMs and problems."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping

from components.lookups.spares import nodes_within
from components.specs.base import Address, PercentOrCount
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import cluster_of, login_key, pool_key, vm_key
from components.specs.network.tenant_network import VpcSpec
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.problems import (
    FORM,
    ArgumentError,
    Problem,
    Undeclared,
    dotted,
    listed,
    reported,
    suggestion,
)
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct
from components.specs.vms.guests import GuestSystem
from components.specs.vms.vm_offering import VirtualMachineSpec, VmImage, VmsSpec

DataPath = tuple[str | int, ...]


class _Placed(Struct):
    """A cluster in the data, with its place."""

    tenant: TenantSpec
    cluster: ClusterSpec
    path: DataPath

    @property
    def file(self) -> str:
        """Return the file of the tenant."""
        return tenant_file(self.tenant)

    @property
    def vpc(self) -> VpcSpec | None:
        """Return the VPC of the cluster; None if the tenant has no such VPC (a rule reports this)."""
        return vpc_of(self.tenant.vpcs, self.cluster)

    @property
    def vpc_path(self) -> DataPath:
        """Return the path of the cluster's VPC in the file; the VPC must exist."""
        return "vpcs", [vpc.name for vpc in self.tenant.vpcs].index(self.cluster.vpc)


class PlacedCluster(_Placed):
    """A cluster with its place in the data."""


class PlacedPool(_Placed):
    """A pool with its place in the data."""

    pool: NodePoolSpec

    @property
    def key(self) -> str:
        """Return the pool's key in lock files, ``cluster/pool``."""
        return pool_key(self.cluster.name, self.pool.name)

    @property
    def placed_cluster(self) -> PlacedCluster:
        """Return the cluster of the pool, with its place."""
        return PlacedCluster(tenant=self.tenant, cluster=self.cluster, path=self.path[:-2])

    @property
    def dual_stack(self) -> bool:
        """Return whether the data requests IPv6 in addition to IPv4 in the cluster."""
        return self.vpc is not None and self.vpc.ipv6_of(self.cluster.name) is not None


def vpc_of(vpcs: Iterable[VpcSpec], cluster: ClusterSpec) -> VpcSpec | None:
    """Return the VPC of ``cluster`` among ``vpcs``; None if ``vpcs`` lacks it."""
    return next((vpc for vpc in vpcs if vpc.name == cluster.vpc), None)


def vpc_of_host(environment: Environment) -> Callable[[HostSpec], str | None]:
    """Return a function from a host to its VPC in the lock file; None for hosts without a declared cluster."""
    names = {placed.cluster.name: placed.cluster.vpc for placed in clusters(environment)}
    hosts = environment.allocations.hosts
    return lambda host: names.get(cluster_of(hosts.get(host.host, "")))


def has_autoscaling(placed: PlacedCluster) -> bool:
    """Return whether a pool of a cluster has autoscaling. A retired pool keeps no nodes."""
    return any(pool.autoscaling and not pool.retire for pool in placed.cluster.pools)


def tenant_file(tenant: TenantSpec) -> str:
    """Return the file of ``tenant``."""
    return f"tenants/{tenant.tenant}.yaml"


def vms_of(tenant: TenantSpec) -> Iterator[tuple[DataPath, VirtualMachineSpec]]:
    """Yield the VMs of a tenant with their paths: VMs of the platform, then VMs that the tenant ordered."""
    if tenant.vms is not None:
        for key, listing in (("platform", tenant.vms.platform), ("instances", tenant.vms.instances)):
            for index, vm in enumerate(listing):
                yield ("vms", key, index), vm


def system_of(environment: Environment, tenant: TenantSpec, vm: VirtualMachineSpec) -> GuestSystem | None:
    """Return the guest system of ``vm``; None if its image is undeclared (a rule reports this)."""
    images: list[VmImage] = [*environment.vm_catalog.images, *(tenant.vms.own_images if tenant.vms else ())]
    return next((image.os for image in images if image.name == vm.image), None)


def public_keys_of(tenant: TenantSpec) -> Iterator[tuple[DataPath, str]]:
    """Yield the public addresses of a tenant: path of the field that requests one, and its key in the lock file."""
    for at, cluster in enumerate(tenant.clusters):
        if has_public_login(cluster):
            yield ("clusters", at, "slurm", "login", "public_ip"), login_key(cluster.name)
    if tenant.vms is not None:
        home = tenant.vms.cluster
        for path, vm in vms_of(tenant):
            if vm.public_ip:
                yield (*path, "public_ip"), vm_key(home, vm.name)
        for index, name in enumerate(tenant.vms.public_ips_for):
            yield ("vms", "public_ips_for", index), vm_key(home, name)


def has_public_login(cluster: ClusterSpec) -> bool:
    """Return whether Slurm's login nodes of a cluster have a public address."""
    return cluster.slurm is not None and cluster.slurm.login is not None and cluster.slurm.login.public_ip


def vm_pools(environment: Environment, vms: VmsSpec, cluster: ClusterSpec) -> tuple[NodePoolSpec, ...]:
    """Return the pools of ``cluster`` that run VMs: the pools named in ``vms``, or else all pools without GPUs."""
    if vms.pools:
        return tuple(pool for pool in cluster.pools if pool.name in vms.pools)
    known = environment.instance_types.by_name
    return tuple(pool for pool in cluster.pools if not (kind := known.get(pool.instance_type)) or kind.gpu is None)


def inventory_file(hall: str) -> str:
    """Return the inventory file of ``hall``."""
    return f"inventory/hall-{hall}.csv"


def clusters(environment: Environment) -> Iterator[PlacedCluster]:
    """Yield all clusters in order of file and entry. Retiring pools and pools of retiring clusters have a size of 0."""
    for tenant in environment.tenants:
        yield from clusters_of(tenant)


def clusters_of(tenant: TenantSpec) -> Iterator[PlacedCluster]:
    """Yield the clusters of one tenant, as `clusters` does."""
    for index, cluster in enumerate(tenant.clusters):
        if cluster.retire or any(pool.retire for pool in cluster.pools):
            remaining = (_emptied(pool) if pool.retire or cluster.retire else pool for pool in cluster.pools)
            cluster = cluster.model_copy(update={"pools": tuple(remaining)})  # noqa: PLW2901 - the same, with fewer nodes
        yield PlacedCluster(tenant=tenant, cluster=cluster, path=("clusters", index))


def placed_cluster(environment: Environment, tenant: str, name: str) -> PlacedCluster | None:
    """Return the cluster ``name`` of ``tenant``; None if there is none."""
    placed = (item for item in clusters(environment) if item.tenant.tenant == tenant and item.cluster.name == name)
    return next(placed, None)


def pools(environment: Environment) -> Iterator[PlacedPool]:
    """Yield all pools in order of file and entry."""
    for placed in clusters(environment):
        for index, pool in enumerate(placed.cluster.pools):
            path = (*placed.path, "pools", index)
            yield PlacedPool(tenant=placed.tenant, cluster=placed.cluster, pool=pool, path=path)


def pool_named(environment: Environment, pool: str, argument: str) -> PlacedPool:
    """Return the pool with the key ``pool`` (``cluster/pool``), which is the value of ``argument``.

    Raises:
        ArgumentError: there is no such pool.
    """
    placed = {item.key: item for item in pools(environment)}
    if pool not in placed:
        text = f"there is no pool '{pool}' (pools: {listed(placed)}){_nearest(environment, pool, placed)}"
        raise ArgumentError(environment.name, argument, text)
    return placed[pool]


def _nearest(environment: Environment, name: str, known: Iterable[str]) -> str:
    """Return the remedy for an unknown ``name`` of a command."""
    return suggestion(name, known) or f"; write one of them, or see 'jacquard show {environment.name} tenants'"


def failure_domain(environment: Environment, host: HostSpec) -> str:
    """Return the name of the failure domain of ``host``."""
    return environment.failure_domain(host)


def wanted_nodes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the declared number of nodes of ``pool``; 0 for racks of an undeclared instance type (reported by a rule).

    Spares of a pool in whole racks are hosts of these racks: a node elsewhere would be in another NVLink domain.
    """
    if pool.racks is None:
        return pool.nodes or 0
    kind = environment.instance_types.by_name.get(pool.instance_type)
    return pool.racks * nodes_within(kind.nodes_per_rack, declared_spares(environment, pool)) if kind else 0


def most_nodes(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the maximum number of nodes of ``pool``."""
    if pool.autoscaling and pool.max_nodes is not None:
        return pool.max_nodes
    return wanted_nodes(environment, pool)


def requested_nodes(environment: Environment) -> Counter[tuple[str, str]]:
    """Return the maximum number of nodes of all pools, by tenant and instance type."""
    nodes = Counter[tuple[str, str]]()
    for placed in pools(environment):
        nodes[placed.tenant.tenant, placed.pool.instance_type] += most_nodes(environment, placed.pool)
    return nodes


def by_instance_type(nodes: Mapping[tuple[str, str], int]) -> Counter[str]:
    """Return numbers by tenant and instance type as sums over all tenants."""
    sums = Counter[str]()
    for (_, kind), count in nodes.items():
        sums[kind] += count
    return sums


def rack_hosts(environment: Environment, pool: NodePoolSpec) -> int:
    """Return the number of hosts in the racks of ``pool``; 0 for a pool sized in nodes."""
    kind = environment.instance_types.by_name.get(pool.instance_type)
    return (pool.racks or 0) * kind.nodes_per_rack if kind else 0


def declared_spares(environment: Environment, pool: NodePoolSpec) -> PercentOrCount:
    """Return the spares of ``pool`` in each failure domain, as set for the pool or else for the region."""
    return environment.region.spares if pool.spares is None else pool.spares


def _emptied(pool: NodePoolSpec) -> NodePoolSpec:
    size = {"nodes": 0} if pool.racks is None else {"racks": 0}
    nothing = {"min_nodes": None, "max_nodes": None, "autoscaling": False}
    rollout = pool.rollout.model_copy(update={"canary": 0})
    return pool.model_copy(update={**nothing, **size, "rollout": rollout})


def problem(
    environment: Environment, file: str, path: DataPath, text: str | Undeclared, subject: str = "", rule: str = FORM
) -> Problem:
    """Return a problem at the line of ``path`` in ``file``.

    Args:
        environment: provides the line number.
        file: relative to the environment's folder.
        path: place in the file.
        text: the problem and the remedy.
        subject: name that waivers match; empty if no waiver can match.
        rule: policy that the problem violates, if different from the reporting rule.
    """
    return reported(file, environment.positions.line(file, path), dotted(path), text, rule=rule, subject=subject)


def place(environment: Environment, file: str, path: DataPath) -> str:
    """Return ``file:line`` of the value at ``path``, for references in messages."""
    return problem(environment, file, path, "").place


def public_addresses(environment: Environment, placed: PlacedCluster) -> tuple[Address, ...]:
    """Return the public addresses of a cluster: those of its VMs, in the order of the data, and of login nodes."""
    vms, name = placed.tenant.vms, placed.cluster.name
    names = [vm_key(name, vm) for vm in vms.public_names] if vms and vms.cluster == name else []
    logins = [login_key(name)] if has_public_login(placed.cluster) else []
    return tuple(environment.allocations.public_ips[key] for key in (*names, *logins))
