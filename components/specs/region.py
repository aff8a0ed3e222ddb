"""A region: one management cluster, its sites, networks and the services all tenants share."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.bare_metal import BareMetalSpec
from components.specs.base import (
    DEDICATED,
    PLACED,
    CheckedSpec,
    Cidr,
    CronSchedule,
    DataFile,
    DnsLabel,
    Domain,
    Endpoint,
    HttpsUrl,
    Label,
    Misfit,
    PercentOrCount,
    Quantity,
    Registry,
    Spec,
    StackLayout,
    Stage,
    Text,
)
from components.specs.catalog import Channel
from components.specs.dpus import DpuControlSpec
from components.specs.fabric import FabricSpec
from components.specs.nodes import NodesSpec
from components.specs.ranges import Numbers
from components.specs.storage import StorageClassSpec


class FailureDomain(StrEnum):
    """What fails together, and so what a rollout group is: a pool has one MachineDeployment for each."""

    RACK = "rack"
    HALL = "hall"
    LEAF = "leaf"
    """Hosts behind one leaf switch."""


class ControlPlaneBackend(StrEnum):
    """What hosts the control planes of tenants."""

    KAMAJI = "kamaji"
    K0SMOTRON = "k0smotron"


class SecretsSource(StrEnum):
    """Where the Secrets come from that the data refers to by name. The data never holds a value."""

    EXISTING = "existing"
    """Somebody puts them into the management cluster."""
    EXTERNAL_SECRETS = "external-secrets"
    """External Secrets Operator copies each from a store, under its own name."""


class SiteSpec(Spec):
    """A building with halls."""

    name: Label
    halls: tuple[Label, ...] = Field(min_length=1)
    """Each has its ``inventory/hall-<hall>.csv``; unique in the region."""


class StateSpec(Spec):
    """Where Pulumi keeps state and how it encrypts secrets."""

    backend: Text
    """URL as ``pulumi login`` takes it, such as ``s3://bucket/region``."""
    secrets_provider: Text
    """URL as ``pulumi stack init --secrets-provider`` takes it, such as ``awskms://alias/pulumi``."""


class SecretsSpec(CheckedSpec):
    """Source of a region's Secrets: data for whoever puts them there.

    Nothing renders it yet: objects of External Secrets Operator wait for its schemas to be among the published ones
    that every object is tested against.
    """

    source: SecretsSource = SecretsSource.EXISTING
    store: DnsLabel | None = None
    """ClusterSecretStore of External Secrets Operator; required for ``external-secrets``."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a store that is missing or without use."""
        if self.source is SecretsSource.EXTERNAL_SECRETS and self.store is None:
            yield Misfit("is required when source is external-secrets; add it", ("store",))
        if self.source is SecretsSource.EXISTING and self.store is not None:
            yield Misfit("has no meaning when source is existing; remove it", ("store",), self.store)


class NetworksSpec(Spec):
    """Address plan of a region. The numbers taken from it are in ``allocations.lock.yaml``."""

    management: Cidr
    """Hosts of the management cluster, and addresses they share."""
    bmc: Cidr
    """BMCs of hosts and DPUs."""
    storage: Cidr
    """Storage systems; every VPC reaches it."""
    control_plane_vips: Cidr
    """One address per hosted control plane is taken from here."""
    tenants: Cidr
    """VPC prefixes are taken from here."""
    public: tuple[Cidr, ...] = ()
    """Public addresses for load balancers and VMs."""
    dpu_loopbacks: Cidr
    """VTEP loopbacks, one a DPU."""
    vni: Numbers
    """Virtual network identifiers, one a VPC, at most 16777215."""
    asn: Numbers
    """Numbers for BGP: one a VPC, from the beginning, and one a DPU, from the end."""
    route_targets: Numbers | None = None
    """Numbers of EVPN route targets; none given: a VPC's is its VNI."""
    backbone: Label | None = None
    """Network that connects this region to others; regions on one backbone need disjoint VNIs and ASNs."""


class DataStoreSpec(Spec):
    """An etcd that several hosted control planes share."""

    name: DnsLabel
    members: int = Field(ge=1, le=9)
    """Odd, since an even one survives no more failures than the odd one below it."""
    endpoints: tuple[Endpoint, ...] = Field(min_length=1)
    """``host:port``, no scheme (Kamaji's rule)."""
    secret: DnsLabel
    """Secret in the ``kamaji-system`` namespace with ca.crt, ca.key, tls.crt, tls.key: a reference, never a value."""
    max_clusters: int = Field(ge=1, le=200)
    """Hosted control planes that may keep their state here."""


class BackupSpec(Spec):
    """Snapshots of a dedicated data store. How long they are kept is a rule of the bucket."""

    schedule: CronSchedule
    """When snapshots are taken, in UTC."""
    endpoint: HttpsUrl
    """Of a store that speaks S3."""
    bucket: DnsLabel
    """Snapshots of a cluster are below its name."""
    secret: DnsLabel
    """Secret with ``access_key_id`` and ``secret_access_key``, in the namespace of each cluster's name."""


class DedicatedDataStoreSpec(Spec):
    """The etcd that a cluster gets for itself when it says ``control_plane.data_store: dedicated``."""

    members: int = Field(default=3, ge=1, le=9)
    size: Quantity = "100Gi"
    """Volume of one member."""
    storage_class: DnsLabel
    """Class of the management cluster, not of tenants."""
    backup: BackupSpec | None = None
    """None given: no snapshots."""


class ControlPlanesSpec(CheckedSpec):
    """Where tenants' control planes run."""

    backend: ControlPlaneBackend = ControlPlaneBackend.KAMAJI
    data_stores: tuple[DataStoreSpec, ...] = ()
    """Shared by clusters that name one."""
    dedicated: DedicatedDataStoreSpec | None = None
    """How dedicated data stores are made; none given: clusters cannot ask for one."""
    dedicated_above_nodes: int = Field(default=500, ge=1, le=5000)
    """A cluster with more nodes must not share its data store."""
    max_clusters: int = Field(default=100, ge=1, le=1000)
    """Control planes the management cluster can host."""
    domain: Domain | None = None
    """ExternalDNS names each control plane ``<cluster>.<domain>``; none given: they have addresses only."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield control planes without a data store, and a shared one that looks dedicated."""
        if not self.data_stores and self.dedicated is None:
            yield Misfit("has neither data_stores nor dedicated; add one of the two")
        for index, store in enumerate(self.data_stores):
            if store.name in {DEDICATED, PLACED}:
                yield Misfit(
                    "is what a cluster writes to have a data store made or found; choose another name",
                    ("data_stores", index, "name"),
                    store.name,
                )


class RegistrySpec(Spec):
    """The pull-through image proxy of a region."""

    mirror: Registry
    """Host, port and path without a scheme."""


class RegionSpec(DataFile):
    """``region.yaml``: what is true for a whole environment."""

    region: DnsLabel
    """Name of the environment's folder."""
    stage: Stage
    stacks: StackLayout
    state: StateSpec | None = None
    """Required unless the stage is ``rehearsal``, whose state is a local file."""
    context: Text | None = None
    """Kubeconfig context of the management cluster; required unless the stage is ``rehearsal``."""
    image_channel: Channel
    """What ``image: channel`` of a pool means."""
    sites: tuple[SiteSpec, ...] = Field(min_length=1)
    failure_domain: FailureDomain
    """Rack-scale instance types override it: they fail by NVLink domain, which is a rack."""
    secrets: SecretsSpec = SecretsSpec()
    networks: NetworksSpec
    fabrics: tuple[FabricSpec, ...] = ()
    control_planes: ControlPlanesSpec
    bare_metal: BareMetalSpec = BareMetalSpec()
    nodes: NodesSpec = NodesSpec()
    dpus: DpuControlSpec
    storage: tuple[StorageClassSpec, ...] = Field(min_length=1)
    """Classes that tenants may name in ``clusters[].storage``."""
    spares: PercentOrCount = "2%"
    """Hosts kept free per pool and failure domain; a pool may say otherwise."""
    registry: RegistrySpec | None = None
