"""Hardware as reported by the inspection of a host, in the terms of the data and independent of the backend."""

import re
from collections.abc import Mapping

from components.specs.base import bytes_of
from components.specs.hosts.root_device import RootDeviceSpec
from components.specs.struct import Struct, field

_NOISE = re.compile(r"\((r|tm|c)\)|@.*|\b(cpu|processor|\d+-core)\b", re.IGNORECASE)
"""Parts of a reported CPU model that a vendor's notation omits: marks, base clock and number of cores."""
_CORES_BY_CPU = {"nvidia grace": "neoverse-v2"}
"""Name that ``lscpu`` reports for a CPU: on Arm the name of the core, because Arm CPUs report no brand."""
_GIB = 1 << 30


class Disk(Struct):
    """Disk of a host."""

    names: tuple[str, ...]
    """Device name, and links to the disk."""
    size_bytes: int
    nvme: bool
    model: str = ""
    vendor: str = ""
    hctl: str | None = None
    rotational: bool = False

    def matches(self, hints: RootDeviceSpec) -> bool:
        """Return whether the disk matches all root device hints, as in Ironic.

        Model and vendor are case-insensitive parts, the size is a minimum, and other hints must be equal.
        """
        return (
            (hints.model or "").lower() in self.model.lower()
            and (hints.vendor or "").lower() in self.vendor.lower()
            and (hints.device_name is None or hints.device_name in self.names)
            and (hints.hctl is None or hints.hctl == self.hctl)
            and (hints.min_size is None or self.size_bytes // _GIB >= -(-bytes_of(hints.min_size) // _GIB))
            and (hints.rotational is None or hints.rotational is self.rotational)
        )

    def __str__(self) -> str:
        """Return name, model and size."""
        return " ".join(filter(None, (self.names[0] if self.names else "", self.model, gibibytes(self.size_bytes))))


class Adapter(Struct):
    """Ethernet or IPoIB interface of a host."""

    name: str
    mac: str
    vendor: str | None = None
    """PCI vendor in hex, such as ``15b3``; None if it is not reported."""
    device: str | None = None
    """PCI device in hex, such as ``a2dc``; None if it is not reported."""
    neighbour: str = ""
    """Port and switch that LLDP reports, such as ``Ethernet1/7 of leaf-a1``; empty without a report."""


class Hardware(Struct):
    """Inspected hardware of a host. None, or an empty collection, means that it was not reported."""

    serial: str | None = None
    cpu_models: tuple[str, ...] = ()
    """Different models of the CPUs, as reported."""
    cpus: int | None = None
    """Number of hardware threads."""
    architecture: str | None = None
    """Architecture, by the name in container images if it is known."""
    memory_bytes: int | None = None
    gpus: int | None = None
    disks: tuple[Disk, ...] = ()
    adapters: tuple[Adapter, ...] = ()
    firmware: Mapping[str, str] = field(default_factory=dict)
    """Versions by component; several versions of one component are separated by ``, ``."""


def plain_cpu(model: str) -> str:
    """Return the name of a CPU without marks, clock and spelling differences, for comparison."""
    plain = " ".join(_NOISE.sub(" ", model).lower().split())
    return _CORES_BY_CPU.get(plain, plain)


def neighbour(port: str | None, switch: str | None) -> str:
    """Return the text of an LLDP neighbour; empty if neither its port nor its switch is known."""
    return f"{port or 'a port'} of {switch or 'a switch'}" if port or switch else ""


def gibibytes(size: int) -> str:
    """Return a size in bytes as text in GiB, rounded down."""
    return f"{size // _GIB}Gi"
