"""Monitoring of a local region: configurations from rendered objects."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import everything
from jacquard.lab.rehearsal.monitoring import configuration, targets
from jacquard.lab.rehearsal.monitoring.observed import API, CHART, CONTROL_PLANE, Agent, Discovered, Observed, etcds
from jacquard.lab.rehearsal.operators import containers
from jacquard.lab.rehearsal.operators.releases.installed import HELM
from jacquard.lab.rehearsal.region import MANAGEMENT
from tests.support.data.environment_data import reference

HERE, THERE = "127.0.0.1:1", "127.0.0.1:2"
TRAIN = "acme-train"
CONTROL_PLANES, METRICS, METRICS_LABEL = "acme-train-control-plane", "acme-train-metrics", "jacquard.dev/metrics"
DNS_POD = {
    "metadata": {"namespace": TRAIN, "name": "external-dns-1", "labels": {"app.kubernetes.io/name": "external-dns"}},
    "spec": {
        "containers": [
            {
                "name": "external-dns",
                "image": "registry.k8s.io/external-dns/external-dns:v0.1",
                "ports": [{"name": "http", "containerPort": 7979}],
            }
        ]
    },
    "status": {"phase": "Running", "podIP": "10.244.0.9"},
}
LABELS = {"region": "laptop", "tenant": "acme", "cluster": TRAIN}


def node(name: str, address: str, gpus: int) -> dict[str, Any]:
    status = {"addresses": [{"type": "InternalIP", "address": address}], "capacity": {"nvidia.com/gpu": str(gpus)}}
    return {"metadata": {"name": name}, "status": status}


@pytest.fixture(autouse=True)
def programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let all programs of images exist."""
    monkeypatch.setattr(containers.binaries, "path", Path)


@pytest.fixture(scope="module")
def observed() -> Observed:
    """Return what the monitoring of laptop finds, if one of its clusters has exporters."""
    rendered = [dict(item.body) for item in everything(reference("laptop")) if item.cluster == MANAGEMENT]
    [release] = [one for one in rendered if one["kind"] == "HelmRelease" and one["metadata"]["name"] == CHART]

    def of_kind(version: str, kind: str) -> tuple[dict[str, Any], ...]:
        return tuple(one for one in rendered if (one["apiVersion"], one["kind"]) == (version, kind))

    return Observed(
        values=release["spec"]["values"],
        discovered=Discovered(
            service_monitors=of_kind(API, "ServiceMonitor"),
            pod_monitors=of_kind(API, "PodMonitor"),
            services=of_kind("v1", "Service"),
            pods=(DNS_POD,),
        ),
        etcds=etcds(list(of_kind(HELM, "HelmRelease")), list(of_kind(*CONTROL_PLANE))),
        rules=of_kind(API, "PrometheusRule"),
        agents={TRAIN: Agent(LABELS, (node("cpu-0", "10.64.0.2", 0), node("gpu-0", "10.64.0.3", 8)), has_dcgm=True)},
    )


def test_each_job_scrapes_the_address_of_a_region_through_the_exporters(observed: Observed) -> None:
    written = configuration.prometheus(observed, exporters=HERE, alertmanager=THERE, speed=1)

    assert written["global"] == {
        "scrape_interval": "30000ms",
        "scrape_timeout": "30000ms",
        "evaluation_interval": "30000ms",
        "external_labels": {"region": "laptop"},
    }
    assert written["alerting"] == {"alertmanagers": [{"static_configs": [{"targets": [THERE]}]}]}
    assert {job["proxy_url"] for job in written["scrape_configs"]} == {f"http://{HERE}"}
    found = {job["job_name"]: [one["targets"] for one in job["static_configs"]] for job in written["scrape_configs"]}
    assert found == {
        "management/kube-state-metrics": [["kube-prometheus-stack-kube-state-metrics.monitoring.svc:8080"]],
        "management/apiserver": [["kubernetes.default.svc:443"]],
        "serviceMonitor/acme-train/acme-train-control-plane/0": [["acme-train-metrics.acme-train.svc:6443"]],
        "serviceMonitor/acme-train/acme-train-control-plane/1": [["acme-train-metrics.acme-train.svc:10257"]],
        "serviceMonitor/acme-train/acme-train-control-plane/2": [["acme-train-metrics.acme-train.svc:10259"]],
        "serviceMonitor/globex-lab/globex-lab-control-plane/0": [["globex-lab-metrics.globex-lab.svc:6443"]],
        "serviceMonitor/globex-lab/globex-lab-control-plane/1": [["globex-lab-metrics.globex-lab.svc:10257"]],
        "serviceMonitor/globex-lab/globex-lab-control-plane/2": [["globex-lab-metrics.globex-lab.svc:10259"]],
        "podMonitor/external-dns/external-dns/0": [["10.244.0.9:7979"]],
        "podMonitor/data-stores/shared-a-etcd/0": [
            ["shared-a-etcd-0.shared-a-etcd.data-stores.svc:2381"],
            ["shared-a-etcd-1.shared-a-etcd.data-stores.svc:2381"],
        ],
        "acme-train/kube-state-metrics": [["kube-prometheus-stack-kube-state-metrics.monitoring.svc:8080"]],
        "acme-train/node-exporter": [["10.64.0.2:9100"], ["10.64.0.3:9100"]],
        "acme-train/dcgm-exporter": [["10.64.0.3:9400"]],
    }


def test_a_monitor_keeps_its_relabelings_and_names_its_cluster(observed: Observed) -> None:
    written = configuration.prometheus(observed, exporters=HERE, alertmanager=THERE, speed=1)
    [job] = [
        job for job in written["scrape_configs"] if job["job_name"] == f"serviceMonitor/{TRAIN}/{CONTROL_PLANES}/0"
    ]

    assert job["relabel_configs"] == [
        {"action": "replace", "target_label": "cluster", "replacement": TRAIN},
        {"action": "replace", "target_label": "job", "replacement": "apiserver"},
        {"action": "replace", "target_label": "tenant", "replacement": "acme"},
    ]
    labels = {"namespace": TRAIN, "service": METRICS, "endpoint": "apiserver", "job": METRICS}
    page = {"__param_exporter": "apiserver", "__param_cluster": TRAIN}
    assert job["static_configs"][0]["labels"] == {**labels, **page}


@pytest.mark.parametrize(
    ("name", "labels", "part", "pod"),
    [
        (
            f"serviceMonitor/{TRAIN}/{CONTROL_PLANES}/2",
            {"namespace": TRAIN, "service": METRICS, "endpoint": "kube-scheduler", "job": METRICS},
            "acme-train/kube-scheduler",
            "",
        ),
        (
            "podMonitor/data-stores/shared-a-etcd/0",
            {
                "namespace": "data-stores",
                "pod": "shared-a-etcd-0",
                "container": "etcd",
                "endpoint": "metrics",
                "job": "data-stores/shared-a-etcd",
            },
            "acme-train/etcd",
            "",
        ),
        (
            "podMonitor/external-dns/external-dns/0",
            {
                "namespace": TRAIN,
                "pod": "external-dns-1",
                "container": "external-dns",
                "endpoint": "http",
                "job": "external-dns/external-dns",
            },
            "management/external-dns",
            "acme-train/external-dns-1",
        ),
    ],
)
def test_the_target_of_a_monitor_names_the_program_that_serves_it(
    observed: Observed, name: str, labels: dict[str, str], part: str, pod: str
) -> None:
    written = configuration.prometheus(observed, exporters=HERE, alertmanager=THERE, speed=1)
    [job] = [job for job in written["scrape_configs"] if job["job_name"] == name]

    page = {"__param_exporter": "program", "__param_part": part, "__param_pod": pod}
    assert job["static_configs"][0]["labels"] == {**labels, **page}


def test_monitors_without_a_program_are_listed(observed: Observed) -> None:
    assert targets.without_program(observed) == ["management PodMonitor data-stores/default-etcd"]

    controllers = {
        "metadata": {"namespace": "monitoring", "name": "controllers"},
        "spec": {
            "jobLabel": METRICS_LABEL,
            "namespaceSelector": {"matchNames": ["capi-system", "kamaji-system"]},
            "selector": {
                "matchExpressions": [{"key": METRICS_LABEL, "operator": "In", "values": ["cluster-api", "kamaji"]}]
            },
            "endpoints": [{"port": "metrics"}],
        },
    }
    services = tuple(
        {
            "metadata": {"namespace": f"{space}-system", "name": f"{job}-metrics", "labels": {METRICS_LABEL: job}},
            "spec": {"ports": [{"name": "metrics", "port": 8443}]},
        }
        for space, job in (("capi", "cluster-api"), ("kamaji", "kamaji"), ("other", "cluster-api"))
    )
    found = replace(observed.discovered, service_monitors=(controllers,), services=services, pods=())
    more = replace(observed, discovered=found)

    assert targets.without_program(more) == [
        "management PodMonitor data-stores/default-etcd",
        "management PodMonitor external-dns/external-dns",
        "management ServiceMonitor monitoring/controllers: kamaji-system/kamaji-metrics",
    ]
    written = configuration.prometheus(more, exporters=HERE, alertmanager=THERE, speed=1)
    [job] = [job for job in written["scrape_configs"] if job["job_name"].startswith("serviceMonitor/monitoring/")]
    [target] = job["static_configs"]
    assert target["targets"] == ["cluster-api-metrics.capi-system.svc:8443"]
    assert target["labels"].items() >= {"job": "cluster-api", "__param_part": "cluster-api-manager"}.items()


@pytest.mark.parametrize("port", [{"port": "metricshttps"}, {"targetPort": 9120}, {"targetPort": "metrics"}])
def test_a_monitor_in_the_cluster_of_a_tenant_selects_pods_behind_services(
    observed: Observed, port: dict[str, Any]
) -> None:
    def pod(part: str) -> dict[str, Any]:
        ports = [{"name": "metrics", "containerPort": 9120}, {"containerPort": 9121}]
        container = {"name": part, "image": f"quay.io/metallb/{part}:v0.16.1", "ports": ports}
        return {
            "metadata": {"namespace": "metallb-system", "name": f"{part}-1", "labels": {"part": part}},
            "spec": {"containers": [container]},
            "status": {"phase": "Running", "podIP": "10.8.0.1"},
        }

    def service(part: str) -> dict[str, Any]:
        metadata = {"namespace": "metallb-system", "name": f"{part}-metrics", "labels": {"name": part}}
        ports = [{"name": "metricshttps", "port": 9120, "targetPort": 9120}]
        return {"metadata": metadata, "spec": {"selector": {"part": part}, "ports": ports}}

    def monitor(part: str) -> dict[str, Any]:
        endpoint = {**port, "honorLabels": True}
        spec = {"selector": {"matchLabels": {"name": part}}, "endpoints": [endpoint]}
        return {"metadata": {"namespace": "metallb-system", "name": part}, "spec": spec}

    parts = ("controller", "speaker")
    found = Discovered(
        service_monitors=tuple(map(monitor, parts)), services=tuple(map(service, parts)), pods=tuple(map(pod, parts))
    )
    more = replace(observed, agents={TRAIN: replace(observed.agents[TRAIN], discovered=found)})

    written = configuration.prometheus(more, exporters=HERE, alertmanager=THERE, speed=1)
    [job] = [one for one in written["scrape_configs"] if "metallb-system" in one["job_name"]]
    assert (job["job_name"], job["honor_labels"]) == (f"{TRAIN}/serviceMonitor/metallb-system/controller/0", True)
    [target] = job["static_configs"]
    assert target["targets"] == ["10.8.0.1:9120"]
    assert target["labels"] == {
        **LABELS,
        "job": "controller-metrics",
        "namespace": "metallb-system",
        "service": "controller-metrics",
        "pod": "controller-1",
        "container": "controller",
        "endpoint": str(next(iter(port.values()))),
        "__param_exporter": "program",
        "__param_part": f"{TRAIN}/metallb-controller",
        "__param_pod": "metallb-system/controller-1",
    }
    assert f"{TRAIN} ServiceMonitor metallb-system/speaker" in targets.without_program(more)


def test_series_of_nodes_have_the_labels_of_their_agent(observed: Observed) -> None:
    written = configuration.prometheus(observed, exporters=HERE, alertmanager=THERE, speed=1)
    [job] = [job for job in written["scrape_configs"] if job["job_name"] == "acme-train/dcgm-exporter"]

    assert job["static_configs"][0]["labels"] == {"job": "dcgm-exporter", **LABELS, "__param_node": "gpu-0"}


def test_rules_are_those_that_are_rendered(observed: Observed) -> None:
    rendered = {f"{one['metadata']['namespace']}-{one['metadata']['name']}.yaml" for one in observed.rules}

    assert configuration.rules(observed, 1).keys() == rendered
    assert "acme-train-acme-train-control-plane.yaml" in rendered


def test_a_faster_region_waits_less_and_never_scrapes_more_often_than_each_second(observed: Observed) -> None:
    rules = configuration.rules(observed, 10)["monitoring-platform-objects.yaml"]
    holds = {rule["alert"]: rule["for"] for rule in rules["groups"][0]["rules"]}

    assert holds["NodeUnhealthy"] == "18000ms"
    assert configuration.prometheus(observed, exporters=HERE, alertmanager=THERE, speed=1000)["global"][
        "scrape_interval"
    ] == ("1000ms")


def test_routes_are_rendered_and_every_channel_is_the_receiver_of_this_machine(observed: Observed) -> None:
    rendered = observed.values["alertmanager"]["config"]
    written = configuration.alertmanager(observed, receiver=HERE, speed=1)

    assert written["route"]["routes"][1:] == rendered["route"]["routes"][1:]
    assert written["inhibit_rules"] == rendered["inhibit_rules"]
    assert "global" not in written
    hooks = {one["name"]: one.get("webhook_configs") for one in written["receivers"]}
    assert hooks.keys() == {one["name"] for one in rendered["receivers"]}
    assert hooks["tenant/acme/team"] == [
        {"url": f"http://{HERE}/notices/tenant%2Facme%2Fteam", "send_resolved": True},
    ]
    assert hooks["null"] is None


def test_a_region_without_receivers_sends_no_notice(observed: Observed) -> None:
    without = Observed({key: value for key, value in observed.values.items() if key != "alertmanager"})
    assert configuration.alertmanager(without, receiver=HERE, speed=1) == {
        "route": {"receiver": "null"},
        "receivers": [{"name": "null"}],
    }
