"""Simulated machines of a region: the hardware behind each BMC, as its inspection reports it.

The program of a rehearsal installs a machine for each row of its inventory (`stacks.simulated_machines`), and a file
next to it can change single machines. A machine is identified by the address of its BMC, as on hardware.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from components.specs.hosts.bmc import parse_bmc
from jacquard.lab.rehearsal.operators.view import Object
from jacquard.machine.paths import HARDWARE, HARDWARE_CHANGES
from jacquard.providers.kube.objects import dig

Details: TypeAlias = Callable[[Object], Object]
"""Returns the HardwareData of a BareMetalHost."""
ServerReport: TypeAlias = Callable[[Object], Object]
"""Returns the fields of a Server's status with the hardware behind a BMC."""
BIOS = "bios"
"""Key of a machine with its first BIOS settings, which no inspection reports."""
BiosSettings: TypeAlias = Callable[[Object], dict[str, str]]
"""Returns the BIOS settings that the BMC of a BareMetalHost reports first."""
_SETS = {"x86_64": ("x86", "x86-64"), "aarch64": ("ARM", "ARM-A64")}
"""Architecture and instruction set in the notation of Redfish."""
DEVICES = "devices"
"""Key of a machine with its PCI devices and MIG profiles, which no inspection reports."""
_SOCKETS = 2
_GIB_OF_MIB = 1024


class Machines:
    """The machines of a region; files are read again after changes."""

    def __init__(self, folder: Path) -> None:
        self._files = (folder / HARDWARE, folder / HARDWARE_CHANGES)
        self._modified: tuple[int, ...] = ()
        self._machines: Object = {}
        self._changes: Object = {}

    def details(self, host: Object) -> Object:
        """Return the HardwareData of a BareMetalHost."""
        machine = self.machine_of(host)
        if machine is None:
            return generic_details(host)
        return {
            "hostname": host["metadata"]["name"],
            **{key: machine[key] for key in machine if key not in {DEVICES, BIOS}},
        }

    def bios(self, host: Object) -> dict[str, str]:
        """Return the BIOS settings that the BMC of a BareMetalHost reports first."""
        return (self.machine_of(host) or {}).get(BIOS) or generic_bios(host)

    def report(self, bmc: Object) -> Object:
        """Return the fields of a Server's status with the hardware behind ``bmc``."""
        machine = self._at(str(dig(bmc, "spec", "access", "ip")))
        return generic_report(bmc) if machine is None else _report(machine)

    def machine_of(self, host: Object) -> Object | None:
        """Return the machine of a BareMetalHost; None if it is not in the inventory."""
        return self._at(parse_bmc(dig(host, "spec", "bmc", "address") or "").machine)

    def _at(self, address: str) -> Object | None:
        """Return the machine at the address of a BMC; None for an unknown machine."""
        modified = tuple(path.stat().st_mtime_ns if path.exists() else 0 for path in self._files)
        if modified != self._modified:
            self._machines, self._changes = (
                json.loads(path.read_text(encoding="utf-8")) if path.exists() else {} for path in self._files
            )
            self._modified = modified
        machine = self._machines.get(address)
        return None if machine is None else _merged(machine, self._changes.get(address) or {})


def generic_bios(_host: Object) -> dict[str, str]:
    """Return the BIOS settings of a machine that is not in the inventory."""
    return {"Turbo": "Enabled"}


def generic_details(host: Object) -> Object:
    """Return the HardwareData of a machine that is not in the inventory."""
    mac = dig(host, "spec", "bootMACAddress")
    ports = [{"name": "eth0", "mac": mac, "pxe": True}, {"name": "enp1s0f0np0", "mac": f"06{str(mac)[2:]}"}]
    disks = (("01", 960197124096, "SAMSUNG MZ1L2960HCJR-00A07"), ("41", 3840755982336, "SAMSUNG MZQL23T8HCLS-00A07"))
    return {
        "hostname": host["metadata"]["name"],
        "cpu": {"arch": "x86_64", "count": 192},
        "ramMebibytes": 2097152,
        "nics": ports if mac else [],
        "storage": [
            {
                "name": f"/dev/disk/by-path/pci-0000:{slot}:00.0-nvme-1",
                "alternateNames": [f"/dev/nvme{number}n1"],
                "type": "NVME",
                "rotational": False,
                "sizeBytes": size,
                "model": model,
            }
            for number, (slot, size, model) in enumerate(disks)
        ],
    }


def generic_report(_bmc: Object) -> Object:
    """Return the status of a Server whose machine is not in the inventory."""
    return _report({"cpu": {"arch": "x86_64", "count": 192}, "ramMebibytes": 2097152})


def _report(machine: Object) -> Object:
    """Return the hardware as Redfish and the probe of metal-operator report it."""
    cpu = machine["cpu"]
    architecture, instructions = _SETS.get(cpu["arch"], (cpu["arch"], ""))
    model = {"model": cpu["model"]} if "model" in cpu else {}
    processor = {"type": "CPU", "architecture": architecture, "instructionSet": instructions, **model}
    serial = dig(machine, "systemVendor", "serialNumber")
    return {
        **({"serialNumber": serial} if serial else {}),
        "totalSystemMemory": f"{machine['ramMebibytes'] // _GIB_OF_MIB}Gi",
        "processors": [
            {"id": f"CPU{number}", **processor, "totalThreads": cpu["count"] // _SOCKETS} for number in range(_SOCKETS)
        ],
        "networkInterfaces": [{"name": nic["name"], "macAddress": nic["mac"]} for nic in machine.get("nics") or ()],
    }


def _merged(into: Object, changes: Object) -> Object:
    """Return ``into`` with ``changes``; mappings are merged, all other values replaced."""
    merged = dict(into)
    for key, value in changes.items():
        both = isinstance(value, dict) and isinstance(merged.get(key), dict)
        merged[key] = _merged(merged[key], value) if both else value
    return merged
