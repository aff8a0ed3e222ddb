"""Which disk of a host an image is written to, in words that hold for all hosts of an instance type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import StringConstraints

from components.specs.base import CheckedSpec, Misfit, Quantity, Text, bytes_of

MODEL_TO_WRITE = "root_device: {model: <part of its model>, min_size: 400Gi}"
"""What to write where no hint is given, with a place for what only the hardware says."""
_BY_PATH = re.compile(r"/dev/disk/by-path/[^/\s]+")
HCTL = r"^[0-9]+:[0-9]+:[0-9]+:[0-9]+$"
_LEAST, _MOST = "16Gi", "256Ti"
_OF_ONE_DISK = (
    "is of one disk of one host, and an instance type is many hosts; say its model, with min_size or the disk's"
    " device_name below /dev/disk/by-path/"
)


class RootDeviceSpec(CheckedSpec):
    """The disk that an image is written to. A disk must match every hint that is given; they become rootDeviceHints.

    Without one the bare-metal operator writes to ``/dev/sda``, which servers with NVMe only do not have, and which
    virtual media of a BMC may be. Hints of one disk (serial number, WWN) are no part: a type is many hosts.
    """

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = dict.fromkeys(
        ("serial_number", "serial", "wwn", "wwn_with_extension", "wwn_vendor_extension"), _OF_ONE_DISK
    )
    """Hints of Metal3 that are of one disk, with what to write instead."""

    model: Text | None = None
    """Part of the model that the disk reports, such as ``MZ1L2960``; upper and lower case are the same."""
    vendor: Text | None = None
    """Part of the vendor that the disk reports. NVMe disks report none."""
    device_name: str | None = None
    """Link to the disk by its slot, ``/dev/disk/by-path/pci-0000:01:00.0-nvme-1``, in full. Names such as ``/dev/sda``
    are given anew at each boot, and are refused."""
    hctl: Annotated[str, StringConstraints(pattern=HCTL)] | None = None
    """Address of the disk in SCSI's form, host, channel, target and unit with colons between them, as volumes of RAID
    controllers have one. NVMe disks have none."""
    min_size: Quantity | None = None
    """Least size of the disk, such as ``400Gi``."""
    rotational: bool | None = None
    """Whether the disk turns; any may do so when it is left out."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield no hint at all, a name that moves, and a size that no disk has."""
        if all(hint is None for _, hint in self):
            yield Misfit(f"has no hint; write the disk that images go to, {MODEL_TO_WRITE}")
        if self.device_name is not None and not _BY_PATH.fullmatch(self.device_name):
            text = (
                "is not below /dev/disk/by-path/, and other names are given anew at each boot (virtual media of a BMC"
                " may be /dev/sda); write /dev/disk/by-path/<link>, or model instead"
            )
            yield Misfit(text, ("device_name",), self.device_name)
        if self.min_size is not None and not bytes_of(_LEAST) <= bytes_of(self.min_size) <= bytes_of(_MOST):
            text = f"no disk to boot from has that, but {_LEAST} to {_MOST}; write a size like 400Gi"
            yield Misfit(text, ("min_size",), self.min_size)

    def tells_apart(self, scratch_size: Quantity | None) -> bool:
        """Tell whether the hints rule out NVMe disks for scratch of ``scratch_size``; None when it is not known."""
        larger = (
            self.min_size is not None and scratch_size is not None and bytes_of(self.min_size) > bytes_of(scratch_size)
        )
        return larger or bool(self.model or self.vendor or self.device_name or self.hctl or self.rotational)
