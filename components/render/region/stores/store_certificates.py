"""Certificates of the proxy of the stores, which cert-manager issues with a CA of the region.

The CA is a self-signed certificate in the management cluster. Its key is only in the namespace of cert-manager, where a
ClusterIssuer reads it (CERT:pkg/controller/context.go ResourceNamespace). cert-manager writes the certificate of the CA
as ``ca.crt`` into the Secret of each certificate that the CA signs (CERT:pkg/controller/certificaterequests/ca/ca.go).
The namespace of each cluster therefore has a client certificate, next to the releases whose values Flux reads from its
Secret: Flux reads no Secrets of other namespaces. No program uses this certificate or its key.

Renewal needs no restart of the proxy, which reads certificate and key again every second (VM:lib/netutil/tls.go
newGetCertificateFunc) from a mounted Secret. The CA keeps its key, so that certificates signed before and after its
renewal are valid for agents with the old and the new certificate of the CA. cert-manager generates another key by
default (CERT:docs rotationPolicy, since 1.18).
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render.manifest import Manifest, ManifestSet
from components.render.objects import manifest
from components.render.region.operators import CERT_MANAGER

SERVER_SECRET = "store-tls"  # noqa: S105 - the name of a Secret
"""Secret with certificate and key of the proxy."""
CLIENT_SECRET = "store-client"  # noqa: S105 - the name of a Secret
"""Secret with the certificate of the CA, in the namespace of the releases of agents."""
AUTHORITY_KEY = "ca.crt"
"""Key of the certificate of the CA in both Secrets."""
_API = "cert-manager.io/v1"
_AUTHORITY, _ISSUER = "store-ca", "store"
_AUTHORITY_DURATION, _AUTHORITY_RENEWAL = "87600h", "17520h"
"""The CA is valid for ten years and renewed two years earlier. Other certificates have the default of cert-manager: 90
days, and renewal after 60 days. Agents thus get a renewed CA long before the former one expires."""
_PRIVATE_KEY = {"algorithm": "ECDSA", "size": 256}


def render(namespace: str, name: str, address: str, releases: Mapping[str, Mapping[str, str]]) -> ManifestSet:
    """Return the CA, the certificate of the proxy, and those in the namespaces of releases that write to it.

    Args:
        namespace: the namespace of the proxy.
        name: the DNS name of the proxy inside the management cluster.
        address: the address of the proxy, at which VPCs reach it.
        releases: labels of the certificate in each namespace of releases.
    """
    server = _certificate(SERVER_SECRET, namespace, dnsNames=[name], ipAddresses=[address], usages=["server auth"])
    members = {f"{item.kind}-{item.name}": item for item in (*_authority(), server)}
    members |= {space: _client(space, labels) for space, labels in releases.items()}
    return ManifestSet(name="metrics-certificates", namespace=namespace, members=members)


def delivered(target: str) -> dict[str, str]:
    """Return the source of the certificate of the CA among the values of a release; ``target`` is the path."""
    return {"kind": "Secret", "name": CLIENT_SECRET, "valuesKey": AUTHORITY_KEY, "targetPath": target}


def _authority() -> Iterator[Manifest]:
    """Yield the CA and the ClusterIssuer that signs with it."""
    yield manifest(_API, "Issuer", _AUTHORITY, namespace=CERT_MANAGER, spec={"selfSigned": {}})
    yield _certificate(
        _AUTHORITY,
        CERT_MANAGER,
        issuer=("Issuer", _AUTHORITY),
        isCA=True,
        commonName=_AUTHORITY,
        duration=_AUTHORITY_DURATION,
        renewBefore=_AUTHORITY_RENEWAL,
        privateKey={**_PRIVATE_KEY, "rotationPolicy": "Never"},
        usages=["cert sign", "crl sign"],
    )
    yield manifest(_API, "ClusterIssuer", _ISSUER, spec={"ca": {"secretName": _AUTHORITY}})


def _client(namespace: str, labels: Mapping[str, str]) -> Manifest:
    """Return the certificate whose Secret has that of the CA, for releases in ``namespace``; no server can use it."""
    return _certificate(CLIENT_SECRET, namespace, labels=labels, commonName=namespace, usages=["client auth"])


def _certificate(
    name: str,
    namespace: str,
    *,
    labels: Mapping[str, str] | None = None,
    issuer: tuple[str, str] = ("ClusterIssuer", _ISSUER),
    **fields: Any,
) -> Manifest:
    kind, signs = issuer
    reference = {"group": "cert-manager.io", "kind": kind, "name": signs}
    spec = {"secretName": name, "privateKey": _PRIVATE_KEY, **fields, "issuerRef": reference}
    return manifest(_API, "Certificate", name, namespace=namespace, labels=labels, spec=spec)
