"""Collectors of logs: collected logs, destination, and credential."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.add_ons import of_cluster
from components.lookups.add_ons import add_ons
from components.lookups.pools import clusters
from components.render.add_ons.add_on_values import VALUES
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.render.region.logs import forwarder
from components.render.region.logs.collector import CHART, PASSWORD_PATH, LogsWriter, delivered
from components.render.region.logs.forwarder import STATE
from components.specs.region.log_sink import LogRecords, LogSinkSpec
from components.specs.struct import replace
from tests.support.add_ons.cluster_shape import facts
from tests.support.data.environment_data import reference

WRITER = LogsWriter(url="https://10.3.0.249:8427", username="c1", password_secret="vmuser-c1-metrics")


def values() -> dict[str, Any]:
    return VALUES[CHART](facts(logs=WRITER))


def releases() -> dict[str, Manifest]:
    """Return the release of the collector in each cluster of a region with a store."""
    environment = reference("eu-south-03a")
    items = (
        item
        for placed in clusters(environment)
        for made in of_cluster(environment, placed)
        for item in objects(made.render())
        if item.kind == "HelmRelease" and item.body["spec"]["chartRef"]["name"] == CHART
    )
    return {str(item.namespace): item for item in items}


def test_each_cluster_of_a_region_with_a_store_has_a_collector() -> None:
    environment = reference("eu-south-03a")

    assert releases().keys() == {
        placed.cluster.name
        for placed in clusters(environment)
        if any(entry.chart == "node-problem-detector" for entry in add_ons(environment, placed))
    }
    laptop = reference("laptop")
    assert not any(entry.chart == CHART for placed in clusters(laptop) for entry in add_ons(laptop, placed))


def test_pods_journal_and_events_are_collected_on_every_node() -> None:
    found = values()

    assert (found["mode"], found["tolerations"]) == ("daemonset", [{"operator": "Exists"}])
    assert found["presets"]["logsCollection"] == {"enabled": True, "storeCheckpoints": True}
    kinds = {kind for kind, preset in found["presets"]["kubernetesObjects"].items() if preset == {"enabled": True}}
    assert kinds == {"events"}
    configuration = found["alternateConfig"]
    journal = configuration["receivers"]["journald"]
    [mount] = found["extraVolumeMounts"]
    assert (mount["mountPath"], mount["readOnly"]) == (journal["root_path"], True)
    assert configuration["service"]["pipelines"]["logs"]["receivers"] == ["journald"]


def test_a_collector_writes_to_the_store_and_keeps_records_while_it_cannot() -> None:
    configuration = values()["alternateConfig"]
    [store] = configuration["exporters"].values()

    assert store["logs_endpoint"] == "https://10.3.0.249:8427/insert/opentelemetry/v1/logs"
    assert store["sending_queue"]["storage"] == configuration["receivers"]["journald"]["storage"] == "file_storage"
    assert store["retry_on_failure"] == {"max_elapsed_time": "0s"}
    assert store["auth"]["authenticator"] in configuration["service"]["extensions"]


def test_the_password_is_only_in_a_secret_of_the_cluster() -> None:
    found = values()
    [secret], [variable] = found["extraManifests"], found["extraEnvs"]
    source, authority = delivered(WRITER, CHART)

    assert source == {
        "kind": "Secret",
        "name": "vmuser-c1-metrics",
        "valuesKey": "password",
        "targetPath": PASSWORD_PATH,
    }
    # The chart restarts collectors if their configuration changes; they read the CA only at their start.
    assert authority == {
        "kind": "Secret",
        "name": "store-client",
        "valuesKey": "ca.crt",
        "targetPath": "alternateConfig.exporters.otlphttp/store.tls.ca_pem",
    }
    assert "otlphttp/store" in found["alternateConfig"]["exporters"]
    assert secret["data"] == {"password": "{{ .Values.global.storePassword | b64enc }}"}
    assert variable["valueFrom"]["secretKeyRef"] == {"name": secret["metadata"]["name"], "key": "password"}
    [login] = (
        extension["client_auth"]
        for extension in found["alternateConfig"]["extensions"].values()
        if "client_auth" in extension
    )
    assert login == {"username": "c1", "password": f"${{env:{variable['name']}}}"}
    assert delivered(None, CHART) == delivered(WRITER, "metallb") == ()


def test_a_collector_opens_no_port_of_a_node_but_that_of_its_metrics() -> None:
    ports = values()["ports"]

    assert {name for name, port in ports.items() if port["enabled"]} == {"metrics"}


def test_releases_read_the_password_next_to_them() -> None:
    for cluster, release in releases().items():
        sources = release.body["spec"]["valuesFrom"]
        assert [source["name"] for source in sources] == [f"vmuser-{cluster}-metrics", "store-client"]
        assert release.cluster == MANAGEMENT


def sink(**fields: Any) -> dict[str, Any]:
    """Return the values of a collector of a tenant with a sink."""
    spec = LogSinkSpec(**{"endpoint": "https://otlp.acme.example/v1/logs"} | fields)
    return VALUES[CHART](facts(logs=replace(WRITER, sink=spec)))


def test_records_are_sent_to_the_sink_of_the_tenant_in_a_separate_pipeline() -> None:
    configuration = sink(records=(LogRecords.CONTAINERS, LogRecords.EVENTS))["alternateConfig"]
    pipelines = configuration["service"]["pipelines"]

    assert pipelines["logs"] == values()["alternateConfig"]["service"]["pipelines"]["logs"]
    assert pipelines["logs/sink"] == {
        "receivers": ["filelog", "k8sobjects"],
        "processors": ["memory_limiter", "resource", "resource/cluster", "batch"],
        "exporters": ["otlphttp/sink"],
    }
    [attribute] = configuration["processors"]["resource/cluster"]["attributes"]
    assert attribute == {"key": "k8s.cluster.name", "value": "c1", "action": "upsert"}
    assert configuration["exporters"]["otlphttp/sink"] == {"logs_endpoint": "https://otlp.acme.example/v1/logs"}


def test_headers_of_the_sink_are_variables_of_a_secret_that_may_be_missing() -> None:
    found = sink(secret="log-sink", headers={"Authorization": "AUTHORIZATION"})

    reference = {"name": "log-sink", "key": "AUTHORIZATION", "optional": True}
    assert found["extraEnvs"][1:] == [{"name": "AUTHORIZATION", "valueFrom": {"secretKeyRef": reference}}]
    headers = found["alternateConfig"]["exporters"]["otlphttp/sink"]["headers"]
    assert headers == {"Authorization": "${env:AUTHORIZATION}"}


def test_without_a_sink_collectors_write_only_to_the_store() -> None:
    found = values()

    assert found["alternateConfig"]["exporters"].keys() == {"otlphttp/store"}
    assert len(found["extraEnvs"]) == 1


FORWARDED = LogSinkSpec(
    endpoint="https://otlp.acme.example/v1/logs",
    secret="log-sink",
    headers={"Authorization": "AUTHORIZATION", "X-Scope-OrgID": "SCOPE"},
)


def forwarding(sink: LogSinkSpec | None = FORWARDED, image: str | None = "python@sha256:0") -> LogsWriter:
    return replace(WRITER, sink=sink, image=image)


def forwarded(writer: LogsWriter | None) -> dict[str, Manifest]:
    """Return the objects of the forwarder, by kind; ConfigMaps by name."""
    items = list(forwarder.render(writer, "c1", "logs", system_pool=True))
    return {item.name if item.kind == "ConfigMap" else item.kind: item for item in items}


def test_by_default_a_program_in_the_cluster_forwards_audit_events_and_logs_of_the_control_plane() -> None:
    found = forwarded(forwarding())
    settings = json.loads(found["log-forwarder"].body["data"]["settings.json"])
    pod = found["CronJob"].body["spec"]["jobTemplate"]["spec"]["template"]["spec"]

    assert {item.cluster for item in found.values()} == {"c1"}
    assert settings["sources"] == {
        "audit": {"path": "/audit/select/logsql/query", "filter": '{cluster="c1"}'},
        "control-plane": {"path": "/control-plane/select/logsql/query", "filter": "*"},
    }
    assert (settings["store"]["url"], settings["sink"]) == ("https://10.3.0.249:8427", FORWARDED.endpoint)
    [volume] = [item["projected"]["sources"] for item in pod["volumes"] if "projected" in item]
    files = {item["path"] for source in volume for item in source["secret"]["items"]}
    paths = (settings["store"]["password"], settings["store"]["authority"], *settings["headers"].values())
    assert {f"/secrets/{file}" for file in files} == set(paths)
    assert [source["secret"].get("optional", False) for source in volume] == [False, True]
    assert {key for key in found["log-forwarder"].body["data"] if key.endswith(".py")} == set(forwarder.PROGRAM)
    assert pod["nodeSelector"] == {"node-restriction.kubernetes.io/role": "system"}


def test_the_account_of_the_program_may_only_change_its_progress() -> None:
    found = forwarded(forwarding())
    [rule] = found["Role"].body["rules"]
    settings = json.loads(found["log-forwarder"].body["data"]["settings.json"])

    assert rule == {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [STATE], "verbs": ["get", "patch"]}
    assert settings["state"] == {"namespace": "logs", "name": STATE, "prefix": "jacquard.dev/"}
    assert "data" not in found[STATE].body


def test_the_release_delivers_the_ca_of_the_store_for_the_program() -> None:
    writer = forwarding()
    [secret] = VALUES[CHART](facts(logs=writer))["extraManifests"]

    assert secret["data"] == {
        "password": "{{ .Values.global.storePassword | b64enc }}",
        "ca.crt": "{{ .Values.global.storeAuthority | b64enc }}",
    }
    assert [source["targetPath"] for source in delivered(writer, CHART)][-1] == "global.storeAuthority"


def test_collectors_do_not_send_records_that_the_program_forwards() -> None:
    only = LogSinkSpec(endpoint=FORWARDED.endpoint, records=(LogRecords.AUDIT,))
    found = VALUES[CHART](facts(logs=forwarding(only)))["alternateConfig"]
    all_records = VALUES[CHART](facts(logs=forwarding()))["alternateConfig"]

    assert found["exporters"].keys() == {"otlphttp/store"}
    assert "logs/sink" not in found["service"]["pipelines"]
    assert all_records["service"]["pipelines"]["logs/sink"]["receivers"] == ["filelog", "journald", "k8sobjects"]
    settings = json.loads(forwarded(forwarding(only))["log-forwarder"].body["data"]["settings.json"])
    assert settings["sources"].keys() == {"audit"}


@pytest.mark.parametrize(
    "writer",
    [
        None,
        WRITER,
        forwarding(sink=None),
        forwarding(image=None),
        forwarding(LogSinkSpec(endpoint=FORWARDED.endpoint, records=(LogRecords.EVENTS,))),
    ],
)
def test_without_records_to_forward_there_is_no_program_and_no_alert(writer: LogsWriter | None) -> None:
    assert forwarded(writer) == {}
    assert forwarder.alerts(writer, "logs") == ()
