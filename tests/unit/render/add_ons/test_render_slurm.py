"""The release of Slurm's operator: kinds, placement, and a webhook that cannot block scheduling in a cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.pools import clusters
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.struct import replace
from tests.support.add_ons.helm_charts import Helm
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of

BINDINGS = "podsbinding-v1.kb.io"
"""Webhook of the chart that API servers call for each new pod outside two namespaces."""


@pytest.fixture
def release(laptop: Environment) -> Manifest:
    """Return the release of ``slurm`` in a cluster with a system pool."""
    [placed] = [one for one in clusters(laptop) if one.cluster.name == "acme-train"]
    cluster = changed(placed.cluster, add_ons=("default", "monitoring", "slurm"))
    [given] = of_cluster(laptop, replace(placed, cluster=cluster))
    return next(item for item in objects_of(given) if item.kind == "HelmRelease" and item.name == "slurm")


@pytest.fixture
def objects(laptop: Environment, release: Manifest, tmp_path: Path) -> list[dict[str, Any]]:
    """Return the objects that Flux applies."""
    return Helm(tmp_path, laptop.versions.kubernetes[-1]).installed(release)


def hooks(objects: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {hook["name"]: hook for body in objects for hook in body.get("webhooks", ())}


def test_the_kinds_of_slurm_are_installed(objects: list[dict[str, Any]]) -> None:
    kinds = {body["spec"]["names"]["kind"] for body in objects if body["kind"] == "CustomResourceDefinition"}

    assert kinds >= {"Accounting", "Controller", "LoginSet", "NodeSet", "RestApi", "Token"}


def test_pods_start_while_the_webhook_of_bindings_has_no_pod(objects: list[dict[str, Any]]) -> None:
    found = hooks(objects)

    assert (found[BINDINGS]["failurePolicy"], found[BINDINGS]["timeoutSeconds"]) == ("Ignore", 2)
    assert found[BINDINGS]["rules"][0]["resources"] == ["pods/binding"]
    assert {hook["failurePolicy"] for hook in found.values()} == {"Ignore"}


def test_services_run_on_the_system_pool_and_two_pods_answer_the_api_server(objects: list[dict[str, Any]]) -> None:
    deployments = {body["metadata"]["name"]: body["spec"] for body in objects if body["kind"] == "Deployment"}

    for spec in deployments.values():
        pod = spec["template"]["spec"]
        [term] = pod["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        assert term["matchExpressions"] == [
            {"key": "node-restriction.kubernetes.io/role", "operator": "In", "values": ["system"]}
        ]
        assert pod["tolerations"] == [{"key": "CriticalAddonsOnly", "operator": "Exists"}]
    assert deployments["slurm-operator-webhook"]["replicas"] == 2


def test_the_release_waits_for_cert_manager_whose_kinds_it_contains(
    release: Manifest, objects: list[dict[str, Any]]
) -> None:
    assert {body["apiVersion"] for body in objects if body["kind"] in {"Certificate", "Issuer"}} == {
        "cert-manager.io/v1"
    }
    assert {"name": "cert-manager"} in release.body["spec"]["dependsOn"]
