"""Region: one management cluster, its sites, networks and the services shared by all tenants."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import ConfigDict, Field

from components.specs.add_ons.add_on_values import AddOnValuesSpec
from components.specs.base import (
    DEDICATED,
    PLACED,
    Address,
    CheckedSpec,
    Cidr,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    Domain,
    Label,
    Network,
    PercentOrCount,
    Registry,
    ShortName,
    Spec,
    Stage,
    Text,
)
from components.specs.control_planes.data_stores import DataStoreSpec, DedicatedDataStoreSpec
from components.specs.hosts.bare_metal import BareMetalSpec
from components.specs.ipv6 import Cidr6
from components.specs.network.border import BorderSpec
from components.specs.network.dpus import DpuControlSpec
from components.specs.network.fabrics import FabricSpec
from components.specs.network.tenant_network import MOST_DENIED
from components.specs.pools.nodes import NodesSpec
from components.specs.ranges import Numbers
from components.specs.region.admission import AdmissionSpec
from components.specs.region.announcements import AnnouncementSpec
from components.specs.region.catalog import Channel
from components.specs.region.dns import DnsSpec
from components.specs.region.engine import EngineSpec
from components.specs.region.external_secrets import SecretsSpec
from components.specs.region.logs import LogStoreSpec
from components.specs.region.observability import ObservabilitySpec, SlosSpec
from components.specs.region.previews import PreviewsSpec
from components.specs.region.registry import RegistrySpec
from components.specs.region.state import StackLayout, StateSpec
from components.specs.region.thresholds import Thresholds
from components.specs.storage.buckets import ObjectStoreSpec
from components.specs.storage.storage import StorageClassSpec


class ChartRolloutsSpec(Spec):
    """Waves in which clusters of tenants get a new release of a chart (``docs/pools/rollouts.md``)."""

    canary_tenants: tuple[ShortName, ...] = ()
    """Tenants whose clusters get a release first, in a separate wave. Without canary tenants, a chart can be rolled out
    to all clusters in one wave."""
    max_clusters: PercentOrCount | None = None
    """Maximum number of clusters in a wave; no limit by default."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """Minutes that the clusters of a wave must have been healthy before the next wave starts."""


class FailureDomain(StrEnum):
    """Unit of hosts that fail together."""

    RACK = "rack"
    """Hosts of one rack fail together."""
    HALL = "hall"
    """Hosts of one hall fail together."""
    LEAF = "leaf"
    """Hosts behind one leaf switch fail together."""


class ControlPlaneBackend(StrEnum):
    """Software that hosts the control planes of tenants."""

    KAMAJI = "kamaji"
    """Kamaji runs control planes as pods and stores their state in data stores of the region."""
    K0SMOTRON = "k0smotron"
    """k0smotron runs control planes as pods, with k0s inside."""


class SiteSpec(Spec):
    """Building with halls."""

    name: Label
    """Name of the site, referenced by ``site`` of a cluster."""
    halls: tuple[Label, ...] = Field(min_length=1)
    """Names of halls, unique in the region. The hosts of a hall are in ``inventory/hall-<hall>.csv``."""


_UNSEEN = ("management", "bmc", "boot", "control_plane_vips", "dpu_loopbacks", "ovn")
"""Networks of a region that are closed to tenants, by field."""


class NetworksSpec(Spec):
    """Address plan of a region. The allocated numbers are in ``allocations.lock.yaml``."""

    management: Cidr
    """Network of the management cluster's hosts and their shared addresses."""
    bmc: Cidr
    """Network of the BMCs of hosts and DPUs."""
    boot: Cidr | None = None
    """Network used only for network boot of hosts. Tenants cannot reach it, and switches disconnect a host from it
    after its image is written. Required if a bare-metal controller leases addresses."""
    storage: Cidr
    """Network of the storage systems. Every VPC reaches it."""
    control_plane_vips: Cidr
    """Network for the addresses of hosted control planes."""
    tenants: Cidr
    """Network for the prefixes of VPCs."""
    tenants_ipv6: Cidr6 | None = None
    """Network for IPv6 prefixes, private (``fc00::/7``, RFC 4193) or public (``2000::/3``). Required if a VPC has
    ``ipv6``. Routers need no route to the network, because IPv6 packets do not leave clusters."""
    public: tuple[Cidr, ...] = ()
    """Networks for public addresses of load balancers and VMs."""
    dpu_loopbacks: Cidr
    """Network for the loopback addresses of DPUs, one per DPU, which are the endpoints of VXLAN tunnels."""
    ovn: Cidr | None = None
    """Network of the fabric for OVN. Each DPU has four addresses in this network, for tunnels and for traffic that
    leaves a VPC. The first address belongs to the router. The network is one broadcast domain, connected to the first
    port of all DPUs. Required if a VPC uses ``dpf-ovn``."""
    vni: Numbers
    """Virtual network identifiers, one per VPC, at most 16777215."""
    asn: Numbers
    """BGP autonomous system numbers: one per VPC, allocated from the start, and one per DPU, allocated from the end."""
    route_targets: Numbers | None = None
    """Numbers of EVPN route targets, one per VPC. By default a VPC uses its VNI."""
    deny: tuple[Cidr, ...] = Field(default=(), max_length=MOST_DENIED)
    """Networks that no VPC can reach, for all values of ``egress``. The networks of the region that are closed to
    tenants need not be listed."""
    border: BorderSpec | None = None
    """Border routers between VPCs and external networks. By default border routers have a VRF for each VPC and need no
    further settings."""
    backbone: Label | None = None
    """Network that connects this region to others. Regions on one backbone need disjoint VNIs and ASNs."""

    @property
    def closed_networks(self) -> tuple[Network, ...]:
        """Return the networks that are closed to tenants."""
        return tuple(self._closed_by_field.values())

    def closed(self, address: Address) -> str | None:
        """Return the field of the closed network that contains ``address``; None if VPCs can reach the address.

        The network ``tenants`` counts as closed: it contains only VPCs and no services of the region.
        """
        every = {**self._closed_by_field, "tenants": self.tenants}
        return next((name for name, network in every.items() if address in network), None)

    @property
    def _closed_by_field(self) -> dict[str, Network]:
        every = {name: getattr(self, name) for name in _UNSEEN}
        return {name: network for name, network in every.items() if network is not None}


class ControlPlanesSpec(CheckedSpec):
    """Settings for the hosted control planes of tenants."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["dedicated"]}, {"required": ["data_stores"]}]})

    backend: ControlPlaneBackend = ControlPlaneBackend.KAMAJI
    """Software that runs the control planes of all tenants of the region."""
    data_stores: tuple[DataStoreSpec, ...] = ()
    """Data stores shared by clusters, created like ``dedicated`` unless they override its fields."""
    dedicated: DedicatedDataStoreSpec | None = None
    """Settings of dedicated data stores. By default clusters cannot request a dedicated data store."""
    dedicated_above_nodes: int = Field(default=500, ge=1, le=5000)
    """Number of nodes above which a cluster must not share its data store."""
    max_clusters: int = Field(default=100, ge=1, le=1000)
    """Maximum number of control planes in the management cluster."""
    hosts: int | None = Field(default=None, ge=1, le=10000)
    """Number of hosts of the management cluster that run control planes. If it is set, members of an etcd and replicas
    of a control plane never share a host; their pods stay pending instead. By default the pods are spread over hosts as
    far as capacity allows."""
    registry: Registry | None = None
    """Registry of the control planes' images, without a scheme. Under Kamaji it contains Kubernetes' images, such as
    ``kube-apiserver``, and under k0smotron ``k0sproject/k0s``. Both pull by tag, so configure the registry to reject
    overwritten tags. By default images are pulled from upstream's registries. A change restarts all control planes."""
    announcement: AnnouncementSpec | None = None
    """Announcement of ``networks.control_plane_vips``. Required unless the stage is ``rehearsal``, which simulates a
    flat network."""
    domain: Domain | None = None
    """Domain for the names of control planes, ``<cluster>.<domain>``. Certificates contain the names. By default
    control planes have addresses only. With ``dns``, the domain must be within its zone, which publishes the names."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing data stores, and shared data stores with a reserved name or incomplete settings."""
        if not self.data_stores and self.dedicated is None:
            yield ConstraintViolation("has neither data_stores nor dedicated; add one of the two")
        for index, store in enumerate(self.data_stores):
            if store.name in {DEDICATED, PLACED}:
                yield ConstraintViolation(
                    "is a reserved value of control_plane.data_store; choose another name",
                    ("data_stores", index, "name"),
                    store.name,
                )
            if not store.is_existing and store.storage_class is None and self.dedicated is None:
                yield ConstraintViolation(
                    "is required for a new etcd, because dedicated is not set and provides no default; set a storage"
                    " class of the management cluster, or endpoints and secret of an existing etcd",
                    ("data_stores", index, "storage_class"),
                )


class RegionSpec(DataFile):
    """``region.yaml``: settings of a whole environment."""

    region: DnsLabel
    """Name of the region, equal to the name of the environment's folder."""
    stage: Stage
    """Stage of the environment, which sets the strictness of policies and whether hardware is real."""
    stacks: StackLayout
    """Layout of Pulumi stacks: one for the whole environment, or one for each slice."""
    state: StateSpec | None = None
    """Storage of Pulumi state. Required unless the stage is ``rehearsal``, whose state is a local file."""
    engine: EngineSpec | None = None
    """Operator that applies the slices, for regions that are too large for one machine. By default ``jacquard up``
    applies all stacks on the machine where it runs."""
    context: Text | None = None
    """Kubeconfig context of the management cluster; required unless the stage is ``rehearsal``."""
    image_channel: Channel
    """Channel for pools with ``image: channel``."""
    sites: tuple[SiteSpec, ...] = Field(min_length=1)
    """Buildings of the region with their halls."""
    failure_domain: FailureDomain
    """Failure domain of hosts, which defines rollout groups: a pool has one MachineDeployment for each. Rack-scale
    instance types override it, because they fail by NVLink domain, which is a rack."""
    secrets: SecretsSpec = SecretsSpec.defaults()
    """Source of the Secrets that rendered objects reference."""
    networks: NetworksSpec
    """Address plan of the region."""
    fabrics: tuple[FabricSpec, ...] = ()
    """Networks between nodes outside the VPCs, such as InfiniBand; none by default."""
    control_planes: ControlPlanesSpec
    """Settings for the hosted control planes of tenants and for their data stores."""
    dns: DnsSpec | None = None
    """Name server and zone for the names of control planes and tenants' Services. By default no names are published."""
    bare_metal: BareMetalSpec = BareMetalSpec.defaults()
    """Provisioning of the region's hosts."""
    nodes: NodesSpec = NodesSpec.defaults()
    """Settings for the nodes of all tenants: rollout, burn-in and join."""
    dpus: DpuControlSpec
    """DPF control plane of the region, which manages its DPUs."""
    storage: tuple[StorageClassSpec, ...] = Field(min_length=1)
    """Storage classes that tenants may list in ``clusters[].storage``."""
    object_stores: tuple[ObjectStoreSpec, ...] = ()
    """Object stores in which tenants may have buckets."""
    vm_emulation: bool = False
    """Whether QEMU emulates VMs in software on nodes without hardware virtualisation, which is many times slower;
    ``useEmulation`` of KubeVirt. By default VMs do not start on such nodes."""
    spares: PercentOrCount = "2%"
    """Spare hosts per pool and failure domain; a pool may override it."""
    add_on_values: dict[DnsLabel, AddOnValuesSpec] = Field(default_factory=dict)
    """Values of add-ons in all clusters of the region, by add-on, each with the reason."""
    chart_rollouts: ChartRolloutsSpec = ChartRolloutsSpec.defaults()
    """Rollout of charts over the clusters of tenants."""
    admission: AdmissionSpec | None = None
    """Policies that API servers evaluate for objects that bypass Pulumi. By default, only Jacquard and the engine
    evaluate policies."""
    observability: ObservabilitySpec | None = None
    """Receivers of alerts, and storage of metrics. By default no alert is sent, and metrics are lost with pods."""
    previews: PreviewsSpec = PreviewsSpec.defaults()
    """Preview requirements of ``jacquard up``."""
    registry: RegistrySpec | None = None
    """Pull-through image proxy for DPUs, and for nodes if ``nodes`` is true. By default DPUs and nodes pull directly
    from the registries."""

    @property
    def slos(self) -> SlosSpec:
        """Return the service level objectives, which do not depend on receivers of alerts."""
        return self.observability.slos if self.observability else SlosSpec()

    @property
    def thresholds(self) -> Thresholds:
        """Return the thresholds of alerts."""
        changed = self.observability.thresholds if self.observability else ()
        return Thresholds(changed={entry.alert: entry.value for entry in changed})

    @property
    def log_store(self) -> LogStoreSpec | None:
        """Return the store of the logs of all clusters; None without one."""
        return self.observability.logs if self.observability else None

    @property
    def fabrics_by_name(self) -> dict[str, FabricSpec]:
        """Return the fabrics of the region by their names."""
        return {fabric.name: fabric for fabric in self.fabrics}
