"""Workspaces of Stacks in the local region: required objects, sources, and lifetime of their processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.stacks.controller import CHART, FINALIZER
from jacquard.lab.rehearsal.operators.stacks.sources import Source
from jacquard.lab.rehearsal.operators.view import View
from jacquard.providers.kube import ApiError
from tests.support.engine.stack_region import NS, StackRegion, release, secret, stack
from tests.support.objects.live_objects import obj

UNAUTHORIZED = "cannot create tokenreviews; bind it to ClusterRole system:auth-delegator"


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        (("ServiceAccount", "runner"), f"ServiceAccount '{NS}/runner' not found"),
        (("Secret", "state"), f"Secret '{NS}/state' not found"),
        (("ConfigMap", "kubeconfig"), f"ConfigMap '{NS}/kubeconfig' not found"),
    ],
)
def test_a_workspace_waits_for_the_objects_of_its_pod(region: StackRegion, gone: tuple[str, str], message: str) -> None:
    view = region.view(stack("a"))
    removed = view.store.pop((gone[0], NS, gone[1]))

    region.settle(view)

    waiting = ("True", "StackProcessing", f"waiting for the workspace: {message}")
    assert region.conditions(view, "a")["Reconciling"] == waiting
    assert region.calls() == []
    view.create(removed)
    region.settle(view)
    assert region.conditions(view, "a")["Ready"][0] == "True"


def test_a_workspace_waits_for_the_key_of_a_variable(region: StackRegion) -> None:
    reference = {"name": "X", "valueFrom": {"secretKeyRef": {"name": "state", "key": "other"}}}
    body = stack("a")
    body["spec"]["workspaceTemplate"]["spec"]["env"].append(reference)
    view = region.view(body)

    region.settle(view)

    assert region.conditions(view, "a")["Reconciling"][2].endswith(f"Secret '{NS}/state' has no key 'other'")


def test_optional_objects_are_not_required(region: StackRegion) -> None:
    body = stack("a")
    workspace = body["spec"]["workspaceTemplate"]["spec"]
    workspace["envFrom"].append({"configMapRef": {"name": "x", "optional": True}})
    workspace["podTemplate"]["spec"]["volumes"].append({"name": "x", "secret": {"secretName": "x", "optional": True}})

    region.settle(region.view(body))

    assert region.updates() == ["laptop.a"]


def test_an_account_without_reviews_gets_no_update(region: StackRegion) -> None:
    view = region.view(stack("a"))
    view.unauthorized.add("tokenreviews")

    region.settle(view)

    assert region.conditions(view, "a")["Reconciling"][2].endswith(f"ServiceAccount '{NS}/runner' {UNAUTHORIZED}")
    view.unauthorized.clear()
    region.settle(view)
    assert view.asked[-2:] == [
        (NS, "runner", "create", "authentication.k8s.io", "tokenreviews"),
        (NS, "runner", "create", "authorization.k8s.io", "subjectaccessreviews"),
    ]
    assert region.updates() == ["laptop.a"]


def test_reviews_are_about_the_account_and_its_groups() -> None:
    requests: list[Any] = []

    class Api:
        def request(self, *request: str, body: Any) -> Any:
            requests.append((*request, body["spec"]))
            return {"status": {"allowed": True}}

    view: Any = View(Api(), None)  # type: ignore[arg-type]

    assert view.allows(NS, "runner", "create", "authentication.k8s.io", "tokenreviews")
    groups = ["system:serviceaccounts", f"system:serviceaccounts:{NS}", "system:authenticated"]
    spec = {
        "user": f"system:serviceaccount:{NS}:runner",
        "groups": groups,
        "resourceAttributes": {"verb": "create", "group": "authentication.k8s.io", "resource": "tokenreviews"},
    }
    assert requests == [("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", spec)]


TOKEN = {"accessToken": {"type": "Secret", "secret": {"name": "git", "key": "accessToken"}}}
ABROAD = {"accessToken": {"type": "Secret", "secret": {"name": "git", "key": "accessToken", "namespace": "x"}}}


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"gitAuth": TOKEN}, f"spec.gitAuth.accessToken: Secret '{NS}/git' not found"),
        ({"gitAuth": ABROAD}, f"spec.gitAuth.accessToken: cross-namespace reference to 'x'; use a Secret in '{NS}'"),
        ({"gitAuth": {"accessToken": {"type": "FS"}}}, "spec.gitAuth.accessToken: must reference a Secret"),
        ({"gitAuth": {"githubApp": {"x": 1}}}, "spec.gitAuth: one of accessToken, sshAuth, basicAuth is required"),
        ({"stack": ""}, "spec.stack: missing; set the name of the stack in the backend"),
        ({"projectRepo": ""}, "spec.projectRepo: missing; a local region has no other source"),
        ({"commit": ""}, "spec: one of commit and branch is required"),
        ({"branch": "main"}, "spec: commit and branch exclude each other"),
        ({"branch": "main", "commit": ""}, "spec.branch: 'main' is not resolved in a local region; set commit to 40"),
        ({"fluxSource": {"dir": "x"}}, "spec.fluxSource: not simulated in a local region; remove the field"),
        (
            {"prerequisites": [{"name": "b", "requirement": {"succeededWithinDuration": "1h"}}]},
            "spec.prerequisites[].requirement: not simulated in a local region; remove it",
        ),
        (
            {"workspaceTemplate": {"spec": {"image": "pulumi:3"}}},
            "spec.workspaceTemplate.spec.image: 'pulumi:3' has no digest; append @sha256:DIGEST",
        ),
    ],
    ids=str,
)
def test_an_invalid_spec_stalls(region: StackRegion, spec: dict[str, Any], message: str) -> None:
    body = stack("a")
    body["spec"] |= spec
    view = region.view(body)

    region.settle(view)

    status, reason, text = region.conditions(view, "a")["Stalled"]
    assert (status, reason) == ("True", "SpecInvalid")
    assert text.startswith(message)
    assert region.updates() == []


def test_a_login_without_its_key_stalls_and_continues_when_the_key_exists(region: StackRegion) -> None:
    view = region.view(stack("a", gitAuth=TOKEN), secret("git", other="x"))
    region.settle(view)
    message = f"spec.gitAuth.accessToken: Secret '{NS}/git' has no key 'accessToken'"
    assert region.conditions(view, "a")["Stalled"][2] == message

    view.apply(secret("git", accessToken="simulated"))
    region.settle(view)

    assert region.updates() == ["laptop.a"]


def test_a_missing_commit_is_fetched_again(region: StackRegion) -> None:
    view = region.view(stack("a"))
    view.edit("Stack", "a", NS, {"spec": {"commit": "0" * 40}})

    region.settle(view)

    message = region.conditions(view, "a")["Reconciling"][2]
    assert message.startswith("waiting for the workspace: fatal: ")
    assert region.calls() == []


def test_a_deleted_stack_keeps_its_resources_and_its_running_update_ends_first(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.start(view)
    view.edit("Stack", "a", NS, {"metadata": {"deletionTimestamp": "now"}})
    region.rounds(view, 3)
    assert view.get("Stack", "a", NS)["metadata"]["finalizers"] == [FINALIZER]

    region.go_on()
    region.settle(view)

    assert view.get("Stack", "a", NS)["metadata"]["finalizers"] == []
    assert [call["arguments"].split()[0] for call in region.calls()] == ["stack", "up"]
    del view.store["Stack", NS, "a"]
    region.settle(view)
    assert not region.folder("a").exists()


def test_a_deleted_stack_stays_if_the_operator_is_deleted_before_it(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.settle(view)
    del view.store["HelmRelease", NS, CHART]
    view.edit("Stack", "a", NS, {"metadata": {"deletionTimestamp": "now"}})

    region.settle(view)
    assert view.get("Stack", "a", NS)["metadata"]["finalizers"] == [FINALIZER]

    view.create(release(ready=True))
    region.settle(view)
    assert view.get("Stack", "a", NS)["metadata"]["finalizers"] == []


def test_the_update_of_a_removed_stack_is_interrupted(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.start(view)
    del view.store["Stack", NS, "a"]

    region.settle(view)

    assert not region.folder("a").exists()
    assert region.interrupted()


def test_a_restarted_simulation_finds_the_running_update(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.start(view)
    started = view.get("Stack", "a", NS)["status"]["currentUpdate"]["name"]

    region.restart()
    region.rounds(view, 2)
    assert region.conditions(view, "a")["Reconciling"] == ("True", "StackProcessing", "the update is running")
    region.go_on()
    region.settle(view)

    assert view.get("Stack", "a", NS)["status"]["lastUpdate"]["name"] == started
    assert region.updates() == ["laptop.a"]


def test_a_killed_update_has_failed(region: StackRegion) -> None:
    view = region.view(stack("a"))
    region.start(view)

    region.kill()
    region.settle(view)

    last = view.get("Stack", "a", NS)["status"]["lastUpdate"]
    assert (last["state"], last["message"]) == (
        "failed",
        "the update was aborted: its process ended without an exit code",
    )


def test_a_rejected_token_stops_no_other_stack(region: StackRegion, monkeypatch: pytest.MonkeyPatch) -> None:
    other = stack("a")
    other["spec"]["serviceAccountName"] = "other"
    view = region.view(other, stack("b"), obj("v1", "ServiceAccount", "other", namespace=NS))

    def token(namespace: str, account: str, **_: Any) -> str:
        if account == "other":
            raise ApiError(404, "NotFound", "not found")
        return f"token of {namespace}/{account}"

    monkeypatch.setattr(view, "account_token", token)

    region.settle(view)

    assert region.updates() == ["laptop.b"]


@pytest.mark.parametrize(
    ("login", "variable", "value"),
    [
        ({"user": "git", "password": "simulated"}, "GIT_CONFIG_VALUE_0", "Authorization: Basic Z2l0OnNpbXVsYXRlZA=="),
        ({"ssh_key": "key"}, "GIT_SSH_COMMAND", "ssh -i FOLDER/ssh-key -o IdentitiesOnly=yes "),
    ],
    ids=["token", "key"],
)
def test_a_login_is_passed_to_git_in_variables(tmp_path: Path, login: Any, variable: str, value: str) -> None:
    source = Source("https://git.example/regions.git", "0" * 40, **login)

    given = source.variables(tmp_path)[variable]

    assert given.replace(str(tmp_path), "FOLDER").startswith(value)
    assert all(path.read_text() == "key\n" and path.stat().st_mode & 0o077 == 0 for path in tmp_path.iterdir())


def test_a_login_is_not_passed_to_the_update(region: StackRegion) -> None:
    view = region.view(stack("a", gitAuth=TOKEN), secret("git", accessToken="hunter22"))

    region.settle(view)

    assert region.updates() == ["laptop.a"]
    assert "GIT_CONFIG" not in json.dumps(region.calls())
