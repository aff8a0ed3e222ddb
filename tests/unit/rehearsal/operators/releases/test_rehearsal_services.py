"""Simulated releases become ready as soon as the cluster has a node for the pods that Helm waits for."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.releases.helm import FINALIZER
from jacquard.lab.rehearsal.operators.view import reported
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
SYSTEM = {
    "controller": {"nodeSelector": {"role": "system"}, "tolerations": [{"key": "critical", "operator": "Exists"}]}
}
TAINT = {"key": "critical", "effect": "NoSchedule"}
LACKS = "Running 'install' action: Deployment csi-nfs-controller fits no node"


def node(name: str, *taints: Any, **labels: str) -> Any:
    return obj("v1", "Node", name, {"taints": list(taints)}, namespace="", metadata={"labels": labels})


def report(objects: Any, *nodes: Any, chart: str = "csi-driver-nfs", metadata: Any = None, **spec: Any) -> Any:
    release = obj(
        "helm.toolkit.fluxcd.io/v2",
        "HelmRelease",
        "app",
        {
            "chartRef": {"kind": "OCIRepository", "name": chart},
            "targetNamespace": "ns",
            "kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}},
            **spec,
        },
        metadata=metadata or {},
    )
    source = obj("source.toolkit.fluxcd.io/v1", "OCIRepository", chart, status=READY)
    view = objects(release, source, obj("v1", "Secret", "acme-kubeconfig"))
    tenant = objects(obj("v1", "Namespace", "ns", namespace=""), *nodes)
    references.report(view, {"acme": tenant}.get)
    return view.get("HelmRelease", "app", "ns")


@pytest.mark.parametrize(
    ("nodes", "why"),
    [
        ([], LACKS),
        ([node("n1"), node("n2")], f"{LACKS}: lacks label role=system"),
        ([node("n1", {**TAINT, "key": "job"}, role="system")], f"{LACKS}: has taint job:NoSchedule"),
        ([node("n1"), node("n2", TAINT, role="system")], ""),
    ],
)
def test_a_release_waits_for_a_node_of_its_deployments(objects: Any, nodes: list[Any], why: str) -> None:
    found = report(objects, *nodes, values=SYSTEM)

    ready = [one for one in found["status"]["conditions"] if one["type"] == "Ready"]
    assert [(one["status"], one["reason"], one["message"]) for one in ready] == (
        [("Unknown", "Progressing", why)] if why else []
    )
    assert reported(found, "Reconciling") is not bool(why)


@pytest.mark.parametrize(
    "spec",
    [
        {"install": {"disableWait": True}},
        {"chart": "unknown"},
        {"chart": "node-problem-detector"},
        {"metadata": {"finalizers": [FINALIZER]}},
    ],
    ids=["without waiting", "not in the table", "only DaemonSets", "rendered by helm"],
)
def test_other_releases_wait_for_no_node(objects: Any, spec: Any) -> None:
    assert reported(report(objects, values=SYSTEM, **spec), "Reconciling")
