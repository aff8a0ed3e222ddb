"""Users of an add-on: found by the requests of objects, reported by owner, without objects of the platform."""

from __future__ import annotations

from typing import Any

import pytest

from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from jacquard.observe.add_on_users import Uninstalled, add_on_users, using_add_on
from jacquard.observe.users import Name, UnreadableError
from jacquard.providers.kube import ApiServer, KubeconfigError
from tests.support.objects.live_objects import obj

GPU = {"containers": [{"resources": {"limits": {"nvidia.com/gpu": "8"}}}]}
LABEL = "feature.node.kubernetes.io/pci-10de.present"
TERMS = {"nodeSelectorTerms": [{"matchExpressions": [{"key": LABEL, "operator": "Exists"}]}]}
AFFINE = {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": TERMS}}}
HPA, PROM, KUEUE = "autoscaling/v2", "monitoring.coreos.com/v1", "kueue.x-k8s.io/v1beta1"
SLURM, SNAPSHOT, CERT = "slinky.slurm.net/v1beta1", "snapshot.storage.k8s.io/v1", "cert-manager.io/v1"
RULES = "nfd.k8s-sigs.io/v1alpha1"


def uninstalled(chart: str, *platform: str) -> Uninstalled:
    return Uninstalled(chart=chart, cluster="acme-train", platform=frozenset(platform))


def matches_none(_: Name) -> bool:
    return False


RENDERED = {"app.kubernetes.io/managed-by": "jacquard"}


def pod(name: str = "a", owner: tuple[str, str, str] | None = None, phase: str = "Running", **spec: Any) -> Any:
    owners = [dict(zip(("apiVersion", "kind", "name"), owner, strict=True), controller=True)] if owner else []
    body = obj("v1", "Pod", name, spec, metadata={"ownerReferences": owners})
    return {**body, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("chart", "body"),
    [
        ("cilium", pod()),
        ("tigera-operator", pod(phase="Pending")),
        ("gpu-operator", pod(**GPU)),
        ("gpu-operator", pod(containers=[], initContainers=GPU["containers"])),
        ("gpu-operator", pod(containers=[{"resources": {"requests": {"nvidia.com/mig-1g.10gb": "1"}}}])),
        ("dra-driver-nvidia-gpu", obj("resource.nvidia.com/v1beta1", "ComputeDomain", "a", {})),
        ("node-feature-discovery", pod(nodeSelector={LABEL: "true"})),
        ("node-feature-discovery", pod(**AFFINE)),
        ("node-feature-discovery", obj(RULES, "NodeFeatureRule", "a", {})),
        ("metallb", obj("v1", "Service", "a", {"type": "LoadBalancer"})),
        ("metrics-server", obj(HPA, "HorizontalPodAutoscaler", "a", {"metrics": [{"type": "Resource"}]})),
        ("cert-manager", obj(CERT, "Certificate", "a", {})),
        ("kube-prometheus-stack", obj(PROM, "ServiceMonitor", "a", {})),
        ("kueue", obj(KUEUE, "LocalQueue", "a", {})),
        ("lws", obj("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "a", {})),
        ("slurm-operator", obj(SLURM, "NodeSet", "a", {})),
        ("snapshot-controller", obj(SNAPSHOT, "VolumeSnapshot", "a", {})),
        ("topolvm", obj("v1", "Node", "a", {}, metadata={"finalizers": ["topolvm.io/node"]})),
    ],
)
def test_requesting_objects_are_users_except_those_of_the_platform(chart: str, body: dict[str, Any]) -> None:
    made = {**body, "metadata": {**body["metadata"], "labels": {"helm.toolkit.fluxcd.io/namespace": "acme-train"}}}

    assert using_add_on([body], uninstalled(chart), matches_none) == (f"{body['kind']} ns/a",)
    assert using_add_on([body], uninstalled(chart, "ns"), matches_none) == ()
    assert using_add_on([made], uninstalled(chart), matches_none) == ()


@pytest.mark.parametrize(
    ("chart", "body"),
    [
        ("cilium", pod(hostNetwork=True)),
        ("cilium", pod(phase="Succeeded")),
        ("gpu-operator", pod(containers=[{"resources": {"limits": {"cpu": "8"}}}])),
        ("gpu-operator", pod(containers=[{"resources": {"limits": {"nvidia.com/AD102GL_L40S": "1"}}}])),
        ("gpu-operator", pod(phase="Failed", **GPU)),
        ("node-feature-discovery", pod(nodeSelector={"kubernetes.io/os": "linux"})),
        ("node-feature-discovery", obj(RULES, "NodeFeatureRule", "a", {}, metadata={"labels": RENDERED})),
        ("metallb", obj("v1", "Service", "a", {"type": "ClusterIP"})),
        ("metallb", obj("v1", "Service", "a", {"type": "LoadBalancer", "loadBalancerClass": "mine"})),
        ("metrics-server", obj(HPA, "HorizontalPodAutoscaler", "a", {"metrics": [{"type": "External"}]})),
        ("topolvm", obj("v1", "Node", "a", {})),
    ],
)
def test_objects_without_requests_are_no_users(chart: str, body: dict[str, Any]) -> None:
    assert using_add_on([body], uninstalled(chart), matches_none) == ()


def test_pods_are_reported_by_their_owner() -> None:
    group = obj("apps/v1", "ReplicaSet", "serve-1", {})
    made = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "serve", "controller": True}
    group["metadata"]["ownerReferences"] = [made]
    found = [
        group,
        pod("serve-1-a", ("apps/v1", "ReplicaSet", "serve-1"), **GPU),
        pod("serve-1-b", ("apps/v1", "ReplicaSet", "serve-1"), **GPU),
        pod("train-0", ("batch/v1", "Job", "train"), **GPU),
    ]

    assert using_add_on(found, uninstalled("gpu-operator"), matches_none) == ("Deployment ns/serve", "Job ns/train")
    declared = ("apps/Deployment", "ns", "serve")
    assert using_add_on(found, uninstalled("gpu-operator"), lambda name: name == declared) == ("Job ns/train",)


def test_clusters_without_references_to_a_chart_are_not_queried() -> None:
    def connect() -> ApiServer:
        msg = "not made yet"
        raise KubeconfigError(msg)

    assert add_on_users(connect, uninstalled("node-problem-detector"), matches_none) == ()
    with pytest.raises(UnreadableError, match="not made yet"):
        add_on_users(connect, uninstalled("metallb"), matches_none)


def test_the_page_names_the_users_of_each_add_on() -> None:
    page = (paths.ROOT / "docs/changes/destructive-changes.md").read_text(encoding="utf-8")
    environment = load_environment("laptop", paths.ROOT / "environments")

    assert [entry.name for entry in environment.add_ons.add_ons if f"| `{entry.name}` |" not in page] == []
