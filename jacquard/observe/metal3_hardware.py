"""Reads the inspected hardware of hosts from objects of Metal3.

Ironic's ramdisk inspects a host, and the operator converts its report (metal3-io/baremetal-operator:
pkg/provisioner/ironic/hardwaredetails). The report contains no GPUs. The ramdisk collects LLDP packets, because
Metal3's Ironic sets ``ipa-collect-lldp=1`` (metal3-io/ironic-image:ironic-config/ironic.conf.j2).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.reports.enrolment.hardware import Adapter, Disk, Hardware, neighbour
from components.reports.enrolment.report import LiveHost
from components.specs.hosts.instance_types import Architecture
from jacquard.observe.objects import UNKNOWN, Object, Objects, Report, key
from jacquard.providers.kube.objects import dig

API = "metal3.io/v1alpha1"
_HOST, _DATA = "BareMetalHost", "HardwareData"
KINDS = ((API, _HOST), (API, _DATA), (API, "HostFirmwareComponents"))
ARCHITECTURES = {"x86_64": Architecture.AMD64, "aarch64": Architecture.ARM64}
_FIRMWARE = "firmware."


def hosts(of: Objects, reported: Report) -> Iterator[LiveHost]:
    """Yield all hosts with their inspected hardware; ``reported`` returns the values that a host reports by place.

    The status of a host is a copy of its HardwareData, which replaces the status in the next version of the API.
    """
    inspected = {key(body): dig(body, "spec", "hardware") for body in of(_DATA)}
    for body in of(_HOST):
        place = key(body)
        details = inspected.get(place) or dig(body, "status", "hardware")
        versions = {
            name.removeprefix(_FIRMWARE): version
            for name, version in reported(place)[1].items()
            if name.startswith(_FIRMWARE)
        }
        yield LiveHost(
            kind=_HOST,
            namespace=place[0],
            name=place[1],
            bmc=dig(body, "spec", "bmc", "address"),
            state=str(dig(body, "status", "provisioning", "state") or UNKNOWN),
            error=dig(body, "status", "errorMessage") or None,
            hardware=_hardware(details, versions) if details else None,
        )


def _hardware(details: Object, versions: Mapping[str, str]) -> Hardware:
    model, architecture = dig(details, "cpu", "model"), dig(details, "cpu", "arch")
    memory, bios = details.get("ramMebibytes"), dig(details, "firmware", "bios", "version")
    return Hardware(
        serial=dig(details, "systemVendor", "serialNumber") or None,
        cpu_models=(model,) if model else (),
        cpus=dig(details, "cpu", "count") or None,
        architecture=ARCHITECTURES.get(architecture, architecture) or None,
        memory_bytes=memory << 20 if memory else None,
        disks=tuple(map(_disk, details.get("storage") or ())),
        adapters=_adapters(details.get("nics") or ()),
        firmware={**({"bios": bios} if bios else {}), **versions},
    )


def _disk(disk: Mapping[str, Any]) -> Disk:
    return Disk(
        names=tuple(filter(None, dict.fromkeys((disk.get("name"), *(disk.get("alternateNames") or ()))))),
        size_bytes=disk.get("sizeBytes") or 0,
        nvme=disk.get("type") == "NVME",
        model=disk.get("model") or "",
        vendor=disk.get("vendor") or "",
        hctl=disk.get("hctl"),
        rotational=bool(disk.get("rotational")),
    )


def _adapters(nics: Iterable[Mapping[str, Any]]) -> tuple[Adapter, ...]:
    """Return the interfaces of a host, each once: an interface with addresses of both families has two entries."""
    by_name = {nic.get("name"): nic for nic in nics}
    adapters = []
    for name, nic in by_name.items():
        vendor, _, device = str(nic.get("model") or "").replace("0x", "").lower().partition(" ")
        adapters.append(
            Adapter(
                name=str(name),
                mac=str(nic.get("mac") or ""),
                vendor=vendor or None,
                device=device.strip() or None,
                neighbour=_neighbour(nic.get("lldp") or {}),
            )
        )
    return tuple(adapters)


def _neighbour(lldp: Mapping[str, Any]) -> str:
    return neighbour(lldp.get("portID"), lldp.get("switchSystemName") or lldp.get("switchID"))
