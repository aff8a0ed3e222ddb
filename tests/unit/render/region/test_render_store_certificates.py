"""Certificates of the stores' proxy: the CA, the names that agents verify, and the delivery of the CA."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

import pytest

from components.inputs.manifests import everything
from components.render.manifest import Manifest, ManifestSet, objects
from components.render.region import metrics_monitors, metrics_store
from components.render.region.logs import log_store
from components.render.region.logs.collector import AUTHORITY_PATH
from components.render.region.stores.store_certificates import AUTHORITY_KEY, CLIENT_SECRET, SERVER_SECRET
from components.specs.region.region import RegionSpec
from tests.support.data.environment_data import reference
from tests.support.monitoring.stored_region import CLUSTERS, RECORDS, region

STORED = ("us-east-04a", "eu-south-03a", "lab")
"""Environments with a store."""


def of_kind(items: Iterable[Manifest], kind: str) -> dict[str, Manifest]:
    """Return the objects of a kind by namespace and name."""
    return {f"{item.namespace}/{item.name}": item for item in items if item.kind == kind}


def certificates(spec: RegionSpec) -> dict[str, dict[str, Any]]:
    found = of_kind(objects(metrics_store.render(spec, CLUSTERS, RECORDS)), "Certificate")
    return {key: item.body["spec"] for key, item in found.items()}


def test_one_ca_signs_all_certificates_and_its_key_is_only_in_the_namespace_of_cert_manager() -> None:
    rendered = list(objects(metrics_store.render(region(), CLUSTERS, RECORDS)))
    [(key, issuer)] = of_kind(rendered, "ClusterIssuer").items()
    found = certificates(region())
    authority = found.pop("cert-manager/store-ca")

    assert key == "None/store"
    assert issuer.body["spec"] == {"ca": {"secretName": authority["secretName"]}}
    assert (authority["isCA"], authority["issuerRef"]["kind"]) == (True, "Issuer")
    assert of_kind(rendered, "Issuer").keys() == {f"cert-manager/{authority['issuerRef']['name']}"}
    signed = {"group": "cert-manager.io", "kind": "ClusterIssuer", "name": issuer.name}
    assert all(spec["issuerRef"] == signed and "isCA" not in spec for spec in found.values())


def test_a_renewed_ca_keeps_its_key_and_reaches_agents_before_the_former_one_expires() -> None:
    authority = certificates(region())["cert-manager/store-ca"]
    valid, early = (int(authority[key].removesuffix("h")) for key in ("duration", "renewBefore"))

    assert authority["privateKey"]["rotationPolicy"] == "Never"
    # Other certificates are renewed within 90 days, cert-manager's default, and then contain the renewed CA.
    assert 90 * 24 < early < valid


def test_only_the_certificate_of_the_proxy_is_valid_for_a_server_at_the_addresses_that_agents_use() -> None:
    spec = region()
    found = certificates(spec)
    del found["cert-manager/store-ca"]
    proxy = found.pop(f"metrics/{SERVER_SECRET}")
    writer = log_store.writer(spec, "acme-train")
    [management] = log_store.operators(spec)
    inside = management.values["alternateConfig"]["exporters"]["otlphttp/store"]["logs_endpoint"]

    assert writer is not None
    assert [writer.url] == [f"https://{address}:8427" for address in proxy["ipAddresses"]]
    assert [inside.rpartition("/insert")[0]] == [f"https://{name}:8427" for name in proxy["dnsNames"]]
    assert proxy["usages"] == ["server auth"]
    for client in found.values():
        assert client["usages"] == ["client auth"]
        assert not client.keys() & {"dnsNames", "ipAddresses", "uris"}


def test_the_proxy_serves_tls_with_the_mounted_certificate_at_both_of_its_ports() -> None:
    [proxy] = of_kind(objects(metrics_store.render(region(), CLUSTERS, RECORDS)), "VMAuth").values()
    spec = proxy.body["spec"]

    [secret] = spec["secrets"]
    assert secret == SERVER_SECRET
    assert spec["extraArgs"] == {
        "tls": "true",
        "tlsCertFile": f"/etc/vm/secrets/{secret}/tls.crt",
        "tlsKeyFile": f"/etc/vm/secrets/{secret}/tls.key",
    }
    # With TLS, the operator creates no request probes.
    health = {"httpGet": {"path": "/health", "port": int(spec["internalListenPort"]), "scheme": "HTTPS"}}
    assert (spec["livenessProbe"], spec["readinessProbe"]) == (health, health)


def test_prometheus_verifies_the_port_with_the_metrics_of_the_proxy() -> None:
    parts, proxy, _ = metrics_monitors.render(region())
    [endpoint] = proxy.body["spec"]["podMetricsEndpoints"]

    assert endpoint["scheme"] == "https"
    assert endpoint["tlsConfig"]["ca"] == {"secret": {"name": SERVER_SECRET, "key": AUTHORITY_KEY}}
    assert [endpoint["tlsConfig"]["serverName"]] == certificates(region())[f"metrics/{SERVER_SECRET}"]["dnsNames"]
    assert "scheme" not in parts.body["spec"]["podMetricsEndpoints"][0]


@pytest.mark.parametrize("name", STORED)
def test_each_release_that_writes_to_the_proxy_reads_the_ca_from_a_certificate_next_to_it(name: str) -> None:
    rendered = [item for item in everything(reference(name)) if isinstance(item, Manifest)]
    issued = of_kind(rendered, "Certificate").values()
    beside = {item.namespace for item in issued if item.body["spec"]["secretName"] == CLIENT_SECRET}
    releases = of_kind(rendered, "HelmRelease")
    writing = {key: release for key, release in releases.items() if ":8427/" in str(release.body)}

    assert writing
    for key, release in writing.items():
        sources = [item for item in release.body["spec"]["valuesFrom"] if item["name"] == CLIENT_SECRET]
        assert release.namespace in beside, key
        assert {item["valuesKey"] for item in sources} == {AUTHORITY_KEY}, key
        exporters = [item for item in sources if item["targetPath"] != AUTHORITY_PATH]  # Of a program
        assert len(exporters) == str(release.body).count(":8427/"), key


@pytest.mark.parametrize("name", STORED)
def test_no_release_writes_to_the_proxy_without_tls_or_without_verification(name: str) -> None:
    for item in everything(reference(name)):
        if isinstance(item, Manifest) and item.kind == "HelmRelease":
            text = str(item.body)
            assert not re.search(r"http://[\w.-]+:8427", text), item.key
            assert ":8427" not in text or not re.search("insecure", text, re.IGNORECASE), item.key


def test_the_certificates_of_a_region_are_one_resource() -> None:
    sets = [item for item in metrics_store.render(region(), CLUSTERS, RECORDS) if isinstance(item, ManifestSet)]
    [found] = [item for item in sets if any(member.kind == "Certificate" for member in item.members.values())]

    assert {member.kind for member in found.members.values()} == {"Issuer", "ClusterIssuer", "Certificate"}
    assert {member.namespace for member in found.members.values()} >= {*CLUSTERS, "operators"}
