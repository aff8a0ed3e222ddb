"""A simulated Flux inside a tenant's cluster: it runs after its manifests are applied, and requires credentials."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.releases import kustomizations
from jacquard.lab.rehearsal.operators.releases.installed import SOURCE
from jacquard.lab.rehearsal.operators.view import reported
from tests.support.objects.live_objects import obj

READY = {"type": "Ready", "status": "True", "reason": "Succeeded", "message": ""}
SYSTEM = "flux-system"
GIT = {"url": "ssh://git@git.acme.example/train.git", "secretRef": {"name": "flux-git"}}
TENANT = {"sourceRef": {"kind": "GitRepository", "name": "tenant"}, "path": "./"}
COMMIT = "main@sha1:" + 40 * "a"


def management(objects: Any, *, applied: bool = True, artefact: str = "flux", cluster: str = "acme") -> Any:
    spec = {
        "sourceRef": {"kind": "OCIRepository", "name": artefact, "namespace": "operators"},
        "kubeConfig": {"secretRef": {"name": f"{cluster}-kubeconfig"}},
    }
    source = obj(SOURCE, "OCIRepository", artefact, {"url": f"oci://mirror/{artefact}"}, "operators")
    status = {"conditions": [READY]} if applied else {}
    return objects(source, obj(kustomizations.KUSTOMIZE, "Kustomization", "flux", spec, cluster, status=status))


def tenant(objects: Any) -> Any:
    repository = obj(SOURCE, "GitRepository", "tenant", GIT, SYSTEM)
    return objects(repository, obj(kustomizations.KUSTOMIZE, "Kustomization", "tenant", TENANT, SYSTEM))


def repository(view: Any) -> Any:
    return view.get("GitRepository", "tenant", SYSTEM)


def test_nothing_happens_before_flux_runs(objects: Any) -> None:
    for here in (
        management(objects, applied=False),
        management(objects, artefact="cdi-operator"),
        management(objects, cluster="other"),
    ):
        view = tenant(objects)

        kustomizations.in_tenant(here, "acme", view)

        assert "conditions" not in repository(view).get("status", {})


def test_a_repository_waits_for_its_login_and_is_then_applied(objects: Any) -> None:
    here, view = management(objects), tenant(objects)

    kustomizations.in_tenant(here, "acme", view)
    [condition] = repository(view)["status"]["conditions"]
    view.create(obj("v1", "Secret", "flux-git", namespace=SYSTEM))
    kustomizations.in_tenant(here, "acme", view)
    fetching = reported(repository(view), "Reconciling")
    view.status(repository(view), {"conditions": [READY], "artifact": {"revision": COMMIT}})
    kustomizations.in_tenant(here, "acme", view)

    assert (condition["status"], condition["reason"], condition["message"]) == (
        "False",
        "AuthenticationFailed",
        "Secret 'flux-git' not found",
    )
    assert fetching
    applied = view.get("Kustomization", "tenant", SYSTEM)
    assert applied["status"]["lastAttemptedRevision"] == COMMIT
    assert reported(applied, "Reconciling")
