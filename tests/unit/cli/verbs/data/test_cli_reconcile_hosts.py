"""``jacquard reconcile-hosts``: moved hosts, written files, and exit codes for scheduled runs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.render.manifest import MANAGEMENT
from components.specs.health.node_tests import NodeTestsSpec
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from jacquard.cli import data
from jacquard.cli.errors import ExitCode
from jacquard.cli.verbs.data import reconcile_hosts as verb
from jacquard.observe.nodes.failed_hosts import failed_hosts
from jacquard.observe.observation import Observation

Invoke = Callable[..., Result]
REASON = "repair by reboots failed (Metal3)"


def host(name: str, *, marked: bool = True) -> dict[str, Any]:
    annotations = {"capm3.metal3.io/unhealthy": "capm3/UnhealthyNode"} if marked else {}
    return {"metadata": {"name": name, "namespace": "acme-train", "annotations": annotations}}


@pytest.fixture
def objects(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], list[dict[str, Any]]]:
    """Objects of the management cluster by kind, empty at first."""
    found: dict[tuple[str, str], list[dict[str, Any]]] = {}
    monkeypatch.setattr(verb, "observe", lambda *_, **__: Observation(objects=found))
    return found


@pytest.fixture
def hosts(objects: dict[tuple[str, str], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    """Hosts of the management cluster, empty at first."""
    return objects.setdefault((MANAGEMENT, "BareMetalHost"), [])


def machine(provider_id: str, status: str = "False", text: str = "GPU 5: page retirement") -> dict[str, Any]:
    """Return a Machine with the result of its burn-in."""
    message = f"Job burn-in-1: gpu-stress ended with exit code 226: {text}"
    result = {"type": "BurnInPassed", "status": status, "message": message}
    name = {"name": provider_id[-1], "namespace": "acme-train"}
    return {"metadata": name, "spec": {"providerID": provider_id}, "status": {"conditions": [result]}}


def test_sound_hosts_need_nothing(hosts: list[dict[str, Any]], invoke: Invoke) -> None:
    hosts += [host("a01-u01", marked=False), host("of-another-region")]

    result = invoke("reconcile-hosts", "laptop")

    assert (result.exit_code, result.stdout, result.stderr) == (ExitCode.OK, "laptop: no host to move\n", "")


def test_a_host_that_metal3_gave_up_is_proposed_with_its_command(hosts: list[dict[str, Any]], invoke: Invoke) -> None:
    hosts += [host("a04-u05"), host("a01-u01")]

    result = invoke("reconcile-hosts", "laptop")

    assert result.exit_code == ExitCode.DRIFTED
    assert result.stdout.splitlines() == [
        f"a01-u01 (in acme-train/train): {REASON}",
        f'  jacquard host laptop a01-u01 --to triage --reason "{REASON}"',
        f"a04-u05 (unassigned): {REASON}",
        f'  jacquard host laptop a04-u05 --to triage --reason "{REASON}"',
    ]
    assert result.stderr == "drift: laptop: 2 hosts to move; add --write, or run the commands\n"


def test_a_host_whose_fault_returned_is_proposed_with_its_repairs(hosts: list[dict[str, Any]], invoke: Invoke) -> None:
    annotations = {
        "capm3.metal3.io/unhealthy": "capm3/UnhealthyNode",
        "jacquard.dev/repairs": "2026-11-19T08:30:00Z 2026-11-20T08:30:00Z returned",
    }
    hosts.append({"metadata": {"name": "a01-u01", "namespace": "acme-train", "annotations": annotations}})

    result = invoke("reconcile-hosts", "laptop")

    reason = "fault returned after repair by reboot (2 repairs since 2026-11-19T08:30:00Z)"
    assert result.stdout.splitlines() == [
        f"a01-u01 (in acme-train/train): {reason}",
        f'  jacquard host laptop a01-u01 --to triage --reason "{reason}"',
    ]


def test_a_host_whose_node_did_not_join_is_proposed(hosts: list[dict[str, Any]], invoke: Invoke) -> None:
    annotations = {"capm3.metal3.io/unhealthy": "capm3/UnhealthyNode", "jacquard.dev/repairs": "never-joined"}
    hosts.append({"metadata": {"name": "a01-u01", "namespace": "acme-train", "annotations": annotations}})

    result = invoke("reconcile-hosts", "laptop")

    assert result.stdout.splitlines()[0] == "a01-u01 (in acme-train/train): node did not join its cluster"


def test_a_host_that_failed_its_burn_in_is_proposed_with_the_result(
    objects: dict[tuple[str, str], list[dict[str, Any]]], hosts: list[dict[str, Any]], invoke: Invoke
) -> None:
    hosts += [host(name, marked=False) for name in ("a01-u01", "a01-u02")]
    objects[MANAGEMENT, "Machine"] = [
        machine("metal3://acme-train/a01-u01/m1"),
        machine("metal3://acme-train/a01-u02/m2", "True"),
        machine("metal3://acme-train/unknown/m3"),
    ]

    result = invoke("reconcile-hosts", "laptop")

    reason = "burn-in failed: gpu-stress ended with exit code 226: GPU 5: page retirement"
    assert result.stdout.splitlines() == [
        f"a01-u01 (in acme-train/train): {reason}",
        f'  jacquard host laptop a01-u01 --to triage --reason "{reason}"',
    ]


def test_a_server_of_ironcore_is_found_by_its_claim(objects: dict[tuple[str, str], list[dict[str, Any]]]) -> None:
    spec = data.load("eu-south-03a")
    name = next(iter(spec.allocations.hosts))
    claim = {"namespace": "c", "name": "m1"}
    objects[MANAGEMENT, "BMC"] = [{"metadata": {"name": name}}]
    objects[MANAGEMENT, "Server"] = [
        {"metadata": {"name": f"{name}-system-0"}, "spec": {"bmcRef": {"name": name}, "serverClaimRef": claim}}
    ]
    nodes = spec.region.nodes.model_copy(update={"tests": NodeTestsSpec()})
    tested = spec.model_copy(update={"region": spec.region.model_copy(update={"nodes": nodes})})
    objects[MANAGEMENT, "Machine"] = [machine("metal://c/m1/x")]

    assert [item.host for item in failed_hosts(tested, Observation(objects=objects))] == [name]
    assert [item.host for item in failed_hosts(spec, Observation(objects=objects))] == [], "another program tests"


def test_values_of_a_node_cannot_break_the_quoting_of_the_command(
    objects: dict[tuple[str, str], list[dict[str, Any]]], invoke: Invoke
) -> None:
    objects[MANAGEMENT, "Machine"] = [machine("metal3://acme-train/a01-u01/m1", text='x"; $(reboot) `id` \\ \x1b[2J')]

    command = invoke("reconcile-hosts", "laptop").stdout.splitlines()[1]

    assert command.endswith('--reason "burn-in failed: gpu-stress ended with exit code 226: x; (reboot) id  [2J"')


def test_a_mark_of_metal3_is_the_reason_of_a_host_that_also_failed_its_burn_in(
    objects: dict[tuple[str, str], list[dict[str, Any]]], hosts: list[dict[str, Any]], invoke: Invoke
) -> None:
    hosts += [host("a01-u01")]
    objects[MANAGEMENT, "Machine"] = [machine("metal3://acme-train/a01-u01/m1")]

    assert REASON in invoke("reconcile-hosts", "laptop").stdout


def test_the_written_file_equals_that_of_the_command_and_the_next_run_has_no_changes(
    hosts: list[dict[str, Any]], invoke: Invoke, data_folder: Path
) -> None:
    hosts.append(host("a01-u01"))

    result = invoke("reconcile-hosts", "laptop", "--write", "--format", "json")

    answer = json.loads(result.stdout)
    assert result.exit_code == ExitCode.OK
    assert answer["hosts"] == [{"host": "a01-u01", "pool": "acme-train/train", "reason": REASON, "to": "triage"}]
    text = (data_folder / "laptop" / "out_of_service.yaml").read_text()
    assert "a01-u01: {state: triage, since: " in text
    assert REASON in text
    assert invoke("reconcile-hosts", "laptop").exit_code == ExitCode.OK
    assert invoke("check", "laptop").exit_code == ExitCode.OK


def test_a_pipeline_that_may_not_move_hosts_writes_nothing(
    hosts: list[dict[str, Any]], invoke: Invoke, data_folder: Path
) -> None:
    (data_folder / "laptop" / "policy.yaml").write_text("schema_version: 1\nhost_movers: {triage: [noc]}\n")
    hosts.append(host("a01-u01"))

    refused = invoke("reconcile-hosts", "laptop", "--write")
    assert refused.exit_code == ExitCode.BAD_DATA
    assert refused.stderr == (
        "error: --by: only noc may move hosts to triage (host_movers), and no mover is given; add one of them, such as"
        " the name of the pipeline\n"
    )
    assert not (data_folder / "laptop" / "out_of_service.yaml").exists()

    assert invoke("reconcile-hosts", "laptop", "--write", "--by", "noc").exit_code == ExitCode.OK
    assert ", by: noc}" in (data_folder / "laptop" / "out_of_service.yaml").read_text()


def test_several_hosts_are_moved_as_by_the_proposed_commands(
    hosts: list[dict[str, Any]], invoke: Invoke, data_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_NOW", "2026-11-21T12:00:00Z")
    hosts += [host("a01-u01"), host("a01-u02")]
    files = [data_folder / "laptop" / name for name in ("out_of_service.yaml", ALLOCATIONS, IMAGE_PINS)]
    before = {path: path.read_bytes() for path in files if path.exists()}
    for name in ("a01-u01", "a01-u02"):
        assert invoke("host", "laptop", name, "--to", "triage", "--reason", REASON).exit_code == ExitCode.OK
    by_commands = [path.read_text() for path in files]
    for path in files:
        path.unlink()
    for path, content in before.items():
        path.write_bytes(content)
    loads: list[str] = []
    load = data.load
    monkeypatch.setattr(data, "load", lambda name: loads.append(name) or load(name))

    result = invoke("reconcile-hosts", "laptop", "--write")

    assert result.exit_code == ExitCode.OK, result.output
    assert [path.read_text() for path in files] == by_commands
    assert loads == ["laptop"] * 2, "once to find the hosts, and once to move all of them"


def test_an_unreadable_cluster_has_a_separate_exit_code(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    seen = Observation(unreachable={MANAGEMENT: "no route"})
    monkeypatch.setattr(verb, "observe", lambda *_, **__: seen)

    result = invoke("reconcile-hosts", "laptop")

    assert (result.exit_code, result.stdout) == (ExitCode.UNREACHABLE, "")
    assert result.stderr == "unreachable: cluster management cannot be read: no route\n"
