"""Services from which hosts of IronCore metal boot, and the images with which they are discovered."""

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, IpAddress, Registry
from components.specs.pools.nodes import PinnedImage


class NetbootSpec(CheckedSpec):
    """Addresses of metal-operator and boot-operator, and images for the discovery of servers.

    Both addresses are in ``networks.management``. Hosts must reach them from the network in which they boot.
    """

    boot_address: IpAddress
    """Address of boot-operator. Hosts fetch Ignition from port 8082 and images from port 8083. The DHCP service of the
    boot network, which Jacquard does not render, requests the boot file of a host from port 8082."""
    registry_address: IpAddress
    """Address of metal-operator. During discovery, hosts report their hardware to port 10000."""
    probe_image: PinnedImage
    """Image of metal-operator's ``metalprobe``, in the release of metal-operator."""
    probe_os_image: PinnedImage
    """Image that hosts boot for discovery, which runs ``probe_image``: an OCI artefact like netboot images of nodes."""
    registries: tuple[Registry, ...] = Field(min_length=1)
    """Registries from which hosts can boot images. boot-operator rejects images of other registries."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a discovery image in another registry, and an address that is used twice."""
        registry = self.probe_os_image.partition("/")[0]
        if registry not in self.registries:
            text = f"is in {registry}, which is not in registries; add it there"
            yield ConstraintViolation(text, ("probe_os_image",), self.probe_os_image)
        if self.registry_address == self.boot_address:
            text = "is also boot_address, but the services have separate addresses; write another address"
            yield ConstraintViolation(text, ("registry_address",), str(self.registry_address))
