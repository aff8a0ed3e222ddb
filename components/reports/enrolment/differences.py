"""Differences between the inspected hardware of a host and its inventory row and instance type."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from components.render.hosts.pci_devices import DPUS
from components.render.network.device_plugins import ADAPTERS, VENDOR
from components.reports.enrolment.hardware import Adapter, Disk, Hardware, gibibytes, plain_cpu
from components.specs.base import bytes_of
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.instance_types import InstanceType
from components.specs.hosts.inventory import HostSpec
from components.specs.struct import Struct

UPLINKS = "uplinks"
"""Field of connections to switches that bypass the DPU."""
_FUNCTION = re.compile(r"f[0-9]+(np[0-9]+)?$")
MEMORY_PERCENT = 1
"""Tolerance of memory. Ironic reports the sum of all memory modules (openstack/ironic-python-agent:
ironic_python_agent/hardware.py), BMCs round it. A missing module of 48, the most on current boards, is 2 %."""
DISK_PERCENT = 1, 25
"""Tolerance of a disk below and above the declared size. A disk of 7.68 TB has 7153 GiB and may be declared as 7Ti; a
disk of the next larger size is at least 60 % larger."""


class Difference(Struct):
    """Property whose inspected value differs from the declared value."""

    field: str
    """Path of the declared value: of the instance type, or ``serial`` and ``boot_mac`` of the inventory row, or
    ``firmware.<component>`` of a baseline."""
    declared: str
    found: str
    updated: bool = False
    """Whether the bare-metal controller itself removes the difference by a firmware update."""


class Comparison(Struct):
    """Result of a comparison."""

    differences: tuple[Difference, ...]
    not_reported: tuple[str, ...]
    """Declared values that the inspection did not report, so that it is unknown whether they differ."""


class _Unreported(Struct, kw_only=False):
    field: str


_Finding = Difference | _Unreported


def compare(kind: InstanceType, host: HostSpec, baselines: Iterable[Firmware], found: Hardware) -> Comparison:
    """Compare the inspected hardware ``found`` with the declarations.

    Args:
        kind: instance type of the host.
        host: inventory row of the host.
        baselines: firmware baselines of which the host may have any.
        found: inspected hardware.
    """
    findings: list[_Finding] = [
        *_identity(host, found),
        *_board(kind, found),
        *_disks(kind, found.disks),
        *_adapters(kind, found.adapters),
        *_uplinks(kind, host, found.adapters),
        *_firmware(tuple(baselines), found),
    ]
    return Comparison(
        differences=tuple(item for item in findings if isinstance(item, Difference)),
        not_reported=tuple(item.field for item in findings if isinstance(item, _Unreported)),
    )


def _equal(field: str, declared: object, found: object | None) -> Iterator[_Finding]:
    """Yield the difference between two values; None as ``found`` was not reported."""
    if found is None:
        yield _Unreported(field)
    elif found != declared:
        yield Difference(field=field, declared=str(declared), found=str(found))


def _identity(host: HostSpec, found: Hardware) -> Iterator[_Finding]:
    yield from _equal("serial", host.serial, found.serial)
    macs = sorted({adapter.mac.lower() for adapter in found.adapters if adapter.mac})
    if not macs:
        yield _Unreported("boot_mac")
    elif host.boot_mac.lower() not in macs:
        yield Difference(field="boot_mac", declared=host.boot_mac, found=", ".join(macs))


def _board(kind: InstanceType, found: Hardware) -> Iterator[_Finding]:
    if not found.cpu_models:
        yield _Unreported("cpu_model")
    elif {plain_cpu(model) for model in found.cpu_models} != {plain_cpu(kind.cpu_model)}:
        yield Difference(field="cpu_model", declared=kind.cpu_model, found=", ".join(found.cpu_models))
    yield from _equal("architecture", str(kind.architecture), found.architecture)
    yield from _equal("cpus", kind.cpus, found.cpus)
    if found.memory_bytes is None:
        yield _Unreported("memory")
    elif abs(found.memory_bytes - bytes_of(kind.memory)) * 100 > MEMORY_PERCENT * bytes_of(kind.memory):
        yield Difference(field="memory", declared=kind.memory, found=gibibytes(found.memory_bytes))
    if kind.gpu is not None:
        yield from _equal("gpu.count", kind.gpu.count, found.gpus)


def _disks(kind: InstanceType, disks: tuple[Disk, ...]) -> Iterator[_Finding]:
    hints = kind.root_device
    if hints is None or not disks:
        # Without hints, the boot disk cannot be distinguished from disks for scratch volumes.
        names = {"root_device": hints, "nvme_disks": True, "nvme_disk_size": kind.nvme_disk_size}
        yield from (_Unreported(name) for name, declared in names.items() if declared)
        return
    if not any(disk.matches(hints) for disk in disks):
        declared = ", ".join(f"{name}: {value}" for name, value in hints if value is not None)
        yield Difference(field="root_device", declared=declared, found=", ".join(map(str, disks)))
    scratch = [disk for disk in disks if disk.nvme and not disk.matches(hints)]
    yield from _equal("nvme_disks", kind.nvme_disks, len(scratch))
    if kind.nvme_disk_size is not None:
        size, (below, above) = bytes_of(kind.nvme_disk_size), DISK_PERCENT
        others = [disk for disk in scratch if not size * (100 - below) <= disk.size_bytes * 100 <= size * (100 + above)]
        if others:
            found = ", ".join(map(str, others))
            yield Difference(field="nvme_disk_size", declared=kind.nvme_disk_size, found=found)


def _adapters(kind: InstanceType, adapters: tuple[Adapter, ...]) -> Iterator[_Finding]:
    if kind.dpu.interface is not None:
        names = [adapter.name for adapter in adapters]
        if not names:
            yield _Unreported("dpu.interface")
        elif kind.dpu.interface not in names:
            yield Difference(field="dpu.interface", declared=kind.dpu.interface, found=", ".join(names))
    devices = Counter(adapter.device for adapter in adapters if adapter.vendor == VENDOR)
    known = any(adapter.device for adapter in adapters)
    dpu = DPUS.get(kind.dpu.model)
    yield from _equal("dpu.host_functions", kind.dpu.host_functions, devices[dpu] if known and dpu else None)
    yield from _ports(kind, adapters, known=known)


def _ports(kind: InstanceType, adapters: tuple[Adapter, ...], *, known: bool) -> Iterator[_Finding]:
    """Yield differences of the ports other than those of the DPU.

    A ramdisk without IPoIB reports no InfiniBand ports, so these are compared only if there are any. Speeds are never
    reported correctly: the modes that lshw knows end at 100 Gbit/s (lshw:src/core/network.cc).
    """
    if kind.nics is None:
        return
    yield _Unreported("nics.gbits")
    device = ADAPTERS.get(kind.nics.model)
    ports = [adapter for adapter in adapters if device and (adapter.vendor, adapter.device) == (VENDOR, device)]
    if not known or not device or (kind.infiniband_ports and not ports):
        yield _Unreported("nics.model")
        return
    if not ports:
        other = sorted({f"{adapter.vendor}:{adapter.device}" for adapter in adapters if adapter.device})
        declared = f"{kind.nics.model} ({VENDOR}:{device})"
        yield Difference(field="nics.model", declared=declared, found=", ".join(other))
        return
    for field in ("roce_ports", "infiniband_ports"):
        if getattr(kind, field):
            yield from _equal(field, getattr(kind, field), len(ports))


def _uplinks(kind: InstanceType, host: HostSpec, adapters: tuple[Adapter, ...]) -> Iterator[_Finding]:
    """Yield interfaces that are connected to a switch and bypass the DPU, by which a tenant leaves its VPC.

    Only LLDP reports whether an interface is connected. The declared boot port is closed by switches (prerequisites).
    """
    connected = [adapter for adapter in adapters if adapter.neighbour]
    others = [adapter for adapter in connected if adapter.mac.lower() != host.boot_mac.lower()]
    judged = {adapter: _bypasses(kind, adapter) for adapter in others}
    if bypassing := [adapter for adapter, bypasses in judged.items() if bypasses]:
        found = ", ".join(f"{adapter.name} at {adapter.neighbour}" for adapter in bypassing)
        yield Difference(field=UPLINKS, declared="the DPU, the boot port and fabric ports", found=found)
    elif not connected or None in judged.values():
        yield _Unreported(UPLINKS)


def _bypasses(kind: InstanceType, adapter: Adapter) -> bool | None:
    """Return whether an interface belongs to neither the DPU nor a fabric; None if its device is unknown."""
    interface, device = kind.dpu.interface, (adapter.vendor, adapter.device)
    if adapter.name in kind.roce_interfaces or (interface and _card(adapter.name) == _card(interface)):
        return False
    declared = [] if interface else [DPUS.get(kind.dpu.model)]
    declared += [] if kind.nics is None or kind.roce_interfaces else [ADAPTERS.get(kind.nics.model)]
    devices = [known and (VENDOR, known) for known in declared]
    if device in devices or (VENDOR, DPUS.get(kind.dpu.model)) == device:
        return False
    is_known = None not in devices and (adapter.device or not devices)
    return True if is_known else None


def _card(interface: str) -> str:
    """Return the part of an interface name that its functions have in common: ``enp1s0`` of ``enp1s0f1np1``."""
    return _FUNCTION.sub("", interface)


def _firmware(baselines: tuple[Firmware, ...], found: Hardware) -> Iterator[_Finding]:
    """Yield components whose versions are in none of the baselines."""
    for name in sorted({name for baseline in baselines for name in baseline.components}):
        allowed = [baseline.components[name] for baseline in baselines if name in baseline.components]
        versions = list(dict.fromkeys(component.version for component in allowed))
        field = f"firmware.{name}"
        if name not in found.firmware:
            yield _Unreported(field)
        elif found.firmware[name] not in versions:
            declared, updated = " or ".join(versions), any(component.url for component in allowed)
            yield Difference(field=field, declared=declared, found=found.firmware[name], updated=updated)
