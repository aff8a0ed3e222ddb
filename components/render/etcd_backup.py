"""Snapshots of an etcd: a CronJob that saves one and copies it to a bucket, without a shell in either image."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.render.manifest import Manifest
from components.render.workloads import cron_job
from components.specs.region import BackupSpec

SNAPSHOT_TOOL = "etcd"
UPLOAD_TOOL = "rclone"
_SNAPSHOTS, _CERTIFICATES = "/snapshots", "/certificates"
_USER = 65532
_SECONDS = 3600
"""How many seconds a snapshot may take before it is given up, so that the next one can begin."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Etcd:
    """An etcd, and the Secrets by which it is reached."""

    endpoint: str
    authority: tuple[str, str]
    """Secret and key of the certificate that vouches for the etcd."""
    client: str
    """Secret with the client's certificate, under ``tls.crt`` and ``tls.key``."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """When snapshots are taken and where they go, and the images that do it."""

    spec: BackupSpec
    snapshot_image: str
    upload_image: str


def render_backup(name: str, cluster: str, labels: dict[str, str], etcd: Etcd, backup: Backup) -> Manifest:
    """Return the CronJob ``name`` that saves ``etcd`` of ``cluster``."""
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": {"runAsNonRoot": True, "runAsUser": _USER, "runAsGroup": _USER, "fsGroup": _USER},
        "initContainers": [_snapshot(etcd, backup)],
        "containers": [_upload(cluster, backup)],
        "volumes": [
            {"name": "snapshots", "emptyDir": {}},
            {"name": "certificates", "projected": {"sources": _certificates(etcd)}},
        ],
    }
    job = {"backoffLimit": 2, "activeDeadlineSeconds": _SECONDS, "template": {"spec": pod}}
    return cron_job(name, job, namespace=cluster, labels=labels, schedule=backup.spec.schedule, time_zone="Etc/UTC")


def _snapshot(etcd: Etcd, backup: Backup) -> dict[str, Any]:
    return {
        "name": "snapshot",
        "image": backup.snapshot_image,
        "command": ["etcdctl"],
        # The name of the pod holds the time for which it was scheduled.
        "args": ["snapshot", "save", f"{_SNAPSHOTS}/$(POD).db"],
        "env": [
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "ETCDCTL_ENDPOINTS", "value": etcd.endpoint},
            {"name": "ETCDCTL_CACERT", "value": f"{_CERTIFICATES}/ca.crt"},
            {"name": "ETCDCTL_CERT", "value": f"{_CERTIFICATES}/tls.crt"},
            {"name": "ETCDCTL_KEY", "value": f"{_CERTIFICATES}/tls.key"},
        ],
        "volumeMounts": [
            {"name": "snapshots", "mountPath": _SNAPSHOTS},
            {"name": "certificates", "mountPath": _CERTIFICATES, "readOnly": True},
        ],
    }


def _upload(cluster: str, backup: Backup) -> dict[str, Any]:
    def secret(key: str) -> dict[str, Any]:
        return {"secretKeyRef": {"name": backup.spec.secret, "key": key}}

    return {
        "name": "upload",
        "image": backup.upload_image,
        "command": ["rclone"],
        "args": ["copy", _SNAPSHOTS, f":s3:{backup.spec.bucket}/{cluster}"],
        "env": [
            {"name": "RCLONE_S3_PROVIDER", "value": "Other"},
            {"name": "RCLONE_S3_ENDPOINT", "value": backup.spec.endpoint},
            {"name": "RCLONE_S3_NO_CHECK_BUCKET", "value": "true"},
            {"name": "RCLONE_S3_ACCESS_KEY_ID", "valueFrom": secret("access_key_id")},
            {"name": "RCLONE_S3_SECRET_ACCESS_KEY", "valueFrom": secret("secret_access_key")},
        ],
        "volumeMounts": [{"name": "snapshots", "mountPath": _SNAPSHOTS, "readOnly": True}],
    }


def _certificates(etcd: Etcd) -> list[dict[str, Any]]:
    authority, key = etcd.authority
    client = [{"key": name, "path": name} for name in ("tls.crt", "tls.key")]
    return [
        {"secret": {"name": authority, "items": [{"key": key, "path": "ca.crt"}]}},
        {"secret": {"name": etcd.client, "items": client}},
    ]
