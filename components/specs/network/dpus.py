"""The DPUs of a region: the control plane that runs them, in as many clusters as they need."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints

from components.specs.base import (
    CheckedSpec,
    Cidr,
    DnsLabel,
    Endpoint,
    InterfaceName,
    IpAddress,
    Label,
    Misfit,
    Spec,
    VersionName,
)

DPU_CLUSTER_NAME = r"^[a-z][a-z0-9]{0,3}$"
ONLY = "dpus"
"""Name of the DPU cluster of a region that lists none. Listed under this name, it keeps the names of its objects."""

DpuClusterName = Annotated[str, StringConstraints(pattern=DPU_CLUSTER_NAME)]
"""At most 4 characters: after a VPC's name and ``-`` it names a DPUDeployment, which has 20."""
VirtualRouterId = Annotated[int, Field(ge=1, le=255)]
LEAST_MTU = 1280
MtuBytes = Annotated[int, Field(ge=LEAST_MTU, le=9216)]
VXLAN_BYTES, GENEVE_BYTES = 50, 58
"""What an overlay over IPv4 adds to each packet of a host: both headers of Ethernet and IP, UDP's and its own."""


class DpuClusterSpec(CheckedSpec):
    """One Kubernetes cluster of DPUs (DPF's DPUCluster), and the racks whose DPUs it runs.

    A DPU that comes to another cluster is flashed anew and its host rebooted: a new cluster begins behind the last
    rack there is, never in the middle of racks with tenants.
    """

    name: DpuClusterName
    """Name of the DPU cluster, unique in the region."""
    vip: IpAddress
    """Address of the DPU cluster's API, which Keepalived holds; ``clusterEndpoint.keepalived.vip`` of DPF's
    DPUCluster."""
    virtual_router_id: VirtualRouterId
    """Number by which Keepalived tells the ``vip`` from others, unique on its network segment."""
    loopbacks: Cidr
    """Part of ``networks.dpu_loopbacks`` for the DPUs of the cluster; each cluster gives out addresses without asking
    the others."""
    halls: tuple[Label, ...] = ()
    """Halls whose DPUs the cluster runs; it runs those of all halls when none is listed."""
    from_rack: Label | None = None
    """First rack of the cluster's only hall, in natural order; it ends before the next cluster's. It begins with the
    hall's first rack when left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield a first rack of many halls."""
        if self.from_rack is not None and len(self.halls) != 1:
            yield Misfit("is a rack of one hall; list that hall alone", ("from_rack",), self.from_rack)


class DpuReleaseSpec(Spec):
    """How the platform lets DPUs go: it empties hosts, takes holds off, cycles power and opens hosts to clusters again.

    Without it people do each of these steps, and a cluster may claim a host before its DPU is in the right VPC.
    """

    max_away: int = Field(default=10, ge=1, le=50)
    """Most hosts of the region that are away at once for their DPU's sake, of those that work; DPF flashes 50 at
    most."""
    max_away_per_vpc: int = Field(default=1, ge=1, le=50)
    """Most hosts of one VPC that are away at once for their DPU's sake; their clusters lack as many nodes."""
    stuck_minutes: int = Field(default=240, ge=60, le=10_080)
    """Minutes for which a host may be away before somebody is told: a drain that waits for jobs, and 45 minutes for
    DPF to flash a DPU."""


class DpuControlSpec(CheckedSpec):
    """The DPF control plane of a region."""

    model_config = ConfigDict(
        json_schema_extra={"anyOf": [{"required": ["vip", "virtual_router_id"]}, {"required": ["clusters"]}]}
    )

    image: VersionName
    """Version of a DPU image of ``catalog/images.yaml``, which all DPUs of the region are flashed with."""
    vip: IpAddress | None = None
    """Address of the only DPU cluster's API, which Keepalived holds; required unless ``clusters`` have theirs."""
    vip_interface: InterfaceName
    """Interface of the management cluster's hosts that holds the addresses of DPU clusters, and that the Ironic of a
    bare-metal controller listens on."""
    virtual_router_id: VirtualRouterId | None = None
    """Number by which Keepalived tells the ``vip`` from others, unique on its network segment; required with
    ``vip``."""
    max_dpus: int = Field(default=1000, ge=1, le=1000)
    """Most DPUs in one DPU cluster, at most the 1,000 that ``maxNodes`` of DPF's DPUCluster allows."""
    clusters: tuple[DpuClusterSpec, ...] = ()
    """DPU clusters of a region with more than ``max_dpus`` DPUs; one cluster runs them all when none is listed."""
    mtu_bytes: MtuBytes = 9000
    """Largest packet of tenants' networks, in bytes: of hosts' ports on their DPUs, and of all that is in a VPC (DPF
    allows 1280 to 9216)."""
    uplink_mtu_bytes: MtuBytes = 9216
    """Largest packet between DPUs and leaf switches, in bytes: that of tenants and what the overlay puts around it, 50
    bytes by VXLAN (RFC 7348), 58 where VPCs may use OVN, which adds Geneve with its options."""
    bfb_registry: Endpoint | None = None
    """Load balancer, as ``host:port``, that BMCs of DPUs fetch images from: in front of node port ``bfb-registry`` of
    the management cluster. DPF names one of its own hosts when it is left out."""
    pull_secrets: tuple[DnsLabel, ...] = ()
    """Secrets in the ``dpf-operator-system`` namespace by which DPF and services on DPUs pull images; none is needed
    where ``registry`` is a mirror without a login."""
    management_api: IpAddress
    """Address of the management cluster's API as DPUs reach it; DPF needs it to flash over Redfish."""
    release: DpuReleaseSpec | None = None
    """How DPUs are let go by the platform; people do it when it is left out
    (``docs/network/dpus-and-infiniband.md``)."""
    host_interface: InterfaceName = "eth0"
    """Name that golden images give the host's port on its DPU; load balancers of tenants announce through it."""
    ovn_central: IpAddress | None = None
    """Address of the management cluster at which DPUs reach OVN's databases, by node ports 30641 and 30642; needed when
    a VPC uses ``dpf-ovn``. With it and ``networks.ovn`` OVN's services run whether one does or not."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an address of the only DPU cluster that is missing or that nobody needs, and uplinks too narrow."""
        yield from self._narrow_uplinks()
        for key in ("vip", "virtual_router_id"):
            value = getattr(self, key)
            if value is None and not self.clusters:
                yield Misfit("is required while clusters are not listed; add it", (key,))
            elif value is not None and self.clusters:
                got = value if isinstance(value, int) else str(value)
                yield Misfit("has no meaning beside clusters, which have their own; remove it", (key,), got)

    def _narrow_uplinks(self) -> Iterator[Misfit]:
        overlay = GENEVE_BYTES if self.ovn_central else VXLAN_BYTES
        room = self.uplink_mtu_bytes - overlay
        if self.mtu_bytes > room:
            key = "uplink_mtu_bytes" if "uplink_mtu_bytes" in self.model_fields_set else "mtu_bytes"
            remedy = f"mtu_bytes: {room}" if room >= LEAST_MTU else f"uplink_mtu_bytes: {self.mtu_bytes + overlay}"
            text = (
                f"does not let packets of tenants (mtu_bytes {self.mtu_bytes}) through uplinks (uplink_mtu_bytes"
                f" {self.uplink_mtu_bytes}), since the overlay adds {overlay} bytes; write {remedy}"
            )
            yield Misfit(text, (key,), getattr(self, key))

    def every(self, loopbacks: Cidr) -> tuple[DpuClusterSpec, ...]:
        """Return the DPU clusters; the only one of a region that lists none has all ``loopbacks``."""
        if self.vip is None or self.virtual_router_id is None:
            return self.clusters
        only = DpuClusterSpec(name=ONLY, vip=self.vip, virtual_router_id=self.virtual_router_id, loopbacks=loopbacks)
        return (only,)
