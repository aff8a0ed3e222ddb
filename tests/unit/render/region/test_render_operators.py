"""Releases of charts: explicit Flux settings, equal except for differences of the clusters."""

from __future__ import annotations

from components.render.region.operators import Operator, cluster_release, release, tenant_release

DRIVER = Operator(chart="driver", namespace="driver-system", values={"a": 1}, depends_on=("certificates",))
STEP = {"crds": "CreateReplace", "strategy": {"name": "RetryOnFailure", "retryInterval": "2m"}}
SPEC = {
    "chartRef": {"kind": "OCIRepository", "name": "driver", "namespace": "operators"},
    "releaseName": "driver",
    "targetNamespace": "driver-system",
    "interval": "1h",
    "timeout": "600s",
    "dependsOn": [{"name": "certificates"}],
    "install": STEP,
    "upgrade": STEP,
    "driftDetection": {"mode": "enabled"},
    "values": {"a": 1},
}


def test_a_release_is_retried_and_neither_rolled_back_nor_uninstalled() -> None:
    found = release(DRIVER)

    assert (found.namespace, found.body["spec"]) == ("operators", SPEC)
    assert found.readiness is not None
    # The wait includes Helm's own wait, and one retry.
    assert found.readiness.timeout_seconds == 900


INSIDE = {**SPEC, "kubeConfig": {"secretRef": {"name": "acme-train-kubeconfig"}}, "storageNamespace": "driver-system"}


def test_a_release_in_a_tenants_cluster_keeps_its_state_there_and_waits_for_its_pods() -> None:
    found = tenant_release(DRIVER, "acme-train", {}, awaited=False)

    assert (found.namespace, found.readiness, found.body["spec"]) == ("acme-train", None, INSIDE)


def test_a_release_that_later_objects_need_waits_for_no_pods_while_nodes_boot() -> None:
    found = tenant_release(DRIVER, "acme-train", {}, awaited=True)
    step = {"disableWait": True, **STEP}

    assert found.readiness is not None
    assert found.body["spec"] == {**INSIDE, "timeout": "300s", "install": step, "upgrade": step}


def test_a_release_of_a_cluster_in_the_management_cluster_is_protected_with_it() -> None:
    found = cluster_release(DRIVER, "acme-train", protect=True)

    assert (found.namespace, found.protect, found.body["spec"]) == ("acme-train", True, SPEC)
