"""Software with which Metal3 inspects, wipes and provisions hosts: Ironic and its ramdisks."""

from collections.abc import Iterator

from pydantic import Field

from components.specs.base import CheckedSpec, ConstraintViolation, HttpsUrl, Sha256, Spec
from components.specs.hosts.instance_types import Architecture
from components.specs.pools.nodes import PinnedImage

IRONIC_VERSION = r"^[1-9][0-9]?\.[0-9]$"


class RamdiskSpec(Spec):
    """Kernel and initramfs of the ironic-python-agent, which hosts of one architecture boot before their image."""

    architecture: Architecture
    """Instruction set of the hosts that boot the ramdisk."""
    kernel_url: HttpsUrl
    """URL of the kernel. Ironic downloads it when a host boots the ramdisk; never replace the file at the URL."""
    kernel_sha256: Sha256
    """SHA-256 of the kernel. It is recorded on the Ironic object; Ironic does not verify it."""
    initramfs_url: HttpsUrl
    """URL of the initramfs, like ``kernel_url``."""
    initramfs_sha256: Sha256
    """SHA-256 of the initramfs, recorded like ``kernel_sha256``."""


class IronicSpec(CheckedSpec):
    """Ironic release and its ramdisks. They must be compatible with Metal3's operators in the version vector."""

    version: str = Field(pattern=IRONIC_VERSION)
    """Release of Ironic, such as ``"35.0"``, ``version`` of the Ironic object."""
    image: PinnedImage
    """Image of Ironic in this release with its digest, ``images.ironic`` of the Ironic object."""
    ramdisks: tuple[RamdiskSpec, ...] = Field(min_length=1)
    """Ramdisks, one per architecture of hosts."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield further ramdisks of an architecture."""
        seen: set[Architecture] = set()
        for index, ramdisk in enumerate(self.ramdisks):
            if ramdisk.architecture in seen:
                text = f"has a ramdisk for {ramdisk.architecture} already; remove one of the two"
                yield ConstraintViolation(text, ("ramdisks", index, "architecture"), ramdisk.architecture.value)
            seen.add(ramdisk.architecture)
