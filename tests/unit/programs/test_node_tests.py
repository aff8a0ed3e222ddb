"""Reads and writes of the node test program in both clusters, with API servers that only record requests."""

from __future__ import annotations

import datetime as dt
import urllib.error
from email.message import Message
from typing import Any

import pytest

from components.lookups.health.node_checks import library_checks
from components.programs.node_test_decision import BURN_IN, IDLE_FAULT, NODE, NODE_UID, PHASE
from components.programs.node_tests import Cluster, job_for
from components.programs.objects import REQUESTED
from tests.support.objects.node_test_objects import GATE, NOW, SETTINGS, at, job, node, pod, verdict

FILE = {
    **SETTINGS,
    "namespace": "node-tests",
    "cluster": "c",
    "measures": {},
    "when_idle": {"train": ["GpuResetRequired"]},
}


class Server:
    """API server with lists of objects, which records writes."""

    def __init__(self, **objects: list[dict[str, Any]]) -> None:
        self.objects, self.writes = objects, list[tuple[Any, ...]]()
        self.refuses: set[str] = set()

    def items(self, _version: str, plural: str, namespace: str = "", **_query: str) -> list[dict[str, Any]]:
        every = self.objects.get(plural, [])
        if plural == "pods":
            return [body for body in every if not namespace or "labels" in body["metadata"]]
        return every

    def merge_conditions(self, *arguments: Any) -> None:
        self.write("patch", *arguments)

    def apply_status(self, *arguments: Any) -> None:
        self.write("apply", *arguments)

    def create(self, *arguments: Any) -> None:
        self.write("create", *arguments)

    def write(self, verb: str, *arguments: Any) -> None:
        if verb in self.refuses:
            url = "https://server"
            raise urllib.error.HTTPError(url, 404, "gone", Message(), None)
        self.writes.append((verb, *arguments))


def template(name: str) -> dict[str, Any]:
    spec = {"completions": 9, "template": {"metadata": {"labels": {"kept": "true"}}, "spec": {"containers": []}}}
    return {"metadata": {"name": name}, "spec": {"jobTemplate": {"spec": spec}}}


def run(tenant: Server, management: Server | None = None, now: dt.datetime = NOW) -> list[tuple[Any, ...]]:
    tenant.objects.setdefault("cronjobs", [template("train-burn-in"), template("train-verification"), template("v")])
    cluster = Cluster(management or Server(), tenant, FILE)  # type: ignore[arg-type]
    cluster.report()
    cluster.open_gates("c")
    cluster.mark_idle(now)
    cluster.start(now)
    return tenant.writes


LOST = verdict("GpuResetRequired", "True", -30)
IDLE = verdict(IDLE_FAULT, "True", -5)
JOB = {"metadata": {"name": "job"}, "spec": {"containers": [{}]}, "status": {"phase": "Running"}}
DAEMON = {**JOB, "metadata": {"name": "d", "ownerReferences": [{"kind": "DaemonSet"}]}}
TEST = {**JOB, "metadata": {"name": "t", "labels": {PHASE: "verification"}}}


@pytest.mark.parametrize(
    ("faulty", "pods", "status"),
    [
        pytest.param(node("a", "train", LOST), [DAEMON], "True", id="only pods of DaemonSets"),
        pytest.param(node("a", "train", LOST), [TEST], "True", id="a test, which may be stopped"),
        pytest.param(node("a", "train", LOST), [JOB], None, id="a job continues"),
        pytest.param(node("a", "idle", LOST), [], None, id="a type whose fault no reboot ends"),
        pytest.param(node("a", "train"), [], None, id="no fault"),
        pytest.param(node("a", "train", LOST, IDLE), [], None, id="reported before"),
        pytest.param(node("a", "train", LOST, IDLE), [JOB], "False", id="a pod that tolerates the taint"),
        pytest.param(node("a", "train", IDLE), [], "False", id="rebooted"),
    ],
)
def test_a_node_with_a_fault_that_a_reboot_ends_is_reported_once_it_is_idle(
    faulty: dict[str, Any], pods: list[dict[str, Any]], status: str | None
) -> None:
    server = Server(pods=pods, nodes=[faulty])
    Cluster(Server(), server, FILE).mark_idle(NOW)  # type: ignore[arg-type]

    written = [conditions for _, _, _, _, conditions in server.writes]
    assert [(item["type"], item["status"]) for [item] in written] == ([(IDLE_FAULT, status)] if status else [])
    assert all(item["lastTransitionTime"] == at(0) for [item] in written)


@pytest.mark.parametrize(
    ("faults", "reason"),
    [
        (["RebootRequested"], "RebootRequested"),
        (["DriverRequiresReset"], "RebootRequired"),
        (["RebootRequested", "DriverRequiresReset"], "RebootRequired"),
    ],
)
def test_a_requested_reboot_has_a_separate_reason(faults: list[str], reason: str) -> None:
    kinds = ["RebootWhenIdleRequested", "GpuResetRequired"]
    known = [{**verdict(kind, "True", -30), "reason": fault} for kind, fault in zip(kinds, faults, strict=False)]
    file = {**FILE, "when_idle": {"train": kinds}}
    server = Server(nodes=[node("a", "train", *known)])

    Cluster(Server(), server, file).mark_idle(NOW)  # type: ignore[arg-type]

    [(_, _, _, _, [written])] = server.writes
    assert (written["type"], written["reason"]) == (IDLE_FAULT, reason)


SHUT = {"hold_seconds": 300, "window": {"days": ["sat"], "from": "02:00", "to": "06:00", "timezone": "UTC"}}
OPEN = {**SHUT, "window": {**SHUT["window"], "days": ["fri"], "to": "09:00"}}  # type: ignore[dict-item]
"""Windows that are closed and open at NOW, a Friday at 08:30 UTC."""
MACHINE = {"metadata": {"name": "m", "namespace": "c"}, "status": {"nodeRef": {"name": "a"}}}
REPAIR = {"metadata": {"name": "m", "namespace": "c"}}


@pytest.mark.parametrize(
    ("times", "known", "remediations", "written"),
    [
        pytest.param(OPEN, [], [], ("True", "RebootRequired"), id="an open window"),
        pytest.param(SHUT, [], [], ("False", "WaitsForWindow"), id="a shut window"),
        pytest.param(SHUT, [IDLE], [], ("False", "WaitsForWindow"), id="it shuts before the repair begins"),
        pytest.param(SHUT, [IDLE], [REPAIR], None, id="it shuts while the node is repaired"),
        pytest.param(
            SHUT, [IDLE], [{"metadata": {"name": "other"}}], ("False", "WaitsForWindow"), id="another node is repaired"
        ),
    ],
)
def test_the_repair_of_an_idle_node_begins_in_the_window_only(
    times: dict[str, Any], known: list[dict[str, Any]], remediations: list[dict[str, Any]], written: Any
) -> None:
    server = Server(nodes=[node("a", "train", LOST, *known)])
    management = Server(machines=[MACHINE], metal3remediations=remediations)

    Cluster(management, server, {**FILE, "repairs": times}).mark_idle(NOW)  # type: ignore[arg-type]

    assert [(one["status"], one["reason"]) for _, _, _, _, [one] in server.writes] == ([written] if written else [])


def test_a_wait_is_reported_once_and_keeps_the_time_of_its_last_transition() -> None:
    server = Server(nodes=[node("a", "train", LOST)])
    file = {**FILE, "repairs": SHUT}
    Cluster(Server(), server, file).mark_idle(NOW)  # type: ignore[arg-type]
    [(_, _, _, _, [waits])] = server.writes
    there = node("a", "train", LOST, waits)

    again = Server(nodes=[there])
    Cluster(Server(), again, file).mark_idle(NOW + dt.timedelta(minutes=5))  # type: ignore[arg-type]
    used = Server(nodes=[there], pods=[JOB])
    Cluster(Server(), used, file).mark_idle(NOW + dt.timedelta(minutes=5))  # type: ignore[arg-type]

    assert again.writes == []
    [(_, _, _, _, [busy])] = used.writes
    assert (busy["status"], busy["reason"]) == ("False", "NoFaultOrInUse")
    assert (busy["lastTransitionTime"], busy["lastHeartbeatTime"]) == (waits["lastTransitionTime"], at(5))


def test_the_library_writes_the_reasons_that_programs_read() -> None:
    assert {check.reason for check in library_checks().values() if check.requested} == {REQUESTED}


def test_a_new_node_gets_one_job_that_runs_there_only() -> None:
    [(verb, version, plural, namespace, made)] = run(Server(nodes=[node()]))

    assert (verb, version, plural, namespace) == ("create", "batch/v1", "jobs", "node-tests")
    assert made["spec"]["completions"] == 9
    assert made["metadata"]["annotations"] == {NODE: "a", NODE_UID: "uid-a"}
    assert made["metadata"]["labels"] == {PHASE: BURN_IN}
    assert made["spec"]["template"]["metadata"]["labels"] == {PHASE: BURN_IN, "kept": "true"}
    affinity = made["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
    [term] = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
    assert term == {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a"]}]}


def test_a_node_has_one_job_at_a_time_and_another_name_for_each() -> None:
    assert run(Server(nodes=[node()], jobs=[job("", phase=BURN_IN)])) == []
    names = {job_for(node(), BURN_IN, template("t"), NOW + dt.timedelta(seconds=s))["metadata"]["name"] for s in (0, 1)}
    assert len(names) == 2


def test_a_job_of_a_tenant_delays_a_test() -> None:
    busy = {"metadata": {}, "spec": {"containers": [{"resources": {"limits": {"nvidia.com/gpu": 8}}}]}}

    assert run(Server(nodes=[node("a", "idle")], pods=[busy])) == []


def test_a_failed_burn_in_is_a_condition_of_node_and_machine_and_starts_nothing() -> None:
    machine = {
        "metadata": {"name": "m", "namespace": "c", "uid": "u", "labels": {"jacquard.dev/pool": "train"}},
        "status": {"nodeRef": {"name": "a"}},
    }
    management = Server(machines=[machine])
    tenant = Server(
        nodes=[node()], jobs=[job("Failed", "PodFailurePolicy", BURN_IN)], pods=[pod(("gpu-stress", 226, "Fail"))]
    )

    [(verb, _, plural, body, [written])] = run(tenant, management)

    assert (verb, plural, body["metadata"]["name"]) == ("patch", "nodes", "a")
    assert (written["type"], written["status"]) == (GATE, "False")
    assert written["message"] == "Job j: gpu-stress ended with exit code 226: Fail"
    [(_, _, _, status)] = management.writes
    assert status == {"conditions": [{key: written[key] for key in status["conditions"][0]}]}
    assert "lastHeartbeatTime" not in status["conditions"][0], "a Machine has no such field"


def test_a_machine_gets_the_result_once_and_only_in_gated_pools() -> None:
    passed = {**verdict(GATE, "True", -5), "reason": "TestsPassed", "message": "", "lastTransitionTime": at(-5)}
    known = {key: value for key, value in passed.items() if key != "lastHeartbeatTime"}
    machines = [
        {
            "metadata": {"name": "m", "labels": {"jacquard.dev/pool": "train"}},
            "status": {"nodeRef": {"name": "a"}, "conditions": [known]},
        },
        {"metadata": {"name": "n", "labels": {"jacquard.dev/pool": "idle"}}, "status": {"nodeRef": {"name": "b"}}},
        {"metadata": {"name": "o", "labels": {"jacquard.dev/pool": "train"}}},
    ]
    management = Server(machines=machines)

    run(Server(nodes=[node("a", "train", passed), node("b", "idle", passed)]), management)

    assert management.writes == []


def test_a_node_that_was_deleted_meanwhile_is_skipped() -> None:
    tenant = Server(nodes=[node()], jobs=[job("Complete", phase=BURN_IN)])
    tenant.refuses = {"patch"}

    assert [verb for verb, *_ in run(tenant)] == ["create"], "the Node is tested again, if it still exists"
