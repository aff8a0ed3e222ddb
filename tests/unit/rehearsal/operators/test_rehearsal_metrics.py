"""The operator of the metrics store in the local region: its status, and the Secrets of users."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators import metrics as operator
from jacquard.lab.rehearsal.operators.metrics import API
from jacquard.lab.rehearsal.operators.releases.installed import HELM, SOURCE
from tests.support.objects.live_objects import obj

URL = {"url": "oci://registry.example/charts/victoria-metrics-operator"}
CHART = obj(SOURCE, "OCIRepository", "vmo", URL, "operators")
READY = {"conditions": [{"type": "Ready", "status": "True"}]}
RELEASE = {
    **obj(HELM, "HelmRelease", "vmo", {"chartRef": {"kind": "OCIRepository", "name": "vmo"}}, "operators"),
    "status": READY,
}
STORE = obj(API, "VMCluster", "metrics", {"replicationFactor": 2}, "metrics")
PROXY = obj(API, "VMAuth", "metrics", {"selectAllByDefault": True}, "metrics")
TARGET = {"crd": {"kind": "VMCluster/vminsert", "name": "metrics", "namespace": "metrics"}, "paths": ["/api/v1/write"]}
USER = obj(API, "VMUser", "c1-metrics", {"username": "c1", "targetRefs": [TARGET]}, "c1")


def settled(view: Any) -> Any:
    for _ in range(3):
        operator.reconcile(view)
    return view


def status(view: Any, kind: str, name: str, place: str) -> dict[str, Any]:
    return dict(view.get(kind, name, place).get("status", {}))


def test_a_user_gets_a_secret_with_name_and_password(objects: Any) -> None:
    view = settled(objects(CHART, RELEASE, STORE, PROXY, USER))

    assert view.get("Secret", "vmuser-c1-metrics", "c1")["data"].keys() == {"username", "password"}
    assert status(view, "VMUser", "c1-metrics", "c1")["updateStatus"] == "operational"
    assert status(view, "VMCluster", "metrics", "metrics")["updateStatus"] == "operational"


def test_a_user_waits_for_the_store(objects: Any) -> None:
    view = settled(objects(CHART, RELEASE, PROXY, USER))

    assert view.find("v1", "Secret", "vmuser-c1-metrics", "c1") is None
    found = status(view, "VMUser", "c1-metrics", "c1")
    assert (found["updateStatus"], found["reason"]) == (
        "failed",
        'cannot find CRD link for kind="VMCluster/vminsert"',
    )


def test_a_user_that_no_proxy_selects_gets_no_secret(objects: Any) -> None:
    view = settled(objects(CHART, RELEASE, STORE, USER))

    assert view.find("v1", "Secret", "vmuser-c1-metrics", "c1") is None


def test_nothing_is_reported_before_the_operator_is_installed(objects: Any) -> None:
    view = settled(objects(CHART, STORE, PROXY, USER))

    assert status(view, "VMCluster", "metrics", "metrics") == {}
    assert view.find("v1", "Secret", "vmuser-c1-metrics", "c1") is None
