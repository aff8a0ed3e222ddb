"""The metrics store: its pods, its proxy, and the read and write permissions of a cluster's credential."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.inputs.tenant_network import services
from components.render.manifest import Manifest, objects
from components.render.region import metrics_monitors, metrics_store, monitoring
from components.render.region.metrics_store import render, user
from components.specs.base import Address
from components.specs.region.observability import MetricsStoreSpec
from components.specs.region.region import RegionSpec
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.monitoring.stored_region import RECORDS

ADDRESS = Address("10.3.0.249")
CLUSTERS = {"acme-train": "acme", "globex-lab": "globex"}


def region(**changes: Any) -> RegionSpec:
    """Return laptop's region with a store."""
    spec = reference("laptop").region
    assert spec.observability is not None
    size: dict[str, Any] = {"size": "50Gi", "storage_class": "local-nvme", "address": ADDRESS}
    metrics = MetricsStoreSpec(**size | changes)
    changed: RegionSpec = spec.model_copy(
        update={"observability": spec.observability.model_copy(update={"metrics": metrics})}
    )
    return changed


def spec_of(kind: str, spec: RegionSpec) -> dict[str, Any]:
    """Return the only object of a kind."""
    [found] = [item for item in objects(render(spec, CLUSTERS, RECORDS)) if item.kind == kind]
    return dict(found.body["spec"])


def test_each_sample_is_on_two_storage_pods_on_different_hosts() -> None:
    spec = region(storage_pods=5)
    spread = spec.model_copy(update={"control_planes": spec.control_planes.model_copy(update={"hosts": 5})})
    cluster = spec_of("VMCluster", spread)

    assert (cluster["replicationFactor"], cluster["vmstorage"]["replicaCount"]) == (2, 5)
    by_host = [
        item
        for item in cluster["vmstorage"]["topologySpreadConstraints"]
        if item["topologyKey"] == "kubernetes.io/hostname"
    ]
    assert [(item["maxSkew"], item["whenUnsatisfiable"]) for item in by_host] == [(1, "DoNotSchedule")]
    assert by_host[0]["labelSelector"]["matchLabels"]["app.kubernetes.io/name"] == "vmstorage"
    for part in ("vminsert", "vmselect", "vmstorage"):
        assert cluster[part]["podDisruptionBudget"] == {"maxUnavailable": 1}


def test_the_store_keeps_one_sample_of_both_replicas_of_prometheus() -> None:
    cluster, spec = spec_of("VMCluster", region()), region()
    prometheus = monitoring.operator(spec).values["prometheus"]["prometheusSpec"]

    assert prometheus["remoteWrite"] == [
        {"url": "http://vminsert-metrics.metrics.svc:8480/insert/0/prometheus/api/v1/write"}
    ]
    assert prometheus["replicaExternalLabelNameClear"] is True
    for part in ("vmselect", "vmstorage"):
        assert cluster[part]["extraArgs"] == {"dedup.minScrapeInterval": "30s"}


def test_data_decide_retention_class_and_size() -> None:
    cluster = spec_of("VMCluster", region(retention_days=7, size="1Ti", storage_class="fast"))
    volume = cluster["vmstorage"]["storage"]["volumeClaimTemplate"]["spec"]

    assert cluster["retentionPeriod"] == "7d"
    assert (volume["storageClassName"], volume["resources"]) == ("fast", {"requests": {"storage": "1Ti"}})


def test_the_proxy_serves_the_address_and_not_its_own_metrics() -> None:
    proxy = spec_of("VMAuth", region())
    service = proxy["serviceSpec"]

    assert service["metadata"]["annotations"]["metallb.io/loadBalancerIPs"] == str(ADDRESS)
    assert service["spec"]["ports"] == [{"name": "http", "port": 8427, "targetPort": 8427}]
    assert "useAsDefault" not in service
    assert proxy["internalListenPort"] != proxy["port"] == "8427"
    assert "unauthorizedUserAccessSpec" not in proxy


def test_a_credential_decides_the_labels_of_samples_and_the_tenant_of_queries() -> None:
    written, read = user("here", "acme", "acme-train").body["spec"]["targetRefs"]

    assert (written["crd"]["kind"], written["paths"]) == ("VMCluster/vminsert", ["/api/v1/write"])
    assert written["query_args"] == [
        {"name": "extra_label", "values": ["region=here", "tenant=acme", "cluster=acme-train"]}
    ]
    assert read["crd"]["kind"] == "VMCluster/vmselect"
    # extra_filters[] would be combined with a client's extra_filters by "or".
    assert read["query_args"] == [{"name": "extra_label", "values": ["tenant=acme"]}]
    assert not any(path in {"/", "/.*"} or "admin" in path for path in read["paths"])


def test_each_cluster_has_a_user_in_its_namespace() -> None:
    users = [item for item in objects(render(region(), CLUSTERS, RECORDS)) if item.kind == "VMUser"]

    assert [(item.namespace, item.body["spec"]["username"]) for item in users] == [
        ("acme-train", "acme-train"),
        ("globex-lab", "globex-lab"),
    ]
    assert metrics_store.user_secret("acme-train") == f"vmuser-{users[0].name}"


@pytest.mark.parametrize("name", REFERENCES)
def test_no_rendered_object_contains_a_credential_of_the_store(name: str) -> None:
    items = [item for item in everything(reference(name)) if isinstance(item, Manifest)]
    users = [item.body["spec"] for item in items if item.kind == "VMUser"]

    assert all(spec["generatePassword"] for spec in users)
    assert not any({"password", "bearerToken", "passwordRef", "tokenRef"} & spec.keys() for spec in users)
    for item in items:
        secret = item.body["spec"].get("values", {}).get("prometheus", {}) if item.kind == "HelmRelease" else {}
        assert secret.get("extraSecret", {}).get("data", {}).keys() <= {"username"}, item.key
        assert (item.kind, item.name.startswith("vmuser-")) != ("Secret", True), item.key


def test_every_vpc_reaches_the_store_at_the_port_of_its_proxy() -> None:
    [*_, store] = services(region())

    assert (store.name, store.address, store.port) == ("metrics", ADDRESS, 8427)


def test_nodes_reach_only_the_port_of_the_proxy_in_the_namespace_of_the_store() -> None:
    place = ("NetworkPolicy", metrics_store.NAMESPACE)
    [policy] = [item for item in everything(reference("lab")) if (item.kind, item.namespace) == place]
    open_ports = [rule["ports"] for rule in policy.body["spec"]["ingress"] if "ports" in rule]

    assert open_ports == [[{"port": 8427, "protocol": "TCP"}]]


def test_rules_are_sent_to_both_replicas_of_alertmanager() -> None:
    alerts, values = spec_of("VMAlert", region()), monitoring.operator(region()).values

    assert len(alerts["notifiers"]) == values["alertmanager"]["alertmanagerSpec"]["replicas"]
    assert alerts["externalLabels"] == {"region": "laptop"}


def test_each_component_of_the_store_is_monitored_at_a_port_that_serves_its_metrics() -> None:
    store = metrics_store.store_of(region(storage_pods=4))
    assert store is not None
    parts, proxy, rule = metrics_monitors.render(region(storage_pods=4))
    components = spec_of("VMCluster", region()).keys() & {"vminsert", "vmselect", "vmstorage"}

    [expression] = parts.body["spec"]["selector"]["matchExpressions"]
    assert set(expression["values"]) == components
    assert proxy.body["spec"]["selector"] == {"matchLabels": {"app.kubernetes.io/name": "vmauth"}}
    ports = [item.body["spec"]["podMetricsEndpoints"][0]["port"] for item in (parts, proxy)]
    assert ports == ["http", "internal"]
    alerts = {entry["alert"]: entry["expr"] for entry in rule.body["spec"]["groups"][0]["rules"]}
    assert alerts["MetricsStoreDegraded"].endswith("< 4")
    assert all(f'job="{part}"' in alerts["MetricsStoreDown"] for part in (*components, "vmauth"))


def test_a_region_without_an_address_has_no_store() -> None:
    spec = region(address=None)

    assert render(spec, CLUSTERS, RECORDS) == ()
    assert metrics_store.operators(spec) == ()
    assert "remoteWrite" not in monitoring.operator(spec).values["prometheus"]["prometheusSpec"]
    assert [service.name for service in services(spec)] == ["registry"]
