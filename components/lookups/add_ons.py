"""Add-ons of clusters with their values, and the properties of clusters on which these depend."""

from collections.abc import Iterator, Mapping

from components.lookups.control_planes import most_nodes_of
from components.lookups.health.node_checks import checks_by_type
from components.lookups.health.node_tests import cluster_tests
from components.lookups.metrics_series import agents, nodes_series
from components.lookups.network.fabrics import connected
from components.lookups.pools import PlacedCluster, clusters, has_autoscaling
from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.cni import DUAL_STACK, TAKE_MORE_PODS
from components.render.add_ons.metrics_writer import MetricsWriter
from components.render.backends import CONTROL_PLANES, NETWORK_BACKENDS
from components.render.health.node_tests import NodeTests
from components.render.overrides import Override, reasons
from components.render.program_pods import TOOL
from components.render.region.logs import log_store
from components.render.region.logs.collector import LogsWriter
from components.render.region.metrics_store import store_of
from components.render.workloads.kueue import CHART, QueueSettings
from components.specs.add_ons.add_on_values import AddOnValuesSpec
from components.specs.add_ons.add_ons import AddOn, Capability
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.keys import pool_key
from components.specs.pools.gpu_sharing import GpuSharingSpec

DEFAULT = "default"
CONSEQUENCES: Mapping[Capability | None, str] = {
    Capability.NODE_FEATURES: "nodes have no hardware labels",
    Capability.GPUS: "pods cannot use GPUs",
    Capability.COMPUTE_DOMAINS: "NVLink does not span nodes",
    Capability.NODE_PROBLEMS: "faults of nodes are neither reported nor repaired",
    Capability.NODE_READINESS: "new pods are scheduled on nodes with faults",
    Capability.LOAD_BALANCERS: "Services of type LoadBalancer never get an address",
    Capability.MONITORING: "problems of add-ons and nodes are not reported",
    Capability.LOGS: "logs stay on the nodes, and are lost with them",
    Capability.METRICS: "kubectl top and autoscaling by CPU have no metrics",
    None: "dependent software cannot be installed",
}
"""Consequence of each missing capability. ``jacquard check`` itself rejects a cluster without a network."""


def add_ons(environment: Environment, placed: PlacedCluster) -> list[AddOn]:
    """Return the add-ons of a cluster in catalogue order: named add-ons, and default ones if the cluster uses defaults.

    A default add-on is skipped if it requires GPUs or NVLink that the cluster does not have, provides the same
    capability as a named one, or provides a network where the VPC or a seed has one.
    """
    cluster, names = placed.cluster, named(placed.cluster)
    catalog = environment.add_ons.add_ons
    provided = {entry.gives for entry in catalog if entry.name in names and entry.gives}
    if brings_network(placed) or cluster.cni_seed is not None:
        provided.add(Capability.NETWORK)
    gpus = uses_gpus(environment, placed, for_vms=False)
    spans = gpus and bool(nvlink(environment, placed))

    def comes_along(entry: AddOn) -> bool:
        fits = (gpus or not entry.gpu_only) and (spans or not entry.nvlink_only)
        wanted = takes_defaults(cluster) and entry.name not in cluster.without_add_ons
        return is_default(environment, entry) and fits and wanted and entry.gives not in provided

    return [entry for entry in catalog if entry.name in names or comes_along(entry)]


def is_default(environment: Environment, entry: AddOn) -> bool:
    """Return whether clusters with the default add-ons get ``entry``: also those that write to a store."""
    return entry.default or entry.gives in log_store.stored(environment.region)


def gives(environment: Environment, placed: PlacedCluster, capability: Capability) -> bool:
    """Return whether an add-on of a cluster provides ``capability``."""
    return any(entry.gives is capability for entry in add_ons(environment, placed))


def node_tests(environment: Environment, placed: PlacedCluster) -> NodeTests | None:
    """Return the tests of a cluster's nodes, in the namespace of the add-on that acts on the results.

    None without such an add-on, or if no pool is tested.
    """
    acting = (item.namespace for item in add_ons(environment, placed) if item.gives is Capability.NODE_READINESS)
    namespace = next(acting, None)
    return cluster_tests(environment, placed, namespace) if namespace else None


def named(cluster: ClusterSpec) -> tuple[str, ...]:
    """Return the add-ons that ``cluster`` names."""
    return () if cluster.add_ons == DEFAULT else tuple(name for name in cluster.add_ons if name != DEFAULT)


def takes_defaults(cluster: ClusterSpec) -> bool:
    """Return whether ``cluster`` has the default add-ons."""
    return cluster.add_ons == DEFAULT or DEFAULT in cluster.add_ons


def brings_network(placed: PlacedCluster) -> bool:
    """Return whether the VPC of a cluster is also its CNI."""
    return placed.vpc is not None and NETWORK_BACKENDS[placed.vpc.isolation].brings_network


def takes_more_pods(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether the network of a cluster supports several pod prefixes."""
    return any(
        entry.gives is Capability.NETWORK and entry.chart in TAKE_MORE_PODS for entry in add_ons(environment, placed)
    )


def takes_ipv6(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether the pod network of a cluster supports IPv6; a pod network provided by the VPC always does."""
    networks = (entry for entry in add_ons(environment, placed) if entry.gives is Capability.NETWORK)
    return brings_network(placed) or any(entry.chart in DUAL_STACK for entry in networks)


def has_gpus(environment: Environment, placed: PlacedCluster) -> bool:
    """Return whether any pool of a cluster has GPUs."""
    kinds = environment.instance_types.by_name
    return any(kind.gpu for pool in placed.cluster.pools if (kind := kinds.get(pool.instance_type)))


def uses_gpus(environment: Environment, placed: PlacedCluster, *, for_vms: bool) -> bool:
    """Return whether images of a cluster reserve GPUs for VMs, or for containers, by the data or by pins."""
    kinds, pins = environment.instance_types.by_name, environment.image_pins
    reserving = {image.version for image in environment.images.images if image.contents.vfio_devices}
    for pool in placed.cluster.pools:
        groups = pins.groups_by_pool.get(pool_key(placed.cluster.name, pool.name), {})
        kind, intents = kinds.get(pool.instance_type), map(pins.intents.get, groups.values())
        # A pool without a named image never gets an image that reserves GPUs for VMs.
        images = {pool.image, *(intent.image for intent in intents if intent)}
        if kind and kind.gpu and any((image in reserving) is for_vms for image in images):
            return True
    return False


def nvlink(environment: Environment, placed: PlacedCluster) -> dict[str, int]:
    """Return the nodes per NVLink domain, by instance type, for types of the cluster whose NVLink spans nodes."""
    kinds = (environment.instance_types.by_name.get(pool.instance_type) for pool in placed.cluster.pools)
    return {kind.name: kind.nodes_per_rack for kind in kinds if kind and kind.spans_nodes}


def facts(environment: Environment, placed: PlacedCluster) -> ClusterFacts:
    """Return the properties of a cluster that its add-ons depend on."""
    cluster, lock = placed.cluster, environment.allocations
    numbers = lock.vpcs[cluster.vpc].of_cluster(cluster.name)
    return ClusterFacts(
        name=cluster.name,
        tenant=placed.tenant.tenant,
        region=environment.region.region,
        nodes=most_nodes_of(environment, cluster),
        api=lock.clusters[cluster.name].vip,
        pods=numbers.of_kind("pods"),
        pods_ipv6=numbers.pods_ipv6,
        system_pool=cluster.has_system_pool,
        gpus=has_gpus(environment, placed),
        vm_gpus=uses_gpus(environment, placed, for_vms=True),
        nvlink=nvlink(environment, placed),
        node_paths=CONTROL_PLANES[environment.region.control_planes.backend].node_paths,
        attachments=bool(connected(environment, placed)),
        gpu_sharing=gpu_sharing(environment, placed),
        checks=checks_by_type(environment, (pool.instance_type for pool in cluster.pools)),
        hardware=hardware(environment, placed),
        writer=metrics_writer(environment, placed),
        logs=logs_writer(environment, placed),
        autoscaling=has_autoscaling(placed),
        thresholds=environment.region.thresholds,
        queues=queue_settings(cluster),
        kueue=environment.chart_inside(cluster.name, CHART),
        endpoints=placed.cluster.serving.names_by_namespace if placed.cluster.serving else {},
    )


def queue_settings(cluster: ClusterSpec) -> QueueSettings | None:
    """Return the settings of a cluster's queues; None without queues."""
    if cluster.queues is None:
        return None
    return QueueSettings(
        namespaces=tuple(name for team in cluster.queues.teams for name in team.namespaces),
        queued=cluster.queues.queued,
        fair_sharing=cluster.queues.fair_sharing,
    )


def metrics_writer(environment: Environment, placed: PlacedCluster) -> MetricsWriter | None:
    """Return the writer of a cluster's metrics; None without a store. A named add-on keeps the tenant's Prometheus."""
    if (store := store_of(environment.region)) is None or store.address is None:
        return None
    chosen = {entry.name for entry in add_ons(environment, placed) if entry.gives is Capability.MONITORING}
    series = nodes_series(environment, placed.cluster, gpus=gives(environment, placed, Capability.GPUS))
    agent = chosen.isdisjoint(named(placed.cluster))
    return MetricsWriter(address=store.address, agent=agent, shards=agents(series), sink=placed.tenant.metrics_sink)


def logs_writer(environment: Environment, placed: PlacedCluster) -> LogsWriter | None:
    """Return the writer of a cluster's logs; None without a store."""
    image = environment.versions.optional_tool(TOOL)
    return log_store.writer(
        environment.region, placed.cluster.name, placed.tenant.log_sink, str(image) if image else None
    )


def hardware(environment: Environment, placed: PlacedCluster) -> tuple[InstanceType, ...]:
    """Return the instance types of a cluster's pools, without duplicates."""
    names = dict.fromkeys(pool.instance_type for pool in placed.cluster.pools)
    return tuple(kind for name in names if (kind := environment.instance_types.by_name.get(name)))


def gpu_sharing(environment: Environment, placed: PlacedCluster) -> tuple[GpuSharingSpec, ...]:
    """Return the GPU sharing modes of a cluster, both pinned for its nodes and declared in the data."""
    pinned = environment.image_pins.intents_by_cluster.get(placed.cluster.name, ())
    ways = (*(pool.gpu_sharing for pool in placed.cluster.pools), *(intent.gpu_sharing for intent in pinned))
    return tuple(dict.fromkeys(way for way in ways if way is not None))


def own_values(environment: Environment) -> dict[tuple[str, str], str]:
    """Return the values that single clusters override, by cluster and add-on, with the reason."""
    return {
        (placed.cluster.name, entry.name): reasons(overrides_of(spec))
        for placed in clusters(environment)
        for entry in add_ons(environment, placed)
        if (spec := placed.cluster.add_on_values.get(entry.name))
    }


def overrides(environment: Environment, cluster: ClusterSpec) -> dict[str, tuple[Override, ...]]:
    """Return the values set for ``cluster``, by add-on; values of the cluster override values of the region."""
    values: dict[str, dict[str, Override]] = {}
    for written in (environment.region.add_on_values, cluster.add_on_values):
        for name, spec in written.items():
            values.setdefault(name, {}).update({override.path: override for override in overrides_of(spec)})
    return {name: tuple(by_path.values()) for name, by_path in values.items()}


def overrides_of(spec: AddOnValuesSpec) -> Iterator[Override]:
    """Yield the values that ``spec`` sets."""
    for path, value in spec.values.items():
        yield Override(path=path, value=value, reason=spec.reason)


def left_out(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the default add-ons that each cluster omits without replacement, with reason and consequence."""
    omitted = {placed.cluster.name: tuple(_left_out_of(environment, placed)) for placed in clusters(environment)}
    return {name: consequences for name, consequences in omitted.items() if consequences}


def _left_out_of(environment: Environment, placed: PlacedCluster) -> list[str]:
    without = placed.cluster.without_add_ons if takes_defaults(placed.cluster) else {}
    provided = {entry.gives for entry in add_ons(environment, placed) if entry.gives} if without else set()
    return [
        f"{entry.name} is left out ({without[entry.name]}), so {CONSEQUENCES[entry.gives]}"
        for entry in environment.add_ons.add_ons
        if entry.name in without
        and is_default(environment, entry)
        and entry.gives in CONSEQUENCES
        and entry.gives not in provided
    ]
