"""Fake of the Pulumi Kubernetes Operator: an API server with Stacks."""

from __future__ import annotations

from typing import Any

from components.render.region.engine.operator import NAMESPACE
from jacquard.observe.slice_runs import REQUEST
from jacquard.providers.kube import ObjectRef

COMMIT = "5" * 40


class FakeOperator:
    """API server with Stacks; each read is a step of the operator."""

    def __init__(self) -> None:
        self.stacks: dict[str, list[dict[str, Any]]] = {}
        """Answers by name; the last one is repeated."""
        self.read: list[str] = []
        """Names of Stacks in the order in which each was read last."""
        self.requests: list[str] = []
        self.failed_workspaces: set[str] = set()
        """Names of Stacks whose Workspace has failed; a request does not make the operator retry it."""

    def get(self, ref: ObjectRef) -> dict[str, Any]:
        self.read = [*(name for name in self.read if name != ref.name), ref.name]
        answers = self.stacks.setdefault(ref.name, [stack(lastUpdate=succeeded())])
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def patch(self, ref: ObjectRef, patch: dict[str, Any], *, field_manager: str) -> None:
        assert field_manager == "jacquard"
        assert patch["metadata"]["annotations"].keys() == {REQUEST}
        self.requests.append(ref.name)
        if ref.name not in self.failed_workspaces:
            self.stacks[ref.name] = [stack(lastUpdate=succeeded())]

    def delete(self, ref: ObjectRef) -> None:
        assert (ref.api_version, ref.kind, ref.namespace) == ("auto.pulumi.com/v1alpha1", "Workspace", NAMESPACE)
        self.failed_workspaces.remove(ref.name)


def stack(*conditions: dict[str, str], **status: Any) -> dict[str, Any]:
    given = {"observedGeneration": 2, "conditions": list(conditions), **status}
    return {"metadata": {"generation": 2}, "spec": {"commit": COMMIT}, "status": given}


def succeeded() -> dict[str, Any]:
    return {"generation": 2, "state": "succeeded", "lastSuccessfulCommit": COMMIT}


def given_up() -> dict[str, Any]:
    stalled = {"type": "Stalled", "status": "True", "reason": "UpdateFailed", "message": "up failed 3 times"}
    return stack(stalled, lastUpdate={"generation": 2, "state": "failed", "message": "VPC acme is refused"})


def workspace_failed(generation: int) -> dict[str, Any]:
    """Return a Stack whose Workspace has failed; the operator has observed this generation of 2."""
    message = "InstallationFailed: no package index"
    stalled = {"type": "Stalled", "status": "True", "reason": "WorkspaceFailed", "message": message}
    return stack(stalled, observedGeneration=generation)
