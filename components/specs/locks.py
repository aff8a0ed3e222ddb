"""Lock files: allocated numbers, host assignments and image pins. They are generated and reviewed.

Only ``jacquard allocate`` changes ``allocations.lock.yaml``, and only ``jacquard promote`` changes
``images.lock.yaml``.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import TypeVar

from pydantic import Field

from components.specs.base import (
    DEFAULT_SERVICE_DOMAIN,
    OCI_DIGEST,
    CheckedSpec,
    Cidr,
    ConstraintViolation,
    DataFile,
    DnsLabel,
    Domain,
    IpAddress,
    KubernetesVersion,
    Label,
    ShortName,
    Spec,
)
from components.specs.control_planes.api_server import DEFAULT_NODE_PORTS
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.ipv6 import Cidr6
from components.specs.keys import (
    ChartKey,
    DpuKey,
    GroupKey,
    PoolKey,
    PromotedKey,
    WaveKey,
    cluster_of,
    domain_of,
    pool_of,
    refers_to_charts,
    refers_to_dpus,
)
from components.specs.network.border import RouteTarget
from components.specs.network.fabrics import FEW_RAILS, MOST_RAILS, GuidRange
from components.specs.network.vpc_allocation import Asn, Pkey, Vni, VpcAllocation
from components.specs.pools.intents import ChartIntent, DpuIntent, Intent, IntentName, NodeIntent
from components.specs.ranges import Numbers
from components.specs.region.region import ControlPlaneBackend
from components.specs.region.versions import Chart

UNDO = "restore the file with git checkout; only jacquard writes it"
"""Remedy for a lock file that was edited by hand."""
_T = TypeVar("_T")


class LockFile(DataFile):
    """One of the two lock files of a region. Each file contains the region and the digest of the other lock file."""

    HAS_PLACEHOLDERS = True
    WRITTEN_BY_COMMAND = True

    region: DnsLabel | None = None
    """Region of the entries; None in a file without entries."""
    beside: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest over the entries of the region's other lock file. It detects a missing or outdated file. The digest
    excludes ``beside`` and ``digest`` of that file, so that both files can contain each other's digest."""
    digest: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest over the whole content of the file, ``sha256:`` and 64 hex digits. It detects edits by hand. It also
    causes a merge conflict if two branches change the file."""


class ClusterAllocation(Spec):
    """Allocated numbers of one cluster."""

    tenant: ShortName
    """Tenant that owns the numbers. Another tenant's cluster with the same name gets different numbers."""
    vip: IpAddress
    """Address of the hosted control plane, allocated from ``networks.control_plane_vips``."""
    controller: ShortName | None = None
    """Bare-metal controller that manages the cluster's hosts; None if the region lists no controllers."""
    guids: dict[DnsLabel, GuidRange] = Field(default_factory=dict)
    """GUIDs for virtual functions of the cluster's nodes, by InfiniBand fabric."""
    rail_prefixes: dict[DnsLabel, Cidr] = Field(default_factory=dict)
    """Pod addresses on the rails of each Ethernet fabric with ``rail_prefixes``, by fabric, one subnet per rail. They
    never change while the cluster has nodes."""
    rail_subnets: int = Field(default=FEW_RAILS, ge=FEW_RAILS, le=MOST_RAILS)
    """Number of subnets in each prefix for rails, 8 or 16. It does not change if rails are added to the fabric."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Range of ports for Services of type NodePort. The range never shrinks."""
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """DNS domain of the cluster's Services. It never changes."""
    vpc: ShortName
    """VPC that provides the prefixes of the cluster's pods and Services. It never changes."""
    control_planes: ControlPlaneBackend
    """Backend that hosts the control plane. It never changes."""
    bare_metal: BareMetalBackend
    """Backend that provisions the cluster's hosts. It never changes."""


class GroupAllocation(Spec):
    """Size of one rollout group."""

    nodes: int = Field(ge=0)
    """Number of machines in the group; hosts assigned beyond this number are spares."""
    min_nodes: int | None = Field(default=None, ge=0)
    """Minimum number of machines for the cluster autoscaler; None without autoscaling."""
    max_nodes: int | None = Field(default=None, ge=0)
    """Maximum number of machines for the cluster autoscaler; None without autoscaling."""

    @property
    def most_nodes(self) -> int:
        """Return the maximum number of nodes of the group."""
        return self.nodes if self.max_nodes is None else self.max_nodes


class Freed(Spec):
    """Quarantined numbers: freed by their owner, and not allocated to other owners until they are released."""

    vnis: tuple[Vni, ...] = ()
    """Former virtual network identifiers of a VPC."""
    asns: tuple[Asn, ...] = ()
    """Former BGP autonomous system numbers of a VPC."""
    route_targets: tuple[RouteTarget, ...] = ()
    """Former route target numbers of a VPC."""
    prefixes: tuple[Cidr, ...] = ()
    """Former prefixes of a VPC, of all kinds."""
    pkeys: dict[DnsLabel, tuple[Pkey, ...]] = Field(default_factory=dict)
    """Former partition keys of a VPC, by InfiniBand fabric."""
    fabric_vnis: dict[DnsLabel, tuple[Vni, ...]] = Field(default_factory=dict)
    """Former VNIs of a VPC on Ethernet fabrics with ``roce``, by fabric."""
    vips: tuple[IpAddress, ...] = ()
    """Former addresses of a hosted control plane."""
    guids: dict[DnsLabel, tuple[GuidRange, ...]] = Field(default_factory=dict)
    """Former GUIDs of a cluster's nodes, by InfiniBand fabric."""
    rail_prefixes: dict[DnsLabel, tuple[Cidr, ...]] = Field(default_factory=dict)
    """Former pod addresses of a cluster on rails, by Ethernet fabric."""
    public_ips: tuple[IpAddress, ...] = ()
    """Former public addresses of a VM."""
    prefixes_ipv6: tuple[Cidr6, ...] = ()
    """Former IPv6 prefixes of a VPC, of all kinds."""


class AllocationsLock(LockFile):
    """``allocations.lock.yaml``: allocated numbers by owner, and the assignment of hosts."""

    vpcs: dict[str, VpcAllocation] = Field(default_factory=dict)
    """Numbers of each VPC, by VPC name, which is unique in a region."""
    clusters: dict[str, ClusterAllocation] = Field(default_factory=dict)
    """Numbers of each cluster, by cluster name, which is unique in a region."""
    public_ips: dict[str, IpAddress] = Field(default_factory=dict)
    """Public addresses of VMs, by ``cluster/vm``."""
    hosts: dict[str, PoolKey] = Field(default_factory=dict)
    """Pool of each assigned host, ``cluster/pool`` by host; a host that is not listed is unassigned."""
    addresses: dict[str, IpAddress] = Field(default_factory=dict)
    """Address of each host in its VPC, by host, if the region sets ``nodes.addresses``. It is the third address of the
    host's link; the second address belongs to the DPU, which is the gateway."""
    groups: dict[GroupKey, GroupAllocation] = Field(default_factory=dict)
    """Size of each rollout group, by ``cluster/pool/failure-domain``."""
    quarantine: dict[str, Freed] = Field(default_factory=dict)
    """Freed numbers by former owner: ``tenant/vpc``, ``tenant/cluster`` or ``tenant/cluster/vm``. Only the former owner
    can get quarantined numbers back."""

    @cached_property
    def groups_by_pool(self) -> Mapping[str, Mapping[GroupKey, GroupAllocation]]:
        """Return the groups of each pool (``cluster/pool``) with their sizes."""
        return _by_pool(self.groups)


class OpenRollout(Spec):
    """Rollout in waves that is in progress. Groups of a pool can have different intents only during an open rollout."""

    to: IntentName
    """Target intent, applied to the groups wave by wave."""
    before: IntentName
    """Intent of the groups that have not been updated yet."""
    rollback: bool = False
    """Whether the rollout restores the previous intent of the pool."""


class Wave(Spec):
    """Rollout groups of an open rollout that were updated together."""

    groups: tuple[Label, ...]
    """Failure domains of the groups; DPUDeployments in a rollout of DPUs, clusters in a rollout of a chart."""
    evidence: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the evidence file that proves that the groups are settled. It is set when the next wave starts."""


class ControlPlanePin(Spec):
    """Pinned settings of a cluster's control plane. Later changes in the tenant's file do not affect them."""

    version: KubernetesVersion
    """Kubernetes version of the control plane."""
    data_store: DnsLabel
    """Data store of the control plane: the name of a data store of ``region.yaml``, or ``dedicated``."""


class ImagesLock(LockFile, CheckedSpec):
    """``images.lock.yaml``: pinned intents of rollout groups, and pins of control planes."""

    control_planes: dict[str, ControlPlanePin] = Field(default_factory=dict)
    """Pins of control planes, by cluster."""
    intents: dict[IntentName, NodeIntent] = Field(default_factory=dict)
    """Intents of nodes in use, by name."""
    groups: dict[GroupKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of each rollout group, by ``cluster/pool/failure-domain``."""
    dpu_intents: dict[IntentName, DpuIntent] = Field(default_factory=dict)
    """Intents of DPUs in use, by name."""
    dpus: dict[DpuKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of the DPUs of each DPUDeployment, by ``dpus/deployment``."""
    chart_intents: dict[IntentName, ChartIntent] = Field(default_factory=dict)
    """Intents of charts in use, by name."""
    charts: dict[ChartKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of a chart in a cluster, by ``charts/chart/cluster``. Clusters that are not listed use the
    release of the version vector."""
    rollouts: dict[PromotedKey, OpenRollout] = Field(default_factory=dict)
    """Open rollouts, by ``cluster/pool``, ``charts/chart`` or ``dpus``."""
    waves: dict[WaveKey, Wave] = Field(default_factory=dict)
    """Waves of open rollouts, by ``cluster/pool/number``, ``charts/chart/number`` or ``dpus/number``."""
    previous: dict[PromotedKey, IntentName] = Field(default_factory=dict)
    """Intent before the last rollout, by ``cluster/pool``, ``charts/chart`` or ``dpus``. A rollback restores it."""

    @property
    def moved(self) -> dict[str, IntentName]:
        """Return the intent names of all promotion targets: groups of nodes, DPUs and charts."""
        return {**self.groups, **self.dpus, **self.charts}

    @cached_property
    def groups_by_pool(self) -> Mapping[str, Mapping[GroupKey, IntentName]]:
        """Return the groups of each pool (``cluster/pool``) with the names of their intents."""
        return _by_pool(self.groups)

    @cached_property
    def intents_by_cluster(self) -> Mapping[str, tuple[NodeIntent, ...]]:
        """Return the intents that the groups of each cluster use, without duplicates, in the order of the file."""
        found = defaultdict[str, dict[IntentName, None]](dict)
        for group, name in self.groups.items():
            found[cluster_of(group)][name] = None
        return {cluster: tuple(map(self.intents.__getitem__, names)) for cluster, names in found.items()}

    def node(self, group: str) -> NodeIntent:
        """Return the intent of the rollout group ``group``.

        Raises:
            KeyError: The group has no intent.
        """
        return self.intents[self.groups[group]]

    def charts_of(self, cluster: str) -> dict[str, Chart]:
        """Return the chart releases that are pinned for ``cluster``, by chart."""
        here = (self.chart_intents[name] for key, name in self.charts.items() if domain_of(key) == cluster)
        return {intent.chart: intent.made for intent in here}

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield references to missing intents, and intents that do not match their name."""
        for section in ("intents", "dpu_intents", "chart_intents"):
            intents: dict[IntentName, Intent] = getattr(self, section)
            for name, intent in intents.items():
                if intent.name != name:
                    text = f"does not match its name, which should be {intent.name}; {UNDO}"
                    yield ConstraintViolation(text, (section, name))
        for path, named in self._named():
            if named not in self._intents_about(path[1]):
                yield ConstraintViolation(f"names an intent that is not in this file; {UNDO}", path, named)

    def _intents_about(self, key: str) -> Mapping[IntentName, Intent]:
        if refers_to_charts(key):
            return self.chart_intents
        return self.dpu_intents if refers_to_dpus(key) else self.intents

    def _named(self) -> Iterator[tuple[tuple[str, ...], IntentName]]:
        for section in ("groups", "dpus", "charts", "previous"):
            yield from (((section, key), name) for key, name in getattr(self, section).items())
        for key, rollout in self.rollouts.items():
            yield ("rollouts", key, "to"), rollout.to
            yield ("rollouts", key, "before"), rollout.before


def _by_pool(groups: Mapping[GroupKey, _T]) -> dict[str, dict[GroupKey, _T]]:
    found = defaultdict[str, dict[GroupKey, _T]](dict)
    for key, value in groups.items():
        found[pool_of(key)][key] = value
    return dict(found)
