"""Inspection of simulated machines reports the hardware of their types, or that of a file for one machine."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from components.render.manifest import MANAGEMENT
from components.reports.enrolment.report import Result
from components.specs.environment import Environment
from components.specs.hosts.bmc import parse_bmc
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.operators.hosts import bare_metal, ironcore
from jacquard.lab.rehearsal.operators.hosts.devices import devices_of
from jacquard.lab.rehearsal.operators.hosts.machines import Machines
from jacquard.machine import paths
from jacquard.observe.enrolment import enrolled
from jacquard.observe.observation import Observation
from stacks.rehearsal import write_list
from stacks.simulated_machines import machines
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.live_objects import obj


def installed(folder: Path, environment: Environment, changes: dict[str, Any] | None = None) -> Machines:
    (folder / paths.HARDWARE).write_text(json.dumps(machines(environment)))
    if changes is not None:
        (folder / paths.HARDWARE_CHANGES).write_text(json.dumps(changes))
    return Machines(folder)


def metal3(environment: Environment, found: Machines) -> Observation:
    hosts = []
    for host in environment.hosts:
        body = obj(*bare_metal.HOST, host.host, {"bmc": {"address": host.bmc}, "bootMACAddress": host.boot_mac}, "free")
        hosts.append({**body, "status": {"provisioning": {"state": "available"}, "hardware": found.details(body)}})
    return Observation(objects={(MANAGEMENT, "BareMetalHost"): hosts})


@pytest.mark.parametrize("name", ["laptop", "us-east-04a"])
def test_each_machine_is_as_its_type_declares(name: str, tmp_path: Path) -> None:
    environment = load_environment(name, ENVIRONMENTS)
    report = enrolled(environment, metal3(environment, installed(tmp_path, environment)))

    assert report.count == {Result.AS_DECLARED: len(environment.hosts)}
    assert not report.deviates


def test_a_machine_has_the_bios_settings_of_all_its_baselines_and_no_inspection_reports_them(tmp_path: Path) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    found, [host, *_] = installed(tmp_path, environment), environment.hosts
    body = obj(*bare_metal.HOST, host.host, {"bmc": {"address": host.bmc}}, "free")
    wanted = {
        name
        for baseline in environment.firmware.firmware_baselines
        if host.instance_type in baseline.instance_types
        for name in baseline.bios
    }

    assert (found.bios(body).keys(), set(found.bios(body).values())) == (wanted, {"Factory"})
    assert "bios" not in found.details(body)


def test_servers_of_ironcore_report_the_same_machines(tmp_path: Path) -> None:
    environment = load_environment("eu-south-03a", ENVIRONMENTS)
    found = installed(tmp_path, environment)
    objects: dict[tuple[str, str], list[Any]] = {(MANAGEMENT, "BMC"): [], (MANAGEMENT, "Server"): []}
    for host in environment.hosts:
        bmc = obj(ironcore.API, "BMC", host.host, {"access": {"ip": parse_bmc(host.bmc).host}})
        server = obj(ironcore.API, "Server", f"{host.host}-system-0", {"bmcRef": {"name": host.host}})
        objects[MANAGEMENT, "BMC"].append(bmc)
        objects[MANAGEMENT, "Server"].append({**server, "status": found.report(bmc)})

    report = enrolled(environment, Observation(objects=objects))

    assert report.count == {Result.AS_DECLARED: len(environment.hosts)}
    assert {"cpu_model", "cpus", "memory", "serial", "dpu.interface"}.isdisjoint(report.hosts[0].not_reported)


def test_a_file_can_make_a_machine_report_wrong_hardware(tmp_path: Path) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    found = installed(tmp_path, environment, {"10.1.1.1": {"cpu": {"count": 112}, "ramMebibytes": 2064384}})
    report = enrolled(environment, metal3(environment, found))

    [wrong] = [host for host in report.hosts if host.result is Result.DIFFERS]
    assert wrong.host == "a01-u01"
    assert [(item.field, item.declared, item.found) for item in wrong.differences] == [
        ("cpus", "224", "112"),
        ("memory", "2048Gi", "2016Gi"),
    ]


def test_an_operating_system_finds_the_devices_of_the_type_and_no_inspection_reports_them(
    objects: Any, tmp_path: Path
) -> None:
    environment = load_environment("us-east-04a", ENVIRONMENTS)
    found = installed(tmp_path, environment)
    first = {host.instance_type: host for host in reversed(environment.hosts)}
    bodies = {kind: metal3_host(host.host, host.bmc) for kind, host in first.items()}
    management = objects(*bodies.values(), metal3_host("unknown", "redfish://10.9.9.9/redfish/v1"))
    gb200, cpus, unknown = (
        devices_of(found, management, {"spec": {"providerID": f"metal3://free/{name}/m"}})
        for name in (first["gb200-nvl72"].host, first["cpu-gen5"].host, "unknown")
    )

    assert gb200 is not None
    assert cpus is not None
    assert Counter({(item["vendor"], item["class"], item["device"]): item["count"] for item in gb200.pci}) == {
        ("10de", "0302", "2941"): 4,
        ("15b3", "0207", "1021"): 4,
        ("15b3", "0200", "a2dc"): 2,
    }
    assert (gb200.gpus, gb200.mig["1g.23gb"], cpus.gpus, cpus.mig) == (4, 7, 0, {})
    assert "devices" not in found.details(bodies["gb200-nvl72"])
    assert unknown is None
    assert devices_of(found, management, {"spec": {"providerID": f"metal://free/{first['cpu-gen5'].host}"}}) is None


def metal3_host(name: str, bmc: str) -> Any:
    return obj(*bare_metal.HOST, name, {"bmc": {"address": bmc}}, "free")


def test_a_machine_keeps_its_installed_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    environment = load_environment("laptop", ENVIRONMENTS)
    write_list(environment)
    path = paths.hardware("laptop")
    before = json.loads(path.read_text())
    kind = environment.instance_types.instance_types[0].model_copy(update={"cpus": 112})
    types = environment.instance_types.model_copy(
        update={"instance_types": (kind, *environment.instance_types.instance_types[1:])}
    )
    path.write_text(json.dumps({address: body for address, body in before.items() if address != "10.1.1.2"}))

    write_list(environment.model_copy(update={"instance_types": types}))

    after = json.loads(path.read_text())
    assert after["10.1.1.1"] == before["10.1.1.1"]
    assert after["10.1.1.2"]["cpu"]["count"] == 112


def test_an_unknown_machine_reports_its_hardware(objects: Any, tmp_path: Path) -> None:
    view = objects(
        obj(
            *bare_metal.HOST,
            "x9",
            {"bmc": {"address": "redfish://10.9.9.9"}, "bootMACAddress": "02:00:00:00:00:09"},
            "free",
        )
    )
    [host] = view.all(*bare_metal.HOST)

    details = Machines(tmp_path).details(host)

    assert (details["cpu"]["count"], details["nics"][0]["mac"]) == (192, "02:00:00:00:00:09")
    assert len(details["storage"]) == 2
