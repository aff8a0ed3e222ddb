"""Machines of a rehearsal, as their inspection reports them: the hardware of each inventory row.

The machines are in the form of Metal3's HardwareData, which simulated controllers of other backends convert, with the
devices that agents on nodes find.
"""

from collections.abc import Iterator
from typing import Any

from components.render.hosts.bare_metal_hosts import MACHINES
from components.render.hosts.pci_devices import DPUS, GPUS, NVIDIA
from components.render.network.device_plugins import ADAPTERS, VENDOR
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.instance_types import Architecture, InstanceType
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.root_device import RootDeviceSpec

_BOOT_DISK = "SAMSUNG MZ1L2960HCJR-00A07"
_BOOT_BYTES, _SCRATCH_BYTES = 960197124096, 3840755982336
_BOOT_PATH = "/dev/disk/by-path/pci-0000:01:00.0-nvme-1"
_BOOT_PORT = "0x8086 0x1533"
_OCTETS = ("06", "0a")
"""First octets of the MAC addresses of a DPU's functions; the others are those of the boot port."""
_MIB = 1 << 20
DEVICES = "devices"
"""Key of a machine with its PCI devices and MIG profiles, which no inspection reports."""
BIOS = "bios"
"""Key of a machine with the BIOS settings that its BMC reports first: those of all its baselines, with other values."""
_FACTORY = "Factory"
_ETHERNET, _INFINIBAND = "0200", "0207"
"""PCI classes of network adapters."""
_UNKNOWN_DEVICE = "ffff"
"""Device ID of a model without a known one."""


def machines(environment: Environment) -> dict[str, Any]:
    """Return the machines of the inventory by address of their BMC."""
    types = environment.instance_types.by_name
    settings: dict[str, dict[str, str]] = {name: {} for name in types}
    for baseline in environment.firmware.firmware_baselines:
        for name in baseline.instance_types:
            settings.setdefault(name, {}).update(dict.fromkeys(baseline.bios, _FACTORY))
    return {
        parse_bmc(host.bmc).machine: {
            **_machine(host, types[host.instance_type]),
            BIOS: settings[host.instance_type],
        }
        for host in environment.hosts
    }


def _machine(host: HostSpec, kind: InstanceType) -> dict[str, Any]:
    return {
        "systemVendor": {"manufacturer": "Simulated", "productName": kind.name, "serialNumber": host.serial},
        "cpu": {"arch": MACHINES[kind.architecture], "model": _cpu(kind), "count": kind.cpus},
        "ramMebibytes": bytes_of(kind.memory) // _MIB,
        "nics": _nics(host, kind),
        "storage": [_boot_disk(kind.root_device), *(_scratch_disk(kind, number) for number in range(kind.nvme_disks))],
        DEVICES: {"pci": list(_pci_devices(kind)), "mig": dict(kind.gpu.mig) if kind.gpu else {}},
    }


def _pci_devices(kind: InstanceType) -> Iterator[dict[str, Any]]:
    """Yield number and attributes of the GPUs, fabric ports and DPU functions, as an operating system finds them."""
    if kind.gpu is not None:
        gpu = GPUS.get(kind.gpu.model, _UNKNOWN_DEVICE)
        yield {"count": kind.gpu.count, "class": "0302", "vendor": NVIDIA, "device": gpu}
    yield {"count": kind.dpu.host_functions, "class": _ETHERNET, "vendor": VENDOR, "device": _dpu(kind)}
    adapter = ADAPTERS.get(kind.nics.model, _UNKNOWN_DEVICE) if kind.nics else None
    ports = ((kind.infiniband_ports, _INFINIBAND), (kind.roce_ports or _plain_ports(kind), _ETHERNET))
    for count, of_class in ports if adapter else ():
        if count:
            yield {"count": count, "class": of_class, "vendor": VENDOR, "device": adapter}


def _cpu(kind: InstanceType) -> str:
    """Return the model as ``lscpu`` reports it: with marks, and on Arm the name of the core."""
    if kind.architecture is Architecture.ARM64:
        return "Neoverse-V2"
    if kind.cpu_model.startswith("AMD"):
        return f"{kind.cpu_model} {kind.cpus // 4}-Core Processor"
    return kind.cpu_model.replace("Intel ", "Intel(R) ").replace("Xeon ", "Xeon(R) ")


def _nics(host: HostSpec, kind: InstanceType) -> list[dict[str, Any]]:
    """Return the boot port, the functions of the DPU, and RoCE ports; no ramdisk reports InfiniBand ports."""
    first = kind.dpu.interface or "enp1s0f0np0"
    names = (first, first.replace("f0", "f1").replace("np0", "np1"))
    dpu, adapter = _dpu(kind), ADAPTERS.get(kind.nics.model) if kind.nics else None
    rest = host.boot_mac[2:]
    functions = [
        {"name": name, "mac": f"{octet}{rest}", "model": f"0x{VENDOR} 0x{dpu}", "pxe": False}
        for name, octet in list(zip(names, _OCTETS, strict=True))[: kind.dpu.host_functions]
    ]
    ports = kind.roce_ports if kind.nics is None or kind.roce_ports else _plain_ports(kind)
    fabric = [
        {"name": f"enp{26 + port}s0np0", "mac": f"{0x12 + 4 * port:02x}{rest}", "model": f"0x{VENDOR} 0x{adapter}"}
        for port in range(ports if adapter else 0)
    ]
    return [{"name": "eth0", "mac": host.boot_mac, "model": _BOOT_PORT, "pxe": True}, *functions, *fabric]


def _dpu(kind: InstanceType) -> str:
    return DPUS.get(kind.dpu.model, DPUS["bluefield-3"])


def _plain_ports(kind: InstanceType) -> int:
    """Return the ports of adapters on no fabric: one; adapters on InfiniBand have no Ethernet ports."""
    return 0 if kind.infiniband_ports else 1


def _boot_disk(hints: RootDeviceSpec | None) -> dict[str, Any]:
    """Return a disk that matches the root device hints of a type."""
    given = hints.model if hints is not None and hints.model else _BOOT_DISK
    least = bytes_of(hints.min_size) if hints is not None and hints.min_size else 0
    disk = {
        **_disk(_BOOT_PATH, "/dev/nvme0n1", max(_BOOT_BYTES, least)),
        "model": _BOOT_DISK if given.lower() in _BOOT_DISK.lower() else given,
    }
    if hints is None:
        return disk
    named = {"name": hints.device_name, "vendor": hints.vendor, "hctl": hints.hctl, "rotational": hints.rotational}
    return disk | {name: value for name, value in named.items() if value is not None}


def _scratch_disk(kind: InstanceType, number: int) -> dict[str, Any]:
    size = bytes_of(kind.nvme_disk_size) if kind.nvme_disk_size else _SCRATCH_BYTES
    path = f"/dev/disk/by-path/pci-0000:{0x41 + number:x}:00.0-nvme-1"
    return _disk(path, f"/dev/nvme{number + 1}n1", size) | {"model": "SAMSUNG MZQL23T8HCLS-00A07"}


def _disk(path: str, name: str, size: int) -> dict[str, Any]:
    return {"name": path, "alternateNames": [name], "type": "NVME", "rotational": False, "sizeBytes": size}
