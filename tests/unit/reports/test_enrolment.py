"""Hardware from the inspection of hosts, compared with their rows and instance types."""

from __future__ import annotations

from typing import Any

import pytest

from components.reports.enrolment.differences import Difference, compare
from components.reports.enrolment.hardware import Adapter, Disk, Hardware, plain_cpu
from components.reports.enrolment.report import Enrolment, LiveHost, Result, enrolment
from components.specs.environment import Environment
from components.specs.hosts.firmware import Firmware, FirmwareComponent
from components.specs.hosts.instance_types import InstanceType
from components.specs.hosts.out_of_service import HostState
from components.specs.struct import replace
from tests.support.data.small_region import changed, faults

GIB = 1 << 30
BOOT = Disk(names=("/dev/nvme0n1",), size_bytes=960197124096, nvme=True, model="SAMSUNG MZ1L2960HCJR-00A07")
BASELINE = Firmware(
    name="one",
    components={
        "bios": FirmwareComponent(version="1.6.2", url="https://firmware.cloud.example/bios.bin"),
        "nic": FirmwareComponent(version="28.46"),
    },
)


def scratch(number: int, size: int = 3840755982336) -> Disk:
    return Disk(names=(f"/dev/nvme{number}n1",), size_bytes=size, nvme=True, model="SAMSUNG MZQL23T8HCLS-00A07")


DPU = tuple(
    Adapter(name=f"enp1s0f{port}np{port}", mac=f"02:00:00:00:00:0{port}", vendor="15b3", device="a2dc")
    for port in (0, 1)
)
BOOT_PORT = Adapter(name="eno1", mac="02:00:00:01:01:01", vendor="8086", device="1533")
FOUND = Hardware(
    serial="G26A0101",
    cpu_models=("Intel(R) Xeon(R) Platinum 8480+",),
    cpus=224,
    architecture="amd64",
    memory_bytes=2048 * GIB,
    disks=(BOOT, *(scratch(number) for number in range(1, 9))),
    adapters=(BOOT_PORT, *DPU),
    firmware={"bios": "1.6.2", "nic": "28.46"},
)


def h100(region: Environment, **changes: Any) -> InstanceType:
    kind = region.instance_types.by_name["h100-ib-8"]
    return changed(kind, nvme_disk_size="3576Gi", **changes)


def differences(region: Environment, found: Hardware, **changes: Any) -> list[tuple[str, str, str]]:
    done = compare(h100(region, **changes), region.hosts[0], (BASELINE,), found)
    return [(item.field, item.declared, item.found) for item in done.differences]


def test_a_matching_host_has_no_difference_and_values_that_ironic_omits_are_named(region: Environment) -> None:
    done = compare(h100(region), region.hosts[0], (BASELINE,), FOUND)

    assert done.differences == ()
    assert done.not_reported == ("gpu.count", "nics.gbits", "nics.model", "uplinks")


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"serial": "G26A0102"}, [("serial", "G26A0101", "G26A0102")]),
        ({"adapters": DPU}, [("boot_mac", "02:00:00:01:01:01", "02:00:00:00:00:00, 02:00:00:00:00:01")]),
        (
            {"cpu_models": ("Intel(R) Xeon(R) Platinum 8470",)},
            [("cpu_model", "Intel Xeon Platinum 8480+", "Intel(R) Xeon(R) Platinum 8470")],
        ),
        ({"cpus": 112}, [("cpus", "224", "112")]),
        ({"architecture": "arm64"}, [("architecture", "amd64", "arm64")]),
        ({"memory_bytes": 2040 * GIB}, []),
        ({"memory_bytes": 2048 * GIB * 47 // 48}, [("memory", "2048Gi", "2005Gi")]),
        ({"memory_bytes": 4096 * GIB}, [("memory", "2048Gi", "4096Gi")]),
        ({"disks": FOUND.disks[:-1]}, [("nvme_disks", "8", "7")]),
        (
            {"disks": (BOOT, *FOUND.disks[1:-1], scratch(8, 1920383410176))},
            [("nvme_disk_size", "3576Gi", "/dev/nvme8n1 SAMSUNG MZQL23T8HCLS-00A07 1788Gi")],
        ),
        (
            {"disks": FOUND.disks[1:]},
            [
                (
                    "root_device",
                    "model: MZ1L2960, min_size: 800Gi",
                    ", ".join(f"/dev/nvme{number}n1 SAMSUNG MZQL23T8HCLS-00A07 3576Gi" for number in range(1, 9)),
                )
            ],
        ),
        (
            {"adapters": (BOOT_PORT, replace(DPU[0], name="ens1"))},
            [("dpu.interface", "enp1s0f0np0", "eno1, ens1"), ("dpu.host_functions", "2", "1")],
        ),
        (
            {"firmware": {"bios": "1.5.0", "nic": "28.40"}},
            [("firmware.bios", "1.6.2", "1.5.0"), ("firmware.nic", "28.46", "28.40")],
        ),
    ],
)
def test_a_difference_names_declared_and_found_value(
    region: Environment, changes: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    assert differences(region, replace(FOUND, **changes)) == expected


@pytest.mark.parametrize(
    ("ports", "device", "expected"),
    [
        (8, "1021", []),
        (7, "1021", [("roce_ports", "8", "7")]),
        (8, "1023", [("nics.model", "connectx-7 (15b3:1021)", "15b3:1023, 15b3:a2dc, 8086:1533")]),
    ],
)
def test_ethernet_ports_of_the_fabric_are_counted_by_their_device(
    region: Environment, ports: int, device: str, expected: list[tuple[str, str, str]]
) -> None:
    fabric = tuple(
        Adapter(name=f"enp{port}s0", mac=f"02:00:00:00:01:0{port}", vendor="15b3", device=device)
        for port in range(ports)
    )
    found = replace(FOUND, adapters=(*FOUND.adapters, *fabric))

    assert differences(region, found, infiniband_ports=0, roce_ports=8) == expected


def test_facts_that_are_not_reported_are_neither_equal_nor_different(region: Environment) -> None:
    done = compare(h100(region), region.hosts[0], (BASELINE,), Hardware())

    assert done.differences == ()
    assert done.not_reported == (
        "serial",
        "boot_mac",
        "cpu_model",
        "architecture",
        "cpus",
        "memory",
        "gpu.count",
        "root_device",
        "nvme_disks",
        "nvme_disk_size",
        "dpu.interface",
        "dpu.host_functions",
        "nics.gbits",
        "nics.model",
        "uplinks",
        "firmware.bios",
        "firmware.nic",
    )


def linked(name: str, device: str | None, port: str = "Ethernet1/7 of mgmt-a1", vendor: str = "15b3") -> Adapter:
    seen = {} if device is None else {"vendor": vendor, "device": device}
    return Adapter(name=name, mac=f"02:00:00:00:0a:{len(name):02x}", neighbour=port, **seen)


BYPASS = [("uplinks", "the DPU, the boot port and fabric ports", "eno2 at Ethernet1/7 of mgmt-a1")]


@pytest.mark.parametrize(
    ("adapters", "changes", "expected"),
    [
        pytest.param((linked("eno2", "1533", vendor="8086"),), {}, BYPASS, id="another card"),
        pytest.param((linked("eno2", "1533", port="", vendor="8086"),), {}, [], id="not connected"),
        pytest.param((replace(BOOT_PORT, neighbour="1 of boot-a1"),), {}, [], id="boot port"),
        pytest.param((linked("enp1s0f1np1", "a2dc"),), {}, [], id="DPU by device"),
        pytest.param((linked("enp1s0f1np1", None),), {}, [], id="DPU by name"),
        pytest.param((linked("enp26s0np0", "1021"),), {"infiniband_ports": 0, "roce_ports": 8}, [], id="fabric"),
        pytest.param((linked("enp26s0np0", "1021"), linked("eno2", "101d")), {}, BYPASS, id="other NVIDIA card"),
        pytest.param((linked("eno2", None),), {"nics": None, "infiniband_ports": 0}, BYPASS, id="by name only"),
    ],
)
def test_an_interface_that_a_switch_reports_next_to_the_dpu_is_a_difference(
    region: Environment, adapters: tuple[Adapter, ...], changes: dict[str, Any], expected: list[tuple[str, str, str]]
) -> None:
    dpu = changed(region.instance_types.by_name["h100-ib-8"].dpu, interface="enp1s0f0np0")
    found = compare(
        h100(region, dpu=dpu, **changes), region.hosts[0], (), replace(FOUND, adapters=(*FOUND.adapters, *adapters))
    )

    assert [
        (item.field, item.declared, item.found) for item in found.differences if item.field == "uplinks"
    ] == expected


def test_a_connected_interface_of_unknown_device_is_not_compared(region: Environment) -> None:
    done = compare(h100(region), region.hosts[0], (), replace(FOUND, adapters=(*FOUND.adapters, linked("eno2", None))))

    assert done.differences == ()
    assert "uplinks" in done.not_reported


@pytest.mark.parametrize(
    ("declared", "reported"),
    [
        ("Intel Xeon Platinum 8480+", "Intel(R) Xeon(R) Platinum 8480+"),
        ("Intel Xeon Gold 6248", "Intel(R) Xeon(R) Gold 6248 CPU @ 2.50GHz"),
        ("AMD EPYC 9454", "AMD EPYC 9454 48-Core Processor"),
        ("NVIDIA Grace", "Neoverse-V2"),
    ],
)
def test_spellings_of_one_cpu_are_equal(declared: str, reported: str) -> None:
    assert plain_cpu(declared) == plain_cpu(reported)
    assert plain_cpu(declared) != plain_cpu("AMD EPYC 9474F 48-Core Processor")


def live(name: str, hardware: Hardware | None, **others: Any) -> LiveHost:
    return LiveHost(
        **{"kind": "BareMetalHost", "name": name, "bmc": None, "state": "available", "hardware": hardware} | others
    )


def enrolled(region: Environment, *hosts: LiveHost) -> Enrolment:
    types = changed(region.instance_types, instance_types=(h100(region), *region.instance_types.instance_types[1:]))
    return enrolment(changed(region, hosts=region.hosts[:1], instance_types=types), hosts)


def test_a_host_that_differs_is_to_leave_service_with_the_reason(region: Environment) -> None:
    report = enrolled(region, live("a01-u01", replace(FOUND, cpus=112, firmware={"bios": "1.0"})))

    [host] = report.hosts
    assert (host.result, report.deviates, report.waits) == (Result.DIFFERS, True, False)
    assert host.differences[1] == Difference(field="firmware.bios", declared="1.6.2", found="1.0", updated=True)
    assert host.next_action == ('jacquard host laptop a01-u01 --to triage --reason "not as h100-ib-8: CPU threads"')


def test_a_host_in_triage_is_a_known_difference(region: Environment) -> None:
    away = {"a01-u01": changed(faults("a01-u01")["a01-u01"], state=HostState.TRIAGE)}
    report = enrolled(changed(region, out_of_service=away), live("a01-u01", replace(FOUND, cpus=112)))

    assert not report.deviates
    assert report.hosts[0].next_action == (
        "repair the host, or correct its row in inventory/hall-a.csv; then inspect it again"
    )


def test_firmware_that_the_controller_updates_needs_nothing(region: Environment) -> None:
    report = enrolled(region, live("a01-u01", replace(FOUND, firmware={"bios": "1.0"})))

    assert (report.hosts[0].result, report.deviates) == (Result.OUT_OF_DATE, False)


def test_hosts_are_waited_for_until_they_are_inspected(region: Environment) -> None:
    absent, waiting = enrolled(region), enrolled(region, live("a01-u01", None, state="registering"))

    assert [report.hosts[0].result for report in (absent, waiting)] == [Result.ABSENT, Result.NOT_INSPECTED]
    assert (absent.waits, waiting.waits, waiting.deviates) == (True, True, False)


def test_hosts_and_bmcs_outside_the_inventory_are_listed_without_credentials(region: Environment) -> None:
    report = enrolled(
        region,
        live("a01-u01", FOUND),
        live("x9", None, namespace="spare", bmc="redfish://root:secret@10.1.1.1/redfish/v1/Systems/1"),
        live("one", None, kind="Endpoint", bmc="10.1.9.9"),
    )

    assert report.deviates
    assert [(item.object, item.bmc, item.same_bmc_as) for item in report.unknown] == [
        ("BareMetalHost spare/x9", "redfish://10.1.1.1/redfish/v1/Systems/1", "a01-u01"),
        ("Endpoint one", "10.1.9.9", None),
    ]
