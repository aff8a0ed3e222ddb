"""The simulated cert-manager: the CA of a region signs the certificates of all namespaces."""

from __future__ import annotations

from typing import Any

from components.render.manifest import objects as rendered_objects
from components.render.region import metrics_store
from jacquard.lab.rehearsal.operators import certificates
from jacquard.lab.rehearsal.operators.certificates import API
from tests.support.monitoring.stored_region import CLUSTERS, RECORDS, region
from tests.support.objects.live_objects import obj

SELF_SIGNED = obj(API, "Issuer", "ca", {"selfSigned": {}}, "cert-manager")
AUTHORITY = {"secretName": "ca", "isCA": True, "issuerRef": {"kind": "Issuer", "name": "ca"}}
CA = obj(API, "Certificate", "ca", AUTHORITY, "cert-manager")
ISSUER = obj(API, "ClusterIssuer", "store", {"ca": {"secretName": "ca"}}, "")
SIGNED = obj(
    API, "Certificate", "c", {"secretName": "c", "issuerRef": {"kind": "ClusterIssuer", "name": "store"}}, "acme"
)


def ready(view: Any, name: str, namespace: str) -> tuple[str, str]:
    """Return status and message of the condition Ready."""
    [condition] = view.get("Certificate", name, namespace)["status"]["conditions"]
    return condition["status"], condition["message"]


def test_a_cluster_issuer_signs_in_all_namespaces_once_its_ca_exists(objects: Any) -> None:
    view = objects(SIGNED, ISSUER, SELF_SIGNED, CA)
    certificates.reconcile(view)
    certificates.reconcile(view)

    assert ready(view, "c", "acme") == ("True", "")
    assert view.get("Secret", "c", "acme")["data"].keys() == {"ca.crt", "tls.crt", "tls.key"}


def test_a_cluster_issuer_without_its_ca_signs_nothing(objects: Any) -> None:
    elsewhere = {**CA, "metadata": {**CA["metadata"], "namespace": "acme"}}
    beside = {**SELF_SIGNED, "metadata": {**SELF_SIGNED["metadata"], "namespace": "acme"}}
    view = objects(SIGNED, ISSUER, elsewhere, beside)
    for _ in range(2):
        certificates.reconcile(view)

    assert ready(view, "c", "acme") == ("False", "Secret 'ca' of ClusterIssuer 'store' not found")
    assert view.find("v1", "Secret", "c", "acme") is None


def test_the_certificates_of_a_region_with_a_store_are_issued(objects: Any) -> None:
    rendered = [dict(item.body) for item in rendered_objects(metrics_store.render(region(), CLUSTERS, RECORDS))]
    view = objects(*(body for body in rendered if body["apiVersion"] == API))
    for _ in range(2):
        certificates.reconcile(view)

    for cluster in (*CLUSTERS, "operators"):
        assert "ca.crt" in view.get("Secret", "store-client", cluster)["data"]
