"""Lock files: numbers, host assignment and image pins. Machines write them, people review them.

``allocations.lock.yaml`` is changed by ``jacquard allocate`` only, ``images.lock.yaml`` by ``jacquard promote``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from pydantic import Field

from components.specs.base import (
    DEFAULT_SERVICE_DOMAIN,
    OCI_DIGEST,
    CheckedSpec,
    Cidr,
    DataFile,
    DnsLabel,
    Domain,
    IpAddress,
    KubernetesVersion,
    Label,
    Misfit,
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
    domain_of,
    is_about_charts,
    is_about_dpus,
)
from components.specs.network.border import RouteTarget
from components.specs.network.fabrics import FEW_RAILS, MOST_RAILS, GuidRange
from components.specs.network.vpc_allocation import Asn, Pkey, Vni, VpcAllocation
from components.specs.pools.intents import ChartIntent, DpuIntent, Intent, IntentName, NodeIntent
from components.specs.ranges import Numbers
from components.specs.region.region import ControlPlaneBackend
from components.specs.region.versions import Chart

UNDO = "restore the file with git checkout, since only commands write it"
"""Remedy for a lock file that no command wrote so."""


class LockFile(DataFile):
    """A data file that only commands write, and one of a pair: each names its region and the other file's content."""

    region: DnsLabel | None = None
    """Region whose numbers, hosts and pins these are; None in a file without entries."""
    beside: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest over the entries of the region's other lock file: a file that is lost, or older than the other, is seen.
    It leaves out ``beside`` and ``digest`` there, so that each file can name the other's."""
    digest: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest over all the file says, ``sha256:`` and 64 hex digits. Two branches that both change the file conflict in
    this line, and a hand edit is seen."""


class ClusterAllocation(Spec):
    """Numbers of one cluster."""

    tenant: ShortName
    """Tenant that has the numbers: another tenant's cluster of the same name gets numbers of its own."""
    vip: IpAddress
    """Address of the hosted control plane, taken from ``networks.control_plane_vips``."""
    controller: ShortName | None = None
    """Bare-metal controller of the region that has the cluster's hosts; None where the region lists none."""
    guids: dict[DnsLabel, GuidRange] = Field(default_factory=dict)
    """GUIDs that virtual functions of the cluster's nodes may have, by InfiniBand fabric."""
    rail_prefixes: dict[DnsLabel, Cidr] = Field(default_factory=dict)
    """Addresses of pods on the rails of each Ethernet fabric that has any, by fabric, in one subnet a rail. They never
    change while the cluster has nodes."""
    rail_subnets: int = Field(default=FEW_RAILS, ge=FEW_RAILS, le=MOST_RAILS)
    """Number of subnets that each prefix of rails is cut into, 8 or 16, whatever rails the fabric has later on."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Ports that Services of type NodePort may have; they never become fewer."""
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """Domain that Services of the cluster are called by; it never changes."""
    vpc: ShortName | None = None
    """VPC whose prefixes the cluster's pods and services have; it never changes. None in files of older releases."""
    control_planes: ControlPlaneBackend | None = None
    """Backend that hosts the control plane; it never changes. None in files of older releases."""
    bare_metal: BareMetalBackend | None = None
    """Backend that provisions the cluster's hosts; it never changes. None in files of older releases."""


class GroupAllocation(Spec):
    """Size of one rollout group."""

    nodes: int = Field(ge=0)
    """Number of machines the group runs; hosts assigned beyond that are its spares."""
    min_nodes: int | None = Field(default=None, ge=0)
    """Least machines that the cluster autoscaler may leave; None without autoscaling."""
    max_nodes: int | None = Field(default=None, ge=0)
    """Most machines that the cluster autoscaler may ask for; None without autoscaling."""

    @property
    def most_nodes(self) -> int:
        """Return how many nodes the group may come to run."""
        return self.nodes if self.max_nodes is None else self.max_nodes


class Freed(Spec):
    """Numbers that somebody had and nobody else gets before they are released."""

    vnis: tuple[Vni, ...] = ()
    """Virtual network identifiers that a VPC had."""
    asns: tuple[Asn, ...] = ()
    """BGP numbers that a VPC had."""
    route_targets: tuple[RouteTarget, ...] = ()
    """Numbers of route targets that a VPC had."""
    prefixes: tuple[Cidr, ...] = ()
    """Prefixes that a VPC had, whatever for."""
    pkeys: dict[DnsLabel, tuple[Pkey, ...]] = Field(default_factory=dict)
    """Partition keys that a VPC had, by InfiniBand fabric."""
    fabric_vnis: dict[DnsLabel, tuple[Vni, ...]] = Field(default_factory=dict)
    """VNIs that a VPC had on Ethernet fabrics with ``roce``, by fabric."""
    vips: tuple[IpAddress, ...] = ()
    """Addresses that a hosted control plane had."""
    guids: dict[DnsLabel, tuple[GuidRange, ...]] = Field(default_factory=dict)
    """GUIDs that the nodes of a cluster had, by InfiniBand fabric."""
    rail_prefixes: dict[DnsLabel, tuple[Cidr, ...]] = Field(default_factory=dict)
    """Addresses of a cluster's pods on rails, by Ethernet fabric."""
    public_ips: tuple[IpAddress, ...] = ()
    """Public addresses that a VM had."""
    prefixes_ipv6: tuple[Cidr6, ...] = ()
    """Prefixes of IPv6 that a VPC had, whatever for."""


class AllocationsLock(LockFile):
    """``allocations.lock.yaml``, which says who has which number and which host."""

    FORMAT: ClassVar[int] = 2
    """Version that files of this kind have now."""

    schema_version: int = Field(ge=FORMAT, le=FORMAT)
    """Version of the file format; ``jacquard migrate`` moves older files on."""
    vpcs: dict[str, VpcAllocation] = Field(default_factory=dict)
    """Numbers of each VPC, by VPC name, which is unique in a region."""
    clusters: dict[str, ClusterAllocation] = Field(default_factory=dict)
    """Numbers of each cluster, by cluster name, which is unique in a region."""
    public_ips: dict[str, IpAddress] = Field(default_factory=dict)
    """Public address of each VM that has one, by ``cluster/vm``."""
    hosts: dict[str, PoolKey] = Field(default_factory=dict)
    """The ``cluster/pool`` that has each host, by host; a host that is missing here is free."""
    addresses: dict[str, IpAddress] = Field(default_factory=dict)
    """Address of each host in its VPC, by host, where ``nodes.addresses`` of the region asks for them: the third one of
    its link, whose second one is that of its DPU and its gateway."""
    groups: dict[GroupKey, GroupAllocation] = Field(default_factory=dict)
    """Size of each rollout group, by ``cluster/pool/failure-domain``."""
    quarantine: dict[str, Freed] = Field(default_factory=dict)
    """Numbers that were freed, by who had them: ``tenant/vpc``, ``tenant/cluster`` or ``tenant/cluster/vm``. The same
    holder gets them back."""


class OpenRollout(Spec):
    """A rollout in waves that has begun and not ended. Only while there is one may groups of a pool differ."""

    to: IntentName
    """Intent that the groups come to one after the other."""
    before: IntentName
    """Intent of the groups that no wave has moved yet."""
    rollback: bool = False
    """Whether the pool goes back to where it came from."""


class Wave(Spec):
    """Rollout groups of an open rollout that moved together."""

    groups: tuple[Label, ...]
    """Failure domains of the groups, DPUDeployments where DPUs roll, or clusters where a chart does."""
    evidence: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the file that shows them settled; the next wave moves with it."""


class ControlPlanePin(Spec):
    """What the control plane of a cluster runs, whatever its tenant wishes for next."""

    version: KubernetesVersion
    """Kubernetes version that the control plane runs."""
    data_store: DnsLabel
    """Where the control plane keeps its state, a data store of ``region.yaml`` or ``dedicated``."""


class ImagesLock(LockFile, CheckedSpec):
    """``images.lock.yaml``."""

    FORMAT: ClassVar[int] = 3
    """Version that files of this kind have now."""

    schema_version: int = Field(ge=FORMAT, le=FORMAT)
    """Version of the file format; ``jacquard migrate`` moves older files on."""
    control_planes: dict[str, ControlPlanePin] = Field(default_factory=dict)
    """What control planes run, by cluster."""
    intents: dict[IntentName, NodeIntent] = Field(default_factory=dict)
    """Intents of nodes that are in use, each once, by name."""
    groups: dict[GroupKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of each rollout group, by ``cluster/pool/failure-domain``."""
    dpu_intents: dict[IntentName, DpuIntent] = Field(default_factory=dict)
    """Intents of DPUs that are in use, each once, by name."""
    dpus: dict[DpuKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of the DPUs of each DPUDeployment, by ``dpus/deployment``."""
    chart_intents: dict[IntentName, ChartIntent] = Field(default_factory=dict)
    """Intents of charts that are in use, each once, by name."""
    charts: dict[ChartKey, IntentName] = Field(default_factory=dict)
    """Name of the intent of a chart in a cluster, by ``charts/chart/cluster``; a cluster that is missing here has what
    the version vector says."""
    rollouts: dict[PromotedKey, OpenRollout] = Field(default_factory=dict)
    """Rollouts that are open, by ``cluster/pool``, ``charts/chart``, or ``dpus``."""
    waves: dict[WaveKey, Wave] = Field(default_factory=dict)
    """Waves of open rollouts, by ``cluster/pool/number``, ``charts/chart/number``, or ``dpus/number``."""
    previous: dict[PromotedKey, IntentName] = Field(default_factory=dict)
    """Intent before the last rollout, where a rollback goes, by ``cluster/pool``, ``charts/chart``, or ``dpus``."""

    @property
    def moved(self) -> dict[str, IntentName]:
        """Return the name of the intent of all that a promotion moves: groups of nodes and of DPUs, and charts."""
        return {**self.groups, **self.dpus, **self.charts}

    def node(self, group: str) -> NodeIntent:
        """Return the intent of the rollout group ``group``.

        Raises:
            KeyError: The group has none.
        """
        return self.intents[self.groups[group]]

    def charts_of(self, cluster: str) -> dict[str, Chart]:
        """Return the releases of charts that are pinned for ``cluster``, by chart."""
        here = (self.chart_intents[name] for key, name in self.charts.items() if domain_of(key) == cluster)
        return {intent.chart: intent.made for intent in here}

    def misfits(self) -> Iterator[Misfit]:
        """Yield names of intents that are not there, and intents that are not what their name says."""
        for section in ("intents", "dpu_intents", "chart_intents"):
            intents: dict[IntentName, Intent] = getattr(self, section)
            for name, intent in intents.items():
                if intent.name != name:
                    text = f"is not the intent of that name, which would be {intent.name}; {UNDO}"
                    yield Misfit(text, (section, name))
        for path, named in self._named():
            if named not in self._intents_about(path[1]):
                yield Misfit(f"names an intent that is not in this file; {UNDO}", path, named)

    def _intents_about(self, key: str) -> Mapping[IntentName, Intent]:
        if is_about_charts(key):
            return self.chart_intents
        return self.dpu_intents if is_about_dpus(key) else self.intents

    def _named(self) -> Iterator[tuple[tuple[str, ...], IntentName]]:
        for section in ("groups", "dpus", "charts", "previous"):
            yield from (((section, key), name) for key, name in getattr(self, section).items())
        for key, rollout in self.rollouts.items():
            yield ("rollouts", key, "to"), rollout.to
            yield ("rollouts", key, "before"), rollout.before
