"""Inputs of the control planes of a tenant's clusters."""

from collections.abc import Iterator

from components.inputs.dpu_release import has_dpus
from components.inputs.workloads.slurm import reservations_of
from components.lookups.add_ons import node_tests
from components.lookups.control_planes import most_nodes_of
from components.lookups.data_stores import made_etcd
from components.lookups.kubeconfig_readers import readers_of
from components.lookups.pools import PlacedCluster, clusters_of
from components.render.control_planes.control_plane import DataStore
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.control_planes.kubeconfig_readers import KubeconfigReaders
from components.render.platform_pods import KUBECTL
from components.render.pools.node_pool import group_name
from components.render.pools.pool_windows import PoolWindows
from components.specs.base import DEDICATED
from components.specs.control_planes.data_stores import RestoreSpec
from components.specs.environment import Environment
from components.specs.keys import cluster_of, domain_of, parts_of
from components.specs.natural import naturally
from components.specs.pools.nodes import Windows
from components.specs.region.tenant import TenantSpec


def of_tenant(environment: Environment, tenant: TenantSpec) -> Iterator[HostedControlPlaneInput]:
    """Yield the control plane of each cluster of a tenant."""
    for placed in clusters_of(tenant):
        yield _control_plane(environment, placed)


def _control_plane(environment: Environment, placed: PlacedCluster) -> HostedControlPlaneInput:
    cluster, lock, region = placed.cluster, environment.allocations, environment.region
    pin = environment.image_pins.control_planes[cluster.name]
    domains = {domain_of(key) for key in lock.groups if cluster_of(key) == cluster.name}
    intents = {environment.image_pins.groups[key] for key in lock.groups if cluster_of(key) == cluster.name}
    return HostedControlPlaneInput(
        name=cluster.name,
        spec=cluster,
        tenant=placed.tenant.tenant,
        version=pin.version,
        network=lock.vpcs[cluster.vpc].of_cluster(cluster.name),
        vip=lock.clusters[cluster.name].vip,
        data_store=_data_store(environment, pin.data_store, cluster.control_plane.restore),
        nodes=most_nodes_of(environment, cluster),
        hosts=region.control_planes.hosts,
        registry=region.control_planes.registry,
        domain=region.control_planes.domain,
        writes_names=region.dns is not None,
        backend=region.control_planes.backend,
        bare_metal=region.bare_metal.backend,
        failure_domains=tuple(sorted(domains)),
        intents=tuple(environment.image_pins.intents[name] for name in sorted(intents)),
        lets_dpus_go=region.dpus.release is not None and has_dpus(placed),
        windows=_windows(environment, placed),
        tests=node_tests(environment, placed),
        reservations=reservations_of(environment, placed),
        readers=_readers(environment, placed),
        slos=region.slos,
        thresholds=region.thresholds,
        audited=region.log_store is not None,
    )


def _windows(environment: Environment, placed: PlacedCluster) -> PoolWindows | None:
    """Return the maintenance window outside which the pools of a cluster do not roll; None without such a window."""
    window, paused = placed.tenant.changes.window, {pool.name for pool in placed.cluster.pools if pool.rollout.paused}
    groups = [
        group_name(*parts)
        for parts in map(parts_of, naturally(environment.allocations.groups))
        if parts[0] == placed.cluster.name and parts[1] not in paused
    ]
    if window is None or not groups or environment.region.nodes.windows is Windows.ANNOTATE:
        return None
    return PoolWindows(window=window, groups=tuple(groups), image=str(environment.versions.tool(KUBECTL)))


def _readers(environment: Environment, placed: PlacedCluster) -> KubeconfigReaders | None:
    """Return the Deployments to restart; None without such Deployments, or without the image, which a rule reports."""
    names = readers_of(environment, placed)
    if not names or KUBECTL not in environment.versions.tool_names:
        return None
    return KubeconfigReaders(deployments=names, image=str(environment.versions.tool(KUBECTL)))


def _data_store(environment: Environment, name: str, restore: RestoreSpec | None) -> DataStore:
    control_planes = environment.region.control_planes
    if name == DEDICATED and control_planes.dedicated is not None:
        return made_etcd(environment, control_planes.dedicated, restore)
    return {store.name: store for store in control_planes.data_stores}[name]
