"""Webhooks of charts: the API server rejects requests while no pod could answer them, and none afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.releases.helm import Controller
from jacquard.lab.rehearsal.operators.releases.helm_records import Place, records
from tests.support.objects.flux_releases import Rendered, deployment, here, in_management, release, source
from tests.support.objects.live_objects import obj

KIND, NS = "ValidatingWebhookConfiguration", "metallb-system"
SERVICE = obj("v1", "Service", "hooks", {"selector": {"app": "controller"}}, namespace=NS)


def webhook(name: str, policy: str | None = "Fail") -> dict[str, Any]:
    service = {"namespace": NS, "name": "hooks", "path": f"/{name}"}
    return {"name": name, "clientConfig": {"service": service}, **({"failurePolicy": policy} if policy else {})}


def configuration(*webhooks: Any) -> Any:
    return obj("admissionregistration.k8s.io/v1", KIND, "hook", namespace="") | {"webhooks": list(webhooks)}


def pod(phase: str = "Running", app: str = "controller") -> Any:
    return obj("v1", "Pod", "p", namespace=NS, metadata={"labels": {"app": app, "x": "y"}}, status={"phase": phase})


def installed(view: Any) -> list[Any]:
    return [(one["name"], one["clientConfig"]) for body in view.all(*KINDS) for one in body["webhooks"]]


KINDS = ("admissionregistration.k8s.io/v1", KIND)
REFUSED = {"url": f"https://127.0.0.1:9/{NS}/hooks"}


@pytest.mark.parametrize(
    ("others", "there"),
    [([], True), ([pod("Pending")], True), ([pod(app="speaker")], True), ([pod()], False)],
    ids=["no pod", "a pod that starts", "a pod of another Service", "a running pod"],
)
def test_webhooks_that_fail_closed_are_installed_until_a_pod_runs(objects: Any, others: Any, *, there: bool) -> None:
    hooks = configuration(webhook("a"), webhook("b", None), webhook("c", "Ignore"))
    management, view = objects(release(), source()), objects(SERVICE, *others)
    controller = Controller(Rendered(hooks, deployment()))

    controller.reconcile(management, here(view))
    controller.reconcile(management, here(view))
    assert installed(view) == ([("a", REFUSED), ("b", REFUSED)] if there else [])
    assert all(body["kind"] != KIND for entry in records(view, Place("lb", NS, NS)) for body in entry.objects)

    view.store.pop(("Pod", NS, "p"), None)
    view.create(pod())
    controller.reconcile(management, here(view))
    assert installed(view) == []


def test_webhooks_that_fail_open_and_those_of_the_management_cluster_are_left_out(objects: Any) -> None:
    view = objects(SERVICE)
    Controller(Rendered(configuration(webhook("a", "Ignore")))).reconcile(objects(release(), source()), here(view))
    assert installed(view) == []

    management = objects(in_management(), source(), SERVICE)
    Controller(Rendered(configuration(webhook("a")))).reconcile(management, here(objects()))
    assert installed(management) == []


def test_webhooks_are_deleted_with_their_release(objects: Any) -> None:
    management, view = objects(release(), source()), objects(SERVICE)
    controller = Controller(Rendered(configuration(webhook("a")), deployment()))
    controller.reconcile(management, here(view))
    assert installed(view) == [("a", REFUSED)]

    management.get("HelmRelease", "metallb", "acme")["metadata"]["deletionTimestamp"] = "2026-11-26T12:00:00Z"
    controller.reconcile(management, here(view))

    assert installed(view) == []
