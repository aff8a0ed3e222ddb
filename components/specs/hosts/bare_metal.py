"""Bare-metal provisioning: the backend, and the controllers that share the hosts of a region."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    Cidr,
    ConstraintViolation,
    DnsLabel,
    InterfaceName,
    IpAddress,
    Label,
    ShortName,
    Spec,
    Text,
)
from components.specs.hosts.netboot import NetbootSpec
from components.specs.reading.problems import listed

MOST_BY_MEDIA = 500
"""Maximum number of hosts per controller that Red Hat validated with virtual media (OCPSTRAT-2646)."""
MOST_BY_NETWORK = 1500
"""Maximum number of hosts per controller that Red Hat validated with network boot (OCPSTRAT-2646)."""


class BareMetalBackend(StrEnum):
    """Software that provisions hosts."""

    METAL3 = "metal3"
    """Metal3 provisions BareMetalHosts with Ironic: it writes images to disks or attaches ISOs."""
    IRONCORE_METAL = "ironcore-metal"
    """IronCore's metal-operator provisions Servers, which always boot from the network."""


class BootMethod(StrEnum):
    """Boot method of a controller for provisioning. The scheme of ``bmc`` determines the methods of a host."""

    VIRTUAL_MEDIA = "virtual-media"
    """The BMC attaches an ISO. A host whose driver does not support this cannot be assigned to the controller."""
    NETWORK_BOOT = "network-boot"
    """The host boots from the network. The controller also attaches ISOs, where a host's driver supports it."""


class Cleaning(StrEnum):
    """Disk cleaning by Ironic before a host becomes available: after registration and after each release."""

    METADATA = "metadata"
    """Partition tables and signatures are erased; other data remain on the disks."""
    ERASE = "erase"
    """The content of each disk is also erased, by NVMe format or ATA secure erase. A disk that supports neither is
    overwritten, which takes hours. If cleaning of a disk fails, the host stays unavailable (``clean failed``)."""


class DhcpSpec(CheckedSpec):
    """DHCP addresses for hosts that boot from the network. Routers relay the requests to the controller."""

    network: Cidr
    """Network of the addresses, part of ``networks.boot``; ``networkCIDR`` of the Ironic object."""
    gateway: IpAddress | None = None
    """Router announced to hosts by DHCP, ``gatewayAddress`` of the Ironic object. Omit it if hosts need no router."""
    first: IpAddress
    """Lowest address for hosts, ``rangeBegin`` of the Ironic object."""
    last: IpAddress
    """Highest address for hosts, included; ``rangeEnd`` of the Ironic object."""

    @property
    def addresses(self) -> int:
        """Return the number of hosts that can boot at the same time."""
        return int(self.last) - int(self.first) + 1

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield addresses outside the network, and a descending range."""
        for key in ("gateway", "first", "last"):
            address = getattr(self, key)
            if address is not None and address not in self.network:
                yield ConstraintViolation(f"is not in {self.network}; write an address of it", (key,), str(address))
        if self.last < self.first:
            yield ConstraintViolation(f"is below {self.first}; write a higher address", ("last",), str(self.last))
        if self.gateway is not None and self.first <= self.gateway <= self.last:
            text = f"is in {self.first}-{self.last}, the range for hosts; write another address"
            yield ConstraintViolation(text, ("gateway",), str(self.gateway))


class ControllerSpec(CheckedSpec):
    """One shard of the bare-metal controllers, with a separate Ironic. All hosts of a cluster belong to one shard.

    Ironic runs on hosts of the management cluster with the label ``jacquard.dev/bare-metal-controller: <name>``. It
    uses the host network. The ports of two Ironics on one host would conflict.
    """

    name: ShortName
    """Name of the shard, unique in the region; its namespace has the same name."""
    boot: BootMethod
    """Boot method, which determines the maximum number of hosts. The scheme of a host's ``bmc`` determines the methods
    that the host supports."""
    max_hosts: int = Field(ge=1, le=MOST_BY_NETWORK)
    """Maximum number of hosts on the controller. Red Hat validated 500 with virtual media and 1,500 with network boot
    (OCPSTRAT-2646)."""
    dhcp: DhcpSpec | None = None
    """DHCP addresses for hosts that boot from the network. It is required for ``network-boot`` and not allowed
    otherwise."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield values that contradict the boot method."""
        if self.boot is BootMethod.NETWORK_BOOT and self.dhcp is None:
            yield ConstraintViolation(f"is required for {self.boot}; add it", ("dhcp",))
        if self.boot is BootMethod.VIRTUAL_MEDIA:
            if self.dhcp is not None:
                yield ConstraintViolation(
                    f"has no effect for {self.boot}; remove it", ("dhcp",), str(self.dhcp.network)
                )
            if self.max_hosts > MOST_BY_MEDIA:
                text = f"is above the validated maximum for {self.boot}; write at most {MOST_BY_MEDIA}"
                yield ConstraintViolation(text, ("max_hosts",), self.max_hosts)
        elif self.dhcp is not None and self.dhcp.addresses < self.max_hosts:
            text = f"has {self.dhcp.addresses} addresses for {self.max_hosts} hosts; write a wider range"
            yield ConstraintViolation(text, ("dhcp",), f"{self.dhcp.first}-{self.dhcp.last}")


class UnverifiedBmcSpec(CheckedSpec):
    """Hosts whose BMC certificates are not verified, and the reason. A man in the middle can read their credentials."""

    racks: tuple[Label, ...] = ()
    """Racks of the excepted hosts."""
    instance_types: tuple[Label, ...] = ()
    """Instance types of the excepted hosts."""
    reason: Text
    """Reason for the exception and its planned end, for reviewers of the policy ``unverified-bmc``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an exception without hosts."""
        if not self.racks and not self.instance_types:
            yield ConstraintViolation("names no hosts; add racks or instance_types")


class BmcCertificatesSpec(Spec):
    """Verification of BMC certificates when Metal3 or IronCore's metal-operator connects with HTTPS."""

    authority: DnsLabel | None = None
    """Secret in the namespace of each Ironic, or of metal-operator, with the certificates of all authorities for BMC
    certificates in ``ca.crt``. Both read every key of the Secret; it must not contain a private key."""
    unverified: tuple[UnverifiedBmcSpec, ...] = ()
    """Hosts that are excepted from verification, such as those of a vendor with self-signed BMC certificates.
    metal-operator verifies the certificates of all BMCs or of none, so the exceptions must include all hosts there."""


class BareMetalSpec(CheckedSpec):
    """Bare-metal provisioning of a region, and the capacity of its controllers."""

    backend: BareMetalBackend = BareMetalBackend.METAL3
    """Software that provisions all hosts of the region."""
    hosts_per_controller: int = Field(default=500, ge=1, le=MOST_BY_NETWORK)
    """Maximum number of hosts of the region if no ``controllers`` are listed. Red Hat validated 500 with virtual media
    and 1,500 with network boot (OCPSTRAT-2646)."""
    controllers: tuple[ControllerSpec, ...] = ()
    """Shards of the hosts. If the list is empty, one controller manages all hosts; with Metal3 these hosts cannot boot
    from the network."""
    free_hosts: ShortName | None = None
    """Controller of unassigned hosts. These hosts share one namespace, which only one controller may watch. This field
    is required with ``controllers``."""
    boot_interface: InterfaceName = "br-boot"
    """Interface in ``networks.boot``, on hosts of the management cluster whose controller leases addresses. Ironic
    listens on ``dpus.vip_interface`` if it leases no addresses."""
    cleaning: Cleaning = Cleaning.METADATA
    """Disk cleaning before a host becomes available. IronCore's metal-operator does not clean disks."""
    bmc_certificates: BmcCertificatesSpec = BmcCertificatesSpec.defaults()
    """Verification of BMC certificates. Hosts whose BMC cannot be verified are not registered."""
    netboot: NetbootSpec | None = None
    """Services from which hosts of IronCore metal boot. It is required for IronCore metal and not allowed otherwise."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield controllers that the backend does not support, and a missing or unknown ``free_hosts`` controller."""
        names = [controller.name for controller in self.controllers]
        if names and self.backend is not BareMetalBackend.METAL3:
            text = f"has no effect for {self.backend}, whose servers are not namespaced; remove it"
            yield ConstraintViolation(text, ("controllers",), listed(names))
        if self.cleaning is not Cleaning.METADATA and self.backend is not BareMetalBackend.METAL3:
            text = f"has no effect for {self.backend}, which does not clean disks; remove it"
            yield ConstraintViolation(text, ("cleaning",), self.cleaning.value)
        if self.netboot is not None and self.backend is not BareMetalBackend.IRONCORE_METAL:
            text = f"has no effect for {self.backend}, whose Ironic serves boot files; remove it"
            yield ConstraintViolation(text, ("netboot",), str(self.netboot.boot_address))
        if names and self.free_hosts is None:
            yield ConstraintViolation("is required with controllers; name one of them", ("free_hosts",))
        if self.free_hosts is not None and self.free_hosts not in names:
            what = "has no effect without controllers; remove it"
            if names:
                what = f"is not in controllers ({listed(names)}); name one of them"
            yield ConstraintViolation(what, ("free_hosts",), self.free_hosts)
