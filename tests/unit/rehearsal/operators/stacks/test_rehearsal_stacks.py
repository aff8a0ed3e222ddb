"""Stacks of the Pulumi Kubernetes Operator in the local region: order, retries and changes."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.engine.stack_region import NS, StackRegion, release, stack


def test_an_update_runs_the_commit_with_the_token_of_its_account(region: StackRegion) -> None:
    view = region.view(stack("a", secretsProvider="awskms://key"))

    region.settle(view)

    commit = region.commits[0]
    assert region.conditions(view, "a") == {"Ready": ("True", "ProcessingCompleted", "the stack is up to date")}
    status = view.get("Stack", "a", NS)["status"]
    last = status["lastUpdate"]
    assert "currentUpdate" not in status
    assert (status["observedGeneration"], last["generation"], last["type"], last["state"]) == (1, 1, "up", "succeeded")
    assert (last["lastAttemptedCommit"], last["lastSuccessfulCommit"]) == (commit, commit)
    select, up = region.calls()
    assert select["arguments"] == (
        "stack select --create --secrets-provider awskms://key laptop.a --non-interactive --color never"
    )
    assert up["arguments"] == "up --yes --skip-preview --stack laptop.a --non-interactive --color never"
    assert up["content"] == "first"
    region.wait(lambda: len(region.ended) == 3)  # fetch, select and up
    assert up["token"] == f"token of {NS}/runner"
    given, folder = up["variables"], region.folder("a")
    assert (given["LOGIN"], given["PULUMI_BACKEND_URL"]) == ("simulated", "s3://state")
    assert given["JACQUARD_KUBECONFIGS"] == str(folder / "kubeconfigs")
    assert given["JACQUARD_ENVIRONMENTS"] == str(folder / "source" / "environments")


def test_stacks_run_in_the_order_of_their_prerequisites(region: StackRegion) -> None:
    view = region.view(
        stack("a", prerequisites=("b", "c")),
        stack("b", prerequisites=("c",)),
        stack("c"),
        stack("d", prerequisites=("x",)),
    )
    region.rounds(view, 2)
    unsatisfied = ("True", "PrerequisiteNotSatisfied", "prerequisites not satisfied: b, c")
    assert region.conditions(view, "a")["Reconciling"] == unsatisfied

    region.settle(view)

    assert region.updates() == ["laptop.c", "laptop.b", "laptop.a"]
    assert region.conditions(view, "d")["Reconciling"][2] == "prerequisite 'x': Stack not found"


def test_a_prerequisite_with_a_newer_spec_or_request_is_not_satisfied(region: StackRegion) -> None:
    view = region.view(stack("a", prerequisites=("b",)), stack("b"))
    region.settle(view)
    view.edit("Stack", "a", NS, {"metadata": {"generation": 2}})
    view.edit("Stack", "b", NS, {"metadata": {"annotations": {"pulumi.com/reconciliation-request": "again"}}})

    region.rounds(view, 1)

    assert region.conditions(view, "a")["Reconciling"][2] == "prerequisite 'b': no completed update of its current spec"
    region.settle(view)
    assert region.updates() == ["laptop.b", "laptop.a", "laptop.b", "laptop.a"]


def test_a_failed_update_is_repeated_and_then_stalls(region: StackRegion) -> None:
    view = region.view(stack("a"), stack("b", prerequisites=("a",)))
    error = "error: no host with password=hunter22"
    region.answer(f"Diagnostics:\n  {error}\n  error: token simulated rejected\n  {error}\n", code=1)
    region.settle(view)
    last = view.get("Stack", "a", NS)["status"]["lastUpdate"]
    assert (last["state"], last.get("failures", 0)) == ("failed", 0)
    assert last["message"] == "error: no host with password=[secret]\nerror: token [secret] rejected"
    assert region.conditions(view, "a")["Reconciling"] == ("True", "RetryingAfterFailure", "0 failure(s) of the update")

    for _ in range(4):
        region.cool(view, "a")
        region.settle(view)

    assert region.updates() == ["laptop.a"] * 4
    stalled = ("True", "UpdateFailed", "up failed 3 times; no retry until the spec or the source changes")
    assert region.conditions(view, "a")["Stalled"] == stalled
    assert region.conditions(view, "b")["Reconciling"][2] == "prerequisite 'a': the last update failed"


def test_a_failed_update_waits_before_the_retry(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.answer("error: x", code=1)

    region.settle(view)
    region.settle(view)

    assert region.updates() == ["laptop.a"]


def test_a_success_after_a_failure_resets_the_failures(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.answer("error: x", code=1)
    region.settle(view)
    region.cool(view, "a")
    region.settle(view)
    region.answer("", code=0)
    region.cool(view, "a")

    region.settle(view)

    last = view.get("Stack", "a", NS)["status"]["lastUpdate"]
    assert {"failures", "message"} & last.keys() == set()
    assert region.conditions(view, "a")["Ready"][0] == "True"


@pytest.mark.parametrize("change", ["commit", "request", "generation"])
def test_a_change_runs_the_update_again(region: StackRegion, change: str) -> None:
    view = region.view(stack("a"))
    region.settle(view)
    patches: dict[str, Any] = {
        "commit": {"spec": {"commit": region.commits[1]}, "metadata": {"generation": 2}},
        "request": {"metadata": {"annotations": {"pulumi.com/reconciliation-request": "now"}}},
        "generation": {"spec": {"refresh": True}, "metadata": {"generation": 2}},
    }
    view.edit("Stack", "a", NS, patches[change])

    region.settle(view)
    region.settle(view)

    contents = [call["content"] for call in region.calls() if call["arguments"].startswith("up")]
    assert contents == ["first", "second" if change == "commit" else "first"]
    refreshed = [" --refresh " in call["arguments"] for call in region.calls() if call["arguments"].startswith("up")]
    assert refreshed == [False, change == "generation"]
    selected = [call for call in region.calls() if call["arguments"].startswith("stack select")]
    assert len(selected) == (2 if change == "commit" else 1), "only another commit requires another workspace"


def test_a_stack_that_is_up_to_date_can_be_applied_again_by_schedule(region: StackRegion) -> None:
    view = region.view(stack("a", continueResyncOnCommitMatch=True))
    region.settle(view)
    region.settle(view)
    assert region.updates() == ["laptop.a"]

    region.cool(view, "a")
    region.settle(view)

    assert region.updates() == ["laptop.a"] * 2


def test_nothing_runs_before_the_operator_is_ready_or_in_another_namespace(region: StackRegion) -> None:
    elsewhere = stack("b")
    elsewhere["metadata"]["namespace"] = "other"
    view = region.view(stack("a"), elsewhere, ready=False)
    region.settle(view)
    assert "status" not in view.get("Stack", "a", NS)

    view.apply(release(ready=True))
    region.settle(view)

    assert region.updates() == ["laptop.a"]
    assert "status" not in view.get("Stack", "b", "other")


def test_a_status_is_written_only_if_it_has_changed(region: StackRegion, monkeypatch: pytest.MonkeyPatch) -> None:
    view = region.view(stack("a"), stack("b", prerequisites=("x",)))
    region.settle(view)
    before = json.dumps([view.get("Stack", name, NS) for name in "ab"])
    monkeypatch.delattr(type(view), "patch")

    region.rounds(view, 3)

    assert json.dumps([view.get("Stack", name, NS) for name in "ab"]) == before
