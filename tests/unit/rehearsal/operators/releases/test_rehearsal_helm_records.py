"""Helm's records of a release, and Flux's history of it."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.releases.helm import Controller
from tests.support.objects.flux_releases import Rendered, deployment, here, kubeconfig, ready, release, secrets, source


def upgraded(controller: Controller, management: Any, view: Any, times: int) -> None:
    """Install a release, and upgrade it ``times`` times."""
    for number in range(times + 1):
        artifact = management.get("OCIRepository", "metallb", "operators")["status"]["artifact"]
        artifact["digest"] = f"sha256:{number}"
        controller.reconcile(management, here(view))


def test_an_upgrade_is_a_revision_more_in_helms_records_and_in_the_history(objects: Any) -> None:
    view, management = objects(), objects(release(), source())

    upgraded(Controller(Rendered(deployment())), management, view, 1)

    kept = {name: secret["metadata"]["labels"]["status"] for (_, _, name), secret in secrets(view).items()}
    assert kept == {"sh.helm.release.v1.lb.v1": "superseded", "sh.helm.release.v1.lb.v2": "deployed"}
    history = management.get("HelmRelease", "metallb", "acme")["status"]["history"]
    releases = [(one["version"], one["ociDigest"], one["status"]) for one in history]
    assert releases == [(2, "sha256:1", "deployed"), (1, "sha256:0", "superseded")]
    assert "release metallb-system/lb.v2 with chart" in ready(management)[2]


def test_five_revisions_are_kept_and_an_uninstallation_removes_all(objects: Any) -> None:
    view, management = objects(), objects(release(), source(), kubeconfig())
    controller = Controller(Rendered(deployment()))

    upgraded(controller, management, view, 6)
    assert {secret["metadata"]["labels"]["version"] for secret in secrets(view).values()} == set("34567")

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    controller.reconcile(management, here(view))
    assert view.store == {}


def test_records_of_another_release_in_the_same_namespace_are_kept(objects: Any) -> None:
    view, management = objects(), objects(release(), source())
    upgraded(Controller(Rendered(deployment("other"))), management, view, 0)

    again = objects(release(spec={"releaseName": "second"}), source())
    upgraded(Controller(Rendered(deployment())), again, view, 0)

    assert {name for _, _, name in secrets(view)} == {"sh.helm.release.v1.lb.v1", "sh.helm.release.v1.second.v1"}
    assert view.get("Deployment", "other", "metallb-system")
