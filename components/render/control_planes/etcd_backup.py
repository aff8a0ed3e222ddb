"""Backup of an etcd: a CronJob that saves a snapshot and copies it to one or two buckets.

The image of etcd needs no shell. Encrypted copies need the shell in the image of rclone (rclone/rclone:Dockerfile).
"""

import datetime as dt
import re
from collections.abc import Iterator
from typing import Any

from components.render.control_planes.etcd_client import CERTIFICATES, MOUNT, Etcd, job
from components.render.manifest import Manifest
from components.render.platform_pods import bucket_variables, cron_job, upload
from components.specs.control_planes.data_stores import RUN_HOURS, BackupSpec, SecondBucketSpec
from components.specs.schedules import longest_interval_minutes
from components.specs.struct import Struct
from components.specs.times import HOUR_MINUTES

SNAPSHOT_TOOL = "etcd"
UPLOAD_TOOL = "rclone"
KEYS = ("access_key_id", "secret_access_key")
"""Keys of the Secret of the bucket."""
PASSWORD = "encryption_password"  # noqa: S105 - a key of a Secret
"""Key of the password of encrypted copies in the Secret of the second bucket."""
_OBSCURE = """\
RCLONE_CRYPT_PASSWORD="$(printf '%s' "$ENCRYPTION_PASSWORD" | rclone obscure -)"
export RCLONE_CRYPT_PASSWORD
"""
_SNAPSHOTS = "/snapshots"
_DIGITS, _RANDOM, _LONGEST_BASE = 8, 5, 58
"""Digits of the minutes since 1970 (until the year 2160), random characters of a pod's name, and maximum length of the
rest of the name."""
_SECONDS = 3600 * RUN_HOURS
"""Deadline of a backup in seconds. A run is aborted after this time so that the next run can start."""


class Location(Struct):
    """Folder of a bucket with snapshots, as rclone reaches it."""

    spec: BackupSpec | SecondBucketSpec
    folder: str

    @property
    def url(self) -> str:
        """Return the folder, to which the name of a file is appended."""
        return ":crypt:" if self._encrypted else f"{self._bucket}/"

    @property
    def variables(self) -> list[dict[str, Any]]:
        """Return the environment variables with which rclone reaches the folder."""
        spec = self.spec
        login = bucket_variables(spec.endpoint, spec.secret, KEYS)
        if not self._encrypted:
            return login
        password = {"secretKeyRef": {"name": spec.secret, "key": PASSWORD}}
        settings = {"REMOTE": self._bucket, "FILENAME_ENCRYPTION": "off", "DIRECTORY_NAME_ENCRYPTION": "false"}
        return [
            *login,
            {"name": "ENCRYPTION_PASSWORD", "valueFrom": password},
            *({"name": f"RCLONE_CRYPT_{name}", "value": value} for name, value in settings.items()),
        ]

    @property
    def preparation(self) -> str:
        """Return the commands that a script runs before it uses the folder. rclone expects an obscured password."""
        return _OBSCURE if self._encrypted else ""

    @property
    def _bucket(self) -> str:
        return f":s3:{self.spec.bucket}/{self.folder}"

    @property
    def _encrypted(self) -> bool:
        return isinstance(self.spec, SecondBucketSpec) and self.spec.encrypted


class Backup(Struct):
    """Schedule and destination of snapshots, and the images of the job."""

    spec: BackupSpec
    snapshot_image: str
    upload_image: str

    def location(self, folder: str, *, second: bool = False) -> Location:
        """Return ``folder`` of the bucket; with ``second``, of the second bucket if there is one."""
        return Location(spec=(self.spec.second_bucket if second else None) or self.spec, folder=folder)

    @property
    def recovery_point_minutes(self) -> int:
        """Return the maximum age of the newest snapshot, in minutes."""
        hours = self.spec.recovery_point_hours
        return 2 * longest_interval_minutes(self.spec.schedule) if hours is None else hours * HOUR_MINUTES


def backup_name(etcd: str) -> str:
    """Return the name of the CronJob that saves ``etcd``."""
    return f"{etcd}-backup"


def saved_at(snapshot: str, etcd: str) -> dt.datetime | None:
    """Return the scheduled time of ``snapshot``, a file in the bucket; None if it is no snapshot of ``etcd``.

    The file has the name of a pod: that of the CronJob, the minutes since 1970, and five characters. Kubernetes
    shortens everything before these characters, so that minutes of long names may lack digits: the time is then too
    early by the missing digits (K8S:staging/src/k8s.io/apiserver/pkg/storage/names/generate.go).
    """
    base, prefix = snapshot.removesuffix(".db")[:-_RANDOM], f"{backup_name(etcd)}-"
    found = re.fullmatch(rf"{re.escape(prefix)}(\d{{1,{_DIGITS}}})-?", base)
    length = min(len(prefix) + _DIGITS + 1, _LONGEST_BASE)
    if found is None or len(base) != length or not snapshot.endswith(".db"):
        return None
    return dt.datetime.fromtimestamp(int(found[1].ljust(_DIGITS, "0")) * 60, tz=dt.UTC)


def render_backup(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, backup: Backup, *, folder: str, suspend: bool = False
) -> Manifest:
    """Return the CronJob ``name`` that saves ``etcd`` to ``folder`` of the bucket."""
    spec = job(
        etcd,
        _SECONDS,
        [{"name": "snapshots", "emptyDir": {}}],
        initContainers=[_snapshot(etcd, backup)],
        containers=[_upload(folder, backup), *_copies(folder, backup)],
    )
    return cron_job(
        name,
        spec,
        namespace=namespace,
        labels=labels,
        schedule=backup.spec.schedule,
        time_zone="Etc/UTC",
        suspend=suspend,
    )


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


def _copies(folder: str, backup: Backup) -> Iterator[dict[str, Any]]:
    """Yield the container that copies the snapshot to the second bucket. It does not depend on the first bucket."""
    if backup.spec.second_bucket is not None:
        second = backup.location(folder, second=True)
        script = f"set -eu\n{second.preparation}rclone copy {_SNAPSHOTS} {second.url}\n"
        yield {
            "name": "copy",
            "image": backup.upload_image,
            "command": ["sh", "-c", script],
            "env": second.variables,
            "volumeMounts": [{"name": "snapshots", "mountPath": _SNAPSHOTS, "readOnly": True}],
        }


def _upload(folder: str, backup: Backup) -> dict[str, Any]:
    mount = {"name": "snapshots", "mountPath": _SNAPSHOTS}
    spec = backup.spec
    return upload(backup.upload_image, mount, f"{spec.bucket}/{folder}", spec.endpoint, spec.secret, KEYS)
