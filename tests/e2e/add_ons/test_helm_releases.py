"""Releases that the real helm installs, also in the management cluster: recorded, and repaired after manual edits."""

from __future__ import annotations

import json
import subprocess

import pytest

from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.objects import dig
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, wait_until

pytestmark = pytest.mark.e2e

CLUSTER = "acme-train"
IN_MANAGEMENT = {"cert-manager", "external-dns", "metallb", "node-feature-discovery"}
CERT_MANAGER = ObjectRef("apps/v1", "Deployment", "cert-manager", "cert-manager")
ROLE = ObjectRef("rbac.authorization.k8s.io/v1", "ClusterRole", "node-features-node-feature-discovery")


def listed(region: LocalRegion, cluster: str) -> dict[str, str]:
    """Return the status of each release of a cluster, as reported by helm."""
    kubeconfig = region.home / "regions" / ENVIRONMENT / "kubeconfigs" / f"{cluster}.yaml"
    command = [binaries.path("helm"), "list", "--all-namespaces", "--output", "json", "--kubeconfig", kubeconfig]
    result = subprocess.run(command, capture_output=True, text=True, check=True, env=region.variables)
    return {one["name"]: one["status"] for one in json.loads(result.stdout)}


def test_releases_of_the_management_cluster_are_real_and_their_pods_run_on_its_nodes(running: LocalRegion) -> None:
    api = running.api()
    pods = [
        pod
        for pod in api.list("v1", "Pod")
        if dig(pod, "metadata", "labels", "app.kubernetes.io/instance") in IN_MANAGEMENT
    ]

    assert listed(running, "management") == dict.fromkeys(IN_MANAGEMENT, "deployed")
    assert {pod["metadata"]["labels"]["app.kubernetes.io/instance"] for pod in pods} == IN_MANAGEMENT
    assert {pod["status"]["phase"] for pod in pods} == {"Running"}
    assert {pod["spec"]["nodeName"].rpartition("-")[0] for pod in pods} == {"management"}


def test_manual_edits_of_an_operator_are_repaired_and_are_no_drift(running: LocalRegion) -> None:
    management, tenant = running.api(), running.api(CLUSTER)
    management.patch(CERT_MANAGER, {"spec": {"replicas": 3}}, field_manager="kubectl")
    tenant.delete(ROLE)
    edited = running.jacquard("drift", ENVIRONMENT)

    wait_until(
        lambda: dig(management.get(CERT_MANAGER), "spec", "replicas") == 1 and tenant.get(ROLE) is not None,
        timeout_seconds=120,
        what="both are as the charts have them",
    )

    after = running.jacquard("drift", ENVIRONMENT)
    assert (edited.code, after.code) == (0, 0), edited.text + after.text
    log = (running.home / "regions" / ENVIRONMENT / "logs" / "operators.log").read_text(encoding="utf-8")
    corrected = {line.rpartition("DriftCorrected: ")[2] for line in log.splitlines() if "DriftCorrected" in line}
    assert corrected == {"Deployment cert-manager", f"ClusterRole {ROLE.name}"}
