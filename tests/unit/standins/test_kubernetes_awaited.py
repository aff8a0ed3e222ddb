"""Kinds whose readiness is awaited without an annotation, by counts, addresses and phases."""

from typing import Any

import pytest

from jacquard.lab.standins.kubernetes.waits import daemon_set, stateful_set
from jacquard.providers.rpc.errors import InitFailed

CLAIM_PATH = "/api/v1/namespaces/toy/persistentvolumeclaims/a"


def body(api_version: str, kind: str, **fields: Any) -> dict[str, Any]:
    annotations = {"pulumi.com/timeoutSeconds": "0"}
    metadata = {"name": "a", "namespace": "toy", "annotations": annotations}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields}


def why_not(kube: Any, inputs: dict[str, Any]) -> str:
    with pytest.raises(InitFailed) as error:
        kube.create(inputs)
    return str(error.value)


@pytest.mark.parametrize(
    ("spec", "status", "lacks"),
    [
        ({}, {}, "its controller has observed generation 0 of 2"),
        (
            {},
            {"replicas": 1, "readyReplicas": 1, "observedGeneration": 1},
            "its controller has observed generation 1 of 2",
        ),
        ({"replicas": 3}, {"replicas": 2}, "2 of 3 replicas exist"),
        ({"replicas": 3}, {"replicas": 3, "readyReplicas": 2}, "2 of 3 replicas are ready"),
        (
            {"replicas": 3},
            {"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
            "1 of 3 replicas are updated",
        ),
        (
            {"replicas": 3, "updateStrategy": {"type": "OnDelete"}},
            {"replicas": 3, "readyReplicas": 3, "currentRevision": "a", "updateRevision": "b"},
            "",
        ),
        (
            {"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
            {"replicas": 3, "readyReplicas": 3, "updatedReplicas": 1, "currentRevision": "a", "updateRevision": "b"},
            "",
        ),
        ({}, {"replicas": 1, "readyReplicas": 1, "currentRevision": "a", "updateRevision": "a"}, ""),
        ({"replicas": 0}, {"replicas": 0}, ""),
    ],
)
def test_a_stateful_set_is_ready_when_its_replicas_are(spec: Any, status: Any, lacks: str) -> None:
    seen = {"observedGeneration": 2} if "observed generation" not in lacks else {}

    assert stateful_set({"metadata": {"generation": 2}, "spec": spec, "status": {**seen, **status}}) == lacks


@pytest.mark.parametrize(
    ("spec", "status", "lacks"),
    [
        ({}, {"observedGeneration": 1}, "its controller has observed generation 1 of 2"),
        ({}, {"desiredNumberScheduled": 2, "updatedNumberScheduled": 1}, "1 of 2 pods are updated"),
        (
            {},
            {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberAvailable": 1},
            "1 of 2 pods are available",
        ),
        ({"updateStrategy": {"type": "OnDelete"}}, {"desiredNumberScheduled": 2, "numberAvailable": 2}, ""),
        ({}, {"desiredNumberScheduled": 2, "updatedNumberScheduled": 2, "numberAvailable": 2}, ""),
        ({}, {}, ""),
    ],
)
def test_a_daemon_set_is_ready_when_every_node_runs_it(spec: Any, status: Any, lacks: str) -> None:
    assert daemon_set({"metadata": {"generation": 2}, "spec": spec, "status": {"observedGeneration": 2, **status}}) == (
        lacks
    )


def test_workloads_and_addresses_are_awaited(kube: Any) -> None:
    assert why_not(kube, body("apps/v1", "StatefulSet", spec={"replicas": 1})) == (
        "StatefulSet toy/a: not ready after 0 s: every pod: 0 of 1 replicas exist"
    )
    assert kube.create(body("apps/v1", "DaemonSet", spec={})).id == "toy/a"
    assert why_not(kube, body("networking.k8s.io/v1", "Ingress", spec={})) == (
        "Ingress toy/a: not ready after 0 s: jsonpath={.status.loadBalancer.ingress[0]}: no value yet"
    )


def test_a_claim_is_awaited_unless_its_class_waits_for_a_pod(kube: Any, api_server: Any) -> None:
    claim = body("v1", "PersistentVolumeClaim", spec={"storageClassName": "fast"})
    unbound = "PersistentVolumeClaim toy/a: not ready after 0 s: jsonpath={.status.phase}=Bound: is absent"
    assert why_not(kube, claim) == unbound

    storage = {"metadata": {"name": "fast"}, "volumeBindingMode": "Immediate"}
    api_server.objects["/apis/storage.k8s.io/v1/storageclasses/fast"] = storage
    assert why_not(kube, claim) == unbound

    storage["volumeBindingMode"] = "WaitForFirstConsumer"
    assert kube.create(claim).id == "toy/a"

    storage["volumeBindingMode"] = "Immediate"
    api_server.objects[CLAIM_PATH]["status"] = {"phase": "Bound"}
    assert kube.create(claim).id == "toy/a"
