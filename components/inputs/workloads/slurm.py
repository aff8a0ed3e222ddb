"""Inputs of the Slurm cluster of a tenant cluster."""

from collections.abc import Iterator

from components.inputs.buckets import offered_buckets
from components.lookups.network.dns import has_names
from components.lookups.network.pod_ports import joins_host_network, ports_of_node
from components.lookups.pools import PlacedCluster, wanted_nodes
from components.render.pools.pool_rollout import waits_for_jobs
from components.render.program_pods import TOOL
from components.render.region.dns import domain_of
from components.render.workloads.slurm import LOGIN, SlurmInput, images_of
from components.render.workloads.slurm_pool import CHART, NAMESPACE, SlurmPool
from components.render.workloads.slurm_reservations import SlurmReservations
from components.rollout.repair import replacement_minutes
from components.specs.environment import Environment
from components.specs.keys import login_key, pool_key
from components.specs.pools.node_pool import NodePoolSpec


def of_cluster(environment: Environment, placed: PlacedCluster) -> Iterator[SlurmInput]:
    """Yield the Slurm cluster of a cluster; nothing for other clusters."""
    spec = placed.cluster.slurm
    if spec is None:
        return
    dns, login, name = environment.region.dns, spec.login, placed.cluster.name
    pools = {pool.name: pool for pool in placed.cluster.pools}
    public = environment.allocations.public_ips[login_key(name)] if login and login.public_ip else None
    named = login is not None and dns is not None and has_names(environment, placed)
    yield SlurmInput(
        name=name,
        cluster=name,
        spec=spec,
        pools=tuple(_pool(environment, placed, pools[pool]) for pool in spec.pools),
        images={image: str(environment.versions.tool(image)) for image in images_of(spec)},
        operator=environment.chart_inside(name, CHART),
        system_pool=placed.cluster.has_system_pool,
        buckets=tuple(offered_buckets(environment, placed, lambda namespace: namespace == NAMESPACE)),
        public_address=public,
        host_name=f"{LOGIN}.{domain_of(name, dns)}" if named and dns else None,
    )


def reservations_of(environment: Environment, placed: PlacedCluster) -> SlurmReservations | None:
    """Return the reservations of a cluster's Slurm cluster; None without pools whose drains wait for jobs."""
    spec = placed.cluster.slurm
    named = spec.pools if spec else ()
    pools = [pool for pool in placed.cluster.pools if pool.name in named and waits_for_jobs(pool)]
    if spec is None or not pools:
        return None
    return SlurmReservations(
        cluster=placed.cluster.name,
        keys_secret=spec.keys_secret,
        replacement_seconds={pool.name: 60 * replacement_minutes(environment, pool) for pool in pools},
        image=str(environment.versions.tool(TOOL)),
    )


def _pool(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> SlurmPool:
    kind = environment.instance_types.by_name[pool.instance_type]
    key = pool_key(placed.cluster.name, pool.name)
    hosts = [host for host in environment.hosts if environment.allocations.hosts.get(host.host) == key]
    ports, networks = ports_of_node(environment, placed, kind)
    return SlurmPool(
        spec=pool,
        kind=kind,
        nodes=wanted_nodes(environment, pool),
        leaves=tuple(sorted({host.leaf for host in hosts})),
        racks=tuple(sorted({host.rack for host in hosts})) if kind.spans_nodes else (),
        ports=ports,
        networks=networks,
        host_network=joins_host_network(environment, placed, kind),
    )
