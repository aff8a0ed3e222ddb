"""Events that a real API server records by the library's audit policy, with the flags of control planes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from components.inputs.hosted_control_plane import of_tenant
from components.render.control_planes.api_server import flags
from components.render.control_planes.audit_policy import render_policy
from components.specs.control_planes.api_server import ApiServerSpec
from components.specs.struct import replace
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.machine.scaled_timeout import ScaledTimeout

pytestmark = pytest.mark.e2e

_RECORDED_SECONDS = 30.0
_PASSWORD = "never-recorded"
NODE = "system:node:a01-u01"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/default/leases/a01-u01"
_END = "the-end"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """The API server of a cluster with ``audit: {}``; files are at the mount paths of its pods."""
    folder = tmp_path_factory.mktemp("audit")
    environment = reference("laptop")
    plane = next(of_tenant(environment, environment.tenants[0]))
    spec = plane.spec.model_copy(update={"api_server": ApiServerSpec.model_validate({"audit": {}})})
    [policy] = render_policy(replace(plane, spec=spec))
    (folder / "policy.yaml").write_text(policy.body["data"]["policy.yaml"])
    audit = {name: value for name, value in flags(replace(plane, spec=spec)).items() if name.startswith("audit-")}
    audit["audit-policy-file"] = str(folder / "policy.yaml")
    running = LocalApiServer(
        folder / "server",
        kinds=(),
        flags={"kube-apiserver": [f"--{name}={value}" for name, value in audit.items()]},
        users={
            NODE: "system:nodes",
            "eve": "system:authenticated",
        },  # Audit policies match the authenticated user, not the impersonated one.
    )
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def recorded(server: LocalApiServer) -> list[dict[str, Any]]:
    """Send requests that must be recorded and requests that must not, and return the recorded events."""
    api = server.api
    api.create(_object("v1", "Secret", "login", stringData={"password": _PASSWORD}), field_manager="test")
    api.list("v1", "Secret", namespace="default")
    api.list("v1", "Pod", namespace="default")
    rules = [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]
    api.create(_object("rbac.authorization.k8s.io/v1", "Role", "reader", rules=rules), field_manager="test")
    server.as_user("eve", path="/api/v1/namespaces/default/secrets/login")
    server.as_user("eve", method="POST", path="/api/v1/namespaces/default/pods/job/exec?command=sh", body={})
    for user in (NODE, "eve"):
        server.as_user(user, method="PUT", path=LEASE, body={})
    api.create(_object("v1", "ConfigMap", _END), field_manager="test")

    patience, log = ScaledTimeout(_RECORDED_SECONDS), server.folder / "kube-apiserver.log"
    while True:
        lines = log.read_text().splitlines()
        events = [json.loads(line) for line in lines if line.startswith('{"kind":"Event"')]
        if any(_END in str(event.get("objectRef")) for event in events):
            return events
        assert not patience.is_over(), "the end is not recorded"


def _object(version: str, kind: str, name: str, **fields: Any) -> dict[str, Any]:
    return {"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "default"}, **fields}


def of(events: list[dict[str, Any]], resource: str, verb: str, user: str = "test") -> list[dict[str, Any]]:
    return [
        event
        for event in events
        if (event["verb"], event["objectRef"]["resource"]) == (verb, resource)
        and event["user"]["username"] == user
        and event["objectRef"].get("namespace") == "default"
    ]


def test_changes_and_reads_of_secrets_are_recorded_once_and_without_the_secret(
    server: LocalApiServer, recorded: list[dict[str, Any]]
) -> None:
    [made], [listed] = of(recorded, "secrets", "create"), of(recorded, "secrets", "list")
    [read] = of(recorded, "secrets", "get", "eve")

    assert {event["level"] for event in (made, listed, read)} == {"Metadata"}
    assert read["responseStatus"]["code"] == 403
    assert _PASSWORD not in (server.folder / "kube-apiserver.log").read_text()


def test_permissions_are_recorded_with_what_they_permit(recorded: list[dict[str, Any]]) -> None:
    [event] = of(recorded, "roles", "create")

    assert event["requestObject"]["rules"] == [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]


def test_access_to_pods_is_recorded_and_reads_of_pods_are_not(recorded: list[dict[str, Any]]) -> None:
    stages = of(recorded, "pods", "create", "eve")

    assert {(event["objectRef"]["subresource"], event["level"]) for event in stages} == {("exec", "Metadata")}
    assert of(recorded, "pods", "list") == []


def test_heartbeats_are_not_recorded_and_leases_of_others_are(recorded: list[dict[str, Any]]) -> None:
    assert of(recorded, "leases", "update", NODE) == []
    assert len(of(recorded, "leases", "update", "eve")) == 1
