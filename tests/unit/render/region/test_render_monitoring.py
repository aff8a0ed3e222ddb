"""Metrics and alerts for objects of Flux and Cluster API in the management cluster."""

from __future__ import annotations

import re

import pytest

from components.inputs.manifests import everything
from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.region import monitoring
from components.render.region.monitors import CONTROL_PLANE_JOBS
from tests.support.data.environment_data import REFERENCES, reference

VALUES = monitoring.operator(reference("laptop").region, dpf=True).values
STATE = VALUES["kube-state-metrics"]["customResourceState"]["config"]["spec"]["resources"]
ALERTS = monitoring.rules(reference("laptop").region, dpf=True).body["spec"]["groups"][0]["rules"]


def test_each_alert_reads_a_metric_that_is_exported() -> None:
    exported = {f"{entry['metricNamePrefix']}_{metric['name']}" for entry in STATE for metric in entry["metrics"]}

    used = {name for rule in ALERTS for name in re.findall(r"(?:gotk|capi|dpf)_\w+", rule["expr"])}
    assert used == exported - {"baremetalhost_info"}  # Of a dashboard


def test_kube_state_metrics_may_list_each_kind_that_it_exports() -> None:
    permitted = {
        (group, plural)
        for rule in VALUES["kube-state-metrics"]["rbac"]["extraRules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }

    kinds = {(entry["groupVersionKind"]["group"], f"{entry['groupVersionKind']['kind'].lower()}s") for entry in STATE}
    assert permitted == {(group, plural.replace("repositorys", "repositories")) for group, plural in kinds}


@pytest.mark.parametrize(("name", "kinds"), [("us-east-04a", {"Stack"}), ("laptop", set())])
def test_stacks_have_metrics_if_an_operator_applies_them(name: str, kinds: set[str]) -> None:
    values = monitoring.operator(reference(name).region, dpf=True).values["kube-state-metrics"]
    exported = [entry["groupVersionKind"] for entry in values["customResourceState"]["config"]["spec"]["resources"]]

    assert {of["kind"] for of in exported if of["group"] == "pulumi.com"} == kinds
    permitted = {group for rule in values["rbac"]["extraRules"] for group in rule["apiGroups"]}
    assert ("pulumi.com" in permitted) == bool(kinds)


def test_the_kinds_are_exported_in_the_version_in_which_they_are_applied() -> None:
    of = {(entry["groupVersionKind"]["group"], entry["groupVersionKind"]["kind"]): entry for entry in STATE}
    applied = {
        (group, item.kind): version
        for name in REFERENCES
        for item in everything(reference(name))
        if isinstance(item, Manifest) and (parts := item.api_version.split("/"))[1:]
        for group, version in [parts]
        if (group, item.kind) in of or item.kind == "DPUFlavor"
    }

    created = {
        ("cluster.x-k8s.io", "Machine"): applied[("cluster.x-k8s.io", "MachineDeployment")],
        ("provisioning.dpu.nvidia.com", "DPU"): applied[("provisioning.dpu.nvidia.com", "DPUFlavor")],
    }
    del applied[("provisioning.dpu.nvidia.com", "DPUFlavor")]
    assert {**applied, **created} == {key: entry["groupVersionKind"]["version"] for key, entry in of.items()}


def test_alerts_name_the_region() -> None:
    assert VALUES["prometheus"]["prometheusSpec"]["externalLabels"] == {"region": "laptop"}


@pytest.mark.parametrize("name", REFERENCES)
def test_series_of_a_control_plane_have_its_cluster_and_tenant(name: str) -> None:
    monitors = [item for item in everything(reference(name)) if item.name.endswith("-control-plane")]
    found = [item for item in monitors if item.kind == "ServiceMonitor"]

    assert found
    for item in found:
        owner = {"cluster": item.namespace, "tenant": item.body["metadata"]["labels"][keys.TENANT]}
        for endpoint in item.body["spec"]["endpoints"]:
            rules = (*endpoint.get("relabelings", ()), *endpoint.get("metricRelabelings", ()))
            fixed = {rule["targetLabel"]: rule["replacement"] for rule in rules if "sourceLabels" not in rule}
            assert fixed.items() >= owner.items()
            jobs = {rule["replacement"] for rule in rules if rule["targetLabel"] == "job"}
            assert jobs <= {*CONTROL_PLANE_JOBS}
