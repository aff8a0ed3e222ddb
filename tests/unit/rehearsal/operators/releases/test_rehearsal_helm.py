"""Helm releases: the real helm renders available charts, and the others are simulated."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal import stages
from jacquard.lab.rehearsal.operators.releases import helm_watch
from jacquard.lab.rehearsal.operators.releases.helm import FINALIZER, RELEASE, Controller, is_from_helm, is_real
from jacquard.lab.rehearsal.operators.releases.helm_records import Place
from jacquard.lab.rehearsal.operators.releases.helm_watch import FIELD_MANAGER
from tests.support.objects.flux_releases import (
    REVISION,
    Rendered,
    definition,
    deployment,
    here,
    kubeconfig,
    ready,
    release,
    source,
)
from tests.support.objects.live_objects import obj


def test_a_release_is_marked_before_it_is_reported_as_installed(objects: Any) -> None:
    management, view = objects(release(finalizer=False), source()), objects()

    Controller(Rendered(deployment())).reconcile(management, here(view))

    assert is_real(management.get("HelmRelease", "metallb", "acme"))
    assert view.installed == []


def test_the_stage_of_releases_skips_marked_ones() -> None:
    [stage] = [one for one in stages.stages("management", 1) if one["metadata"]["name"] == "release-installed"]

    [expression] = stage["spec"]["selector"]["matchExpressions"]
    assert expression["jq"]["key"].endswith(f'and (any(.metadata.finalizers[]?; . == "{FINALIZER}") | not)')


@pytest.mark.parametrize(
    ("found", "charts"),
    [
        (source("0.16.2"), Rendered()),
        (source(name="cilium"), Rendered()),
        (source(), None),
    ],
    ids=["another version", "another chart", "no helm"],
)
def test_a_chart_that_is_not_here_in_that_version_is_left_to_simulation(objects: Any, found: Any, charts: Any) -> None:
    management = objects(release(finalizer=False), found)

    Controller(charts).reconcile(management, here(objects()))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_a_release_with_values_of_other_objects_is_left_to_simulation(objects: Any) -> None:
    management = objects(release(finalizer=False, spec={"valuesFrom": [{}]}), source())

    Controller(Rendered()).reconcile(management, here(objects()))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_objects_are_applied_as_flux_does_with_exactly_the_values(objects: Any) -> None:
    charts = Rendered(deployment(), obj("v1", "Service", "webhook", namespace=""))
    management, view = objects(release(), source()), objects()

    Controller(charts).reconcile(management, here(view))

    assert charts.asked == [("metallb", "0.16.1", "lb", "metallb-system", {"speaker": {"tolerations": []}}, "v1.36.3")]
    where = [(kind, "metallb-system", FIELD_MANAGER) for kind in ("Deployment", "Service", "Secret")]
    assert view.installed == where
    metadata = view.get("Deployment", "controller", "metallb-system")["metadata"]
    assert metadata["labels"]["helm.toolkit.fluxcd.io/namespace"] == "acme"
    assert metadata["annotations"] == {
        "meta.helm.sh/release-name": "lb",
        "meta.helm.sh/release-namespace": "metallb-system",
    }
    message = f"Helm install succeeded for release metallb-system/lb.v1 with chart metallb@{REVISION}"
    assert ready(management) == ("True", "InstallSucceeded", message)
    status = management.get("HelmRelease", "metallb", "acme")["status"]
    assert (status["lastAttemptedRevision"], status["history"][0]["chartVersion"]) == (REVISION, REVISION)


@pytest.mark.parametrize(
    ("spec", "place"),
    [
        ({}, Place("own", "acme", "acme")),
        ({"targetNamespace": "there"}, Place("there-own", "there", "acme")),
        ({"targetNamespace": "there", "releaseName": "called"}, Place("called", "there", "acme")),
        ({"storageNamespace": "kept"}, Place("own", "acme", "kept")),
    ],
)
def test_a_release_has_fluxs_defaults_for_its_namespaces(spec: Any, place: Place) -> None:
    assert Place.of(obj(*RELEASE, "own", spec, namespace="acme")) == place


def test_a_release_waits_for_its_source_prerequisites_cluster_and_the_end_of_a_suspension(objects: Any) -> None:
    charts = Rendered(deployment())

    Controller(charts).reconcile(objects(release(waits=False), source()), here(objects()))
    Controller(charts).reconcile(objects(release(), source()), here(None))
    Controller(charts).reconcile(objects(release()), here(objects()))
    fetching = source()
    fetching["status"]["conditions"] = []
    Controller(charts).reconcile(objects(release(), fetching), here(objects()))
    Controller(charts).reconcile(objects(release(spec={"suspend": True}), source()), here(objects()))

    assert charts.asked == []


def test_installed_releases_are_unchanged_until_values_or_the_chart_change(objects: Any) -> None:
    charts, view = Rendered(deployment("old"), deployment()), objects()
    management = objects(release(), source())
    controller = Controller(charts)
    controller.reconcile(management, here(view))
    controller.reconcile(management, here(view))
    assert len(charts.asked) == 1

    charts.objects = [deployment()]
    management.get("OCIRepository", "metallb", "operators")["status"]["artifact"]["digest"] = "sha256:of another"
    controller.reconcile(management, here(view))

    assert ready(management)[1] == "UpgradeSucceeded"
    assert [one["metadata"]["name"] for one in view.all("apps/v1", "Deployment")] == ["controller"]


def test_installed_releases_are_monitored(objects: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(helm_watch, "_PAUSE_SECONDS", 0.0)
    view, management = objects(), objects(release(spec={"driftDetection": {"mode": "enabled"}}), source())
    controller = Controller(Rendered(deployment()))
    for _ in range(2):
        controller.reconcile(management, here(view))
    view.edit("Deployment", "controller", "metallb-system", {"spec": {"replicas": 7}})

    controller.reconcile(management, here(view))

    assert view.get("Deployment", "controller", "metallb-system")["spec"]["replicas"] == 1


def test_errors_of_helm_or_the_cluster_are_reported_and_retried(objects: Any) -> None:
    charts, view, management = Rendered(deployment()), objects(), objects(release(), source())
    view.refused = {"controller"}
    controller = Controller(charts)

    controller.reconcile(management, here(view))
    assert ready(management) == ("False", "InstallFailed", "Deployment controller: refused")
    charts.error = "helm refuses metallb"
    controller.reconcile(management, here(view))
    assert len(charts.asked) == 1, "not at once"
    Controller(charts).reconcile(management, here(view))

    assert ready(management) == ("False", "InstallFailed", "helm refuses metallb")


def test_an_uninstallation_keeps_kinds_and_foreign_objects(objects: Any) -> None:
    kind = definition("pools.metallb.io")
    view, management = objects(deployment("own")), objects(release(), source(), kubeconfig())
    controller = Controller(Rendered(kind, deployment()))
    controller.reconcile(management, here(view))
    assert is_from_helm(view.get("Deployment", "controller", "metallb-system"))

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(view))

    assert {(found, name) for found, _, name in view.store} == {
        ("CustomResourceDefinition", "pools.metallb.io"),
        ("Deployment", "own"),
    }
    assert not is_real(management.get("HelmRelease", "metallb", "acme"))


def test_a_release_waits_for_an_unreachable_cluster_and_is_deleted_without_a_missing_one(objects: Any) -> None:
    deleted = release(deletionTimestamp="2026-01-01T00:00:00Z")
    silent, gone = objects(deleted, source(), kubeconfig()), objects(deleted, source())

    for management in (silent, gone):
        Controller(Rendered()).reconcile(management, here(None))

    assert is_real(silent.get("HelmRelease", "metallb", "acme"))
    assert not is_real(gone.get("HelmRelease", "metallb", "acme"))


def test_a_release_whose_chart_is_no_longer_available_is_simulated_again(objects: Any) -> None:
    view, management = objects(), objects(release(), source(), kubeconfig())
    Controller(Rendered(deployment())).reconcile(management, here(view))

    Controller(None).reconcile(management, here(view))

    assert not is_real(management.get("HelmRelease", "metallb", "acme"))
    assert view.store == {}
