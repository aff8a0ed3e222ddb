"""``jacquard show ENV enrolment --live``: texts and exit codes."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from typer.testing import Result

from components.render.manifest import MANAGEMENT
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.observe.observation import Observation
from tests.support.data.environment_data import ENVIRONMENTS

Invoke = Callable[..., Result]
COMMAND = ("show", "laptop", "enrolment", "--live")
CPU = {"arch": "x86_64", "model": "Intel(R) Xeon(R) Platinum 8480+", "count": 224}


def host(name: str, hardware: dict[str, Any] | None, namespace: str = "metal3-hosts") -> dict[str, Any]:
    status: dict[str, Any] = {"provisioning": {"state": "available" if hardware else "registering"}}
    status |= {"hardware": hardware} if hardware else {"errorMessage": "The BMC secret does not exist"}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {}, "status": status}


def answers(monkeypatch: pytest.MonkeyPatch, *hosts: dict[str, Any]) -> None:
    seen = Observation(objects={(MANAGEMENT, "BareMetalHost"): list(hosts)})
    monkeypatch.setattr("jacquard.cli.show_hosts.observe", lambda *_, **__: seen)


def as_declared(*, first: int = 0) -> list[dict[str, Any]]:
    """Return the inventory's hosts from ``first``, of which only the serial number has been read."""
    hosts = load_environment("laptop", ENVIRONMENTS).hosts[first:]
    return [host(item.host, {"systemVendor": {"serialNumber": item.serial}}) for item in hosts]


def test_a_host_that_differs_is_shown_with_the_next_action(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    rest = as_declared(first=2)
    wrong = host("a01-u01", {"cpu": {**CPU, "count": 112}, "ramMebibytes": 2064384})
    answers(monkeypatch, *rest, wrong, host("a01-u02", None), host("x9", None))

    result = invoke(*COMMAND)

    lines = result.stdout.splitlines()
    assert lines[0] == (
        f"laptop: {len(rest) + 2} hosts in the inventory: {len(rest)} as declared, 1 not as declared, 1 not inspected"
    )
    assert lines[1:10] == [
        "a01-u01 (h100-ib-8, production, available): not as declared",
        "  cpus: 112 instead of 224",
        "  memory: 2016Gi instead of 2048Gi",
        '  next: jacquard host laptop a01-u01 --to triage --reason "not as h100-ib-8: CPU threads, memory"',
        "a01-u02 (h100-ib-8, production, registering): not inspected",
        "  The BMC secret does not exist",
        "  next: wait for the inspection, or fix the reported error",
        "not in the inventory:",
        "  BareMetalHost metal3-hosts/x9",
    ]
    assert lines[10].startswith("not reported by any host, so not compared: boot_mac, ")
    assert (result.exit_code, result.stderr) == (
        ExitCode.DRIFTED,
        "drift: laptop: hosts are not as declared, or not in the inventory\n",
    )


def test_exit_codes_are_for_cron(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    answers(monkeypatch, *as_declared(first=1), host("a01-u01", {"hostname": "a01-u01"}))
    assert invoke(*COMMAND).exit_code == ExitCode.WAITING

    answers(monkeypatch, *as_declared())
    document = json.loads(invoke(*COMMAND, "--format", "json").stdout)
    assert invoke(*COMMAND).exit_code == ExitCode.OK
    assert {key: count for key, count in document["count"].items() if count} == {"as-declared": len(as_declared())}
    assert document["hosts"][0]["not_reported"][:3] == ["boot_mac", "cpu_model", "architecture"]

    [*hosts] = as_declared()
    part = Observation(objects={(MANAGEMENT, "BareMetalHost"): hosts}, unreachable={"globex-lab": "no route"})
    monkeypatch.setattr("jacquard.cli.show_hosts.observe", lambda *_, **__: part)
    result = invoke(*COMMAND)
    assert result.stdout.splitlines()[-1] == "cluster globex-lab cannot be read: no route"
    assert (result.exit_code, result.stderr) == (
        ExitCode.UNREACHABLE,
        "unreachable: laptop: some clusters cannot be read, so the devices of their nodes are unknown\n",
    )

    gone = Observation(unreachable={MANAGEMENT: "gone"})
    monkeypatch.setattr("jacquard.cli.show_hosts.observe", lambda *_, **__: gone)
    result = invoke(*COMMAND)
    assert (result.exit_code, result.stderr) == (
        ExitCode.UNREACHABLE,
        "unreachable: cluster management cannot be read: gone\n",
    )


def test_enrolment_requires_live_objects(invoke: Invoke) -> None:
    result = invoke("show", "laptop", "enrolment")

    assert (result.exit_code, result.stderr) == (
        ExitCode.BAD_DATA,
        "error: enrolment requires --live; use: jacquard show laptop enrolment --live\n",
    )
