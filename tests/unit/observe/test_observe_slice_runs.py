"""States of slices that an operator applies, from their Stacks."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.observe.observation import Observation
from jacquard.observe.slice_runs import REQUEST, SliceRun, SliceStatus, slice_run, slices

COMMIT, OLDER = "5" * 40, "4" * 40
DONE = {"generation": 2, "state": "succeeded", "lastSuccessfulCommit": COMMIT}
FAILED = {"generation": 2, "state": "failed", "message": "BareMetalHost a1 is refused", "lastSuccessfulCommit": OLDER}


def condition(kind: str, reason: str, message: str) -> dict[str, str]:
    return {"type": kind, "status": "True", "reason": reason, "message": message}


def stack(*conditions: dict[str, str], commit: str = COMMIT, request: str = "", **status: Any) -> dict[str, Any]:
    return {
        "metadata": {"name": "tenant-acme", "generation": 2, "annotations": {REQUEST: request} if request else {}},
        "spec": {"commit": commit},
        "status": {"observedGeneration": 2, "conditions": [*conditions], **status},
    }


RETRIES = condition("Reconciling", "RetryingAfterFailure", "1 update failure(s)")
GIVEN_UP = condition("Stalled", "UpdateFailed", "up failed 3 times")
NO_SOURCE = condition("Stalled", "SourceUnavailable", "no such host")
CASES: dict[str, tuple[dict[str, Any] | None, SliceRun]] = {
    "no Stack yet": (None, SliceRun(waits="its Stack", observed=False)),
    "a Stack at another commit": (stack(commit=OLDER), SliceRun(waits="its Stack", observed=False)),
    "a Stack without a status": ({**stack(), "status": {}}, SliceRun(waits="the operator", observed=False)),
    "a generation that the operator has not seen": (
        stack(lastUpdate={**DONE, "generation": 1}, observedGeneration=1),
        SliceRun(waits="the operator", observed=False),
    ),
    "a request that the operator has not seen": (
        stack(lastUpdate=DONE, request="now"),
        SliceRun(waits="the operator", observed=False),
    ),
    "a run that succeeded": (stack(lastUpdate=DONE), SliceRun(done=True)),
    "a requested run that succeeded": (
        stack(lastUpdate={**DONE, "reconcileRequest": "now"}, request="now", observedReconcileRequest="now"),
        SliceRun(done=True),
    ),
    "a run of the generation before": (
        stack(condition("Reconciling", "StackProcessing", "in a pod"), lastUpdate={**DONE, "generation": 1}),
        SliceRun(waits="in a pod"),
    ),
    "a prerequisite": (
        stack(condition("Reconciling", "PrerequisiteNotSatisfied", "inventory-a has not run")),
        SliceRun(waits="inventory-a has not run"),
    ),
    "a failure before the next try": (
        stack(RETRIES, lastUpdate=FAILED),
        SliceRun(waits="1 update failure(s) (BareMetalHost a1 is refused)"),
    ),
    "a failure of the generation before": (
        stack(RETRIES, lastUpdate={**FAILED, "generation": 1}),
        SliceRun(waits="1 update failure(s)"),
    ),
    "the last failure": (stack(GIVEN_UP, lastUpdate=FAILED), SliceRun(failed="BareMetalHost a1 is refused")),
    "a repository that cannot be reached": (stack(NO_SOURCE), SliceRun(failed="SourceUnavailable: no such host")),
}


@pytest.mark.parametrize(("found", "expected"), CASES.values(), ids=CASES.keys())
def test_the_state_of_a_slice_is_that_of_its_commit(found: dict[str, Any] | None, expected: SliceRun) -> None:
    assert slice_run(found, COMMIT) == expected


def test_the_status_lists_slices_with_their_commits_by_name() -> None:
    bodies = [stack(lastUpdate=DONE), stack(GIVEN_UP, lastUpdate=FAILED)]
    bodies[0]["metadata"]["name"], bodies[1]["metadata"]["name"] = "tenant-b10", "tenant-b9"

    found = slices(Observation(objects={("management", "Stack"): bodies}))

    assert found == [
        SliceStatus(name="tenant-b9", commit=COMMIT, applied_commit=OLDER, why="failed: BareMetalHost a1 is refused"),
        SliceStatus(name="tenant-b10", commit=COMMIT, applied_commit=COMMIT, why=None),
    ]
