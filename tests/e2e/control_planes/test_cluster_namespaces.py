"""Permissions of team members in the namespaces of their cluster, at a real API server.

Kubernetes' own controllers aggregate roles, count quotas and empty namespaces, each with its service account.
"""

from __future__ import annotations

import json
import ssl
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from components.inputs.cluster_namespaces import of_cluster
from components.lookups.pools import clusters
from components.specs.reading.loader import load_environment
from jacquard.lab.rehearsal.images import PUBLIC
from jacquard.providers.kube import ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.machine.scaled_timeout import ScaledTimeout

pytestmark = pytest.mark.e2e

CONTROLLERS = ("clusterrole-aggregation-controller", "resourcequota-controller", "namespace-controller")
CLUSTER, GROUP = "vireo-train", "vireo:speech"
_SETTLED_SECONDS = 60.0
Body = Mapping[str, Any]
HARMLESS = {
    "allowPrivilegeEscalation": False,
    "capabilities": {"drop": ["ALL"]},
    "runAsNonRoot": True,
    "seccompProfile": {"type": "RuntimeDefault"},
}
OPEN = {"podSelector": {}, "policyTypes": ["Ingress", "Egress"], "ingress": [{}], "egress": [{}]}
_POLICIES = "/apis/networking.k8s.io/v1/namespaces/speech/networkpolicies"
_RENDERED = "NetworkPolicies of this namespace are rendered from the tenant's data"
"""Part of the admission policy's message."""


class Team:
    """Members of a group, as the API server sees them."""

    def __init__(self, server: LocalApiServer, group: str) -> None:
        config = json.loads(server.kubeconfig.read_text())
        [cluster], [login] = config["clusters"], config["users"]
        self._server = cluster["cluster"]["server"]
        self._trusted = ssl.create_default_context(cafile=cluster["cluster"]["certificate-authority"])
        self._headers = {
            "Authorization": f"Bearer {login['user']['token']}",
            "Content-Type": "application/json",
            "Impersonate-User": "somebody",
            "Impersonate-Group": group,
        }

    def asks(self, method: str, path: str, body: Body | None = None) -> str:
        """Return the server's response to a request; empty on success."""
        data = None if body is None else json.dumps(body).encode()
        request = Request(self._server + path, headers=self._headers, method=method, data=data)  # noqa: S310
        try:
            with urlopen(request, context=self._trusted):  # noqa: S310
                return ""
        except HTTPError as refused:
            return str(json.loads(refused.read())["message"])

    def makes(self, namespace: str, kind: str, body: Body, group: str = "api/v1") -> str:
        """Return the server's response to the creation of an object; empty on success."""
        return self.asks("POST", f"/{group}/namespaces/{namespace}/{kind}", body)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """Return the API server of a cluster with its namespaces."""
    running = LocalApiServer(tmp_path_factory.mktemp("namespaces") / "server", controllers=CONTROLLERS)
    environment = load_environment("eu-south-03a", ENVIRONMENTS)
    try:
        [placed] = [placed for placed in clusters(environment) if placed.cluster.name == CLUSTER]
        [namespaces] = of_cluster(environment, placed)
        for item in namespaces.render():
            running.api.apply(dict(item.body), field_manager="test")
        team = Team(running, GROUP)
        _wait(lambda: team.makes("speech", "configmaps", named("first")) == "", "the role edit is filled")
        quotas = [ObjectRef("v1", "ResourceQuota", "namespace", name) for name in ("speech", "evaluation")]
        _wait(lambda: all(_counted(running, quota) for quota in quotas), "quotas are counted")
        dry = f"{_POLICIES}?dryRun=All"
        _wait(lambda: _RENDERED in team.asks("POST", dry, named("first", spec=OPEN)), "admission policies are active")
        yield running
    finally:
        running.stop()


@pytest.fixture
def team(server: LocalApiServer) -> Team:
    return Team(server, GROUP)


def _counted(server: LocalApiServer, quota: ObjectRef) -> bool:
    return bool((server.api.get(quota) or {}).get("status", {}).get("hard"))


def _wait(holds: Callable[[], bool], what: str) -> None:
    patience = ScaledTimeout(_SETTLED_SECONDS)
    while not holds():
        assert not patience.is_over(), f"not so after {_SETTLED_SECONDS:.0f} s: {what}"
        time.sleep(0.2)


def named(name: str, **fields: Any) -> dict[str, Any]:
    return {"metadata": {"name": name}, **fields}


def pod(name: str, *, gpus: int = 0, host: bool = False, **context: Any) -> dict[str, Any]:
    bounded = {"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {}
    container = {
        "name": "work",
        "image": PUBLIC[0],
        "securityContext": {**HARMLESS, **context},
        **bounded,
    }
    return named(name, spec={"containers": [container], "hostNetwork": host})


def test_privileged_pods_are_rejected_and_restricted_pods_run(team: Team) -> None:
    assert team.makes("speech", "pods", pod("harmless")) == ""
    root = team.makes("speech", "pods", pod("root", privileged=True, allowPrivilegeEscalation=True))
    host = team.makes("speech", "pods", pod("host", host=True))

    assert 'violates PodSecurity "restricted:latest": privileged' in root
    assert 'violates PodSecurity "restricted:latest": host namespaces' in host


def test_team_members_only_have_the_declared_permissions(team: Team) -> None:
    assert team.makes("speech", "secrets", named("own")) == ""
    assert team.asks("GET", "/api/v1/namespaces/evaluation/pods") == ""

    assert "cannot create resource" in team.makes("evaluation", "configmaps", named("ours"))
    assert "cannot list resource" in team.asks("GET", "/api/v1/namespaces/evaluation/secrets")
    assert "cannot list resource" in team.asks("GET", "/api/v1/namespaces/serving/pods")
    assert "cannot create resource" in team.asks("POST", "/api/v1/namespaces", named("by-hand"))
    assert "cannot delete resource" in team.asks("DELETE", "/api/v1/namespaces/speech")
    assert "cannot patch resource" in _patched(team, "/api/v1/namespaces/speech")
    assert "cannot delete resource" in team.asks("DELETE", "/api/v1/namespaces/speech/resourcequotas/namespace")


def _patched(team: Team, path: str) -> str:
    return team.asks("PATCH", path, {"metadata": {"labels": {"jacquard.dev/isolation": "none"}}})


def test_network_policies_of_team_members_permit_no_other_namespace(team: Team) -> None:
    assert _RENDERED in team.asks("POST", _POLICIES, named("open", spec=OPEN))
    assert _RENDERED in team.asks("DELETE", f"{_POLICIES}/isolation")


def test_administrators_write_policies_which_are_deleted_with_their_namespace(server: LocalApiServer) -> None:
    label = {"jacquard.dev/isolation": "default-deny"}
    for body in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "passing", "labels": label}},
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": {"name": "isolation", "namespace": "passing"},
            "spec": OPEN,
        },
    ):
        server.api.apply(body, field_manager="test")
    passing = ObjectRef("v1", "Namespace", "passing")

    server.api.delete(passing)
    _wait(lambda: server.api.get(passing) is None, "the namespace is gone")


def test_objects_beyond_a_quota_are_rejected(team: Team) -> None:
    assert "exceeded quota: namespace, requested: requests.nvidia.com/gpu=512" in team.makes(
        "speech", "pods", pod("greedy", gpus=512)
    )


def test_a_container_without_requests_gets_the_namespace_defaults(server: LocalApiServer) -> None:
    body = {"apiVersion": "v1", "kind": "Pod", **pod("modest")}
    body["metadata"]["namespace"] = "evaluation"
    made = server.api.apply(body, field_manager="test")

    assert made["spec"]["containers"][0]["resources"]["requests"] == {"cpu": "250m", "memory": "512Mi"}
