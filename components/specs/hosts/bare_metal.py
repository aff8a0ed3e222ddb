"""Who provisions hosts: the backend, and the controllers that share a region's hosts out among them."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    Cidr,
    DnsLabel,
    InterfaceName,
    IpAddress,
    Label,
    Misfit,
    ShortName,
    Spec,
    Text,
)
from components.specs.reading.problems import listed

MOST_BY_MEDIA = 500
"""Most hosts on one controller that Red Hat validated with virtual media (OCPSTRAT-2646)."""
MOST_BY_NETWORK = 1500
"""Most hosts on one controller that Red Hat validated with network boot (OCPSTRAT-2646)."""


class BareMetalBackend(StrEnum):
    """What provisions hosts."""

    METAL3 = "metal3"
    """Metal3 provisions BareMetalHosts by Ironic, and writes images to disks or attaches ISOs."""
    IRONCORE_METAL = "ironcore-metal"
    """IronCore's metal operator provisions Servers, which boot from the network each time."""


class BootMethod(StrEnum):
    """How a controller starts a host that it provisions. The scheme of a host's ``bmc`` says what the host can do."""

    VIRTUAL_MEDIA = "virtual-media"
    """The BMC attaches an ISO. A host whose driver cannot do that has no place on such a controller."""
    NETWORK_BOOT = "network-boot"
    """The host asks the network. Such a controller attaches ISOs too, where a host's driver does that."""


class Cleaning(StrEnum):
    """What Ironic does to all disks of a host before it is free, at first and each time it is given back."""

    METADATA = "metadata"
    """Partition tables and signatures are erased, and data stay where they are."""
    ERASE = "erase"
    """Each disk is erased too: by NVMe's format or ATA's secure erase, or overwritten for hours if it is no NVMe disk
    and knows neither. A host with a disk that fails is not free again (``clean failed``)."""


class DhcpSpec(CheckedSpec):
    """Addresses that hosts have while they boot from the network; routers relay their requests to the controller."""

    network: Cidr
    """Network that the addresses are of, part of ``networks.boot``. It becomes ``networkCIDR`` of the Ironic."""
    gateway: IpAddress | None = None
    """Router that hosts are told by DHCP, ``gatewayAddress`` of the Ironic; left out where hosts need none."""
    first: IpAddress
    """Lowest address that a host may get, ``rangeBegin`` of the Ironic."""
    last: IpAddress
    """Highest address that a host may get, included; ``rangeEnd`` of the Ironic."""

    @property
    def addresses(self) -> int:
        """Return how many hosts can boot at the same time."""
        return int(self.last) - int(self.first) + 1

    def misfits(self) -> Iterator[Misfit]:
        """Yield addresses that are no part of the network, and a range that goes downwards."""
        for key in ("gateway", "first", "last"):
            address = getattr(self, key)
            if address is not None and address not in self.network:
                yield Misfit(f"is not in {self.network}; write an address of it", (key,), str(address))
        if self.last < self.first:
            yield Misfit(f"is below {self.first}; write a higher address", ("last",), str(self.last))
        if self.gateway is not None and self.first <= self.gateway <= self.last:
            text = f"is in {self.first}-{self.last}, which hosts get; write another address"
            yield Misfit(text, ("gateway",), str(self.gateway))


class ControllerSpec(CheckedSpec):
    """One shard of the bare-metal controllers, with its own Ironic; a cluster's hosts are all on one.

    Ironic runs on the hosts of the management cluster with the label ``jacquard.dev/bare-metal-controller: <name>``: it
    has the host's network, and two on one host would take the same ports.
    """

    name: ShortName
    """Name of the shard, unique in the region; its namespace is called after it."""
    boot: BootMethod
    """How the controller starts hosts, which decides how many it may hold. The scheme of a host's ``bmc`` says what the
    host can do."""
    max_hosts: int = Field(ge=1, le=MOST_BY_NETWORK)
    """Most hosts the controller may hold. Red Hat validated 500 with virtual media and 1,500 with network boot
    (OCPSTRAT-2646)."""
    dhcp: DhcpSpec | None = None
    """Addresses for hosts that boot from the network; required for ``network-boot`` and refused otherwise."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what contradicts the boot method."""
        if self.boot is BootMethod.NETWORK_BOOT and self.dhcp is None:
            yield Misfit(f"is required for {self.boot}; add it", ("dhcp",))
        if self.boot is BootMethod.VIRTUAL_MEDIA:
            if self.dhcp is not None:
                yield Misfit(f"has no meaning for {self.boot}; remove it", ("dhcp",), str(self.dhcp.network))
            if self.max_hosts > MOST_BY_MEDIA:
                text = f"is more than was validated with {self.boot}; write at most {MOST_BY_MEDIA}"
                yield Misfit(text, ("max_hosts",), self.max_hosts)
        elif self.dhcp is not None and self.dhcp.addresses < self.max_hosts:
            text = f"has {self.dhcp.addresses} addresses for {self.max_hosts} hosts; write a wider range"
            yield Misfit(text, ("dhcp",), f"{self.dhcp.first}-{self.dhcp.last}")


class UnverifiedBmcSpec(CheckedSpec):
    """Hosts whose BMCs are believed without a certificate, and why. Whoever stands between gets their logins."""

    racks: tuple[Label, ...] = ()
    """Racks whose hosts are meant."""
    instance_types: tuple[Label, ...] = ()
    """Instance types whose hosts are meant."""
    reason: Text
    """Why it has to be, and until when, for those who read the policy ``unverified-bmc``."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an exception for nobody."""
        if not self.racks and not self.instance_types:
            yield Misfit("names no hosts; add racks or instance_types")


class BmcCertificatesSpec(Spec):
    """What BMCs prove by that they are who they say, when Metal3 speaks to them by https.

    IronCore's metal-operator is told by flags of its own, which nothing here sets.
    """

    authority: DnsLabel | None = None
    """Secret in the namespace of each Ironic, with certificates of all authorities that signed those of BMCs in
    ``ca.crt``. Every key of it is read as such, so it holds no private key."""
    unverified: tuple[UnverifiedBmcSpec, ...] = ()
    """Hosts that are excepted, such as those of a vendor whose BMCs sign for themselves."""


class BareMetalSpec(CheckedSpec):
    """Who provisions hosts, and how many one controller may hold."""

    backend: BareMetalBackend = BareMetalBackend.METAL3
    """Software that provisions all hosts of the region."""
    hosts_per_controller: int = Field(default=500, ge=1, le=MOST_BY_NETWORK)
    """Most hosts of the region while no ``controllers`` are listed. Red Hat validated 500 with virtual media and 1,500
    with network boot (OCPSTRAT-2646)."""
    controllers: tuple[ControllerSpec, ...] = ()
    """Shards that share the hosts out among them. When none is listed, one controller holds all hosts; under Metal3
    none of these may boot from the network then."""
    free_hosts: ShortName | None = None
    """Controller of the hosts that no cluster has: they share one namespace, which only one controller may watch. It is
    required with ``controllers``."""
    boot_interface: InterfaceName = "br-boot"
    """Interface in ``networks.boot``, on the hosts of the management cluster where a controller leases addresses. An
    Ironic that leases none listens on ``dpus.vip_interface``."""
    cleaning: Cleaning = Cleaning.METADATA
    """What is done to the disks of a host before anybody has it. IronCore's metal-operator cleans nothing."""
    bmc_certificates: BmcCertificatesSpec = BmcCertificatesSpec()
    """How certificates of BMCs are verified; Metal3 registers no host behind one that it cannot verify."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield controllers that the backend does not know, and free hosts that none or an unknown one has."""
        names = [controller.name for controller in self.controllers]
        if names and self.backend is not BareMetalBackend.METAL3:
            text = f"has no meaning for {self.backend}, whose servers are in no namespace; remove it"
            yield Misfit(text, ("controllers",), listed(names))
        if self.cleaning is not Cleaning.METADATA and self.backend is not BareMetalBackend.METAL3:
            text = f"has no meaning for {self.backend}, which cleans nothing; remove it"
            yield Misfit(text, ("cleaning",), self.cleaning.value)
        if names and self.free_hosts is None:
            yield Misfit("is required with controllers; name one of them", ("free_hosts",))
        if self.free_hosts is not None and self.free_hosts not in names:
            what = "has no meaning without controllers; remove it"
            if names:
                what = f"is not in controllers ({listed(names)}); name one of them"
            yield Misfit(what, ("free_hosts",), self.free_hosts)
