"""Audit events of real API servers in a real store of logs, by way of a real collector.

One API server has the flags and the volume of the control plane of a tenant, the other one those that the page tells
operators to set in the management cluster. The collector has the configuration of the management cluster.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from components.inputs.hosted_control_plane import of_tenant
from components.render.region.logs import accounts, audit, log_store
from components.specs.struct import replace
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.environment_data import reference
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring import telemetry
from tests.support.monitoring.log_collector import Collector
from tests.support.monitoring.stored_region import region, stored
from tests.support.monitoring.victoria_stores import VictoriaStores, request, running_stores
from tests.support.objects.rendered_objects import objects_of

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ACME, NEIGHBOUR = "acme-train", "globex-lab"
PASSWORD = "never-recorded"
QUERIES = f"{accounts.AUDIT}/select/logsql/query"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the collector, which contains the file system of its host."""
    return tmp_path_factory.mktemp("collector")


@pytest.fixture(scope="module")
def stores(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[VictoriaStores]:
    """Start both stores. Their API server is that of the management cluster, with our policy."""
    logs = folder / "host" / Path(audit.MANAGEMENT_FILES).parent.relative_to("/")
    logs.mkdir(parents=True)
    policy = folder / "policy.yaml"
    policy.write_text(audit.policy(log_store.COLLECTORS).body["data"]["policy.yaml"])
    flags = (f"--audit-policy-file={policy}", f"--audit-log-path={logs / 'audit.log'}")
    with running_stores(tmp_path_factory.mktemp("stores"), stored(region()), flags=flags) as running:
        yield running


@pytest.fixture(scope="module")
def server(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """Start an API server with the audit flags of acme's control plane; its volumes are folders of the host."""
    environment = reference("laptop")
    plane = replace(next(of_tenant(environment, environment.tenants[0])), audited=True)
    *others, rendered = objects_of(plane)
    [policy] = [item for item in others if item.kind == "ConfigMap" and "policy.yaml" in item.body["data"]]
    spec = rendered.body["spec"]
    mounts = {mount["name"]: mount["mountPath"] for mount in spec["apiServer"]["extraVolumeMounts"]}
    pod = folder / "host/var/lib/kubelet/pods/0d5f/volumes"
    flags = [flag for flag in spec["apiServer"]["extraArgs"] if flag.startswith("--audit-")]
    for volume in spec["deployment"]["extraVolumes"]:
        kind = "kubernetes.io~empty-dir" if "emptyDir" in volume else "kubernetes.io~configmap"
        place = pod / kind / volume["name"]
        place.mkdir(parents=True)
        if "configMap" in volume:
            assert volume["configMap"]["name"] == policy.name
            (place / "policy.yaml").write_text(policy.body["data"]["policy.yaml"])
        flags = [flag.replace(mounts[volume["name"]] + "/", f"{place}/") for flag in flags]
    running = LocalApiServer(
        tmp_path_factory.mktemp("server") / "api",
        kinds=(),
        flags={"kube-apiserver": flags},
        users={"eve": "system:authenticated"},
    )
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture(scope="module")
def collector(stores: VictoriaStores, server: LocalApiServer, folder: Path) -> Iterator[Collector]:
    """Start the collector after requests to both API servers, of which it finds the files."""
    for api in (server.api, stores.server.api):
        body = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "login", "namespace": "default"}}
        api.create({**body, "stringData": {"password": PASSWORD}}, field_manager="test")
    server.as_user("eve", path="/api/v1/namespaces/default/secrets/login")
    login = stores.login_of("management-logs", log_store.COLLECTORS)
    found = Collector(folder, stores.url, login, authority=stores.authority.certificate, management=True)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def read(stores: VictoriaStores, cluster: str, query: str, **arguments: str) -> list[dict[str, Any]]:
    """Return the audit events that the tenant of a cluster reads."""
    asked = urlencode({"query": query, **arguments}).encode()
    answer = stores.ask(QUERIES, asked, login=stores.login(cluster))
    assert answer.status == 200, answer
    return [json.loads(line) for line in answer.text.splitlines()]


def all_events(stores: VictoriaStores, query: str = "*") -> list[dict[str, Any]]:
    """Return the audit events of all clusters, as operators read them inside the management cluster."""
    body, project = urlencode({"query": query}).encode(), {"AccountID": "0", "ProjectID": "1"}
    answer = request(f"{stores.select_url}/select/logsql/query", body, **project)
    assert answer.status == 200, answer
    return [json.loads(line) for line in answer.text.splitlines()]


@pytest.fixture(scope="module")
def events(stores: VictoriaStores, collector: Collector) -> list[dict[str, Any]]:
    """Return the events of acme about its Secret, which the collector has delivered."""
    assert collector.check().stderr == ""
    query = "resource:=secrets namespace:=default"
    wait_until(lambda: len(read(stores, ACME, query)) >= 2, timeout_seconds=60, what="the events arrive")
    return read(stores, ACME, query)


def test_events_of_a_control_plane_arrive_with_region_tenant_cluster_and_stream(events: list[dict[str, Any]]) -> None:
    made, refused = (next(event for event in events if event["verb"] == verb) for verb in ("create", "get"))

    place = {"region": region().region, "tenant": "acme", "cluster": ACME, "stream": "audit"}
    assert made.items() >= {**place, "user": "test", "name": "login", "code": "201"}.items()
    assert refused.items() >= {**place, "user": "eve", "name": "login", "code": "403"}.items()
    whole = json.loads(refused["_msg"])
    assert (whole["kind"], whole["level"], whole["responseStatus"]["reason"]) == ("Event", "Metadata", "Forbidden")
    assert refused["_time"][:23] == whole["requestReceivedTimestamp"][:23]


def test_a_tenant_does_not_see_the_path_of_the_host(events: list[dict[str, Any]]) -> None:
    assert not [name for event in events for name in event if name.startswith(("log.file", "event"))]


def test_events_of_the_management_cluster_arrive_for_its_operators_only(
    stores: VictoriaStores, events: list[dict[str, Any]]
) -> None:
    query = "cluster:=management resource:=secrets namespace:=default"
    wait_until(lambda: bool(all_events(stores, query)), timeout_seconds=60, what="the event arrives")
    [event] = all_events(stores, query)

    assert event.items() >= {"region": region().region, "stream": "audit", "verb": "create", "name": "login"}.items()
    assert "tenant" not in event
    assert {event["tenant"] for event in events} == {"acme"}
    assert read(stores, ACME, "cluster:=management") == read(stores, NEIGHBOUR, "cluster:=management") == []


def test_no_event_contains_the_data_of_a_secret(stores: VictoriaStores, events: list[dict[str, Any]]) -> None:
    assert events
    found = all_events(stores)

    assert {event["cluster"] for event in found} == {ACME, "management"}
    assert PASSWORD not in json.dumps(found)


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("*", {}),
        ("tenant:=acme", {}),
        ("* | union (*)", {}),
        ("tenant:in(* | fields tenant)", {}),
        ("* or tenant:=acme", {"extra_filters": "tenant:=acme"}),
        ("*", {"extra_filters": '{tenant="acme"}'}),
        ("*", {"extra_stream_filters": '{tenant=~".*"}'}),
    ],
)
def test_no_query_reads_events_of_another_tenant(
    stores: VictoriaStores, events: list[dict[str, Any]], query: str, arguments: dict[str, str]
) -> None:
    assert events
    assert read(stores, NEIGHBOUR, query, **arguments) == []


def test_names_and_values_of_fields_are_those_of_the_tenant(
    stores: VictoriaStores, events: list[dict[str, Any]]
) -> None:
    assert events
    for path in ("field_names", "streams", "stream_ids", "hits", "facets"):
        asked = urlencode({"query": "*", "start": "1h", "step": "1h"})
        answer = stores.ask(f"{accounts.AUDIT}/select/logsql/{path}?{asked}", login=stores.login(NEIGHBOUR))
        assert answer.status == 200, path
        assert "acme" not in answer.text


def test_a_tenant_follows_its_own_events_only(stores: VictoriaStores, events: list[dict[str, Any]]) -> None:
    path = f"{accounts.AUDIT}/select/logsql/tail?" + urlencode({"query": "*", "start_offset": "1h"})
    followed = json.loads(stores.first_line(path, login=stores.login(ACME), seconds=60))

    assert followed.items() >= {"tenant": "acme", "stream": "audit"}.items()
    assert json.loads(followed["_msg"])["kind"] == "Event"
    assert events
    assert stores.first_line(path, login=stores.login(NEIGHBOUR), seconds=5) == ""


def test_a_tenant_writes_no_audit_events(stores: VictoriaStores, events: list[dict[str, Any]]) -> None:
    assert events
    body = telemetry.records(["forged"], {"stream": "audit", "tenant": "globex", "cluster": NEIGHBOUR})
    login, headers = stores.login(ACME), {"Content_Type": "application/x-protobuf"}
    refused = stores.ask(accounts.AUDIT + accounts.WRITE_PATH, body, login=login, **headers)
    written = stores.ask(accounts.WRITE_PATH, body, login=login, AccountID="0", ProjectID="1", **headers)

    assert (refused.status, written.status) == (400, 200)
    assert refused.text.startswith(f"user {ACME} missing route for ")

    def stored_as_log() -> bool:
        asked = urlencode({"query": "forged"}).encode()
        return "forged" in stores.ask("/select/logsql/query", asked, login=login).text

    wait_until(stored_as_log, timeout_seconds=60, what="the record is among the logs of the tenant")
    assert all_events(stores, "forged") == []
