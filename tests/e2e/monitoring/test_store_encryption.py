"""TLS between clusters and the stores: the real proxy and a real collector, with certificates of rendered names.

`store_authority` issues the certificates as cert-manager does; `victoria_stores` describes the replaced parts.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError

import pytest

from components.render.region.stores.store_certificates import SERVER_SECRET
from jacquard.observe.metrics_store import MetricsError, MetricsStore
from tests.support.local_regions.local_region import wait_until
from tests.support.monitoring.log_collector import Collector
from tests.support.monitoring.stored_records import found_record, logged
from tests.support.monitoring.stored_region import region, stored
from tests.support.monitoring.victoria_stores import VictoriaStores, request, running_stores

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

ACME, NEIGHBOUR = "acme-train", "globex-lab"


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[VictoriaStores]:
    """Start the operator and both stores, with the objects of a region."""
    with running_stores(tmp_path_factory.mktemp("stores"), stored(region())) as running:
        yield running


@pytest.fixture
def agent(stores: VictoriaStores, tmp_path: Path) -> Iterator[Collector]:
    """Start a collector of ``acme-train`` with the certificate of the CA."""
    found = Collector(tmp_path, stores.url, stores.login(ACME), authority=stores.authority.certificate)
    found.start()
    try:
        yield found
    finally:
        found.stop()


def test_the_operator_serves_both_ports_of_the_proxy_with_tls_and_probes_them(stores: VictoriaStores) -> None:
    pod = stores.pod("vmauth-metrics")
    proxy = pod["containers"][0]
    [mount] = [item for item in proxy["volumeMounts"] if item["mountPath"] == f"/etc/vm/secrets/{SERVER_SECRET}"]
    [volume] = [item for item in pod["volumes"] if item["name"] == mount["name"]]
    [internal] = [item["containerPort"] for item in proxy["ports"] if item["name"] == "internal"]

    assert "-tls=true" in proxy["args"]
    assert volume["secret"]["secretName"] == SERVER_SECRET
    # A path below the folder of the Secret would not be updated by the kubelet.
    assert "subPath" not in mount
    for probe in (proxy["livenessProbe"], proxy["readinessProbe"]):
        assert probe["httpGet"] == {"path": "/health", "port": internal, "scheme": "HTTPS"}
    # The program that reloads the users of the proxy calls it with TLS.
    [reloader] = [item for item in pod["containers"] if item["name"] == "config-reloader"]
    assert f"--reload-url=https://127.0.0.1:{internal}/-/reload" in reloader["args"]


def test_the_proxy_rejects_requests_without_tls(stores: VictoriaStores) -> None:
    answer = request(f"{stores.url.replace('https', 'http')}/api/v1/query?query=up", login=stores.login(ACME))

    assert (answer.status, answer.text) == (400, "Client sent an HTTP request to an HTTPS server.\n")


def test_a_client_without_the_ca_of_the_region_does_not_trust_the_proxy(stores: VictoriaStores) -> None:
    with pytest.raises(URLError, match="CERTIFICATE_VERIFY_FAILED"):
        request(f"{stores.url}/api/v1/query?query=up", login=stores.login(ACME))


def keeps_a_record(collector: Collector, reason: str) -> None:
    """Write a line, and assert that the collector cannot send it because of ``reason`` and keeps it."""
    log = collector.folder / "collector.log"
    collector.start()
    try:
        collector.write("never sent")
        wait_until(lambda: reason in log.read_text(), timeout_seconds=60, what=f"the collector reports: {reason}")
        queued = [line for line in collector.metrics().splitlines() if line.startswith("otelcol_exporter_queue_size{")]
        assert [float(line.rpartition(" ")[2]) > 0 for line in queued] == [True]
        assert "Dropping data" not in log.read_text()
    finally:
        collector.stop()


def test_a_collector_without_the_ca_sends_no_record_and_keeps_it(stores: VictoriaStores, tmp_path: Path) -> None:
    keeps_a_record(Collector(tmp_path, stores.url, stores.login(NEIGHBOUR)), "certificate signed by unknown authority")

    assert not any(item["_msg"] == "never sent" for item in logged(stores, NEIGHBOUR))


def test_a_collector_with_tls_keeps_records_while_the_proxy_still_serves_http(
    stores: VictoriaStores, tmp_path: Path
) -> None:
    without_tls = stores.store_url.replace("http://", "https://")
    authority = stores.authority.certificate

    keeps_a_record(
        Collector(tmp_path, without_tls, stores.login(NEIGHBOUR), authority=authority),
        "server gave HTTP response to HTTPS client",
    )


def test_renewed_certificates_are_served_without_a_restart_and_accepted_with_either_certificate_of_the_ca(
    stores: VictoriaStores, agent: Collector
) -> None:
    former, number = stores.authority.certificate, stores.authority.served(stores.url)
    stores.authority.renew_authority()
    stores.authority.renew()

    def renewed() -> bool:
        return stores.authority.served(stores.url) != number

    wait_until(renewed, timeout_seconds=60, what="the proxy serves the renewed certificate")
    assert stores.authority.certificate != former
    for certificate in (former, stores.authority.certificate):
        trust = stores.authority.trust(certificate)
        asked = f"{stores.url}/api/v1/query?query=up"
        assert request(asked, login=stores.login(ACME), trust=trust).status == 200
    # The collector has the previous certificate of the CA; new connections need the handshake again.
    agent.kill()
    agent.start()
    agent.write("after the renewal")
    found_record(stores, "after the renewal")


def test_facts_query_the_proxy_with_a_password_and_the_certificate_of_the_authority(
    stores: VictoriaStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, now = tmp_path / "ca.crt", dt.datetime.now(dt.UTC)
    file.write_text(stores.authority.certificate)

    def query(login: tuple[str, str] | None) -> list[tuple[dict[str, str], float]]:
        return list(MetricsStore(stores.url, login).values("vector(1)", now))

    monkeypatch.delenv("CURL_CA_BUNDLE", raising=False)
    monkeypatch.delenv("REQUESTS_CA_BUNDLE", raising=False)
    with pytest.raises(MetricsError, match="has no trusted certificate"):
        query(stores.login(ACME))
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(file))
    with pytest.raises(MetricsError, match="answered 401; set JACQUARD_METRICS_USER"):
        query(None)
    assert query(stores.login(ACME)) == [({}, 1.0)]
