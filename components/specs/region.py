"""A region: one management cluster, its sites, networks and the services all tenants share."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    Cidr,
    DataFile,
    DnsLabel,
    Endpoint,
    IpAddress,
    Label,
    Numbers,
    PercentOrCount,
    Quantity,
    Registry,
    Spec,
    StackLayout,
    Stage,
    Text,
    VersionName,
)
from components.specs.catalog import Channel
from components.specs.storage import StorageClassSpec


class FailureDomain(StrEnum):
    """What fails together, and so what a rollout group is: a pool has one MachineDeployment for each."""

    RACK = "rack"
    HALL = "hall"


class ControlPlaneBackend(StrEnum):
    """What hosts the control planes of tenants."""

    KAMAJI = "kamaji"


class BareMetalBackend(StrEnum):
    """What provisions hosts."""

    METAL3 = "metal3"


class SiteSpec(Spec):
    """A building with halls."""

    name: Label
    halls: tuple[Label, ...] = Field(min_length=1)


class StateSpec(Spec):
    """Where Pulumi keeps state and how it encrypts secrets."""

    backend: Text
    secrets_provider: Text


class NetworksSpec(Spec):
    """Address plan of a region. The numbers taken from it are in ``allocations.lock.yaml``."""

    management: Cidr
    bmc: Cidr
    storage: Cidr
    control_plane_vips: Cidr
    """One address per hosted control plane is taken from here."""
    tenants: Cidr
    """VPC prefixes are taken from here."""
    public: tuple[Cidr, ...] = ()
    """Public addresses for load balancers and VMs."""
    dpu_loopbacks: Cidr
    """VTEP loopbacks, one a DPU."""
    vni: Numbers
    asn: Numbers


class DataStoreSpec(Spec):
    """An etcd that several hosted control planes share."""

    name: DnsLabel
    members: int = Field(ge=1, le=9)
    endpoints: tuple[Endpoint, ...] = Field(min_length=1)
    """``host:port``, no scheme (Kamaji's rule)."""
    secret: DnsLabel
    """Secret in the ``kamaji-system`` namespace with ca.crt, ca.key, tls.crt, tls.key: a reference, never a value."""
    max_clusters: int = Field(ge=1, le=200)


class ControlPlanesSpec(Spec):
    """Where tenants' control planes run."""

    backend: ControlPlaneBackend = ControlPlaneBackend.KAMAJI
    data_stores: tuple[DataStoreSpec, ...] = Field(min_length=1)


class BareMetalSpec(Spec):
    """Who provisions hosts, and how many one controller may hold."""

    backend: BareMetalBackend = BareMetalBackend.METAL3
    hosts_per_controller: int = Field(default=500, ge=1, le=1500)
    """Red Hat validated 500 (virtual media) to 1,500 (network boot) per controller."""


class DpuControlSpec(Spec):
    """The DPF control plane of a region."""

    image: VersionName
    """A DPU image of the catalogue."""
    vip: IpAddress
    """Keepalived address of the DPU cluster's API."""
    vip_interface: Text
    virtual_router_id: int = Field(ge=1, le=255)
    max_dpus: int = Field(default=1000, ge=1, le=1000)
    """DPUs in one DPUCluster (schema limit)."""
    mtu_bytes: int = Field(default=9000, ge=1280, le=9216)
    management_api: IpAddress
    """Address of the management cluster's API as DPUs reach it; DPF needs it to flash over Redfish."""
    host_interface: Text = "eth0"
    """Name that golden images give the host's port on its DPU; load balancers of tenants announce through it."""
    ovn_central: IpAddress | None = None
    """Address of OVN's northbound database; needed when a VPC uses ``dpf-ovn``."""


class RegistrySpec(Spec):
    """The pull-through image proxy of a region."""

    mirror: Registry


class RegionSpec(DataFile):
    """``region.yaml``: what is true for a whole environment."""

    region: DnsLabel
    stage: Stage
    stacks: StackLayout
    state: StateSpec | None = None
    """Required unless the stage is ``rehearsal``, whose state is a local file."""
    context: Text | None = None
    """Kubeconfig context of the management cluster; required unless the stage is ``rehearsal``."""
    image_channel: Channel
    sites: tuple[SiteSpec, ...] = Field(min_length=1)
    failure_domain: FailureDomain
    networks: NetworksSpec
    control_planes: ControlPlanesSpec
    bare_metal: BareMetalSpec = BareMetalSpec()
    dpus: DpuControlSpec
    storage: tuple[StorageClassSpec, ...] = Field(min_length=1)
    """Classes that tenants may name in ``clusters[].storage``."""
    spares: PercentOrCount = "2%"
    """Hosts kept free per pool and failure domain."""
    registry: RegistrySpec | None = None
    node_root_disk: Quantity = "100Gi"
