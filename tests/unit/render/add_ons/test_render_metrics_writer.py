"""Agents that write the metrics of clusters to the store of the region: values, password and rules."""

from __future__ import annotations

import re
from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.add_ons import add_ons, left_out, metrics_writer
from components.lookups.pools import PlacedCluster, clusters
from components.render.add_ons.add_on_values import VALUES
from components.render.add_ons.metrics_writer import CHART, MetricsWriter, delivered, sink_alerts
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.rules.add_ons.add_ons import without_in_vain
from components.specs.add_ons.add_ons import Capability
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.region.metrics_sink import MetricsSinkSpec
from components.specs.struct import replace
from tests.support.add_ons.cluster_shape import facts
from tests.support.data.environment_data import reference

AGENT = MetricsWriter(address=Address("10.3.0.249"), agent=True, shards=3)
SERVER = MetricsWriter(address=Address("10.3.0.249"), agent=False)


def values(writer: MetricsWriter | None) -> dict[str, Any]:
    return VALUES[CHART](facts(writer=writer))


def placed(name: str) -> tuple[Environment, PlacedCluster]:
    environment = reference("eu-south-03a")
    [found] = [item for item in clusters(environment) if item.cluster.name == name]
    return environment, found


def rendered(name: str) -> list[Manifest]:
    [made] = of_cluster(*placed(name))
    return list(objects(made.render()))


def test_an_agent_writes_to_the_store_and_keeps_nothing_else() -> None:
    found = values(AGENT)
    prometheus = found["prometheus"]

    assert (prometheus["agentMode"], prometheus["prometheusSpec"]["shards"]) == (True, 3)
    [target] = prometheus["prometheusSpec"]["remoteWrite"]
    assert target["url"] == "https://10.3.0.249:8427/api/v1/write"
    assert target["basicAuth"] == {
        key: {"name": prometheus["extraSecret"]["name"], "key": key} for key in ("username", "password")
    }
    assert target["tlsConfig"] == {"ca": {"secret": {"name": prometheus["extraSecret"]["name"], "key": "ca"}}}
    assert not any(found[part]["enabled"] for part in ("alertmanager", "grafana"))
    assert found["defaultRules"] == {"create": False}


@pytest.mark.parametrize("writer", [AGENT, SERVER, None])
def test_all_nodes_of_a_large_cluster_are_targets(writer: MetricsWriter | None) -> None:
    """Endpoints have at most 1,000 pods; the operator itself writes the addresses of kubelets."""
    found = values(writer)

    assert found["prometheus"]["prometheusSpec"]["serviceDiscoveryRole"] == "EndpointSlice"
    assert found["prometheusOperator"]["kubeletEndpointSliceEnabled"] is True


def test_prometheus_of_a_tenant_also_writes_to_the_store() -> None:
    found = values(SERVER)

    assert "agentMode" not in found["prometheus"]
    assert (
        found["prometheus"]["prometheusSpec"]["remoteWrite"]
        == (values(AGENT)["prometheus"]["prometheusSpec"]["remoteWrite"])
    )
    assert "shards" not in found["prometheus"]["prometheusSpec"]
    assert "defaultRules" not in found


def test_without_a_store_nothing_is_written() -> None:
    found = values(None)

    assert "extraSecret" not in found["prometheus"]
    assert "remoteWrite" not in found["prometheus"]["prometheusSpec"]
    assert delivered(None, CHART, "c1") == ()


def test_flux_adds_password_and_ca_to_the_user_name() -> None:
    source, authority = delivered(AGENT, CHART, "c1")

    assert source == {
        "kind": "Secret",
        "name": "vmuser-c1-metrics",
        "valuesKey": "password",
        "targetPath": "prometheus.extraSecret.data.password",
    }
    assert authority == {
        "kind": "Secret",
        "name": "store-client",
        "valuesKey": "ca.crt",
        "targetPath": "prometheus.extraSecret.data.ca",
    }
    assert values(AGENT)["prometheus"]["extraSecret"]["data"] == {"username": "c1"}
    assert delivered(AGENT, "gpu-operator", "c1") == ()


def test_every_cluster_of_a_region_with_a_store_has_a_writer() -> None:
    environment = reference("us-east-04a")

    for item in clusters(environment):
        providers = [entry for entry in add_ons(environment, item) if entry.gives is Capability.MONITORING]
        writer = metrics_writer(environment, item)
        assert len(providers) == 1, item.cluster.name
        assert writer is not None
        assert writer.agent


def test_a_cluster_may_leave_out_the_agent_with_a_reason() -> None:
    environment = reference("lab")
    [tenant] = environment.tenants
    [cluster] = tenant.clusters
    without = cluster.model_copy(update={"without_add_ons": {"monitoring": "OPS-7"}})
    changed = environment.model_copy(update={"tenants": (tenant.model_copy(update={"clusters": (without,)}),)})

    [item] = clusters(changed)
    assert Capability.MONITORING not in {entry.gives for entry in add_ons(changed, item)}
    assert left_out(changed) == {
        "research": ("monitoring is left out (OPS-7), so problems of add-ons and nodes are not reported",)
    }
    assert [*without_in_vain(changed)] == []


def test_a_cluster_that_lists_the_add_on_keeps_its_prometheus_and_rules() -> None:
    writer = metrics_writer(*placed("solstice-lab"))
    kinds = {
        (item.cluster, item.kind) for item in rendered("solstice-lab") if item.kind in {"PrometheusRule", "VMRule"}
    }

    assert writer is not None
    assert not writer.agent
    assert kinds == {("solstice-lab", "PrometheusRule")}


def test_the_store_evaluates_the_rules_of_a_cluster_with_an_agent() -> None:
    [rule] = [item for item in rendered("tessera-render") if item.kind == "VMRule"]
    [group] = rule.body["spec"]["groups"]

    assert (rule.cluster, rule.namespace) == (MANAGEMENT, "tessera-render")
    assert group["params"] == {"extra_label": ["tenant=tessera", "cluster=tessera-render"]}
    assert [entry["alert"] for entry in group["rules"]][:1] == ["ClusterMetricsMissing"]
    for entry in group["rules"]:
        assert {"tenant": "tessera", "cluster": "tessera-render"}.items() <= entry["labels"].items()


def test_large_clusters_have_several_agents() -> None:
    numbers = {}
    for name in ("us-east-04a", "lab"):
        environment = reference(name)
        for item in clusters(environment):
            writer = metrics_writer(environment, item)
            assert writer is not None
            numbers[item.cluster.name] = writer.shards

    assert numbers["aurelia-train"] > 10
    assert numbers["research"] == 1


def with_sink(**fields: Any) -> dict[str, Any]:
    spec = MetricsSinkSpec(**{"endpoint": "https://metrics.acme.example/api/v1/write"} | fields)
    found: dict[str, Any] = values(replace(AGENT, sink=spec))["prometheus"]["prometheusSpec"]
    return found


def test_a_sink_is_a_second_target_that_leaves_the_store_as_it_is() -> None:
    found, without = with_sink(), values(AGENT)["prometheus"]["prometheusSpec"]

    [target] = found.pop("additionalRemoteWrite")
    assert found == without
    assert target["url"] == "https://metrics.acme.example/api/v1/write"
    assert {"authorization", "writeRelabelConfigs"}.isdisjoint(target)


def test_the_token_of_a_sink_is_a_file_of_a_secret_that_may_be_missing() -> None:
    found = with_sink(secret="metrics-sink")

    [target], [volume], [mount] = found["additionalRemoteWrite"], found["volumes"], found["volumeMounts"]
    assert volume["name"] == mount["name"]
    assert volume["secret"]["optional"] is True
    assert volume["secret"]["secretName"] == "metrics-sink"
    [item] = volume["secret"]["items"]
    assert target["authorization"] == {"credentialsFile": f"{mount['mountPath']}/{item['path']}"}
    # The kubelet does not update a file that is mounted by a path below the Secret.
    assert "subPath" not in mount


def test_names_of_metrics_select_whole_names_and_prefixes() -> None:
    [target] = with_sink(metrics=("up", "DCGM_*", "job:errors:rate5m"))["additionalRemoteWrite"]

    [rule] = target["writeRelabelConfigs"]
    assert (rule["action"], rule["sourceLabels"]) == ("keep", ["__name__"])
    kept = ("up", "DCGM_FI_DEV_GPU_UTIL", "job:errors:rate5m")
    dropped = ("node_load1", "upper", "X_DCGM_FI_DEV_GPU_UTIL")
    assert [bool(re.fullmatch(rule["regex"], name)) for name in (*kept, *dropped)] == [True] * 3 + [False] * 3


def test_only_clusters_of_the_tenant_write_to_its_sink() -> None:
    environment = reference("us-east-04a")
    sinks = {item.cluster.name: metrics_writer(environment, item) for item in clusters(environment)}
    [tenant] = [item for item in environment.tenants if item.metrics_sink]
    of_tenant = {cluster.name for cluster in tenant.clusters}

    assert of_tenant
    assert {name for name, writer in sinks.items() if writer is not None and writer.sink} == of_tenant


def test_an_alert_about_the_sink_is_a_rule_of_clusters_with_a_sink() -> None:
    spec = MetricsSinkSpec(endpoint="https://metrics.acme.example/api/v1/write")
    [alert] = sink_alerts(replace(AGENT, sink=spec))
    [target] = with_sink()["additionalRemoteWrite"]

    assert alert["expr"].count(f'remote_name="{target["name"]}"') == 2
    assert alert["labels"]["audience"] == "tenant"
    assert sink_alerts(AGENT) == sink_alerts(None) == ()
