"""Enrolment of the hosts of a region: hosts whose inspected hardware is as declared, and all others."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from functools import cached_property
from typing import Any

from components.inputs.inventory import firmware_of_hosts
from components.reports.enrolment.differences import UPLINKS, Difference, compare
from components.reports.enrolment.hardware import Hardware
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import PRODUCTION, HostState
from components.specs.natural import natural
from components.specs.struct import Struct, asdict

_FAULTY = HostState.TRIAGE
"""State of a host whose hardware is not as declared."""
_KNOWN_FAULTS = {HostState.TRIAGE, HostState.RMA, HostState.DEBUG}
"""States of hosts whose differences are known already."""
_DEVICES = "pci_devices"
"""Field of the comparison in the cluster of the node: GPUs, fabric ports and DPU functions."""
_TEXTS = {
    _DEVICES: "PCI devices",
    "serial": "serial number",
    "boot_mac": "boot MAC address",
    "cpu_model": "CPU model",
    "cpus": "CPU threads",
    "gpu.count": "GPUs",
    "root_device": "boot disk",
    "nvme_disks": "NVMe disks",
    "nvme_disk_size": "size of NVMe disks",
    "dpu.interface": "DPU interface",
    "dpu.host_functions": "DPU functions",
    "nics.model": "network adapter",
    "roce_ports": "RoCE ports",
    "infiniband_ports": "InfiniBand ports",
    UPLINKS: "uplinks without a DPU",
}
"""Fields in the reason of a fault, where they differ from their names."""
_ONLY_DISCOVERED = {"Endpoint", "Server"}
"""Kinds of objects that do not represent a host of the inventory, even with its name."""


class Result(StrEnum):
    """Result of the comparison of one host."""

    AS_DECLARED = "as-declared"
    """All reported values are as declared."""
    OUT_OF_DATE = "out-of-date"
    """The host differs in firmware only, which the bare-metal controller updates before the next image."""
    DIFFERS = "not-as-declared"
    """Reported values differ from the declarations."""
    NOT_INSPECTED = "not-inspected"
    """The controller has reported nothing about the hardware of the host that could be compared."""
    ABSENT = "absent"
    """The inventory has the host, the cluster does not."""


class LiveHost(Struct):
    """Host as its controller reports it, or the BMC of a machine that was discovered."""

    kind: str
    name: str
    namespace: str = ""
    bmc: str | None
    """Address of the BMC, with or without a driver."""
    state: str
    """State of the host, in the terms of its controller."""
    error: str | None = None
    """Error message of the controller; None without an error."""
    hardware: Hardware | None = None
    """Inspected hardware; None before the first inspection."""


class VerifiedNode(Struct):
    """Node whose PCI devices were compared with an instance type."""

    host: str
    node: str
    """Cluster and name of the node."""
    instance_type: str
    as_declared: bool


class EnrolledHost(Struct):
    """Host of the inventory."""

    host: str
    instance_type: str
    lifecycle: str
    """Lifecycle state: ``production``, or a state out of service."""
    state: str | None
    """State of the host in the terms of its controller; None if the host is absent."""
    error: str | None
    result: Result
    differences: tuple[Difference, ...]
    not_reported: tuple[str, ...]
    next_action: str | None
    """Next action of an operator; None if there is nothing to do."""

    @property
    def has_known_fault(self) -> bool:
        """Return whether the state of the host says that its differences are known."""
        return self.lifecycle in _KNOWN_FAULTS


class UnknownHost(Struct):
    """Host or BMC of the cluster that is not in the inventory."""

    object: str
    """Kind, namespace and name."""
    bmc: str | None
    """Address of the BMC without credentials; None if it is not known."""
    same_bmc_as: str | None
    """Host of the inventory with the same BMC; None if there is none."""


class Enrolment(Struct, dict=True):
    """Enrolment of a region."""

    environment: str
    hosts: tuple[EnrolledHost, ...]
    unknown: tuple[UnknownHost, ...]

    @cached_property
    def count(self) -> Mapping[Result, int]:
        """Return the number of hosts by result."""
        return Counter(host.result for host in self.hosts)

    @property
    def deviates(self) -> bool:
        """Return whether a host without a known fault is not as declared, or a host is unknown."""
        return bool(self.unknown) or any(
            host.result is Result.DIFFERS and not host.has_known_fault for host in self.hosts
        )

    @property
    def waits(self) -> bool:
        """Return whether the hardware of a host in service is not known yet."""
        unseen = {Result.NOT_INSPECTED, Result.ABSENT}
        return any(host.result in unseen and host.lifecycle == PRODUCTION for host in self.hosts)

    def to_json(self, unreachable: Mapping[str, str]) -> dict[str, Any]:
        """Return the report as JSON data."""
        return {
            "schema_version": 1,
            "environment": self.environment,
            "unreachable": dict(sorted(unreachable.items())),
            "count": {str(result): self.count[result] for result in Result},
            "hosts": [asdict(host) for host in self.hosts],
            "unknown": [asdict(host) for host in self.unknown],
        }


def enrolment(environment: Environment, live: Iterable[LiveHost], nodes: Iterable[VerifiedNode] = ()) -> Enrolment:
    """Compare the hosts of ``environment`` with live ones.

    Args:
        environment: loaded and checked environment.
        live: all hosts and BMCs of the management cluster.
        nodes: nodes whose devices were compared; a host without such a node is compared by its inspection only.
    """
    verified = {node.host: node for node in nodes}
    known = {host.host: host for host in environment.hosts}
    seen: dict[str, LiveHost] = {}
    strangers = []
    for host in live:
        if host.name not in known or host.kind in _ONLY_DISCOVERED:
            strangers.append(host)
        # While a host moves to another namespace, two objects have its name.
        elif host.name not in seen or host.hardware is not None:
            seen[host.name] = host
    pinned, catalogue = firmware_of_hosts(environment, environment.hosts), _baselines(environment)
    ordered = sorted(environment.hosts, key=lambda host: natural(host.host))
    return Enrolment(
        environment=environment.name,
        hosts=tuple(
            _enrolled(
                environment,
                host,
                (pinned[host.host],) if host.host in pinned else catalogue.get(host.instance_type, ()),
                seen.get(host.host),
                verified.get(host.host),
            )
            for host in ordered
        ),
        unknown=tuple(_unknown(environment.hosts, strangers)),
    )


def _baselines(environment: Environment) -> Mapping[str, tuple[Firmware, ...]]:
    """Return the firmware baselines of the catalogue by instance type."""
    baselines: dict[str, tuple[Firmware, ...]] = {}
    for baseline in environment.firmware.firmware_baselines:
        for kind in baseline.instance_types:
            baselines[kind] = (*baselines.get(kind, ()), baseline.content)
    return baselines


def _enrolled(
    environment: Environment,
    host: HostSpec,
    baselines: tuple[Firmware, ...],
    live: LiveHost | None,
    node: VerifiedNode | None,
) -> EnrolledHost:
    away = environment.out_of_service.get(host.host)
    lifecycle = PRODUCTION if away is None else str(away.state)
    differences: tuple[Difference, ...] = ()
    not_reported: tuple[str, ...] = ()
    if live is None:
        result = Result.ABSENT
    elif live.hardware is None or live.hardware == Hardware():
        result = Result.NOT_INSPECTED
    else:
        done = compare(environment.instance_types.by_name[host.instance_type], host, baselines, live.hardware)
        differences, not_reported = (*done.differences, *_devices(host, node)), done.not_reported
        if node is None:
            not_reported = (*not_reported, _DEVICES)
        result = _result(differences)
    return EnrolledHost(
        host=host.host,
        instance_type=host.instance_type,
        lifecycle=lifecycle,
        state=None if live is None else live.state,
        error=None if live is None else live.error,
        result=result,
        differences=differences,
        not_reported=not_reported,
        next_action=_next_action(environment.name, host, lifecycle, result, differences),
    )


def _devices(host: HostSpec, node: VerifiedNode | None) -> Iterator[Difference]:
    """Yield the difference of a node without the devices of the host's instance type."""
    if node is not None and (node.instance_type, node.as_declared) != (host.instance_type, True):
        yield Difference(
            field=_DEVICES, declared=f"devices of {host.instance_type}", found=f"other devices in {node.node}"
        )


def _result(differences: tuple[Difference, ...]) -> Result:
    if not differences:
        return Result.AS_DECLARED
    return Result.OUT_OF_DATE if all(item.updated for item in differences) else Result.DIFFERS


def _next_action(
    environment: str, host: HostSpec, lifecycle: str, result: Result, differences: tuple[Difference, ...]
) -> str | None:
    match result:
        case Result.DIFFERS if lifecycle not in _KNOWN_FAULTS:
            lasting = ", ".join(_TEXTS.get(item.field, item.field) for item in differences if not item.updated)
            command = f"jacquard host {environment} {host.host} --to {_FAULTY}"
            return f'{command} --reason "not as {host.instance_type}: {lasting}"'
        case Result.DIFFERS:
            return f"repair the host, or correct its row in inventory/hall-{host.hall}.csv; then inspect it again"
        case Result.OUT_OF_DATE:
            return "none: the firmware is updated before the next image is written"
        case Result.NOT_INSPECTED:
            return "wait for the inspection, or fix the reported error"
        case Result.ABSENT:
            return f"jacquard up {environment}"
    return None


def _unknown(hosts: Iterable[HostSpec], strangers: Iterable[LiveHost]) -> Iterator[UnknownHost]:
    machines = {parse_bmc(host.bmc).machine: host.host for host in hosts}
    for host in sorted(strangers, key=lambda host: (host.kind, host.namespace, natural(host.name))):
        bmc = parse_bmc(host.bmc) if host.bmc else None
        yield UnknownHost(
            object=f"{host.kind} {host.namespace}/{host.name}" if host.namespace else f"{host.kind} {host.name}",
            bmc=None if bmc is None else bmc.without_login,
            same_bmc_as=None if bmc is None else machines.get(bmc.machine),
        )
