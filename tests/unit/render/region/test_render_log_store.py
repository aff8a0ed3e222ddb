"""The log store: its pods, and the read and write permissions of a cluster's credential."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.render.backends import CONTROL_PLANES
from components.render.control_planes import audit_policy
from components.render.manifest import objects
from components.render.region import metrics_store
from components.render.region.logs import accounts, log_monitors, log_store
from components.render.region.logs.accounts import OPERATORS, account
from components.render.region.region import operator_places
from components.rules.region import logs as rules
from components.specs.base import bytes_of
from components.specs.control_planes.cluster_namespaces import PodSecurity
from components.specs.region.region import ControlPlaneBackend, RegionSpec
from tests.support.data.environment_data import reference
from tests.support.monitoring.stored_region import CLUSTERS, RECORDS, region

COLLIDING = ("tenant-39588", "tenant-67738")
"""Names with the same first 32 bits of their hashes."""


def store(spec: RegionSpec) -> dict[str, Any]:
    """Return the spec of the store."""
    [found] = [item for item in log_store.render(spec) if item.kind == "VLCluster"]
    return dict(found.body["spec"])


def test_collectors_of_the_management_cluster_write_to_the_account_of_the_operators() -> None:
    spec = region()
    [release], [user] = log_store.operators(spec), [item for item in log_store.render(spec) if item.kind == "VMUser"]
    target, audited = user.body["spec"]["targetRefs"]
    [variable] = release.values["extraEnvs"]

    assert target["crd"]["kind"] == "VLCluster/vlinsert"
    assert target["headers"] == [f"AccountID: {OPERATORS}", "ProjectID: 0"]
    assert audited["headers"] == [f"AccountID: {OPERATORS}", "ProjectID: 1"]
    assert audited["paths"] == ["/audit/insert/opentelemetry/v1/logs"]
    arguments = {item["name"]: item["values"] for item in audited["query_args"]}
    assert arguments["extra_fields"] == ["region=laptop,stream=audit"]
    assert arguments["_stream_fields"] == ["region,tenant,cluster,stream,k8s.node.name"]
    assert variable["valueFrom"]["secretKeyRef"] == {"name": f"vmuser-{user.name}", "key": "password"}
    assert user.namespace == release.namespace == log_store.COLLECTORS
    assert "extraManifests" not in release.values
    assert operator_places(spec, dpf=False)[log_store.COLLECTORS].security is PodSecurity.PRIVILEGED
    exporters = release.values["alternateConfig"]["exporters"]
    assert {name: exporter["logs_endpoint"] for name, exporter in exporters.items()} == {
        "otlphttp/store": "https://store.metrics.svc:8427/insert/opentelemetry/v1/logs",
        "otlphttp/audit": "https://store.metrics.svc:8427/audit/insert/opentelemetry/v1/logs",
    }
    assert (
        release.values["alternateConfig"]["extensions"]["basicauth/store"]["client_auth"]["username"]
        == (user.body["spec"]["username"])
    )


def users(spec: RegionSpec) -> dict[str, list[dict[str, Any]]]:
    """Return the targets of each user."""
    items = [item for item in objects(metrics_store.render(spec, CLUSTERS, RECORDS)) if item.kind == "VMUser"]
    return {str(item.namespace): item.body["spec"]["targetRefs"] for item in items}


def of_logs(targets: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the targets for logs of the clusters, by component."""
    return {
        item["crd"]["kind"]: item
        for item in targets
        if item["crd"]["name"] == accounts.NAME and "drop_src_path_prefix_parts" not in item
    }


def below(prefix: str, targets: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the targets for records of the operators below a path prefix, which the proxy removes."""
    return [item for item in targets if all(path.startswith(f"{prefix}/") for path in item["paths"])]


def test_a_tenant_reads_audit_events_of_its_own_clusters_and_writes_none() -> None:
    for cluster, targets in users(region()).items():
        [target] = below("/audit", targets)
        assert target["drop_src_path_prefix_parts"] == 1
        assert target["crd"]["kind"] == "VLCluster/vlselect"
        assert target["headers"] == [f"AccountID: {OPERATORS}", "ProjectID: 1"]
        [restriction] = target["query_args"]
        assert restriction == {"name": "extra_filters", "values": [f'{{tenant="{CLUSTERS[cluster]}"}}']}
        assert set(target["paths"]) == {f"/audit{path}" for path in accounts.READ_PATHS}


@pytest.mark.parametrize("backend", list(ControlPlaneBackend))
def test_a_cluster_reads_the_logs_of_its_own_control_plane_and_writes_none(backend: ControlPlaneBackend) -> None:
    plain = region()
    spec = plain.model_copy(
        update={"control_planes": plain.control_planes.model_copy(update={"backend": backend, "data_stores": ()})}
    )
    records = CONTROL_PLANES[backend].records
    for item in objects(metrics_store.render(spec, CLUSTERS, records)):
        if item.kind != "VMUser":
            continue
        [target] = below("/control-plane", item.body["spec"]["targetRefs"])
        assert (target["crd"]["kind"], target["drop_src_path_prefix_parts"]) == ("VLCluster/vlselect", 1)
        assert target["headers"] == [f"AccountID: {OPERATORS}", "ProjectID: 0"]
        assert set(target["paths"]) == {f"/control-plane{path}" for path in accounts.READ_PATHS}
        [restriction] = target["query_args"]
        # A value that starts with {" would be JSON (VL:app/vlselect/logsql/logsql.go parseExtraFilters).
        assert restriction == {
            "name": "extra_filters",
            "values": [f'{{k8s.namespace.name="{item.namespace}"}} {records}'],
        }


def test_the_policy_for_the_management_cluster_is_that_of_control_planes() -> None:
    [found] = [item for item in log_store.render(region()) if item.kind == "ConfigMap"]

    assert (found.namespace, found.name) == (log_store.COLLECTORS, "audit-policy")
    assert json.loads(found.body["data"]["policy.yaml"]) == audit_policy.POLICY


def test_data_decide_retention_class_size_and_number_of_pods() -> None:
    found = store(region(retention_days=7, size="2Ti", storage_class="fast", storage_pods=5))["vlstorage"]
    claim = found["storage"]["volumeClaimTemplate"]["spec"]

    assert (found["retentionPeriod"], found["replicaCount"]) == ("7d", 5)
    assert (claim["storageClassName"], claim["resources"]) == ("fast", {"requests": {"storage": "2Ti"}})


def test_a_store_deletes_old_days_before_it_is_full_and_after_the_alert() -> None:
    most = int(store(region(size="1Ti"))["vlstorage"]["retentionMaxDiskSpaceUsageBytes"])

    assert bytes_of("1Ti") * (100 - log_monitors.FREE_PERCENT) // 100 < most < bytes_of("1Ti")


def test_queries_do_not_fail_while_a_storage_pod_is_down() -> None:
    found = store(region())

    assert found["vlselect"]["extraArgs"]["search.allowPartialResponse"] == "true"
    assert found["vlselect"]["extraArgs"]["insert.disable"] == "true"
    assert found["vlinsert"]["extraArgs"] == {"select.disable": "true"}
    for part in ("vlinsert", "vlselect", "vlstorage"):
        assert found[part]["podDisruptionBudget"] == {"maxUnavailable": 1}
        labels = found[part]["topologySpreadConstraints"][0]["labelSelector"]["matchLabels"]
        assert labels == {"app.kubernetes.io/name": part, "app.kubernetes.io/instance": "logs"}


def test_the_proxy_decides_the_account_of_writes_and_of_queries() -> None:
    found = {cluster: of_logs(targets) for cluster, targets in users(region()).items()}
    headers = {cluster: {tuple(target["headers"]) for target in targets.values()} for cluster, targets in found.items()}

    for targets in found.values():
        assert targets.keys() == {"VLCluster/vlinsert", "VLCluster/vlselect"}
    assert headers["acme-train"] == {(f"AccountID: {account('acme')}", "ProjectID: 0")} == headers["acme-dev"]
    assert headers["globex-lab"] == {(f"AccountID: {account('globex')}", "ProjectID: 0")} != headers["acme-dev"]


def test_a_tenant_writes_no_rows_with_accounts_and_lists_no_accounts() -> None:
    for targets in users(region()).values():
        found = of_logs(targets)
        assert found["VLCluster/vlinsert"]["paths"] == ["/insert/opentelemetry/v1/logs"]
        for path in found["VLCluster/vlselect"]["paths"]:
            assert path.startswith("/select/logsql/")
            assert not set(path) & set("*.+?[(|"), path


def test_records_have_the_names_of_region_tenant_and_cluster_in_their_stream() -> None:
    written = of_logs(users(region())["acme-dev"])["VLCluster/vlinsert"]["query_args"]
    arguments = {item["name"]: item["values"] for item in written}

    assert arguments["extra_fields"] == ["region=laptop,tenant=acme,cluster=acme-dev"]
    [stream] = arguments["_stream_fields"]
    assert {"region", "tenant", "cluster", "k8s.pod.name"} <= set(stream.split(","))
    assert "k8s.pod.uid" not in stream


def test_users_of_a_region_without_logs_have_no_targets_in_the_store() -> None:
    spec = region()
    assert spec.observability is not None
    without = spec.model_copy(update={"observability": spec.observability.model_copy(update={"logs": None})})

    assert log_store.render(without) == log_store.operators(without) == ()
    assert all(not of_logs(targets) for targets in users(without).values())


def test_each_component_is_monitored_and_missed() -> None:
    spec = region(storage_pods=4)
    *_, monitor, rule = log_store.render(spec)
    parts = store(spec).keys() & {"vlinsert", "vlselect", "vlstorage"}

    [expression] = monitor.body["spec"]["selector"]["matchExpressions"]
    assert set(expression["values"]) == parts
    alerts = {entry["alert"]: entry["expr"] for entry in rule.body["spec"]["groups"][0]["rules"]}
    assert alerts["LogStoreDegraded"].endswith("< 4")
    assert all(f'job="{part}"' in alerts["LogStoreDown"] for part in parts)


def test_no_tenant_has_the_account_of_the_operators() -> None:
    assert OPERATORS not in {account(name) for name in ("acme", "globex", *COLLIDING)}
    assert account(COLLIDING[0]) == account(COLLIDING[1])


def test_two_tenants_with_one_account_are_reported() -> None:
    environment = reference("laptop")
    tenants = tuple(
        tenant.model_copy(update={"tenant": name}) for tenant, name in zip(environment.tenants, COLLIDING, strict=False)
    )
    changed = environment.model_copy(update={"tenants": tenants})

    assert list(rules.accounts(changed)) == []
    [found] = rules.accounts(changed.model_copy(update={"region": region()}))
    assert found.path == "tenant"
    assert found.text == f"has the same account of the store of logs as tenant '{COLLIDING[0]}'; rename the tenant"


def test_objects_of_the_store_are_in_the_namespace_of_the_proxy() -> None:
    others = ("VMUser", "ConfigMap")
    assert {item.namespace for item in log_store.render(region()) if item.kind not in others} == {
        metrics_store.NAMESPACE
    }
