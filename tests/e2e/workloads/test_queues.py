"""Queues at a real API server with the objects of Kueue's real chart: kinds, CEL rules, and webhooks without a pod.

No controller of Kueue runs, as before the first node of a cluster joins.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.inputs import add_ons
from components.inputs.workloads import queues
from components.lookups.pools import PlacedCluster, clusters
from jacquard.lab.rehearsal import crds
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef
from tests.support.add_ons.helm_charts import Helm
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.local_regions.local_region import wait_until
from tests.support.objects.rendered_objects import objects_of

pytestmark = pytest.mark.e2e

LATEST = "kueue.x-k8s.io/v1beta2"
HOOKS = ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration")


@pytest.fixture(scope="module")
def placed() -> PlacedCluster:
    environment = reference("us-east-04a")
    [found] = [one for one in clusters(environment) if one.cluster.queues]
    return found


@pytest.fixture(scope="module")
def rendered(placed: PlacedCluster) -> list[dict[str, Any]]:
    environment = reference("us-east-04a")
    [given] = queues.of_cluster(environment, placed)
    return [copy.deepcopy(dict(item.body)) for item in given.render()]


@pytest.fixture(scope="module")
def api(
    placed: PlacedCluster, rendered: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ApiServer]:
    environment = reference("us-east-04a")
    [given] = add_ons.of_cluster(environment, placed)
    release = next(item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == "kueue")
    folder: Path = tmp_path_factory.mktemp("queues")
    chart = Helm(folder / "helm", environment.versions.kubernetes[-1]).installed(release)
    server = LocalApiServer(folder / "server", kinds=())
    try:
        server.namespace("kueue-system")
        crds.install(server.api, [body for body in chart if body["kind"] == "CustomResourceDefinition"])
        for body in chart:
            if body["kind"] in HOOKS:
                server.api.apply(body, field_manager="helm", force=True)
        for namespace in {body["metadata"]["namespace"] for body in rendered if body["kind"] == "LocalQueue"}:
            server.namespace(namespace)
        # A server learns of webhooks after a moment: once one is in force, all are.
        wait_until(lambda: "mjob.kb.io" in job(server.api), timeout_seconds=60, what="the webhooks are in force")
        yield server.api
    finally:
        server.stop()


def job(api: ApiServer, namespace: str = "research") -> str:
    pod = {"restartPolicy": "Never", "containers": [{"name": "one", "image": "one"}]}
    metadata = {"name": "one", "namespace": namespace}
    spec = {"template": {"spec": pod}}
    return refused(api, {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec})


def refused(api: ApiServer, body: dict[str, Any]) -> str:
    """Return why the server refuses an object; empty if it takes it."""
    try:
        api.apply(body, field_manager="jacquard", force=True)
    except ApiError as error:
        return str(error)
    return ""


def test_queues_are_created_before_kueue_runs_and_again_without_a_change(
    api: ApiServer, rendered: list[dict[str, Any]]
) -> None:
    assert {body["kind"]: refused(api, body) for body in rendered} == {
        "WorkloadPriorityClass": "",
        "Topology": "",
        "ResourceFlavor": "",
        "ClusterQueue": "",
        "LocalQueue": "",
    }
    for body in rendered:
        metadata = body["metadata"]
        ref = ObjectRef(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))
        live = api.get(ref)
        assert live is not None
        assert refused(api, body) == ""
        assert (api.get(ref) or {})["metadata"]["resourceVersion"] == live["metadata"]["resourceVersion"]


def test_another_version_of_a_queue_waits_for_kueue(api: ApiServer, rendered: list[dict[str, Any]]) -> None:
    later = copy.deepcopy(next(body for body in rendered if body["kind"] == "ClusterQueue"))
    later["apiVersion"] = LATEST
    later["metadata"]["name"] = "later"
    later["spec"]["cohortName"] = later["spec"].pop("cohort")

    assert "kueue-webhook-service" in refused(api, later)


def test_jobs_of_teams_wait_for_kueue_and_others_do_not(api: ApiServer) -> None:
    assert "mjob.kb.io" in job(api, "inference")
    assert job(api, "default") == ""


def test_flavors_topologies_and_queues_of_namespaces_are_immutable(
    api: ApiServer, rendered: list[dict[str, Any]]
) -> None:
    changes = {
        "Topology": ("levels", [{"nodeLabel": "kubernetes.io/hostname"}], "field is immutable"),
        "ResourceFlavor": ("nodeLabels", {"one": "two"}, "immutable when topologyName is set"),
        "LocalQueue": ("clusterQueue", "another", "field is immutable"),
    }
    for kind, (key, value, why) in changes.items():
        body = copy.deepcopy(next(body for body in rendered if body["kind"] == kind))
        assert refused(api, body) == ""
        body["spec"][key] = value
        assert why in refused(api, body), kind


def test_a_limit_without_a_cohort_is_refused(api: ApiServer, rendered: list[dict[str, Any]]) -> None:
    body = copy.deepcopy(next(body for body in rendered if body["kind"] == "ClusterQueue"))
    body["metadata"]["name"] = "alone"
    del body["spec"]["cohort"]

    assert "borrowingLimit must be nil when cohort is empty" in refused(api, body)
