"""A region: one management cluster, its sites, networks and the services all tenants share."""

from __future__ import annotations

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
    DataFile,
    DnsLabel,
    Domain,
    Label,
    Misfit,
    Network,
    PercentOrCount,
    Registry,
    Spec,
    StackLayout,
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
from components.specs.region.announcements import AnnouncementSpec
from components.specs.region.catalog import Channel
from components.specs.region.chart_rollouts import ChartRolloutsSpec
from components.specs.region.dns import DnsSpec
from components.specs.region.external_secrets import SecretsSpec
from components.specs.region.previews import PreviewsSpec
from components.specs.storage.buckets import ObjectStoreSpec
from components.specs.storage.storage import StorageClassSpec

STATE_BACKEND = r"^(azblob|file|gs|https|postgres|s3)://[^\s]+$"


class FailureDomain(StrEnum):
    """What hosts fail together with."""

    RACK = "rack"
    """Hosts of one rack fail together."""
    HALL = "hall"
    """Hosts of one hall fail together."""
    LEAF = "leaf"
    """Hosts behind one leaf switch fail together."""


class ControlPlaneBackend(StrEnum):
    """What hosts the control planes of tenants."""

    KAMAJI = "kamaji"
    """Kamaji runs control planes as pods and keeps their state in data stores of the region."""
    K0SMOTRON = "k0smotron"
    """k0smotron runs control planes as pods, with k0s inside."""


class SiteSpec(Spec):
    """A building with halls."""

    name: Label
    """Name of the site, which ``site`` of a cluster refers to."""
    halls: tuple[Label, ...] = Field(min_length=1)
    """Names of halls, unique in the region. Each hall has its ``inventory/hall-<hall>.csv``."""


class StateSpec(Spec):
    """Where Pulumi keeps state and how it encrypts secrets."""

    backend: str = Field(pattern=STATE_BACKEND, max_length=253)
    """URL as ``pulumi login`` takes it, such as ``s3://bucket/region``."""
    secrets_provider: Text
    """URL as ``pulumi stack init --secrets-provider`` takes it, such as ``awskms://alias/pulumi``."""


_UNSEEN = ("management", "bmc", "boot", "control_plane_vips", "dpu_loopbacks", "ovn")
"""Networks of a region that no tenant may see, by their fields."""


class NetworksSpec(Spec):
    """Address plan of a region. The numbers taken from it are in ``allocations.lock.yaml``."""

    management: Cidr
    """Network of the management cluster's hosts, and of addresses they share."""
    bmc: Cidr
    """Network of the BMCs of hosts and DPUs."""
    boot: Cidr | None = None
    """Network in which hosts boot from the network, and nothing else: no tenant reaches it, and switches close it to a
    host once its image is written. Required where a bare-metal controller leases addresses."""
    storage: Cidr
    """Network of the storage systems; every VPC reaches it."""
    control_plane_vips: Cidr
    """Network that the address of each hosted control plane is taken from."""
    tenants: Cidr
    """Network that the prefixes of VPCs are taken from."""
    tenants_ipv6: Cidr6 | None = None
    """Network that prefixes of IPv6 are taken from, private (``fc00::/7``, RFC 4193) or public (``2000::/3``). Required
    when a VPC has ``ipv6``. Routers need not know it: packets of IPv6 stay inside clusters."""
    public: tuple[Cidr, ...] = ()
    """Networks that public addresses of load balancers and VMs are taken from."""
    dpu_loopbacks: Cidr
    """Network that the loopbacks of DPUs are taken from, one a DPU, which VXLAN tunnels end at."""
    ovn: Cidr | None = None
    """Network of the fabric in which each DPU has four addresses of OVN, for tunnels and for what leaves a VPC; its
    first address is its router's. It is one broadcast domain behind the first port of all DPUs, and required when a VPC
    uses ``dpf-ovn``."""
    vni: Numbers
    """Virtual network identifiers, one a VPC, at most 16777215."""
    asn: Numbers
    """Numbers for BGP: one a VPC, from the beginning, and one a DPU, from the end."""
    route_targets: Numbers | None = None
    """Numbers of EVPN route targets, one a VPC; a VPC uses its VNI when they are left out."""
    deny: tuple[Cidr, ...] = Field(default=(), max_length=MOST_DENIED)
    """Networks that no VPC reaches, whatever its egress, beside those of the region that no tenant sees."""
    border: BorderSpec | None = None
    """Routers that route between VPCs and the rest; they have a VRF of each VPC, and nothing else to say, when left
    out."""
    backbone: Label | None = None
    """Network that connects this region to others; regions on one backbone need disjoint VNIs and ASNs."""

    @property
    def unseen(self) -> tuple[Network, ...]:
        """Return the networks that no tenant may see."""
        return tuple(self._unseen.values())

    def closed(self, address: Address) -> str | None:
        """Return the field of the network that keeps hosts of VPCs from ``address``; None when none does.

        ``tenants`` is one of them: only VPCs themselves are in it, and nothing of the region.
        """
        every = {**self._unseen, "tenants": self.tenants}
        return next((name for name, network in every.items() if address in network), None)

    @property
    def _unseen(self) -> dict[str, Network]:
        every = {name: getattr(self, name) for name in _UNSEEN}
        return {name: network for name, network in every.items() if network is not None}


class ControlPlanesSpec(CheckedSpec):
    """Where tenants' control planes run."""

    model_config = ConfigDict(json_schema_extra={"anyOf": [{"required": ["dedicated"]}, {"required": ["data_stores"]}]})

    backend: ControlPlaneBackend = ControlPlaneBackend.KAMAJI
    """Software that runs the control planes of all tenants of the region."""
    data_stores: tuple[DataStoreSpec, ...] = ()
    """Data stores that clusters share, made like ``dedicated`` where they do not say otherwise."""
    dedicated: DedicatedDataStoreSpec | None = None
    """How dedicated data stores are made; clusters cannot ask for one when it is left out."""
    dedicated_above_nodes: int = Field(default=500, ge=1, le=5000)
    """Number of nodes above which a cluster must not share its data store."""
    max_clusters: int = Field(default=100, ge=1, le=1000)
    """Most control planes that the management cluster can host."""
    hosts: int | None = Field(default=None, ge=1, le=10000)
    """Number of hosts of the management cluster that run control planes. With one for each, no two members of an etcd
    and no two replicas of a control plane share one, and wait rather; when it is left out, they are kept apart as far
    as there is room."""
    announcement: AnnouncementSpec | None = None
    """How the management cluster announces ``networks.control_plane_vips``; required unless the stage is
    ``rehearsal``, whose simulated network is one."""
    domain: Domain | None = None
    """Domain in which each control plane has a name, ``<cluster>.<domain>``, which its certificate is good for; they
    have addresses only when it is left out. With ``dns`` it is within its zone, and names are written there."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield control planes without a data store, and shared ones that look dedicated or cannot be made."""
        if not self.data_stores and self.dedicated is None:
            yield Misfit("has neither data_stores nor dedicated; add one of the two")
        for index, store in enumerate(self.data_stores):
            if store.name in {DEDICATED, PLACED}:
                yield Misfit(
                    "is what a cluster writes to have a data store made or found; choose another name",
                    ("data_stores", index, "name"),
                    store.name,
                )
            if not store.given and store.storage_class is None and self.dedicated is None:
                yield Misfit(
                    "is required to make an etcd while there is no dedicated to take it from; write a storage class of"
                    " the management cluster, or endpoints and secret of an etcd that is there",
                    ("data_stores", index, "storage_class"),
                )


class RegistrySpec(Spec):
    """The pull-through image proxy of a region."""

    mirror: Registry
    """Host, port and path of the proxy, without a scheme."""
    nodes: bool = False
    """Whether nodes pull images of their pods through it, too. It must answer for any registry, which containerd tells
    it as ``ns``, and images must have ``registry_hosts``. Nodes that are there get it when they are promoted."""


class RegionSpec(DataFile):
    """``region.yaml``: what is true for a whole environment."""

    region: DnsLabel
    """Name of the region, equal to that of the environment's folder."""
    stage: Stage
    """How much depends on the environment, which decides how strict policy rules are, and whether hardware is real."""
    stacks: StackLayout
    """How many Pulumi stacks apply the environment."""
    state: StateSpec | None = None
    """Where Pulumi keeps state; required unless the stage is ``rehearsal``, whose state is a local file."""
    context: Text | None = None
    """Kubeconfig context of the management cluster; required unless the stage is ``rehearsal``."""
    image_channel: Channel
    """Channel that ``image: channel`` of a pool means."""
    sites: tuple[SiteSpec, ...] = Field(min_length=1)
    """Buildings of the region with their halls."""
    failure_domain: FailureDomain
    """What fails together, and so what a rollout group is: a pool has one MachineDeployment for each. Rack-scale
    instance types override it, since they fail by NVLink domain, which is a rack."""
    secrets: SecretsSpec = SecretsSpec()
    """Who puts the Secrets that rendered objects refer to where they are looked for."""
    networks: NetworksSpec
    """Address plan of the region."""
    fabrics: tuple[FabricSpec, ...] = ()
    """Networks between nodes beside the VPCs, such as InfiniBand; empty where there is none."""
    control_planes: ControlPlanesSpec
    """Where control planes of tenants run and keep their state."""
    dns: DnsSpec | None = None
    """Name server and zone that names of control planes and of tenants' Services are written to; nobody writes any
    when it is left out."""
    bare_metal: BareMetalSpec = BareMetalSpec()
    """Who provisions the region's hosts."""
    nodes: NodesSpec = NodesSpec()
    """How nodes of all tenants are rolled, tested and joined."""
    dpus: DpuControlSpec
    """The DPF control plane of the region, which runs its DPUs."""
    storage: tuple[StorageClassSpec, ...] = Field(min_length=1)
    """Storage classes that tenants may name in ``clusters[].storage``."""
    object_stores: tuple[ObjectStoreSpec, ...] = ()
    """Stores that tenants may have buckets in."""
    vm_emulation: bool = False
    """Whether QEMU runs VMs in software, many times slower, on nodes without hardware virtualisation; ``useEmulation``
    of KubeVirt. They do not start there when it is left out."""
    spares: PercentOrCount = "2%"
    """Hosts kept free per pool and failure domain; a pool may say otherwise."""
    add_on_values: dict[DnsLabel, AddOnValuesSpec] = Field(default_factory=dict)
    """Values of add-ons in all clusters of the region, by add-on, each with the reason."""
    chart_rollouts: ChartRolloutsSpec = ChartRolloutsSpec()
    """How charts are promoted over the clusters of tenants."""
    previews: PreviewsSpec = PreviewsSpec()
    """What ``jacquard up`` wants of a preview."""
    registry: RegistrySpec | None = None
    """Pull-through image proxy, which DPUs pull from, and nodes if it says so; they pull from the registries themselves
    when it is left out."""

    @property
    def fabrics_by_name(self) -> dict[str, FabricSpec]:
        """Return the fabrics of the region by their names."""
        return {fabric.name: fabric for fabric in self.fabrics}
