"""Certificates of the etcd that k0smotron creates for a cluster, which cert-manager renews.

k0smotron creates certificates for the members and for the API servers, valid for one year, only if their Secrets do not
exist, and never renews them (K0SM:internal/controller/k0smotron.io/k0smotroncluster_certs.go ensureEtcdCertificates,
with cloudflare/cfssl:config/config.go DefaultConfig). One year after its creation, a cluster would thus lose its etcd.
cert-manager writes certificates of the same CA into the same Secrets.

Members read renewed certificates from the mounted Secret at each connection (ETCD:client/pkg/transport/listener.go
ServerConfig). API servers use a copy from the start of their pod (K0SM:internal/controller/k0smotron.io/
k0smotroncluster_statefulset.go mountSecrets), like the other certificates that k0s issues when it starts
(K0S:pkg/certificate/manager.go). All certificates are therefore valid for as long as the CA of Cluster API: the key of
the CA is in a Secret beside them, so shorter ones would protect nothing.
"""

from collections.abc import Mapping

from components.render.control_planes.control_plane import MANAGEMENT_DOMAIN
from components.render.manifest import Manifest, ManifestSet
from components.render.objects import manifest

DURATION = "87600h"
"""Ten years, as the CA of Cluster API (CAPI:util/secret/certificates.go)."""
CLIENT = "apiserver-etcd-client"
"""Suffix of the Secret with the certificate of API servers."""
_PURPOSES = (CLIENT, "etcd-server", "etcd-peer")
"""Suffixes of the Secrets that k0smotron looks up before it creates certificates."""
_API = "cert-manager.io/v1"


def render(cluster: str, labels: Mapping[str, str]) -> ManifestSet:
    """Return the issuer with the CA of the etcd, which Cluster API's library creates, and the certificates."""
    issuer = f"{cluster}-etcd"
    items = [manifest(_API, "Issuer", issuer, namespace=cluster, labels=labels, spec={"ca": {"secretName": issuer}})]
    items += [_certificate(f"{cluster}-{purpose}", issuer, cluster, labels) for purpose in _PURPOSES]
    members = {f"{item.kind}/{item.name}": item for item in items}
    return ManifestSet(name="etcd-certificates", namespace=cluster, members=members)


def _certificate(name: str, issuer: str, cluster: str, labels: Mapping[str, str]) -> Manifest:
    """Return a certificate with k0smotron's names and usages.

    Without the name of the subject that k0smotron sets, cert-manager replaces an existing certificate immediately
    (CERT:internal/controller/certificates/policies/checks.go currentSecretValidForSpec).
    """
    return manifest(
        _API,
        "Certificate",
        name,
        namespace=cluster,
        labels=labels,
        spec={
            "secretName": name,
            # Cluster API's cache contains only Secrets with this label, and `clusterctl move` moves only these.
            "secretTemplate": {"labels": {"cluster.x-k8s.io/cluster-name": cluster}},
            "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": issuer},
            "duration": DURATION,
            "dnsNames": _names(f"kmc-{cluster}-etcd", cluster),
            "ipAddresses": ["127.0.0.1"],
            "usages": ["digital signature", "key encipherment", "server auth", "client auth"],
        },
    )


def _names(service: str, namespace: str) -> list[str]:
    """Return the names of the Service and of its members, with and without the domain."""
    full = [service, f"{service}.{namespace}.svc", f"{service}.{namespace}.{MANAGEMENT_DOMAIN}"]
    return ["localhost", *full, *(f"*.{name}" for name in full)]
