"""DPUs of a region: their DPF control plane, in one or more DPU clusters."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from components.specs.base import (
    CheckedSpec,
    Cidr,
    ConstraintViolation,
    DnsLabel,
    Endpoint,
    InterfaceName,
    IpAddress,
    Label,
    Spec,
    VersionName,
)

DPU_CLUSTER_NAME = r"^[a-z][a-z0-9]{0,3}$"
ONLY = "dpus"
"""Name of the default DPU cluster. The names of its objects do not change if it is listed under this name."""

DpuClusterName = Annotated[str, StringConstraints(pattern=DPU_CLUSTER_NAME)]
"""Name of at most 4 characters. A VPC name, ``-`` and this name form the name of a DPUDeployment (20 characters)."""
VirtualRouterId = Annotated[int, Field(ge=1, le=255)]
LEAST_MTU = 1280
MtuBytes = Annotated[int, Field(ge=LEAST_MTU, le=9216)]
VXLAN_BYTES, GENEVE_BYTES = 50, 58
"""Overhead of VXLAN and Geneve over IPv4 per packet of a host: inner and outer Ethernet, IP, UDP and overlay
headers."""


class DpuClusterSpec(CheckedSpec):
    """Kubernetes cluster of DPUs (DPF's DPUCluster), and the racks whose DPUs it manages.

    A DPU that is assigned to another cluster is reflashed, and its host is rebooted. Therefore add a new cluster after
    the last existing rack, never among racks with tenants.
    """

    name: DpuClusterName
    """Name of the DPU cluster, unique in the region."""
    vip: IpAddress
    """Virtual IP address of the DPU cluster's API, announced by Keepalived; ``clusterEndpoint.keepalived.vip`` of DPF's
    DPUCluster."""
    virtual_router_id: VirtualRouterId
    """VRRP router ID in Keepalived for ``vip``, unique on its network segment."""
    loopbacks: Cidr
    """Part of ``networks.dpu_loopbacks`` for the DPUs of this cluster. Each cluster allocates its addresses
    independently."""
    halls: tuple[Label, ...] = ()
    """Halls whose DPUs the cluster manages; all halls if the list is empty."""
    from_rack: Label | None = None
    """First rack of the cluster, in natural order, for a cluster with exactly one hall. The range ends before the first
    rack of the next cluster. The default is the first rack of the hall."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a first rack of a cluster with several halls."""
        if self.from_rack is not None and len(self.halls) != 1:
            yield ConstraintViolation(
                "needs exactly one hall; list only the hall of this rack", ("from_rack",), self.from_rack
            )


class DpuReleaseSpec(Spec):
    """Automatic release of the maintenance hold of DPUs.

    The platform drains hosts, releases the holds, power-cycles hosts and makes them available to clusters again.
    Without this setting, operators perform each step by hand, and a cluster can claim a host before its DPU is in the
    correct VPC.
    """

    max_away: int = Field(default=10, ge=1, le=50)
    """Maximum number of healthy hosts in the region that are unavailable at the same time for DPU maintenance. DPF
    flashes at most 50 DPUs at the same time."""
    max_away_per_vpc: int = Field(default=1, ge=1, le=50)
    """Maximum number of hosts in one VPC that are unavailable at the same time for DPU maintenance. The clusters of the
    VPC have fewer nodes during this time."""
    stuck_minutes: int = Field(default=240, ge=60, le=10_080)
    """Minutes that a host may be unavailable before an alert: the time of a drain that waits for jobs, plus 60 minutes
    for DPF to flash a DPU."""


class DpuControlSpec(CheckedSpec):
    """DPF control plane of a region."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["vip", "virtual_router_id"]}, {"required": ["clusters"]}]}
    )

    image: VersionName
    """Version of a DPU image of ``catalog/images.yaml``. All DPUs of the region are flashed with it."""
    vip: IpAddress | None = None
    """Virtual IP address of the API of the only DPU cluster, announced by Keepalived. Required unless ``clusters`` are
    listed, each with its own address."""
    vip_interface: InterfaceName
    """Network interface of the management cluster's hosts for the addresses of DPU clusters. Ironic of a bare-metal
    controller also listens on it."""
    virtual_router_id: VirtualRouterId | None = None
    """VRRP router ID in Keepalived for ``vip``, unique on its network segment. Required with ``vip``."""
    max_dpus: int = Field(default=1000, ge=1, le=1000)
    """Maximum number of DPUs in one DPU cluster, at most the 1,000 that ``maxNodes`` of DPF's DPUCluster allows."""
    clusters: tuple[DpuClusterSpec, ...] = ()
    """DPU clusters of a region with more than ``max_dpus`` DPUs. If the list is empty, one cluster manages all DPUs."""
    mtu_bytes: MtuBytes = 9000
    """MTU of tenant networks in bytes, for host ports on DPUs and all interfaces in a VPC (DPF allows 1280 to 9216)."""
    uplink_mtu_bytes: MtuBytes = 9216
    """MTU between DPUs and leaf switches in bytes: ``mtu_bytes`` plus the overlay overhead. The overhead is 50 bytes
    for VXLAN (RFC 7348), and 58 bytes if VPCs may use OVN, because its Geneve headers contain options."""
    bfb_registry: Endpoint | None = None
    """Load balancer (``host:port``) in front of node port ``bfb-registry`` of the management cluster, from which BMCs
    of DPUs fetch images. By default DPF uses the address of one of its own hosts."""
    pull_secrets: tuple[DnsLabel, ...] = ()
    """Secrets in the ``dpf-operator-system`` namespace for image pulls of DPF and of services on DPUs. Omit them if
    ``registry`` is a mirror without login."""
    management_api: IpAddress
    """Address of the management cluster's API as reachable from DPUs. DPF needs it to flash over Redfish."""
    release: DpuReleaseSpec | None = None
    """Automatic release of the maintenance hold of DPUs. By default operators release it by hand
    (``docs/network/dpus-and-infiniband.md``)."""
    host_interface: InterfaceName | None = None
    """Name of the DPU port of a host with golden images that do not declare it (``contents.dpu_interface``). Load
    balancers are announced on this port. Without both, the name is ``eth0``, as in release 0.1.0."""
    ovn_central: IpAddress | None = None
    """Address of the management cluster at which DPUs reach the OVN databases, on node ports 30641 and 30642. Required
    if a VPC uses ``dpf-ovn``. With this field and ``networks.ovn``, the OVN services run even if no VPC uses them."""
    ovn_replicated: bool = False
    """Whether three pods replicate the OVN databases, on three hosts of the management cluster's control plane. By
    default a single pod has the databases on the disk of its host. Set it before the first VPC on OVN, because upstream
    does not document the conversion of existing databases."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a missing or unnecessary address of the only DPU cluster, and uplinks whose MTU is too small."""
        yield from self._narrow_uplinks()
        for key in ("vip", "virtual_router_id"):
            value = getattr(self, key)
            if value is None and not self.clusters:
                yield ConstraintViolation("is required when no clusters are listed; add it", (key,))
            elif value is not None and self.clusters:
                got = value if isinstance(value, int) else str(value)
                yield ConstraintViolation(
                    "has no effect when clusters are listed, which have their own; remove it", (key,), got
                )

    def _narrow_uplinks(self) -> Iterator[ConstraintViolation]:
        overlay = GENEVE_BYTES if self.ovn_central else VXLAN_BYTES
        room = self.uplink_mtu_bytes - overlay
        if self.mtu_bytes > room:
            key = "uplink_mtu_bytes" if "uplink_mtu_bytes" in self.model_fields_set else "mtu_bytes"
            remedy = f"mtu_bytes: {room}" if room >= LEAST_MTU else f"uplink_mtu_bytes: {self.mtu_bytes + overlay}"
            text = (
                f"leaves no room for the overlay: mtu_bytes {self.mtu_bytes} plus {overlay} bytes exceeds"
                f" uplink_mtu_bytes {self.uplink_mtu_bytes}; write {remedy}"
            )
            yield ConstraintViolation(text, (key,), getattr(self, key))

    def every(self, loopbacks: Cidr) -> tuple[DpuClusterSpec, ...]:
        """Return the DPU clusters; without listed clusters, the default one with all ``loopbacks``."""
        if self.vip is None or self.virtual_router_id is None:
            return self.clusters
        only = DpuClusterSpec(name=ONLY, vip=self.vip, virtual_router_id=self.virtual_router_id, loopbacks=loopbacks)
        return (only,)
