"""Boot disk of hosts, selected by hints that are valid for all hosts of an instance type."""

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, Quantity, Text, bytes_of

MODEL_TO_WRITE = "root_device: {model: <part of its model>, min_size: 400Gi}"
"""Example of hints, with a placeholder for the model."""
_BY_PATH = re.compile(r"/dev/disk/by-path/[^/\s]+")
HCTL = r"^[0-9]+:[0-9]+:[0-9]+:[0-9]+$"
_LEAST, _MOST = "16Gi", "256Ti"
_OF_ONE_DISK = (
    "identifies one disk of one host, but an instance type has many hosts; write its model, with min_size or"
    " the disk's device_name below /dev/disk/by-path/"
)


class RootDeviceSpec(CheckedSpec):
    """Disk to which an image is written. It must match all hints, which become rootDeviceHints.

    Without hints the bare-metal operator writes to ``/dev/sda``. Servers with only NVMe disks do not have it, and it
    may be the virtual media of a BMC. Hints for one specific disk (serial number, WWN) are not supported, because a
    type has many hosts.
    """

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("serial_number", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension"), _OF_ONE_DISK
    )
    """Hints of Metal3 that identify one specific disk, with the alternative."""

    model: Text | None = None
    """Part of the model that the disk reports, such as ``MZ1L2960``; not case-sensitive."""
    vendor: Text | None = None
    """Part of the vendor that the disk reports. NVMe disks report none."""
    device_name: str | None = None
    """Full path of the link to the disk by its slot, such as ``/dev/disk/by-path/pci-0000:01:00.0-nvme-1``. Names such
    as ``/dev/sda`` change at each boot and are not allowed."""
    hctl: Annotated[str, StringConstraints(pattern=HCTL)] | None = None
    """SCSI address of the disk: host, channel, target and unit, separated by colons. Volumes of RAID controllers have a
    SCSI address, NVMe disks do not."""
    min_size: Quantity | None = None
    """Minimum size of the disk, such as ``400Gi``."""
    rotational: bool | None = None
    """Whether the disk is rotational; no restriction by default."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield missing hints, a device name that can change, and an impossible size."""
        if all(hint is None for _, hint in self):
            yield ConstraintViolation(f"has no hint; write the disk to which images are written, {MODEL_TO_WRITE}")
        if self.device_name is not None and not _BY_PATH.fullmatch(self.device_name):
            text = (
                "is not below /dev/disk/by-path/, and other names can change at each boot (virtual media of a BMC"
                " may be /dev/sda); write /dev/disk/by-path/<link>, or model instead"
            )
            yield ConstraintViolation(text, ("device_name",), self.device_name)
        if self.min_size is not None and not bytes_of(_LEAST) <= bytes_of(self.min_size) <= bytes_of(_MOST):
            text = f"must be {_LEAST} to {_MOST} for a boot disk; write a size like 400Gi"
            yield ConstraintViolation(text, ("min_size",), self.min_size)

    def excludes_scratch(self, scratch_size: Quantity | None) -> bool:
        """Return whether the hints exclude NVMe scratch disks of ``scratch_size`` (None if the size is unknown)."""
        larger = (
            self.min_size is not None and scratch_size is not None and bytes_of(self.min_size) > bytes_of(scratch_size)
        )
        return larger or bool(self.model or self.vendor or self.device_name or self.hctl or self.rotational)
