"""Backup of an etcd: a CronJob that saves a snapshot and copies it to a bucket. The images need no shell."""

from typing import Any

from components.render.control_planes.etcd_client import CERTIFICATES, MOUNT, Etcd, job
from components.render.manifest import Manifest
from components.render.platform_pods import cron_job, upload
from components.specs.control_planes.data_stores import BackupSpec
from components.specs.struct import Struct

SNAPSHOT_TOOL = "etcd"
UPLOAD_TOOL = "rclone"
_SNAPSHOTS = "/snapshots"
_SECONDS = 3600
"""Deadline of a backup in seconds. A run is aborted after this time so that the next run can start."""


class Backup(Struct):
    """Schedule and destination of snapshots, and the images of the job."""

    spec: BackupSpec
    snapshot_image: str
    upload_image: str


def render_backup(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, backup: Backup, *, folder: str
) -> Manifest:
    """Return the CronJob ``name`` that saves ``etcd`` to ``folder`` of the bucket."""
    spec = job(
        etcd,
        _SECONDS,
        [{"name": "snapshots", "emptyDir": {}}],
        initContainers=[_snapshot(etcd, backup)],
        containers=[_upload(folder, backup)],
    )
    return cron_job(name, spec, namespace=namespace, labels=labels, schedule=backup.spec.schedule, time_zone="Etc/UTC")


def _snapshot(etcd: Etcd, backup: Backup) -> dict[str, Any]:
    return {
        "name": "snapshot",
        "image": backup.snapshot_image,
        "command": ["etcdctl"],
        # The name of the pod contains the scheduled time.
        "args": ["snapshot", "save", f"{_SNAPSHOTS}/$(POD).db"],
        "env": [
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "ETCDCTL_ENDPOINTS", "value": etcd.endpoint},
            {"name": "ETCDCTL_CACERT", "value": f"{CERTIFICATES}/ca.crt"},
            {"name": "ETCDCTL_CERT", "value": f"{CERTIFICATES}/tls.crt"},
            {"name": "ETCDCTL_KEY", "value": f"{CERTIFICATES}/tls.key"},
        ],
        "volumeMounts": [
            {"name": "snapshots", "mountPath": _SNAPSHOTS},
            dict(MOUNT),
        ],
    }


def _upload(folder: str, backup: Backup) -> dict[str, Any]:
    mount = {"name": "snapshots", "mountPath": _SNAPSHOTS}
    spec, keys = backup.spec, ("access_key_id", "secret_access_key")
    return upload(backup.upload_image, mount, f"{spec.bucket}/{folder}", spec.endpoint, spec.secret, keys)
