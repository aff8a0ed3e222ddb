"""Jobs that count as results, nodes slower than their neighbours, and due tests."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.programs.node_test_decision import (
    BURN_IN,
    FAULT,
    VERIFICATION,
    Result,
    changes,
    compared,
    condition,
    due,
    occupied,
    results,
)
from tests.support.objects.node_test_objects import GATE, MEASURES, NOW, SETTINGS, at, job, node, pod, verdict


def found(body: dict[str, Any], *pods: dict[str, Any]) -> list[Result]:
    return list(results([body], pods, {"a": node()}, MEASURES))


def test_a_job_that_ended_by_an_exit_code_names_the_test_and_its_last_line() -> None:
    [result] = found(job("Failed", "PodFailurePolicy"), pod(("gpu", 0, ""), ("nccl", 3, "first\nwrong results\n")))

    assert (result.passed, result.reason) == (False, "TestFailed")
    assert result.message == "Job j: nccl ended with exit code 3: wrong results"
    assert condition(result, GATE) == {
        "type": FAULT,
        "status": "True",
        "reason": "TestFailed",
        "message": result.message,
        "lastHeartbeatTime": at(-5),
    }


@pytest.mark.parametrize(
    "body",
    [job("Failed", "BackoffLimitExceeded"), job("Failed", "DeadlineExceeded"), job(""), job("Complete", uid="another")],
)
def test_preempted_unstarted_and_running_jobs_and_those_of_former_nodes_are_no_result(body: dict[str, Any]) -> None:
    assert found(body, pod(("nccl", 143, "terminated"))) == []


def test_a_passed_burn_in_opens_the_gate_and_a_passed_verification_ends_the_fault() -> None:
    [burn_in], [verified] = found(job("Complete", phase=BURN_IN)), found(job("Complete"))

    assert [
        (written["type"], written["status"]) for written in (condition(burn_in, GATE), condition(verified, GATE))
    ] == [
        (GATE, "True"),
        (FAULT, "False"),
    ]


def measured(name: str, value: float, *, phase: str = VERIFICATION, minutes: int = -5) -> Result:
    finished = NOW + dt.timedelta(minutes=minutes)
    return Result(name, phase, finished, passed=True, reason="TestsPassed", message="", values={"nccl": value})


def test_values_are_read_from_the_last_lines_of_a_passed_test() -> None:
    [result] = found(job("Complete"), pod(("nccl", 0, "# Avg bus bandwidth    : 391.5 \n#\n"), ("links", 0, "")))

    assert result.values == {"nccl": 391.5}


def test_a_node_that_is_slower_than_its_neighbours_has_failed() -> None:
    nodes = {name: node(name) for name in "abcd"}
    every = [measured("a", 400), measured("b", 395), measured("c", 350), measured("d", 402)]

    judged = {result.node: result for result in compared(every, nodes)}

    assert [name for name in "abcd" if not judged[name].passed] == ["c"]
    assert judged["c"].reason == "SlowerThanNeighbours"
    assert judged["c"].message == "nccl measured 350, but the median of 4 nodes of the failure domain is 397.5"


def test_two_nodes_other_domains_and_burn_ins_are_not_compared() -> None:
    nodes = {name: node(name) for name in "abc"}
    nodes["c"]["metadata"]["labels"]["node-restriction.kubernetes.io/failure-domain"] = "r2"
    slow = measured("c", 10, phase=BURN_IN)

    assert all(result.passed for result in compared([measured("a", 400), measured("b", 10)], nodes))
    assert all(result.passed for result in compared([measured("a", 400), measured("b", 399), measured("c", 10)], nodes))
    assert all(result.passed for result in compared([*(measured(name, 400) for name in "ab"), slow], nodes))


def test_the_latest_result_of_a_node_counts() -> None:
    [result] = compared([measured("a", 1), measured("a", 2, minutes=-1)], {"a": node()})

    assert result.values == {"nccl": 2}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (node(), BURN_IN),
        (node("a", "train", verdict(GATE, "Unknown", -9)), BURN_IN),
        (node("a", "train", verdict(GATE, "False", -9)), None),
        (node("a", "train", verdict(GATE, "False", -9), ready=-1), BURN_IN),
        (node("a", "train", verdict(GATE, "True", -9)), None),
        (node("a", "train", verdict(GATE, "True", -31)), VERIFICATION),
        (node("a", "train", verdict(GATE, "True", -999), verdict(FAULT, "False", -9)), None),
        (node("a", "train", verdict(GATE, "True", -999), verdict(FAULT, "True", -31)), VERIFICATION),
        (node("a", "train", verdict(GATE, "True", -9), ready=-1), VERIFICATION),
        (node("a", "idle"), VERIFICATION),
        (node("a", "another"), None),
        (node("a", "train", unschedulable=True), None),
        (node("a", "train", taints=[{"key": "readiness.k8s.io/repair"}]), None),
        (node("a", "train", taints=[{"key": "readiness.k8s.io/burn-in"}]), BURN_IN),
    ],
)
def test_due_tests_of_a_node(body: dict[str, Any], expected: str | None) -> None:
    assert due(body, SETTINGS, NOW) == expected


def test_a_node_that_is_not_ready_is_not_tested() -> None:
    body = node()
    body["status"]["conditions"][0]["status"] = "False"

    assert due(body, SETTINGS, NOW) is None


GPU = {"resources": {"limits": {"nvidia.com/gpu": 1}}}


@pytest.mark.parametrize(
    ("body", "phases"),
    [
        ({"spec": {"containers": [GPU]}}, {BURN_IN, VERIFICATION}),
        ({"spec": {"containers": [{}], "initContainers": [GPU]}}, {BURN_IN, VERIFICATION}),
        ({"spec": {"containers": [{}], "resourceClaims": [{"name": "channel"}]}}, {BURN_IN, VERIFICATION}),
        ({"spec": {"containers": [{"resources": {"limits": {"cpu": "1"}}}]}}, {BURN_IN}),
        ({"spec": {"containers": [GPU]}, "status": {"phase": "Succeeded"}}, set()),
        ({"spec": {"containers": [GPU]}, "metadata": {"ownerReferences": [{"kind": "DaemonSet"}]}}, set()),
    ],
)
def test_which_pods_a_test_waits_for(body: dict[str, Any], phases: set[str]) -> None:
    assert {phase for phase in (BURN_IN, VERIFICATION) if occupied([{"metadata": {}, **body}], phase)} == phases


def test_a_condition_keeps_the_time_of_its_last_transition_and_is_written_once() -> None:
    first, again, failed = (
        {**verdict(FAULT, status, minutes)} for status, minutes in (("False", -60), ("False", -5), ("True", -1))
    )
    for written in (first, again, failed):
        del written["lastTransitionTime"]
    known = changes(None, first)

    assert known is not None
    assert known["lastTransitionTime"] == at(-60)
    assert changes(known, first) is None
    later = changes(known, again)
    assert later is not None
    assert (later["lastTransitionTime"], later["lastHeartbeatTime"]) == (at(-60), at(-5))
    assert changes(later, first) is None, "an older Job has no effect"
    ended = changes(later, failed)
    assert ended is not None
    assert ended["lastTransitionTime"] == at(-1)
