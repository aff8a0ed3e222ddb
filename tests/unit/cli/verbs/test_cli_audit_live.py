"""``jacquard audit --live``: live objects and nodes, evaluated by the current policies."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.environment import Environment
from jacquard.cli.errors import ExitCode
from jacquard.observe import live_declared, observation
from jacquard.observe.observation import Observation
from jacquard.providers.kube import ApiError, KubeconfigError
from tests.support.api_servers.fake_servers import FakeServer, fake_servers
from tests.support.checks.result_formats import annotations, valid_sarif

Invoke = Callable[..., Result]
DAY = ("--today", "2026-11-21")


@pytest.fixture
def servers(laptop: Environment, seen: Observation, monkeypatch: pytest.MonkeyPatch) -> dict[str, FakeServer]:
    """API servers that have all declared objects; a cluster that a test removes is unreachable."""
    found = fake_servers(laptop)
    seen.objects["management", "BareMetalHost"] = []  # Hosts of the recording are not in the inventory.
    monkeypatch.setattr(observation, "observe", lambda *_, **__: seen)

    def connect(_: Environment, cluster: str) -> FakeServer:
        if cluster not in found:
            msg = "no route"
            raise KubeconfigError(msg)
        return found[cluster]

    original = live_declared.live_objects
    monkeypatch.setattr(live_declared, "live_objects", lambda spec, kinds: original(spec, kinds, connect))
    return found


@pytest.mark.usefixtures("recorded")
def test_live_objects_as_declared_pass(invoke: Invoke, servers: dict[str, FakeServer]) -> None:
    assert servers

    result = invoke("audit", "laptop", *DAY, "--live")

    assert (result.exit_code, result.stderr) == (ExitCode.OK, "")
    assert result.stdout.startswith("laptop: ok, 413 recorded objects in 1 stack, ")
    assert result.stdout.endswith(" live objects, 0 nodes\n")


def live_host(servers: dict[str, FakeServer]) -> dict[str, Any]:
    objects = servers["management"].objects
    return next(body for (kind, *_), body in objects.items() if kind == "BareMetalHost")


@pytest.mark.usefixtures("recorded")
@pytest.mark.parametrize(("manager", "code"), [("kubectl-edit", ExitCode.REFUSED), ("capm3", ExitCode.OK)])
def test_manually_set_fields_are_evaluated_and_those_of_controllers_are_not(
    invoke: Invoke, servers: dict[str, FakeServer], manager: str, code: ExitCode
) -> None:
    body = live_host(servers)
    body["spec"]["image"] = {"url": "https://images.example/x.raw"}
    fields = {"f:spec": {"f:image": {"f:url": {}}}}
    body["metadata"]["managedFields"].append({"manager": manager, "operation": "Update", "fieldsV1": fields})

    result = invoke("audit", "laptop", *DAY, "--live")

    assert result.exit_code == code, result.output
    assert ("live objects, from environments/laptop/" in result.stderr) == (code is ExitCode.REFUSED)


@pytest.mark.usefixtures("recorded")
def test_a_declared_field_is_evaluated_with_its_live_value(invoke: Invoke, servers: dict[str, FakeServer]) -> None:
    live_host(servers)["spec"]["bmc"]["address"] = "redfish+http://10.1.1.1/redfish/v1/Systems/1"

    result = invoke("audit", "laptop", *DAY, "--live", "--format", "sarif")

    assert result.exit_code == ExitCode.REFUSED
    assert [(item["ruleId"], item["properties"]["source"]) for item in valid_sarif(result.stdout)] == [
        ("plain-text-bmc", "live objects")
    ]


@pytest.mark.usefixtures("recorded")
def test_unreadable_objects_are_unknown_and_no_success(invoke: Invoke, servers: dict[str, FakeServer]) -> None:
    servers["management"].refused["BareMetalHost"] = ApiError(403, "Forbidden", "no")
    del servers["globex-lab"]

    result = invoke("audit", "laptop", *DAY, "--live")

    assert result.exit_code == ExitCode.UNREACHABLE
    assert "  not read: cluster globex-lab: no route\n" in result.stdout
    assert "  not read: cluster management, BareMetalHost: " in result.stdout


NODE = {
    "metadata": {
        "name": "x1",
        "labels": {
            "node-restriction.kubernetes.io/pool": "train",
            "node-restriction.kubernetes.io/failure-domain": "a01",
        },
    },
    "spec": {},
    "status": {"nodeInfo": {"kernelVersion": "6.8.0-1-generic"}},
}


@pytest.mark.usefixtures("recorded", "servers")
def test_hosts_that_differ_and_nodes_with_faults_are_advice_at_their_row_and_pool(
    invoke: Invoke, seen: Observation
) -> None:
    node = {**NODE, "status": {"conditions": [{"type": "Ready", "status": "False", "message": "kubelet stopped"}]}}
    nics = [{"name": "eno2", "model": "0x8086 0x1533", "mac": "02:00:00:00:00:09", "lldp": {"portID": "7"}}]
    host = {
        "metadata": {"name": "a01-u01", "namespace": "acme-train"},
        "spec": {"bmc": {"address": "redfish+https://10.1.1.1/redfish/v1/Systems/1"}},
        "status": {"provisioning": {"state": "provisioned"}, "hardware": {"nics": nics}},
    }
    stray = {"metadata": {"name": "x9", "namespace": "free-hosts"}, "spec": {}, "status": {}}
    seen.objects["management", "BareMetalHost"] = [host, stray]
    seen.objects["acme-train", "Node"] = [node]

    result = invoke("audit", "laptop", *DAY, "--live", "--format", "github")

    assert result.exit_code == ExitCode.OK
    found = {(item.title, item.file, item.message) for item in annotations(result.stdout)}
    rules = {(title, file) for title, file, _ in found}
    assert {
        ("enrolment", "environments/laptop/inventory/hall-a.csv"),
        ("enrolment", "environments/laptop/region.yaml"),
        ("health", "environments/laptop/tenants/acme.yaml"),
    } <= rules
    messages = {message for _, _, message in found}
    uplink = "a01-u01: uplinks is eno2 at 7 of a switch, but the data require the DPU, the boot port and fabric ports;"
    assert any(uplink in message for message in messages), messages
    assert any("BareMetalHost free-hosts/x9 is not in the inventory; add its row" in message for message in messages)
    [fault] = [message for title, _, message in found if title == "health"]
    assert "acme-train/x1: NotReady: kubelet stopped; next: none; the host is rebooted, then the node is re" in fault


WAIVER = """
  - {rule: uniformity, subject: acme-train/x1, reason: a test, owner: ops, ticket: OPS-1, expires: EXPIRES}
"""


@pytest.mark.usefixtures("recorded", "servers")
@pytest.mark.parametrize(("expires", "level"), [("", "warning"), ("2026-12-01", "notice"), ("2026-11-20", "warning")])
def test_a_node_that_differs_from_its_pool_is_advice_unless_it_is_waived(
    invoke: Invoke, data_folder: Path, seen: Observation, expires: str, level: str
) -> None:
    seen.objects["acme-train", "Node"] = [NODE]
    if expires:
        waivers = data_folder / "laptop" / "waivers.yaml"
        waivers.write_text(waivers.read_text().rstrip("\n") + WAIVER.replace("EXPIRES", expires))

    command = ("audit", "laptop", *DAY, "--live", "--format")
    text, notes = invoke(*command, "text"), invoke(*command, "github")

    assert (text.exit_code, notes.exit_code) == (ExitCode.OK, ExitCode.OK)
    assert ", 1 node" in text.stdout
    [noted] = annotations(notes.stdout)
    assert (noted.level, noted.title, noted.file) == (level, "uniformity", "environments/laptop/tenants/acme.yaml")
    value = "kernel is 6.8.0-1, but the data require 6.8.0-84"
    assert noted.message.endswith(f"acme-train/x1 of pool acme-train/train: {value}; replace or repair the node")
