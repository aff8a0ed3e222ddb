"""Inspected hardware in the status of hosts, as Metal3 and IronCore metal report it."""

from __future__ import annotations

from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.reports.enrolment.hardware import Adapter, Disk, Hardware
from components.reports.enrolment.report import EnrolledHost, Result
from components.specs.environment import Environment
from jacquard.observe.backends import bare_metal
from jacquard.observe.enrolment import enrolled, management_kinds
from jacquard.observe.observation import Observation

DETAILS: dict[str, Any] = {
    "systemVendor": {"manufacturer": "Supermicro", "productName": "SYS-821GE", "serialNumber": "G26A0101"},
    "firmware": {"bios": {"version": "1.6.2"}},
    "cpu": {"arch": "x86_64", "model": "Intel(R) Xeon(R) Platinum 8480+", "count": 224},
    "ramMebibytes": 2097152,
    "nics": [
        {"name": "eno1", "model": "0x8086 0x1533", "mac": "02:00:00:01:01:01", "ip": "10.0.0.9"},
        {"name": "eno1", "model": "0x8086 0x1533", "mac": "02:00:00:01:01:01", "ip": "fd00::9"},
        {"name": "enp1s0f0np0", "model": "0x15b3 0xa2dc", "mac": "02:00:00:00:00:01", "lldp": {}},
        {
            "name": "eno2",
            "mac": "02:00:00:00:00:02",
            "lldp": {"portID": "Ethernet1/7", "switchID": "02:00:00:00:0a:01", "switchSystemName": "mgmt-a1"},
        },
        {"name": "eno3", "mac": "02:00:00:00:00:03", "lldp": {"switchID": "02:00:00:00:0a:02"}},
    ],
    "storage": [
        {
            "name": "/dev/disk/by-path/x",
            "alternateNames": ["/dev/nvme0n1"],
            "type": "NVME",
            "sizeBytes": 9,
            "model": "M",
        }
    ],
}
HARDWARE = Hardware(
    serial="G26A0101",
    cpu_models=("Intel(R) Xeon(R) Platinum 8480+",),
    cpus=224,
    architecture="amd64",
    memory_bytes=2 << 40,
    disks=(Disk(names=("/dev/disk/by-path/x", "/dev/nvme0n1"), size_bytes=9, nvme=True, model="M"),),
    adapters=(
        Adapter(name="eno1", mac="02:00:00:01:01:01", vendor="8086", device="1533"),
        Adapter(name="enp1s0f0np0", mac="02:00:00:00:00:01", vendor="15b3", device="a2dc"),
        Adapter(name="eno2", mac="02:00:00:00:00:02", neighbour="Ethernet1/7 of mgmt-a1"),
        Adapter(name="eno3", mac="02:00:00:00:00:03", neighbour="a port of 02:00:00:00:0a:02"),
    ),
    firmware={"bios": "1.6.3", "bmc": "24.10.1"},
)


def host(status: dict[str, Any]) -> dict[str, Any]:
    bmc = {"address": "redfish://10.1.1.1/redfish/v1/Systems/1"}
    return {"metadata": {"name": "a01-u01", "namespace": "acme-train"}, "spec": {"bmc": bmc}, "status": status}


def seen(**objects: list[dict[str, Any]]) -> Observation:
    return Observation(objects={(MANAGEMENT, kind): bodies for kind, bodies in objects.items()})


def read(environment: Environment, answers: Observation) -> list[Any]:
    metal = bare_metal(environment)
    return list(metal.inspected(answers.of, metal.report(answers.of)))


def test_metal3_reports_in_the_status_and_in_hardware_data(laptop: Environment) -> None:
    place = {"name": "a01-u01", "namespace": "acme-train"}
    versions = [
        {"component": "bios", "initialVersion": "1.6.2", "currentVersion": "1.6.3"},
        {"component": "bmc", "initialVersion": "24.10.1"},
    ]
    firmware = [{"metadata": place, "status": {"components": versions}}]
    data = [{"metadata": place, "spec": {"hardware": DETAILS}}]
    state = {"provisioning": {"state": "available"}}
    [old] = read(laptop, seen(BareMetalHost=[host({**state, "hardware": DETAILS})], HostFirmwareComponents=firmware))
    [new] = read(laptop, seen(BareMetalHost=[host(state)], HardwareData=data, HostFirmwareComponents=firmware))

    assert old == new
    assert (new.hardware, new.state, new.bmc) == (HARDWARE, "available", "redfish://10.1.1.1/redfish/v1/Systems/1")


def test_a_host_before_its_inspection_has_no_hardware_and_names_its_error(laptop: Environment) -> None:
    status = {"provisioning": {"state": "registering"}, "errorMessage": "no login"}
    report = enrolled(laptop, seen(BareMetalHost=[host(status)]))

    assert report.hosts[0] == EnrolledHost(
        host="a01-u01",
        instance_type="h100-ib-8",
        lifecycle="production",
        state="registering",
        error="no login",
        result=Result.NOT_INSPECTED,
        differences=(),
        not_reported=(),
        next_action="wait for the inspection, or fix the reported error",
    )


def test_ironcore_reports_processors_memory_and_interfaces(south: Environment) -> None:
    name = south.hosts[0].host
    bmc = {"metadata": {"name": name}, "spec": {"access": {"ip": "10.1.1.1"}}, "status": {"firmwareVersion": "24.1"}}
    cpu = {
        "type": "CPU",
        "architecture": "x86",
        "instructionSet": "x86-64",
        "model": "AMD EPYC 9454",
        "totalThreads": 96,
    }
    status = {
        "state": "Available",
        "serialNumber": "S1",
        "totalSystemMemory": "768Gi",
        "biosVersion": "2.1",
        "processors": [cpu, cpu, {"type": "GPU", "model": "H100"}],
        "networkInterfaces": [
            {
                "name": "eth0",
                "macAddress": "02:00:00:01:01:01",
                "neighbors": [{"systemName": "leaf-1", "portID": "swp7"}, {"portID": "swp8"}],
            }
        ],
        "storages": [{"name": "x", "drives": [{"name": "d", "capacity": "1Ti", "mediaType": "SSD"}]}],
    }
    server = {"metadata": {"name": f"{name}-system-0"}, "spec": {"bmcRef": {"name": name}}, "status": status}
    [found] = read(south, seen(BMC=[bmc], Server=[server]))

    assert (found.name, found.state) == (name, "Available")
    assert found.hardware == Hardware(
        serial="S1",
        cpu_models=("AMD EPYC 9454",),
        cpus=192,
        architecture="amd64",
        memory_bytes=768 << 30,
        gpus=1,
        adapters=(Adapter(name="eth0", mac="02:00:00:01:01:01", neighbour="swp7 of leaf-1, swp8 of a switch"),),
        firmware={"bios": "2.1", "bmc": "24.1"},
    )


def test_ironcore_lists_endpoints_and_servers_that_no_bmc_of_the_inventory_has(south: Environment) -> None:
    known = south.hosts[0].host
    bmc = {"metadata": {"name": known}, "spec": {"endpointRef": {"name": "used"}}}
    endpoints = [
        {"metadata": {"name": name}, "spec": {"ip": address}}
        for name, address in (("used", "10.1.0.1"), ("new", "10.1.0.2"))
    ]
    orphan = {"metadata": {"name": "orphan"}, "spec": {"bmcRef": {"name": "gone"}}}
    report = enrolled(south, seen(BMC=[bmc], Endpoint=endpoints, Server=[orphan]))

    assert [(item.object, item.bmc) for item in report.unknown] == [
        ("Endpoint new", "10.1.0.2"),
        ("Server orphan", None),
    ]


def test_only_kinds_of_the_backend_are_read(laptop: Environment, south: Environment) -> None:
    assert {kind for _, kind in management_kinds(laptop)} == {
        "BareMetalHost",
        "HardwareData",
        "HostFirmwareComponents",
        "HostFirmwareSettings",
    }
    assert {kind for _, kind in management_kinds(south)} == {"BMC", "Server", "Endpoint", "ServerBootConfiguration"}


def node(name: str, *, pool: str = "train", **labels: str) -> dict[str, Any]:
    return {
        "metadata": {
            "name": name,
            "labels": {"node-restriction.kubernetes.io/pool": pool, **labels},
            "annotations": {"nfd.node.kubernetes.io/feature-labels": "pci-0302_10de.present"},
        },
        "spec": {"providerID": "metal3://acme-train/a01-u01/acme-train-train-a01-x1"},
    }


HARDWARE_LABEL = {"hardware.jacquard.dev/h100-ib-8": "as-declared"}
OTHER_LABEL = {"hardware.jacquard.dev/cpu-gen4": "as-declared"}
RULE = [{"metadata": {"name": "declared-hardware"}}]
MISSING = [("pci_devices", "devices of h100-ib-8", "other devices in acme-train/x1")]


@pytest.mark.parametrize(
    ("labels", "rules", "expected", "compared"),
    [
        (HARDWARE_LABEL, RULE, [], True),
        ({}, RULE, MISSING, True),
        (OTHER_LABEL, RULE, MISSING, True),
        ({}, [], [], False),
    ],
)
def test_a_node_without_the_label_of_its_type_has_other_devices(
    laptop: Environment,
    labels: dict[str, str],
    rules: list[Any],
    expected: list[tuple[str, str, str]],
    compared: bool,  # noqa: FBT001 - a parameter of the table
) -> None:
    details = {"systemVendor": DETAILS["systemVendor"]}
    answers = seen(BareMetalHost=[host({"provisioning": {"state": "provisioned"}, "hardware": details})])
    answers.objects["acme-train", "Node"] = [node("x1", **labels)]
    answers.objects["acme-train", "NodeFeatureRule"] = rules

    [found, *_] = enrolled(laptop, answers).hosts

    assert [(item.field, item.declared, item.found) for item in found.differences] == expected
    assert ("pci_devices" not in found.not_reported) is compared
