"""Simulated exporters of the local region: series of rendered kube-state-metrics, and of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from components.render.region.controllers import object_metrics
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import custom_resources, nodes
from jacquard.lab.rehearsal.monitoring.exporters import Exporters, resources_of
from jacquard.lab.rehearsal.monitoring.samples import Sample, text
from jacquard.providers.kube import ObjectRef
from tests.support.monitoring.recorded_metrics import recorded

VALUES = {"kube-state-metrics": object_metrics.metrics(dpf=True, metal3=True, stacks=True)}
RESOURCES = {one["groupVersionKind"]["kind"]: one for one in resources_of(VALUES)}
KIND = 'customresource_group="cluster.x-k8s.io",customresource_version="v1beta2",customresource_kind='
NODE = {
    "metadata": {"name": "gpu-0", "labels": {"nvidia.com/gpu.product": "H100"}},
    "spec": {"taints": [{"key": "workload", "value": "training", "effect": "NoSchedule"}]},
    "status": {
        "capacity": {"cpu": "2", "memory": "1024Ki", "nvidia.com/gpu": "8"},
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "GpuLost", "status": "False"}],
    },
}


def machine(**conditions: str) -> dict[str, Any]:
    return {
        "metadata": {"name": "m-0", "namespace": "c", "labels": {"jacquard.dev/group": "a01"}},
        "status": {
            "nodeRef": {"name": "gpu-0"},
            "conditions": [{"type": kind, "status": status} for kind, status in conditions.items()],
        },
    }


def metrics(kind: str, *objects: dict[str, Any]) -> str:
    return text(custom_resources.samples(RESOURCES[kind], objects))


def test_a_condition_has_a_series_for_each_status_and_missing_labels_are_left_out() -> None:
    name = 'capi_machine_status_condition{KIND"Machine",name="m-0",namespace="c",cluster="c",node="gpu-0"'.replace(
        "KIND", KIND
    )
    found = metrics("Machine", machine(HealthCheckSucceeded="False", Ready="True"))
    assert found.replace(',group="a01"', "") == "".join(
        f'{name},type="HealthCheckSucceeded",status="{status}"}} {value}\n'
        for status, value in (("True", 0), ("False", 1), ("Unknown", 0))
    )


def test_a_condition_that_is_not_reported_has_no_series() -> None:
    assert metrics("Machine", machine(Ready="True")) == ""


def test_every_condition_of_a_cluster_and_its_info_have_the_tenant() -> None:
    labels = {"jacquard.dev/tenant": "acme"}
    conditions = [{"type": "Available", "status": "True"}, {"type": "Paused", "status": "False"}]
    cluster = {
        "metadata": {"name": "c", "namespace": "c", "labels": labels},
        "status": {"conditions": conditions},
    }
    found = list(custom_resources.samples(RESOURCES["Cluster"], [cluster]))

    assert {(one.metric, one.labels.get("type")) for one in found} == {
        ("capi_cluster_status_condition", "Available"),
        ("capi_cluster_status_condition", "Paused"),
        ("capi_cluster_info", None),
    }
    assert {one.labels["tenant"] for one in found} == {"acme"}


def test_a_stack_reports_that_it_is_stalled() -> None:
    conditions = [{"type": "Ready", "status": "False"}, {"type": "Stalled", "status": "True"}]
    stack = {"metadata": {"name": "tenant-a", "namespace": "pko"}, "status": {"conditions": conditions}}

    [found] = custom_resources.samples(RESOURCES["Stack"], [stack])

    labels = {"name": "tenant-a", "exported_namespace": "pko", "ready": "False", "stalled": "True"}
    assert found.metric == "pulumi_stack_info"
    assert labels.items() <= found.labels.items()


def test_a_gauge_without_a_value_is_zero_and_booleans_are_in_lower_case() -> None:
    deployment = {"metadata": {"name": "d", "namespace": "c"}, "spec": {"paused": True}, "status": {}}
    [found] = custom_resources.samples(RESOURCES["MachineDeployment"], [deployment])

    assert (found.metric, found.value) == ("capi_machinedeployment_status_up_to_date_replicas", 0.0)
    assert found.labels["paused"] == "true"


def test_a_type_that_is_not_simulated_is_an_error() -> None:
    resource = {**RESOURCES["Cluster"], "metrics": [{"name": "x", "each": {"type": "Histogram"}}]}
    with pytest.raises(ValueError, match="metrics of type 'Histogram' are not simulated"):
        list(custom_resources.samples(resource, [{"metadata": {}}]))


def test_labels_are_escaped() -> None:
    assert text([Sample("a", {"b": 'c"\\\n'}, 1.5)]) == 'a{b="c\\"\\\\\\n"} 1.5\n'


def unknown(samples: Iterable[Sample]) -> set[str]:
    """Return the metrics and labels that the real exporters do not have."""
    found = [(one.metric, label) for one in samples for label in (*one.labels, "job")]
    return {
        f"{name} {label}" for name, label in found if name not in recorded() or label not in recorded()[name].labels
    }


def test_simulated_series_have_names_and_labels_of_the_real_exporters() -> None:
    every = [*nodes.kube_state([NODE]), *nodes.node_exporter(NODE), *nodes.dcgm_exporter(NODE)]
    for kind, resource in RESOURCES.items():
        body = {"metadata": {"name": kind}, "status": {"conditions": [{"type": "Ready", "status": "True"}]}}
        every += custom_resources.samples(resource, [body])

    assert unknown(every) == set()
    assert unknown([Sample("node_made_up", {}), Sample("node_memory_MemTotal_bytes", {"made": "up"})]) != set()


def test_a_lost_gpu_has_no_series() -> None:
    lost = {**NODE, "status": {**NODE["status"], "conditions": [{"type": "GpuLost", "status": "True"}]}}

    def count(node: dict[str, Any]) -> int:
        return sum(one.metric == "DCGM_FI_DEV_GPU_UTIL" for one in nodes.dcgm_exporter(node))

    assert (count(NODE), count(lost)) == (8, 7)


class Api:
    """API server with one node."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.node = node

    def get(self, ref: ObjectRef) -> dict[str, Any] | None:
        return self.node if ref.name == self.node["metadata"]["name"] else None

    def list(self, _: str, kind: str) -> list[dict[str, Any]]:
        return {"Node": [self.node], "Machine": [machine(HealthCheckSucceeded="True")]}.get(kind, [])

    def request(self, method: str, path: str, *, accept: str) -> str:
        return f"{method} {path} {accept}"


class Apis:
    """Clients of one cluster."""

    def __init__(self, node: dict[str, Any]) -> None:
        self.api = Api(node)

    def of(self, _: str) -> Any:
        return self.api


def exporters(node: dict[str, Any] = NODE) -> Exporters:
    apis: Any = Apis(node)
    return Exporters(apis, lambda: list(RESOURCES.values()), lambda program: f"page of {program.part} {program.pod}")


def test_the_query_of_a_scrape_names_the_exporter() -> None:
    of = exporters()

    assert of({"exporter": "apiserver", "cluster": "c"}) == "GET /metrics text/plain"
    assert "node_memory_MemTotal_bytes 1048576\n" in of({"exporter": "node-exporter", "cluster": "c", "node": "gpu-0"})
    assert of({"exporter": "program", "part": "c/etcd"}) == "page of c/etcd "
    assert of({"exporter": "program", "part": "m/dns", "pod": "a/b"}) == "page of m/dns a/b"
    management = of({"exporter": "kube-state-metrics", "cluster": "management"})
    assert "capi_machine_status_condition" in management
    assert "kube_node_status_condition" in management
    assert "capi_machine" not in of({"exporter": "kube-state-metrics", "cluster": "c"})


def test_exporters_of_a_node_that_is_not_ready_do_not_respond() -> None:
    down = {**NODE, "status": {**NODE["status"], "conditions": [{"type": "Ready", "status": "Unknown"}]}}
    query = {"exporter": "dcgm-exporter", "cluster": "c", "node": "gpu-0"}

    with pytest.raises(RehearsalError, match="node 'gpu-0' of c is not ready"):
        exporters(down)(query)
    with pytest.raises(RehearsalError, match="node 'other' of c is not ready"):
        exporters()({**query, "node": "other"})


def test_an_unknown_exporter_is_an_error() -> None:
    with pytest.raises(RehearsalError, match="'other' is not an exporter of this region"):
        exporters()({"exporter": "other"})
