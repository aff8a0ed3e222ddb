"""Helm releases of the management cluster: their pods are awaited, and existing kinds are not changed."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.releases.helm import Controller, is_real
from tests.support.objects.flux_releases import (
    Rendered,
    definition,
    deployment,
    here,
    in_management,
    ready,
    secrets,
    source,
)


def test_a_release_of_the_management_cluster_is_ready_once_its_pods_run_there(objects: Any) -> None:
    management, charts = objects(in_management(), source()), Rendered(deployment())
    controller = Controller(charts)

    controller.reconcile(management, here(objects()))
    controller.reconcile(management, here(objects()))

    assert ready(management) == ("Unknown", "Progressing", "Running 'install' action: Deployment controller")
    live = management.get("Deployment", "controller", "metallb-system")
    live["status"] = {"observedGeneration": 1, "updatedReplicas": 1, "availableReplicas": 1}
    controller.reconcile(management, here(objects()))
    assert ready(management)[:2] == ("True", "InstallSucceeded")
    assert len(charts.asked) == 1
    assert [(namespace, name) for _, namespace, name in secrets(management)] == [("acme", "sh.helm.release.v1.lb.v1")]


def test_kinds_that_the_management_cluster_has_are_left_to_it_and_others_are_brought(objects: Any) -> None:
    brought = [definition("pools.metallb.io", scope="Cluster"), definition("peers.metallb.io", scope="Cluster")]
    management = objects(in_management(), source(), definition("pools.metallb.io", scope="Namespaced"))

    Controller(Rendered(*brought)).reconcile(management, here(objects()))

    scopes = {name: body["spec"]["scope"] for (kind, _, name), body in management.store.items() if "Custom" in kind}
    assert scopes == {"pools.metallb.io": "Namespaced", "peers.metallb.io": "Cluster"}


def test_a_release_deleted_during_its_wait_leaves_nothing(objects: Any) -> None:
    management = objects(in_management(), source())
    controller = Controller(Rendered(deployment()))
    controller.reconcile(management, here(objects()))

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(objects()))

    assert {kind for kind, *_ in management.store} == {"HelmRelease", "OCIRepository"}
    assert not is_real(management.get("HelmRelease", "metallb", "acme"))
