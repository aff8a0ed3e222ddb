"""Jobs that access an etcd: address, client certificates and pod spec."""

from collections.abc import Mapping
from typing import Any

from components.specs.struct import Struct

CERTIFICATES = "/certificates"
"""Folder of ``ca.crt``, ``tls.crt`` and ``tls.key`` in a container that mounts `MOUNT`."""
MOUNT: Mapping[str, Any] = {"name": "certificates", "mountPath": CERTIFICATES, "readOnly": True}
_USER = 65532


class Etcd(Struct):
    """Endpoint of an etcd, and the Secrets with the certificates for access."""

    endpoint: str
    authority: tuple[str, str]
    """Secret and key of the CA certificate of the etcd."""
    client: str
    """Secret with the client certificate, under ``tls.crt`` and ``tls.key``."""


def job(etcd: Etcd, seconds: int, volumes: list[dict[str, Any]], **containers: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the spec of a Job that runs ``containers`` with the certificates of ``etcd``, for at most ``seconds``."""
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER},
        **containers,
        "volumes": [*volumes, {"name": "certificates", "projected": {"sources": _certificates(etcd)}}],
    }
    return {"backoffLimit": 2, "activeDeadlineSeconds": seconds, "template": {"spec": pod}}


def _certificates(etcd: Etcd) -> list[dict[str, Any]]:
    authority, key = etcd.authority
    client = [{"key": name, "path": name} for name in ("tls.crt", "tls.key")]
    return [
        {"secret": {"name": authority, "items": [{"key": key, "path": "ca.crt"}]}},
        {"secret": {"name": etcd.client, "items": client}},
    ]
