"""Shared objects in the management cluster of a region: namespaces, operators, address pools, data stores, DPUs.

Public addresses are not included. Each tenant cluster announces exactly its allocated addresses, because the address
pools of two clusters must never overlap (``vm_offering``).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from components.render import labels as keys
from components.render.backends import BARE_METAL, CONTROL_PLANES
from components.render.control_planes import kamaji, kamaji_etcd
from components.render.control_planes.control_plane import ADDRESS_POOL, ZONE
from components.render.control_planes.kamaji_etcd import SharedDataStore
from components.render.hosts.bare_metal_controllers import Watched
from components.render.manifest import MANAGEMENT, Manifest, Rendered
from components.render.namespaces import FREE_HOSTS, tenant_namespace
from components.render.network import dpu_services, dpus, ovn_services
from components.render.network.dpu_release import DpuRelease
from components.render.network.dpus import DpuPlatform
from components.render.objects import SERVICES_PRIORITY, given, manifest, namespace
from components.render.pools import ironcore_metal, join_service
from components.render.pools.failed_repairs import FailedRepairs
from components.render.region import (
    certificates,
    cluster_api,
    dns,
    kustomizations,
    metrics_monitors,
    metrics_store,
    monitoring,
    registry,
    secret_store,
)
from components.render.region.alert_routes import Tenants
from components.render.region.controllers import controller_alerts
from components.render.region.engine import operator as engine
from components.render.region.isolation import CONTROL_PLANE_SECURITY, EMPTY_SECURITY
from components.render.region.kustomizations import ByManifests, installed
from components.render.region.logs import log_store
from components.render.region.operator_places import OperatorPlace, of_namespace
from components.render.region.operators import CERT_MANAGER, Operator, release, repository
from components.render.region.operators import NAMESPACE as OPERATORS
from components.render.region.stores import store_backups
from components.render.storage import storage
from components.specs.control_planes.data_stores import DPU_STORE, DataStoreSpec
from components.specs.hosts.ironic import IronicSpec
from components.specs.region.announcements import AnnouncementSpec, BgpPeerSpec
from components.specs.region.cluster_api import ClusterApiSpec
from components.specs.region.region import ControlPlanesSpec, RegionSpec
from components.specs.region.versions import Chart
from components.specs.struct import Struct, field, replace

METALLB = "metallb-system"
_PRIORITIES = (
    ("region-operators", 900_000_000, "Controllers that all clusters of the region depend on."),
    (SERVICES_PRIORITY, 800_000_000, "Tenant-facing services of the region, such as image proxies."),
)
OPTIONAL: Mapping[tuple[str, ...], Callable[[RegionSpec], tuple[Operator, ...]]] = {
    ("dns",): dns.operators,
    ("registry", "cache"): registry.operators,
    ("observability", "metrics", "address"): metrics_store.operators,
    ("observability", "logs"): log_store.operators,
    ("engine",): engine.operators,
}
"""Operators that are installed only if a field of ``region.yaml`` is set, by path of the field."""


class RegionInput(Struct):
    """Input of the shared objects of one region."""

    name: str
    spec: RegionSpec
    charts: tuple[Chart, ...]
    """Charts that are installed in the management cluster and in tenant clusters."""
    by_manifests: ByManifests
    """Operators that are installed from manifests instead of a chart."""
    platform: DpuPlatform
    dpf: bool
    """Whether VPCs are isolated on DPUs. If not, DPF is not installed and network cards are not managed."""
    ovn: bool
    """Whether OVN isolates a VPC of the region."""
    clusters: Mapping[str, str]
    """Tenant of each cluster, by cluster. Each cluster has a namespace with the name of the cluster."""
    tenants: Mapping[str, Mapping[str, str]]
    """Annotations of the namespaces of each tenant, by tenant."""
    receivers: Tenants
    """Receivers of the alerts of each tenant."""
    release: str
    """Name of the version vector."""
    watched: Watched
    """Namespaces of hosts by bare-metal controller; empty if the region lists no controllers."""
    cluster_api: ClusterApiSpec
    """Releases of Cluster API and its providers."""
    ironic: IronicSpec | None = None
    """Ironic and its ramdisks; None if Metal3's operator decides."""
    data_stores: tuple[DataStoreSpec | SharedDataStore, ...] = ()
    """Shared data stores for control planes by Kamaji, created by the library or external."""
    dpu_release: DpuRelease | None = None
    """Automatic release of the maintenance hold of DPUs; None for manual release."""
    failed_repairs: FailedRepairs | None = None
    """Replacement of Machines after failed repairs; None without Metal3 or an image of Python."""
    tools: Mapping[str, str] = field(default_factory=dict)
    """Images of the platform's jobs, by name."""
    secrets: tuple[Manifest, ...] = ()
    """ExternalSecrets for the Secrets that the rendered objects refer to; empty if operators create the Secrets."""

    def render(self) -> tuple[Rendered, ...]:
        """Return the objects of the foundation, in the order in which they are applied."""
        operators = region_operators(
            self.spec,
            dpf=self.dpf,
            ovn=self.ovn,
            watched=self.watched,
            receivers=self.receivers,
            tenants=frozenset(self.clusters.values()),
        )
        installs = tuple(installed(operators, self.by_manifests))
        classes = storage.of_management(self.spec.storage)
        first = {operator.release for operator in secret_store.operators(self.spec.secrets)}
        return (
            *_namespaces(self),
            *(_priority_class(*priority) for priority in _PRIORITIES),
            *(repository(chart) for chart in self.charts),
            *(kustomizations.repository(artefact) for artefact in self.by_manifests.artefacts.values()),
            *(item for item in installs if item.name in first),
            *secret_store.render(self.spec.secrets),
            *self.secrets,
            *(item for item in installs if item.name not in first),
            *BARE_METAL[self.spec.bare_metal.backend].services(
                self.spec.bare_metal, self.spec.dpus.vip_interface, self.ironic
            ),
            *cluster_api.render(self.spec, self.cluster_api, self.by_manifests.artefacts.get(cluster_api.PROVIDERS)),
            *((self.failed_repairs.render(),) if self.failed_repairs else ()),
            monitoring.rules(self.spec, dpf=self.dpf),
            *metrics_store.render(self.spec, self.clusters, CONTROL_PLANES[self.spec.control_planes.backend].records),
            *metrics_monitors.render(self.spec),
            *log_store.render(self.spec),
            *store_backups.render(self.spec, self.tools),
            *monitoring.dashboards_of(self.spec, self.release),
            *secret_store.watch(self.spec.secrets),
            *((*certificates.watch(), self._controllers(operators)) if metrics_store.store_of(self.spec) else ()),
            *dns.render(self.spec),
            *(release(driver) for driver in storage_drivers(self.spec)),
            *(item for spec in classes for item in storage.render_class(MANAGEMENT, spec, {})),
            *(item for store in self.data_stores for item in _data_store(store)),
            *kamaji_etcd.shared_rules(self.data_stores, self.spec.thresholds),
            *render(self.spec, metallb=METALLB),
            *(ironcore_metal.services(netboot, metallb=METALLB) if (netboot := self.spec.bare_metal.netboot) else ()),
            *(join_service.render(service, metallb=METALLB) if (service := self.spec.nodes.join_service) else ()),
            *(_dpus(self) if self.dpf else ()),
        )

    def _controllers(self, operators: tuple[Operator, ...]) -> Rendered:
        announcement = self.spec.control_planes.announcement
        sessions = announcement is not None and not announcement.one_network
        return controller_alerts.watch(
            operators, cluster_api.providers(self.spec), self.spec.thresholds, sessions=sessions
        )


def region_operators(
    region: RegionSpec,
    *,
    dpf: bool = True,
    ovn: bool = False,
    watched: Watched = MappingProxyType({}),
    receivers: Tenants = MappingProxyType({}),
    tenants: frozenset[str] = frozenset(),
) -> tuple[Operator, ...]:
    """Return the operators of the management cluster, in the order in which they are installed.

    Args:
        region: the region.
        dpf: whether DPF is included.
        ovn: whether the operators of OVN are included, for VPCs with OVN.
        watched: namespaces of hosts, by bare-metal controller.
        receivers: receivers of the alerts of each tenant.
        tenants: tenants with clusters, whose logs are in the store of the region.
    """
    control_planes, metal = region.control_planes, region.bare_metal
    hosting = CONTROL_PLANES[control_planes.backend].operators(control_planes)
    # DPF always uses Kamaji for the clusters of DPUs, independent of the backend of tenants' control planes.
    for_dpus = (kamaji.operator(control_planes),) if dpf else ()
    return (
        *secret_store.operators(region.secrets),
        Operator(
            chart=CERT_MANAGER,
            namespace="cert-manager",
            values={"crds": {"enabled": True}, "global": {"priorityClassName": _PRIORITIES[0][0]}},
        ),
        Operator(chart="metallb", namespace=METALLB),
        *{operator.chart: operator for operator in (*hosting, *for_dpus)}.values(),
        cluster_api.OPERATOR,
        *BARE_METAL[metal.backend].operators(metal, watched),
        *(dpus.OPERATORS if dpf else ()),
        *ovn_services.operators(region.dpus, ovn=ovn),
        monitoring.operator(region, receivers, tenants, dpf=dpf),
        *(operator for operators in OPTIONAL.values() for operator in operators(region)),
    )


def storage_drivers(region: RegionSpec) -> Iterator[Operator]:
    """Yield the storage drivers of the management cluster, in installation order. Only snapshots are awaited."""
    for driver in storage.storage_drivers(storage.of_management(region.storage)):
        yield replace(driver, awaited=storage.is_snapshots(driver))


def kamaji_data_stores(control_planes: ControlPlanesSpec, *, dpf: bool) -> tuple[DataStoreSpec, ...]:
    """Return the shared data stores that Kamaji uses: stores for tenants and, with ``dpf``, the store for DPUs."""
    hosts_tenants = CONTROL_PLANES[control_planes.backend].makes_shared_data_stores
    return tuple(store for store in control_planes.data_stores if hosts_tenants or (dpf and store.name == DPU_STORE))


def operator_places(region: RegionSpec, *, dpf: bool) -> dict[str, OperatorPlace]:
    """Return the namespaces of operators, in order, with the requirements of the operators."""
    names = [operator.namespace for operator in region_operators(region, dpf=dpf)]
    names += [provider.namespace for provider in cluster_api.providers(region)]
    names += [driver.namespace for driver in storage_drivers(region)]
    installs_etcd = any(not store.is_existing for store in kamaji_data_stores(region.control_planes, dpf=dpf))
    names += [kamaji_etcd.NAMESPACE] if installs_etcd else []
    names += [join_service.NAMESPACE] if region.nodes.join_service else []
    return {name: of_namespace(name, region.bare_metal) for name in names}


def _namespaces(region: RegionInput) -> tuple[Manifest, ...]:
    empty, hosting = EMPTY_SECURITY.labels, CONTROL_PLANE_SECURITY.labels
    tenants = {tenant_namespace(tenant): {keys.TENANT: tenant, **empty} for tenant in region.tenants}
    clusters = {
        cluster: {keys.TENANT: tenant, keys.CLUSTER: cluster, **hosting} for cluster, tenant in region.clusters.items()
    }
    places = operator_places(region.spec, dpf=region.dpf)
    return (
        namespace(OPERATORS, labels=empty, annotations={keys.VERSIONS: region.release}),
        *(namespace(name, labels=place.security.labels) for name, place in places.items()),
        namespace(FREE_HOSTS, labels=empty),
        *(
            namespace(name, labels=labels, annotations=region.tenants[labels[keys.TENANT]])
            for name, labels in {**tenants, **clusters}.items()
        ),
    )


def _data_store(store: DataStoreSpec | SharedDataStore) -> Iterable[Manifest]:
    return kamaji_etcd.render_shared(store) if isinstance(store, SharedDataStore) else (kamaji.data_store(store),)


def _priority_class(name: str, value: int, description: str) -> Manifest:
    return manifest(
        "scheduling.k8s.io/v1", "PriorityClass", name, value=value, globalDefault=False, description=description
    )


def _dpus(region: RegionInput) -> tuple[Manifest, ...]:
    provisioning = dpus.render_provisioning(region.platform)
    place: dict[str, Any] = {"namespace": dpus.NAMESPACE, "labels": {}}
    names = [item.name for item in provisioning if item.kind == "DPUCluster"]
    return (
        *provisioning,
        *(item for name in names for item in kamaji.budget(name, dpus.REPLICAS, **place)),
        *dpu_services.render_services(region.platform, ovn=region.ovn),
        *(region.dpu_release.render() if region.dpu_release else ()),
    )


def render(region: RegionSpec, *, metallb: str) -> tuple[Manifest, ...]:
    """Return the address pool of ``region`` and its announcement. ``metallb`` is the namespace of address pools."""
    pool = manifest(
        "metallb.io/v1beta1",
        "IPAddressPool",
        ADDRESS_POOL,
        namespace=metallb,
        # Each control plane requests a specific address; other Services must not get addresses automatically.
        spec={"addresses": [str(region.networks.control_plane_vips)], "autoAssign": False},
    )
    return (pool, *_announced(region.control_planes.announcement, metallb))


def _announced(announcement: AnnouncementSpec | None, namespace: str) -> tuple[Manifest, ...]:
    pools = {"ipAddressPools": [ADDRESS_POOL]}
    # Only regions of stage rehearsal may omit the announcement. Their simulated network is a single layer-2 network.
    if announcement is None or announcement.one_network:
        return (manifest("metallb.io/v1beta1", "L2Advertisement", ADDRESS_POOL, namespace=namespace, spec=pools),)
    sessions = tuple(_session(peer, announcement.asn, namespace) for peer in announcement.peers)
    spec = {**pools, "peers": [session.name for session in sessions]}
    return (*sessions, manifest("metallb.io/v1beta1", "BGPAdvertisement", ADDRESS_POOL, namespace=namespace, spec=spec))


def _session(peer: BgpPeerSpec, asn: int | None, namespace: str) -> Manifest:
    # The name contains the address, so removing a router from the list ends only the session with this router.
    name = f"router-{str(peer.address).replace('.', '-')}"
    spec = {"myASN": asn, "peerASN": peer.asn, "peerAddress": str(peer.address)}
    in_zones = [{"key": ZONE, "operator": "In", "values": list(peer.zones)}]
    optional = given(
        ebgpMultiHop=peer.multihop or None,
        nodeSelectors=[{"matchExpressions": in_zones}] if peer.zones else None,
        passwordSecret={"name": peer.password_secret} if peer.password_secret else None,
    )
    return manifest("metallb.io/v1beta2", "BGPPeer", name, namespace=namespace, spec={**spec, **optional})
