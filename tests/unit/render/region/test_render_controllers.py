"""Metrics of controllers of the management cluster; `test_alert_series` evaluates the alerts about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.render.region import cluster_api
from components.render.region.controllers.controller_alerts import watch
from components.render.region.controllers.controller_metrics import PODS, ControllerPods
from components.render.region.region import region_operators
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend, RegionSpec
from jacquard.lab.rehearsal.operators.releases.provider_manifests import recorded
from tests.support.add_ons.helm_charts import CHARTS, Helm
from tests.support.data.environment_data import reference
from tests.support.monitoring.stored_region import region

KAMAJI, K0SMOTRON = ControlPlaneBackend
METAL3, IRONCORE = BareMetalBackend
TOKEN = "/var/run/secrets/kubernetes.io/serviceaccount/token"


def backed(control_planes: ControlPlaneBackend, metal: BareMetalBackend) -> RegionSpec:
    """Return a region with these backends."""
    spec = region()
    return spec.model_copy(
        update={
            "control_planes": spec.control_planes.model_copy(update={"backend": control_planes}),
            "bare_metal": spec.bare_metal.model_copy(update={"backend": metal}),
        }
    )


def watched(spec: RegionSpec, *, sessions: bool = False) -> list[Manifest]:
    """Return the objects that collect the metrics of the controllers, and their alerts."""
    made = watch(region_operators(spec, dpf=False), cluster_api.providers(spec), spec.thresholds, sessions=sessions)
    return [*made.members.values()]


def of_kind(items: list[Manifest], kind: str) -> list[Manifest]:
    return [item for item in items if item.kind == kind]


def alerts(items: list[Manifest]) -> set[str]:
    [rules] = of_kind(items, "PrometheusRule")
    return {rule["alert"] for group in rules.body["spec"]["groups"] for rule in group["rules"]}


def test_the_pods_were_read_at_the_pinned_versions() -> None:
    versions = reference("laptop").versions
    pinned = {pin.name: pin.version for pin in (*versions.charts, *versions.manifests)}
    for backends in ((KAMAJI, METAL3), (K0SMOTRON, IRONCORE)):
        providers = cluster_api.providers(backed(*backends))
        pinned |= {item.label: versions.cluster_api.releases[item.release] for item in providers}

    assert {pods.of: pods.version for pods in PODS} == {pods.of: pinned[pods.of] for pods in PODS}


@pytest.mark.parametrize("chart", sorted({pods.of for pods in PODS} & CHARTS.keys()))
def test_charts_have_pods_with_the_labels_and_ports(chart: str, tmp_path: Path) -> None:
    helm = Helm(tmp_path, reference("laptop").versions.kubernetes[-1])
    templates = [
        item["spec"]["template"]
        for item in helm.template(chart, "here", chart, {})
        if "template" in item.get("spec", {})
    ]

    for pods in (pods for pods in PODS if pods.of == chart):
        labels = {key: value.format(release="here") for key, value in pods.labels.items()}
        selected = [item for item in templates if labels.items() <= item["metadata"]["labels"].items()]
        assert [pods.port in ports(item) for item in selected] == [True], pods.job


def ports(template: Any) -> set[int]:
    return {port["containerPort"] for entry in template["spec"]["containers"] for port in entry.get("ports", ())}


@pytest.mark.parametrize(
    "pods", [pods for pods in PODS if (pods.of, pods.version) in recorded()], ids=lambda pods: pods.of
)
def test_providers_serve_metrics_by_tls_at_the_port(pods: ControllerPods) -> None:
    arguments = dict(text.split("=", 1) for text in recorded()[pods.of, pods.version].arguments if "=" in text)

    assert arguments.get("--diagnostics-address", ":8443") == f":{pods.port}"
    assert arguments.get("--insecure-diagnostics", "false") == str(not pods.tls).lower()


@pytest.mark.parametrize("backends", [(KAMAJI, METAL3), (K0SMOTRON, IRONCORE)], ids=str)
def test_every_service_is_selected_by_one_monitor_with_its_job(backends: Any) -> None:
    items = watched(backed(*backends))
    monitors = [item.body["spec"] for item in of_kind(items, "ServiceMonitor")]

    for service in of_kind(items, "Service"):
        [job] = [value for key, value in service.body["metadata"]["labels"].items() if key == monitors[0]["jobLabel"]]
        selecting = [
            spec
            for spec in monitors
            if job in spec["selector"]["matchExpressions"][0]["values"]
            and service.namespace in spec["namespaceSelector"]["matchNames"]
        ]
        assert len(selecting) == 1, service.key


def test_only_requests_by_tls_contain_the_token() -> None:
    tls, plain = of_kind(watched(backed(KAMAJI, METAL3)), "ServiceMonitor")

    [secure], [open_to_all] = tls.body["spec"]["endpoints"], plain.body["spec"]["endpoints"]
    assert (secure["scheme"], secure["bearerTokenFile"]) == ("https", TOKEN)
    assert {"scheme", "bearerTokenFile", "tlsConfig"}.isdisjoint(open_to_all)
    assert plain.body["spec"]["selector"]["matchExpressions"][0]["values"] == ["kamaji", "victoria-metrics-operator"]


def test_kamajis_provider_gets_the_permission_that_its_role_lacks() -> None:
    [binding] = of_kind(watched(backed(KAMAJI, METAL3)), "ClusterRoleBinding")

    assert binding.body["roleRef"]["name"] == "system:auth-delegator"
    [account] = binding.body["subjects"]
    assert (account["namespace"], account["name"]) == ("kamaji-system", "capi-kamaji-controller-manager")
    assert of_kind(watched(backed(K0SMOTRON, METAL3)), "ClusterRoleBinding") == []


def test_each_bare_metal_controller_has_a_service() -> None:
    environment = reference("us-east-04a")
    foundation = next(iter(slices(environment)))
    services = [
        item for item in objects(manifests(environment, foundation)) if item.name == "baremetal-operator-metrics"
    ]

    assert [item.namespace for item in services] == [
        "baremetal-operator-system",
        *(f"baremetal-operator-boot-{number}" for number in range(1, 7)),
    ]


def test_alerts_are_those_of_the_backends() -> None:
    common = {"ControllerDown", "ControllerMetricsMissing", "ControllerFails", "ControllerStuck"}
    common |= {"AddressAgentsDown", "AddressConfigurationStale"}

    assert alerts(watched(backed(K0SMOTRON, IRONCORE))) == common
    more = {"IronicNotReady", "BgpSessionDown", "ControlPlaneCertificateNotRenewed"}
    assert alerts(watched(backed(KAMAJI, METAL3), sessions=True)) == {*common, *more}


def test_controllers_without_metrics_and_flux_are_reported_when_they_are_down() -> None:
    [rules] = of_kind(watched(backed(KAMAJI, METAL3)), "PrometheusRule")
    down = next(
        rule for group in rules.body["spec"]["groups"] for rule in group["rules"] if rule["alert"] == "ControllerDown"
    )

    for namespace in ("flux-system", "ironic-standalone-operator-system", "kamaji-system"):
        assert namespace in down["expr"]
    assert "monitoring" not in down["expr"]
