"""Lock files: numbers, host assignment and image pins. Machines write them, people review them.

``allocations.lock.yaml`` is changed by ``jacquard allocate`` only, ``images.lock.yaml`` by ``jacquard promote``.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.specs.api_server import DEFAULT_NODE_PORTS
from components.specs.bare_metal import BareMetalBackend
from components.specs.base import (
    DEFAULT_SERVICE_DOMAIN,
    OCI_DIGEST,
    Cidr,
    DataFile,
    DnsLabel,
    Domain,
    IpAddress,
    KubernetesVersion,
    Label,
    Sha256,
    ShortName,
    Spec,
    VersionName,
)
from components.specs.dpus import DpuClusterName
from components.specs.fabric import LAST_PKEY, GuidRange
from components.specs.ranges import Numbers
from components.specs.region import ControlPlaneBackend

Vni = Annotated[int, Field(ge=1, le=16_777_215)]
Asn = Annotated[int, Field(ge=1, le=4_294_967_295)]
RouteTarget = Annotated[int, Field(ge=1, le=4_294_967_295)]
"""Number of a route target, beside the ASN."""
Pkey = Annotated[int, Field(ge=1, le=LAST_PKEY)]
"""Partition key of InfiniBand."""


class LockFile(DataFile):
    """A data file that only commands write."""

    digest: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Of all the file says. Two branches that both change the file conflict in this line, and a hand edit is seen."""


class VpcAllocation(Spec):
    """Numbers of one VPC."""

    tenant: ShortName
    """Who has them: another tenant's VPC of the same name gets numbers of its own."""
    vni: Vni
    asn: Asn
    route_target: RouteTarget
    hosts: Cidr
    pods: Cidr
    services: Cidr
    load_balancers: Cidr
    pkeys: dict[DnsLabel, Pkey] = Field(default_factory=dict)
    """By InfiniBand fabric."""
    links: dict[DpuClusterName, tuple[Numbers, ...]] = Field(default_factory=dict)
    """By DPU cluster, where the region lists these: links between its DPUs and hosts, counted from 0 in ``hosts``."""


class ClusterAllocation(Spec):
    """Numbers of one cluster."""

    tenant: ShortName
    vip: IpAddress
    """Address of the hosted control plane."""
    controller: ShortName | None = None
    """Which of the region's bare-metal controllers has its hosts; None where the region lists none."""
    guids: dict[DnsLabel, GuidRange] = Field(default_factory=dict)
    """By InfiniBand fabric: what the virtual functions of its nodes may have."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Ports that its Services of type NodePort may have; never fewer than once."""
    service_domain: Domain = DEFAULT_SERVICE_DOMAIN
    """What its Services are called by; never another."""
    vpc: ShortName | None = None
    """Whose prefixes its pods and services have; never another. None in files of older releases."""
    control_planes: ControlPlaneBackend | None = None
    """Backend that hosts its control plane; never another. None in files of older releases."""
    bare_metal: BareMetalBackend | None = None
    """Backend that provisions its hosts; never another. None in files of older releases."""


class GroupAllocation(Spec):
    """Size of one rollout group."""

    nodes: int = Field(ge=0)
    """Machines the group runs; hosts assigned beyond that are its spares."""
    min_nodes: int | None = Field(default=None, ge=0)
    """Lower bound of the cluster autoscaler; only with autoscaling."""
    max_nodes: int | None = Field(default=None, ge=0)

    @property
    def most_nodes(self) -> int:
        """Return how many nodes the group may come to run."""
        return self.nodes if self.max_nodes is None else self.max_nodes


class Freed(Spec):
    """Numbers that somebody had and nobody else gets before they are released."""

    vnis: tuple[Vni, ...] = ()
    asns: tuple[Asn, ...] = ()
    route_targets: tuple[RouteTarget, ...] = ()
    prefixes: tuple[Cidr, ...] = ()
    pkeys: dict[DnsLabel, tuple[Pkey, ...]] = Field(default_factory=dict)
    """By InfiniBand fabric."""
    vips: tuple[IpAddress, ...] = ()
    guids: dict[DnsLabel, tuple[GuidRange, ...]] = Field(default_factory=dict)
    """By InfiniBand fabric."""
    public_ips: tuple[IpAddress, ...] = ()


class AllocationsLock(LockFile):
    """``allocations.lock.yaml``."""

    vpcs: dict[str, VpcAllocation] = Field(default_factory=dict)
    """By VPC name; VPC names are unique in a region."""
    clusters: dict[str, ClusterAllocation] = Field(default_factory=dict)
    public_ips: dict[str, IpAddress] = Field(default_factory=dict)
    """By ``cluster/vm``."""
    hosts: dict[str, str] = Field(default_factory=dict)
    """Host to ``cluster/pool``; a host that is missing here is free."""
    groups: dict[str, GroupAllocation] = Field(default_factory=dict)
    """By ``cluster/pool/failure-domain``."""
    quarantine: dict[str, Freed] = Field(default_factory=dict)
    """By who had them: ``tenant/vpc``, ``tenant/cluster`` or ``tenant/cluster/vm``. The same holder gets them back."""


class ImagePin(Spec):
    """The image and template revision a rollout group runs."""

    image: VersionName
    sha256: Sha256
    revision: int = Field(ge=1)
    """Revision of the template renderer; a new one is taken only when the group rolls anyway."""


class OpenRollout(Spec):
    """A rollout in waves that has begun and not ended. Only while there is one may groups of a pool differ."""

    to: ImagePin
    before: ImagePin
    """What groups run that no wave has moved yet."""
    rollback: bool = False


class Wave(Spec):
    """Rollout groups of an open rollout that moved together."""

    groups: tuple[Label, ...]
    """Their failure domains."""
    evidence: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the file that shows them settled; the next wave moves with it."""


class ControlPlanePin(Spec):
    """What the control plane of a cluster runs, whatever its tenant wishes for next."""

    version: KubernetesVersion
    data_store: DnsLabel
    """A data store of ``region.yaml``, or ``dedicated``."""


class ImagesLock(LockFile):
    """``images.lock.yaml``."""

    control_planes: dict[str, ControlPlanePin] = Field(default_factory=dict)
    """By cluster."""
    groups: dict[str, ImagePin] = Field(default_factory=dict)
    """By ``cluster/pool/failure-domain``."""
    rollouts: dict[str, OpenRollout] = Field(default_factory=dict)
    """By ``cluster/pool``; those that are open."""
    waves: dict[str, Wave] = Field(default_factory=dict)
    """By ``cluster/pool/number``, of open rollouts."""
    previous: dict[str, ImagePin] = Field(default_factory=dict)
    """By ``cluster/pool``: what the pool ran before its last rollout, where a rollback goes."""
