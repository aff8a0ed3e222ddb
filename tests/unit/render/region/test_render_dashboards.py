"""Dashboards as Grafana's SDK writes them, and the metrics of their panels."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard

from components.inputs.manifests import manifests
from components.lookups.observed_components import table
from components.lookups.slices import SliceKind, slices
from components.render.manifest import Manifest, objects
from components.render.region import dashboards, monitoring
from components.render.region.logs import accounts
from components.render.region.monitoring import NAMESPACE
from jacquard.lab.dashboards import dashboards as written
from tests.support.data.environment_data import LAPTOP, STARTER, reference
from tests.support.monitoring.recorded_metrics import RECORD, problems

_LABEL_VALUES = re.compile(r"label_values\((?P<expression>.+), (?P<label>\w+)\)")
_NAMES = [
    *("add-ons", "audit", "control-planes", "controllers", "dpus", "fabric", "gpus", "log-store", "logs", "nodes"),
    *("pools", "region", "services", "storage", "tenant", "virtual-machines", "workloads"),
]
_OF_LOGS = ("audit", "logs")
_FILES = pytest.mark.parametrize("name", _NAMES)
_METRICS = pytest.mark.parametrize("name", [name for name in _NAMES if name not in _OF_LOGS])
_MOST_BYTES = 1 << 20


def _dashboard(name: str) -> dict[str, Any]:
    return dict(json.loads((dashboards.FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def test_the_files_are_those_that_the_sdk_writes() -> None:
    assert dashboards.files() == written(), "run python -m jacquard.lab.dashboards"
    assert list(dashboards.files()) == [f"{name}.json" for name in _NAMES]


@_FILES
def test_the_model_of_grafana_reads_a_dashboard_without_loss(name: str) -> None:
    content = _dashboard(name)

    assert json.loads(JSONEncoder().encode(Dashboard.from_json(content))) == content


@_METRICS
def test_panels_only_use_metrics_and_labels_that_exporters_have(name: str) -> None:
    content = _dashboard(name)
    expressions = [target["expr"] for panel in content["panels"] for target in panel["targets"]]

    assert expressions
    assert [problem for expression in expressions for problem in problems(expression, stored=True)] == []


@_FILES
def test_variables_are_defined_and_used(name: str) -> None:
    content = _dashboard(name)
    defined = {entry["name"] for entry in content["templating"]["list"]}
    used = set(re.findall(r"\$\{?([a-z]\w*)", json.dumps(content["panels"])))

    assert used == defined
    for query in _queries(content) if name not in _OF_LOGS else ():
        found = _LABEL_VALUES.fullmatch(query)
        assert found
        by_label = f"count by ({found['label']}) ({found['expression']})"
        assert list(problems(by_label, stored=True)) == []


def _queries(content: dict[str, Any]) -> Iterator[str]:
    yield from (entry["query"] for entry in content["templating"]["list"] if entry["type"] == "query")


def test_only_dashboards_use_the_labels_of_the_store() -> None:
    assert list(problems('DCGM_FI_DEV_GPU_UTIL{cluster="a"}')) == ["DCGM_FI_DEV_GPU_UTIL has no label cluster"]
    assert list(problems('DCGM_FI_DEV_GPU_UTIL{cluster="a"}', stored=True)) == []
    assert RECORD["store_labels"] == ["region", "tenant", "cluster"]


def test_a_replaced_label_requires_its_source() -> None:
    named = 'up and on (service) label_replace(kube_service_info, "service", "$1", "{}", "(.+)")'

    assert list(problems(named.format("cluster_ip"))) == []
    assert list(problems(named.format("cluster_name"))) == ["kube_service_info has no label cluster_name"]


def test_the_config_map_has_the_label_of_the_sidecar_and_the_version_of_the_data() -> None:
    release = reference(LAPTOP.name).versions.release
    item = dashboards.render(NAMESPACE, release)

    assert (item.kind, item.namespace, item.name) == ("ConfigMap", "monitoring", "dashboards")
    assert item.body["metadata"]["labels"]["grafana_dashboard"] == "1"
    assert item.body["metadata"]["annotations"]["jacquard.dev/versions"] == release
    assert item.body["data"].keys() == written().keys() - {"audit.json", "logs.json"}
    everything = dashboards.render(NAMESPACE, release, logs=True)
    assert everything.body["data"] == written()
    assert len(json.dumps(everything.body)) < _MOST_BYTES


def test_a_region_without_observability_has_no_dashboards() -> None:
    rendered = {name: {item.name for item in _config_maps(name)} for name in (LAPTOP.name, STARTER)}

    assert "dashboards" in rendered[LAPTOP.name]
    assert "dashboards" not in rendered[STARTER]


def _config_maps(name: str) -> list[Manifest]:
    [foundation] = [part for part in slices(reference(name)) if part.kind is SliceKind.FOUNDATION]
    return [item for item in objects(manifests(reference(name), foundation)) if item.kind == "ConfigMap"]


@pytest.mark.parametrize(
    ("name", "sources"),
    [
        (LAPTOP.name, None),
        ("lab", [("Metrics of all clusters", "http://vmselect-metrics.metrics.svc:8481/select/0/prometheus")]),
        (
            "us-east-04a",
            [
                ("Metrics of all clusters", "http://vmselect-metrics.metrics.svc:8481/select/0/prometheus"),
                ("Logs of the management cluster", "http://vlselect-logs.metrics.svc:9471"),
                ("Audit events", "http://vlselect-logs.metrics.svc:9471"),
                ("Logs of acme", "http://vlselect-logs.metrics.svc:9471"),
            ],
        ),
    ],
)
def test_grafana_can_select_the_stores_of_the_region(name: str, sources: list[tuple[str, str]] | None) -> None:
    grafana = monitoring.operator(reference(name).region, logged=["acme"]).values.get("grafana")

    assert (grafana and [(entry["name"], entry["url"]) for entry in grafana["additionalDataSources"]]) == sources


def test_each_data_source_of_logs_reads_one_account_and_the_dashboards_select_it() -> None:
    grafana = monitoring.operator(reference("us-east-04a").region, logged=["globex", "acme"]).values["grafana"]
    headers = {
        entry["name"]: tuple(entry["jsonData"]["multitenancyHeaders"].values())
        for entry in grafana["additionalDataSources"]
        if entry["type"] == dashboards.LOGS_PLUGIN
    }

    assert headers == {
        "Logs of the management cluster": ("0", "0"),
        "Audit events": ("0", "1"),
        "Logs of acme": (str(accounts.account("acme")), "0"),
        "Logs of globex": (str(accounts.account("globex")), "0"),
    }
    for name, expected in (("audit", ["Audit events"]), ("logs", [name for name in headers if name != "Audit events"])):
        source = _dashboard(name)["templating"]["list"][0]
        assert source["query"] == dashboards.LOGS_PLUGIN
        assert [title for title in headers if re.match(source["regex"].strip("/"), title)] == expected
    assert len({entry["uid"] for entry in grafana["additionalDataSources"]}) == 1 + len(headers)


def test_grafana_installs_the_plug_in_after_its_start_and_deletes_data_sources_of_former_tenants() -> None:
    grafana = monitoring.operator(reference("us-east-04a").region).values["grafana"]
    url = "https://images.cloud.example/grafana/victoriametrics-logs-datasource-v0.30.1.zip"

    assert grafana["grafana.ini"] == {"plugins": {"preinstall": f"victoriametrics-logs-datasource@0.30.1@{url}"}}
    assert grafana["prune"] is True
    assert "plugins" not in grafana


def test_a_region_with_the_plug_in_has_the_dashboards_of_logs() -> None:
    for name, shown in (("us-east-04a", True), ("eu-south-03a", False)):
        [item] = [item for item in _config_maps(name) if item.name == "dashboards"]
        assert ("logs.json" in item.body["data"], "audit.json" in item.body["data"]) == (shown, shown)
        assert "log-store.json" in item.body["data"]


def test_data_sources_follow_the_tenants_with_clusters() -> None:
    environment = reference("us-east-04a")
    [foundation] = [part for part in slices(environment) if part.kind is SliceKind.FOUNDATION]
    [release] = [
        item
        for item in objects(manifests(environment, foundation))
        if (item.kind, item.name) == ("HelmRelease", "kube-prometheus-stack")
    ]
    names = [entry["name"] for entry in release.body["spec"]["values"]["grafana"]["additionalDataSources"]]

    with_clusters = sorted(tenant.tenant for tenant in environment.tenants if tenant.clusters)
    assert names[3:] == [f"Logs of {tenant}" for tenant in with_clusters]


def test_identifiers_and_titles_are_unique() -> None:
    contents = [_dashboard(name) for name in _NAMES]

    assert (
        len({content["uid"] for content in contents}) == len({content["title"] for content in contents}) == len(_NAMES)
    )


def test_observed_components_name_existing_dashboards() -> None:
    rows = (*table().concepts, *table().management, *table().clusters)
    named = {title for row in rows for title in row.dashboards if not title.startswith("kube-prometheus-stack ")}

    assert named <= {_dashboard(name)["title"] for name in _NAMES}
    assert named
