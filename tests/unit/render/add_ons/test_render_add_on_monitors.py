"""Monitors of add-ons in clusters with their own monitoring, and none in other clusters."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.inputs.manifests import everything
from components.lookups.health.node_checks import library_checks
from components.lookups.pools import clusters
from components.render.add_ons.add_ons import AddOnsInput
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.health.node_checks import Detector
from components.specs.struct import replace
from tests.support.data.environment_data import reference
from tests.support.data.nvlink_racks import racks
from tests.support.objects.rendered_objects import objects_of

WATCHED = {"gpus", "metallb", "node-problems", "metrics-server", "cert-manager"}
"""Default add-ons whose charts bring monitors."""
FAULTS = [name.title().replace("-", "") for name in library_checks()]
OF_METRICS = [
    name.title().replace("-", "") for name, check in library_checks().items() if check.detector is Detector.METRICS
]
OF_TESTS = "NodeTestFailed"
CERTIFICATES = ["CertManagerDown", "CertificateNotReady", "CertificateNotRenewed"]


def items(environment: Environment, *without: str) -> tuple[Manifest, ...]:
    """Return the add-on objects of acme-train with monitoring, without one add-on."""
    [placed] = [placed for placed in clusters(environment) if placed.cluster.name == "acme-train"]
    reasons = dict.fromkeys(without, "not wanted")
    asked = placed.cluster.model_copy(update={"add_ons": ("default", "monitoring"), "without_add_ons": reasons})
    [given] = of_cluster(environment, replace(placed, cluster=asked))
    return objects_of(given)


def test_monitors_are_not_awaited_in_clusters_without_their_kinds(inputs_of: Any) -> None:
    plain = objects_of(inputs_of(AddOnsInput)[0])

    assert [item for item in plain if item.kind == "PrometheusRule"] == []
    assert 'erviceMonitor": {"enabled": true' not in json.dumps([dict(item.body) for item in plain])


def test_alerts_of_a_cluster_name_its_region_tenant_and_cluster(laptop: Environment) -> None:
    [release] = [item for item in items(laptop) if item.kind == "HelmRelease" and item.name == "monitoring"]

    assert release.body["spec"]["values"]["prometheus"]["prometheusSpec"]["externalLabels"] == {
        "region": "laptop",
        "tenant": "acme",
        "cluster": "acme-train",
    }


def test_add_ons_with_monitors_wait_for_their_kinds_and_the_cni_does_not(laptop: Environment) -> None:
    made = items(laptop)
    waits = {item.name for item in made if {"name": "monitoring"} in item.body.get("spec", {}).get("dependsOn", ())}
    releases = [item for item in made if item.kind == "HelmRelease"]

    assert waits == WATCHED
    assert [item.name for item in releases][:2] == ["cilium", "monitoring"]
    assert [item.name for item in releases if item.readiness] == [
        "cilium",
        "monitoring",
        "node-features",
        "node-readiness",
        "metallb",
    ]
    assert made[-1].kind == "PrometheusRule"


@pytest.mark.parametrize(
    ("without", "alerts"),
    [
        ((), [*FAULTS, *CERTIFICATES, "NetworkAgentsDown", "LoadBalancerAddressesShort", "StorageAgentsDown"]),
        (
            ("node-problems", "metallb", "cert-manager"),
            ["DevicesMissing", OF_TESTS, *OF_METRICS, "NetworkAgentsDown", "StorageAgentsDown"],
        ),
        (
            ("node-problems", "node-features", "node-readiness", "metallb"),
            [*OF_METRICS, *CERTIFICATES, "NetworkAgentsDown", "StorageAgentsDown"],
        ),
        (
            ("node-problems", "node-features", "metallb"),
            [OF_TESTS, *OF_METRICS, *CERTIFICATES, "NetworkAgentsDown", "StorageAgentsDown"],
        ),
    ],
)
def test_an_alert_only_covers_existing_add_ons(
    laptop: Environment, without: tuple[str, ...], alerts: list[str]
) -> None:
    *_, rule = items(laptop, *without)

    assert {one["alert"] for group in rule.body["spec"]["groups"] for one in group["rules"]} == {"AddOnDown", *alerts}
    assert (rule.cluster, rule.namespace) == ("acme-train", "monitoring")


def test_a_check_is_an_alert_after_its_hold_time(laptop: Environment) -> None:
    *_, rule = items(laptop)
    alerts = {alert["alert"]: alert for group in rule.body["spec"]["groups"] for alert in group["rules"]}

    down, restarts, flaps, lost = (
        alerts[name] for name in ("FabricLinkDown", "KubeletRestarts", "LinkFlaps", "GpuLost")
    )
    assert [found["for"] for found in (down, restarts, flaps, lost)] == ["600s", "60s", "10m", "300s"]
    assert down["expr"] == library_checks()["fabric-link-down"].expression
    assert (down["labels"], lost["labels"]) == (
        {"severity": "warning", "audience": "tenant"},
        {"severity": "critical", "audience": "tenant", "fault": "node"},
    )


def test_only_alerts_about_repairs_outlast_their_fault_and_replace_that_about_the_node(laptop: Environment) -> None:
    *_, rule = items(laptop)
    alerts = [alert for group in rule.body["spec"]["groups"] for alert in group["rules"]]
    repaired = {"GpuLost", "GpuRebootRequired", "NvswitchFailed", "RebootRequested"}
    repaired |= {"FileSystemReadOnly"}  # By a deviation of the catalogue

    assert {alert["alert"] for alert in alerts if "fault" in alert["labels"]} == repaired
    assert {alert["alert"] for alert in alerts if "keep_firing_for" in alert} == repaired


def test_alerts_on_certificates_of_a_cluster_reach_its_tenant_and_keep_the_labels_of_the_certificate(
    laptop: Environment,
) -> None:
    made = items(laptop)
    [release] = [item for item in made if item.kind == "HelmRelease" and item.name == "cert-manager"]
    alerts = [alert for group in made[-1].body["spec"]["groups"] for alert in group["rules"]]
    of_certificates = [alert for alert in alerts if alert["alert"] in CERTIFICATES]

    assert release.body["spec"]["values"]["prometheus"]["servicemonitor"] == {"enabled": True, "honorLabels": True}
    assert [alert["labels"]["audience"] for alert in of_certificates] == ["tenant"] * 4
    down, *others = of_certificates
    assert 'namespace="cert-manager",deployment="cert-manager"' in down["expr"]
    assert all('job="cert-manager"' in alert["expr"] for alert in others)


def test_certificates_of_kubelets_are_monitored_if_the_chart_has_no_rules() -> None:
    [rules] = [
        item
        for item in everything(reference("eu-south-03a"))
        if item.kind == "VMRule" and item.namespace == "vireo-train"
    ]
    of_agent = {alert["alert"] for group in rules.body["spec"]["groups"] for alert in group["rules"]}
    of_complete = {
        alert["alert"] for group in items(reference("laptop"))[-1].body["spec"]["groups"] for alert in group["rules"]
    }

    assert "KubeletCertificateNotRenewed" in of_agent - of_complete


def test_missing_agents_of_compute_domains_are_reported_if_required(laptop: Environment) -> None:
    *_, rule = items(racks(laptop))
    expressions = {one["alert"]: one["expr"] for group in rule.body["spec"]["groups"] for one in group["rules"]}

    assert expressions["ComputeDomainAgentsDown"] == (
        'kube_daemonset_status_number_unavailable{namespace="dra-driver-nvidia-gpu",'
        'daemonset="dra-driver-nvidia-gpu-kubelet-plugin"}'
        ' > scalar(sum(kube_node_status_condition{condition="Ready",status!="true"}))'
    )


def test_hooks_of_the_monitoring_wait_for_no_pod(laptop: Environment) -> None:
    release = next(item for item in items(laptop) if item.name == "monitoring" and item.kind == "HelmRelease")
    operator = release.body["spec"]["values"]["prometheusOperator"]

    # The chart's hooks create its certificate.
    assert (operator["admissionWebhooks"], operator["tls"]) == ({"enabled": False}, {"enabled": False})
