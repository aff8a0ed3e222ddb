"""Priority level of requests from agents, nodes, controllers and tenants at a real API server."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.control_planes.request_priority import LEVEL, RequestPriorityInput
from components.specs.reading.loader import load_environment
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.machine.scaled_timeout import ScaledTimeout

pytestmark = pytest.mark.e2e

SCHEMAS = ("flowcontrol.apiserver.k8s.io/v1", "FlowSchema")
_SETTLED_SECONDS = 60.0
NODES = "system:nodes"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    running = LocalApiServer(tmp_path_factory.mktemp("priority") / "server")
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def prioritised(server: LocalApiServer) -> LocalApiServer:
    """The API server of a cluster with the platform's level, after the level is in use."""
    environment = load_environment("laptop", ENVIRONMENTS)
    concepts = (concept for part in slices(environment) for concept in inputs(environment, part))
    for item in next(concept for concept in concepts if isinstance(concept, RequestPriorityInput)).render():
        server.api.apply(dict(item.body), field_manager="test")
    patience = ScaledTimeout(_SETTLED_SECONDS)
    while schema(server, "system:serviceaccount:gpu-operator:gpu-operator") != LEVEL:
        assert not patience.is_over(), "the server does not take the level up"
        time.sleep(0.2)
    return server


def schema(server: LocalApiServer, user: str, group: str | None = None, path: str = "/api/v1/pods") -> str:
    """Return the name of the flow schema by which the server classifies a request of ``user``, permitted or not."""
    headers = server.as_user(user, *([group] if group else ()), path=path)
    uid = headers["X-Kubernetes-PF-FlowSchema-UID"]
    [name] = [one["metadata"]["name"] for one in server.api.list(*SCHEMAS) if one["metadata"]["uid"] == uid]
    return str(name)


@pytest.mark.parametrize(
    ("user", "group", "path", "by"),
    [
        ("system:serviceaccount:kube-system:cilium", None, "/apis/cilium.io/v2/ciliumnodes", LEVEL),
        ("system:serviceaccount:kube-system:kube-proxy", None, "/api/v1/services", LEVEL),
        ("system:serviceaccount:node-feature-discovery:nfd-worker", None, "/api/v1/nodes", LEVEL),
        (
            "system:serviceaccount:kube-system:node-controller",
            None,
            "/api/v1/nodes",
            "kube-system-service-accounts",
        ),
        ("system:serviceaccount:training:job", None, "/api/v1/pods", "service-accounts"),
        ("system:node:a01-u01", NODES, "/api/v1/nodes/a01-u01", "system-node-high"),
        ("system:node:a01-u01", NODES, "/api/v1/pods", "system-nodes"),
    ],
)
def test_agents_of_the_platform_have_a_separate_priority_level(
    prioritised: LocalApiServer, user: str, group: str | None, path: str, by: str
) -> None:
    assert schema(prioritised, user, group, path) == by


def test_the_api_server_does_not_delete_the_level(prioritised: LocalApiServer) -> None:
    kept = {one["metadata"]["name"]: one["metadata"] for one in prioritised.api.list(*SCHEMAS)}

    own = {
        name
        for name, metadata in kept.items()
        if "apf.kubernetes.io/autoupdate-spec" in metadata.get("annotations", {})
    }
    assert kept.keys() - own == {LEVEL}
