"""Simulated Kustomizations, and Cluster API providers that depend on their objects."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.releases import kustomizations
from jacquard.lab.rehearsal.operators.releases.installed import SOURCE
from jacquard.lab.rehearsal.operators.view import reported
from tests.support.objects.live_objects import obj

DIGESTS = tuple(f"sha256:{number:064x}" for number in (1, 2))
READY = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": ""}
LABELS = {
    "provider.cluster.x-k8s.io/type": "bootstrap",
    "provider.cluster.x-k8s.io/name": "kubeadm",
    "provider.cluster.x-k8s.io/version": "v1.13.5",
}


def source(revision: str = DIGESTS[0]) -> dict[str, Any]:
    status = {"conditions": [READY], "artifact": {"revision": revision}}
    return obj(SOURCE, "OCIRepository", "providers", namespace="operators", status=status)


def kustomization(**more: Any) -> dict[str, Any]:
    spec = {
        "sourceRef": {"kind": "OCIRepository", "name": "providers", "namespace": "operators"},
        "path": "./bootstrap-kubeadm",
        "targetNamespace": "bootstrap",
    }
    return obj(kustomizations.KUSTOMIZE, "Kustomization", "kubeadm", spec | more.pop("spec", {}), "operators", **more)


def applied(revision: str = DIGESTS[0]) -> dict[str, Any]:
    return {"conditions": [READY], "lastAttemptedRevision": revision, "lastAppliedRevision": revision}


def provider(kind: str = "BootstrapProvider", **more: Any) -> dict[str, Any]:
    spec = {"version": "v1.13.5", "fetchConfig": {"selector": {"matchLabels": LABELS}}}
    name, namespace = ("cluster-api", "core") if kind == "CoreProvider" else ("kubeadm", "bootstrap")
    return obj(kustomizations.OPERATOR, kind, name, more.pop("spec", spec), namespace, **more)


def core() -> dict[str, Any]:
    return provider("CoreProvider", spec={"version": "v1.13.5"}, status={"conditions": [READY]})


def condition(found: dict[str, Any], name: str) -> tuple[str, str, str]:
    [one] = [entry for entry in found["status"]["conditions"] if entry["type"] == name]
    return one["status"], one["reason"], one["message"]


def test_manifests_are_applied_at_the_revision_of_their_source(objects: Any) -> None:
    view = objects(source(), kustomization())

    kustomizations.reconcile(view)
    references.report(view, {}.get)

    found = view.get("Kustomization", "kubeadm", "operators")
    assert found["status"]["lastAttemptedRevision"] == DIGESTS[0]
    assert reported(found, "Reconciling")


def test_another_revision_of_the_source_is_reconciled_again(objects: Any) -> None:
    view = objects(source(DIGESTS[1]), kustomization(status=applied(DIGESTS[0])))

    kustomizations.reconcile(view)

    found = view.get("Kustomization", "kubeadm", "operators")
    assert found["status"]["lastAttemptedRevision"] == DIGESTS[1]
    assert found["status"]["lastAppliedRevision"] == DIGESTS[0]
    assert condition(found, "Ready")[:2] == ("Unknown", "Progressing")


@pytest.mark.parametrize("more", [{"spec": {"suspend": True}}, {"status": applied()}])
def test_suspended_and_applied_kustomizations_are_skipped(objects: Any, more: dict[str, Any]) -> None:
    view = objects(source(), kustomization(**more))
    before = view.get("Kustomization", "kubeadm", "operators").get("status")

    kustomizations.reconcile(view)

    assert view.get("Kustomization", "kubeadm", "operators").get("status") == before


def test_manifests_for_a_tenants_cluster_wait_for_their_namespace_there(objects: Any) -> None:
    there = {"kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}}}
    secret = obj("v1", "Secret", "acme-kubeconfig", namespace="operators")
    view, cluster = objects(source(), kustomization(spec=there), secret), objects()

    references.report(view, {"acme": cluster}.get)
    missing = condition(view.get("Kustomization", "kubeadm", "operators"), "Ready")
    cluster.create(obj("v1", "Namespace", "bootstrap", namespace=""))
    references.report(view, {"acme": cluster}.get)

    assert missing == ("False", "ArtifactFailed", "Namespace 'bootstrap' not found in cluster 'acme'")
    assert reported(view.get("Kustomization", "kubeadm", "operators"), "Reconciling")


def test_a_provider_is_installed_after_the_core_and_its_config_map(objects: Any) -> None:
    view = objects(provider())

    kustomizations.reconcile(view)
    alone = condition(view.get("BootstrapProvider", "kubeadm", "bootstrap"), "PreflightCheckPassed")
    view.create(core())
    kustomizations.reconcile(view)
    without = condition(view.get("BootstrapProvider", "kubeadm", "bootstrap"), "ProviderInstalled")
    view.create(kustomization(status=applied()))
    kustomizations.reconcile(view)

    assert alone[:2] == ("False", "WaitingForCoreProviderReady")
    assert without[:2] == ("False", "ComponentsFetchError")
    assert without[2].startswith("0 ConfigMaps found with selector provider.cluster.x-k8s.io/name=kubeadm,")
    assert reported(view.get("BootstrapProvider", "kubeadm", "bootstrap"), "PreflightCheckPassed")


@pytest.mark.parametrize("wrong", [{"targetNamespace": "elsewhere"}, {"path": "./"}])
def test_manifests_of_another_place_or_folder_bring_a_provider_nothing(objects: Any, wrong: dict[str, str]) -> None:
    view = objects(core(), provider(), kustomization(spec=wrong, status=applied()))

    kustomizations.reconcile(view)

    assert not reported(view.get("BootstrapProvider", "kubeadm", "bootstrap"), "PreflightCheckPassed")


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ({"metadata": "x", "components": "y"}, "2 ConfigMaps found with selector"),
        ({}, "ConfigMap bootstrap/mine has no metadata; ConfigMap bootstrap/mine has no components"),
    ],
)
def test_a_provider_requires_exactly_one_config_map_with_both_keys(
    objects: Any, data: dict[str, str], why: str
) -> None:
    by_hand = obj("v1", "ConfigMap", "mine", namespace="bootstrap", metadata={"labels": LABELS}, data=data)
    more = [kustomization(status=applied())] if data else []
    view = objects(core(), provider(), by_hand, *more)

    kustomizations.reconcile(view)

    assert why in condition(view.get("BootstrapProvider", "kubeadm", "bootstrap"), "ProviderInstalled")[2]


def test_a_newer_release_replaces_the_previous_one(objects: Any) -> None:
    newer = {**LABELS, "provider.cluster.x-k8s.io/version": "v1.13.6"}
    view = objects(core(), provider(), kustomization(status=applied()))

    kustomizations.reconcile(view)
    view.patch(
        view.get("BootstrapProvider", "kubeadm", "bootstrap"),
        {"spec": {"version": "v1.13.6", "fetchConfig": {"selector": {"matchLabels": newer}}}},
    )
    kustomizations.reconcile(view)

    assert [item["metadata"]["name"] for item in view.all("v1", "ConfigMap")] == ["bootstrap-kubeadm-v1.13.6"]


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        (
            {"manager": {"additionalArgs": {"--bootstrap-token-ttl": "1h"}}},
            'failed to customize manager container: arg "--bootstrap-token-ttl" already exists',
        ),
        (
            {"deployment": {"containers": [{"name": "controller", "args": {"--v": "2"}}]}},
            'cannot find container "controller" in deployment',
        ),
    ],
)
def test_a_provider_with_arguments_that_its_manifest_refuses_is_never_installed(
    objects: Any, spec: dict[str, Any], why: str
) -> None:
    wanted = provider()["spec"] | spec
    view = objects(core(), provider(spec=wanted), kustomization(status=applied()))

    kustomizations.reconcile(view)

    found = view.get("BootstrapProvider", "kubeadm", "bootstrap")
    assert condition(found, "ProviderInstalled") == ("False", "ComponentsCustomizationError", why)
    assert not reported(found, "PreflightCheckPassed")


def test_operators_of_ironcore_run_with_the_labels_that_services_select_once_their_manifests_are_applied(
    objects: Any,
) -> None:
    url = {"url": "oci://registry.example/manifests/ironcore-metal"}
    at = {"spec": {"targetNamespace": "metal", "path": "./"}}
    artefact = {**source(), "spec": url}

    waiting = objects(artefact, kustomization(**at))
    kustomizations.reconcile(waiting)
    ready = objects(artefact, kustomization(**at, status=applied()))
    kustomizations.reconcile(ready)
    kustomizations.reconcile(ready)

    assert not list(waiting.all("apps/v1", "Deployment"))
    selected = {
        (one["metadata"]["namespace"], one["spec"]["template"]["metadata"]["labels"]["app.kubernetes.io/name"])
        for one in ready.all("apps/v1", "Deployment")
    }
    assert selected == {("metal", "metal-operator"), ("metal", "boot-operator")}
