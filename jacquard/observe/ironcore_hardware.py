"""Reads the inspected hardware of hosts from objects of IronCore metal.

The BMC reports processors, memory and firmware; a probe that boots on the server reports its network interfaces
(ironcore-dev/metal-operator:internal/controller/server_controller.go). The status contains neither the PCI devices of
interfaces nor the protocol of disks, so disks are not compared.
"""

from collections.abc import Iterator

from components.reports.enrolment.hardware import Adapter, Hardware, neighbour
from components.reports.enrolment.report import LiveHost
from components.specs.hosts.instance_types import Architecture
from jacquard.observe.objects import UNKNOWN, Object, Objects, Report, key
from jacquard.providers.kube.objects import dig

API = "metal.ironcore.dev/v1alpha1"
_BMC, _SERVER, _ENDPOINT = "BMC", "Server", "Endpoint"
KINDS = ((API, _BMC), (API, _SERVER), (API, _ENDPOINT))
ARCHITECTURES = {
    "x86-64": Architecture.AMD64,
    "x86": Architecture.AMD64,
    "ARM-A64": Architecture.ARM64,
    "ARM": Architecture.ARM64,
}
"""Instruction sets of 64-bit CPUs in the notation of Redfish, and their families, for a BMC that reports only these."""
_BINARY = "KMGTPE"


def hosts(of: Objects, _reported: Report) -> Iterator[LiveHost]:
    """Yield all BMCs with the hardware of their servers, and all endpoints that no BMC uses."""
    servers = {dig(server, "spec", "bmcRef", "name") or key(server): server for server in of(_SERVER)}
    addresses = {key(body)[1]: dig(body, "spec", "ip") for body in of(_ENDPOINT)}
    for body in of(_BMC):
        name, endpoint = key(body)[1], dig(body, "spec", "endpointRef", "name")
        server = servers.pop(name, None)
        yield LiveHost(
            kind=_BMC,
            name=name,
            bmc=dig(body, "spec", "access", "ip") or addresses.get(endpoint),
            state=str(dig(server or body, "status", "state") or UNKNOWN),
            hardware=_hardware(server, body) if server and dig(server, "status", "processors") else None,
        )
        addresses.pop(endpoint, None)
    for server in servers.values():
        yield LiveHost(kind=_SERVER, name=key(server)[1], bmc=dig(server, "spec", "bmc", "address"), state=UNKNOWN)
    for name, address in addresses.items():
        yield LiveHost(kind=_ENDPOINT, name=name, bmc=address, state=UNKNOWN)


def _hardware(server: Object, bmc: Object) -> Hardware:
    status = server["status"]
    parts = status.get("processors") or ()
    cpus = [part for part in parts if part.get("type", "CPU") in {"CPU", ""}]
    gpus = sum(part.get("type") == "GPU" for part in parts)
    sets = {str(part.get("instructionSet") or part.get("architecture") or "") for part in cpus} - {""}
    adapters = (
        Adapter(name=str(nic["name"]), mac=str(nic.get("macAddress") or ""), neighbour=_neighbours(nic))
        for nic in status.get("networkInterfaces") or ()
    )
    versions = {"bios": status.get("biosVersion"), "bmc": dig(bmc, "status", "firmwareVersion")}
    return Hardware(
        serial=status.get("serialNumber") or None,
        cpu_models=tuple(sorted({str(part["model"]) for part in cpus if part.get("model")})),
        cpus=sum(part.get("totalThreads") or 0 for part in cpus) or None,
        architecture=", ".join(sorted(ARCHITECTURES.get(name, name) for name in sets)) or None,
        memory_bytes=_bytes(status.get("totalSystemMemory")),
        gpus=gpus or None,
        adapters=tuple(adapters),
        firmware={name: version for name, version in versions.items() if version},
    )


def _neighbours(nic: Object) -> str:
    found = nic.get("neighbors") or ()
    return ", ".join(neighbour(item.get("portID"), item.get("systemName") or item.get("macAddress")) for item in found)


def _bytes(quantity: str | int | None) -> int | None:
    """Return a quantity with or without a binary unit in bytes; None if it is zero or not reported."""
    text = str(quantity or "")
    if text.endswith("i") and text[-2] in _BINARY:
        return int(text[:-2]) << 10 * (1 + _BINARY.index(text[-2])) or None
    return (int(text) or None) if text.isdecimal() else None
