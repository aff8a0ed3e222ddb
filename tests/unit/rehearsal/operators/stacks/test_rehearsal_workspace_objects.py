"""Workspace objects of Stacks in the local region: failures, their retry, and deletion after a run."""

from __future__ import annotations

import pytest

from tests.support.engine.stack_region import NS, StackRegion, stack


def test_a_failed_workspace_is_tried_again_after_its_deletion_only(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.answer("error: no bucket", code=255, command="stack")
    region.settle(view)
    region.answer("", code=0, command="stack")

    view.edit("Stack", "a", NS, {"metadata": {"annotations": {"pulumi.com/reconciliation-request": "now"}}})
    region.settle(view)

    failed = ("True", "WorkspaceFailed", "InitializationFailed: error: no bucket")
    assert region.conditions(view, "a")["Stalled"] == failed
    assert view.get("Stack", "a", NS)["status"]["observedReconcileRequest"] == "now"
    assert region.conditions(view, "a", "Workspace")["Stalled"] == ("True", "InitializationFailed", "error: no bucket")
    view.delete(view.get("Workspace", "a", NS))
    region.settle(view)
    assert region.updates() == ["laptop.a"]


def test_the_failure_of_a_workspace_is_reported_until_that_of_the_next_commit_is_initialized(
    region: StackRegion,
) -> None:
    view = region.view(stack("a"))
    region.answer("error: no bucket", code=255, command="stack")
    region.settle(view)
    region.answer("", code=0, command="stack")
    view.edit("Stack", "a", NS, {"spec": {"commit": region.commits[1]}, "metadata": {"generation": 2}})

    region.rounds(view, 1)

    assert view.get("Stack", "a", NS)["status"]["observedGeneration"] == 2
    assert region.conditions(view, "a")["Stalled"][1] == "WorkspaceFailed"
    region.settle(view)
    assert region.updates() == ["laptop.a"]
    assert view.get("Workspace", "a", NS)["spec"]["git"]["ref"] == region.commits[1]


@pytest.mark.parametrize(("policy", "kept"), [("Delete", []), ("Retain", ["a"])])
def test_the_workspace_is_removed_after_success_only(region: StackRegion, policy: str, kept: list[str]) -> None:
    view = region.view(stack("a", workspaceReclaimPolicy=policy))
    region.answer("error: x", code=1)
    region.settle(view)
    assert region.folder("a").exists()

    region.answer("", code=0)
    region.cool(view, "a")
    region.settle(view)

    assert [path.name for path in region.folder("a").parent.iterdir()] == kept
    assert [body["metadata"]["name"] for body in view.all("auto.pulumi.com/v1alpha1", "Workspace")] == kept
