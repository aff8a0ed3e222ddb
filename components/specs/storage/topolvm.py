"""Storage class of TopoLVM."""

from collections.abc import Iterator
from typing import ClassVar, Literal

from components.specs.base import GIBIBYTE, ConstraintViolation, DnsLabel, Quantity, bytes_of
from components.specs.storage.storage_class import ClassSpec

SPARE_GIB = 10
"""GiB of a volume group that lvmd reserves by default (topolvm/topolvm:docs/lvmd.md)."""


class TopolvmClassSpec(ClassSpec):
    """Storage class of TopoLVM: volumes on the disks of the node that runs the pod."""

    driver: Literal["topolvm"]
    """The driver is TopoLVM."""
    device_class: DnsLabel
    """Volume group of the node's disks, by its name in the image."""
    durable: bool = False
    """Whether a volume survives the replacement of its node. Nodes are stateless, so local disks do not."""
    spare: Quantity | None = None
    """Space of each volume group that is reserved, in whole GiB, ``spare-gb`` of lvmd; 10 GiB by default. Entries of
    one ``device_class`` must have the same value."""
    encrypted: bool = False
    """Whether volumes are on encrypted devices whose key is lost at power-off. It requires golden images with
    ``contents.encrypted_scratch``, because TopoLVM does not encrypt. Volumes are then lost at each boot of their
    node."""
    management: bool = False
    """Whether the management cluster also has the class and the driver, for etcds of control planes. Its hosts then
    need the volume group. By default Jacquard creates no storage classes there."""
    NFS = False
    LOCAL = True
    MODES = (("ReadWriteOnce", "Block"), ("ReadWriteOnce", "Filesystem"))
    """A volume is a logical volume of one node. As a disk of a VM, a block device is faster than a file."""
    VOLUME_SNAPSHOTS = None
    """Snapshots would be on the same disks, and they are supported for thin pools only."""
    snapshots: ClassVar[None] = None
    """No storage system takes snapshots of the disks of nodes."""

    @property
    def volume_group(self) -> str:
        """Return the volume group of ``device_class``."""
        return self.device_class

    @property
    def reserved_gib(self) -> int:
        """Return the reserved space in GiB."""
        return SPARE_GIB if self.spare_gib is None else self.spare_gib

    @property
    def spare_gib(self) -> int | None:
        """Return the reserved space in GiB; None for the default of lvmd."""
        return None if self.spare is None else bytes_of(self.spare) // GIBIBYTE

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield unsupported mount options, reserved space in a wrong unit, and encryption of volumes for etcds."""
        yield from super().incompatibilities()
        if self.spare is not None and bytes_of(self.spare) % GIBIBYTE:
            whole = -(-bytes_of(self.spare) // GIBIBYTE)
            yield ConstraintViolation(f"must be a whole number of GiB; write {whole}Gi", ("spare",), self.spare)
        if self.encrypted and self.management:
            text = (
                "cannot be combined with management, because data stores would lose their data at each boot of a host;"
                " add a separate entry for the management cluster"
            )
            yield ConstraintViolation(text, ("encrypted",))
