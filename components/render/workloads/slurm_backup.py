"""CronJob that dumps the database of a Slurm cluster's accounting, and copies the dump to a bucket.

A dump reads one snapshot of all tables, so slurmdbd continues to write (MARIADB:mariadb-dump,
``--single-transaction``). The job connects as the user of the accounting does; it has no other rights.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from components.render.add_ons.pod_priorities import SERVICE
from components.render.control_planes.etcd_backup import UPLOAD_TOOL
from components.render.manifest import Manifest
from components.render.platform_pods import HARDENED, cron_job, unprivileged, upload
from components.render.pod_placement import services
from components.render.storage.buckets import OfferedBucket
from components.specs.storage.buckets import Addressing
from components.specs.struct import Struct
from components.specs.workloads.slurm_accounting import SlurmAccountingSpec, SlurmBackupSpec

NAME = "slurm-database-backup"
PODS: Mapping[str, str] = {"app.kubernetes.io/name": NAME}
"""Labels of the pods of the job, which may connect to the server."""
TOOL = UPLOAD_TOOL
KEYS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")
"""Keys of the Secret, with the names that Secrets of a tenant's buckets have."""
DUMPS = "/dumps"
_AUTHORITY, _AUTHORITIES = "ca.crt", "/authority"
"""Certificate of a store's private authority in the Secret with the keys, and its folder in the pod."""
_SECONDS = 4 * 3600
"""Deadline of a run in seconds. A run is aborted after this time so that the next run can start."""
_DUMP = f"""\
set -euo pipefail
export MYSQL_PWD="$(printf '%s' "$PASSWORD")"
mariadb-dump --no-defaults --host="$HOST" --user="$USERNAME" --single-transaction --quick --no-tablespaces \\
  --databases "$DATABASE" | gzip >"{DUMPS}/$POD.sql.gz"
"""


class Dumps(Struct):
    """Bucket of the dumps, with its store and keys."""

    endpoint: str
    bucket: str
    """Name of the bucket in the store."""
    secret: str
    """Secret with the keys."""
    variables: tuple[tuple[str, str], ...] = ()
    """Further variables of rclone."""
    private_authority: bool = False
    """Whether the Secret also has the authority that signed the store's certificate."""


def dumps_of(backup: SlurmBackupSpec, offered: Iterable[OfferedBucket]) -> Dumps:
    """Return the bucket of ``backup``: one of the buckets with keys in the namespace, or one of another store."""
    if backup.endpoint and backup.secret:
        return Dumps(endpoint=backup.endpoint, bucket=backup.bucket, secret=backup.secret)
    [bucket] = [one for one in offered if one.spec.name == backup.bucket]
    store = bucket.store
    return Dumps(
        endpoint=store.endpoint,
        bucket=bucket.bucket,
        secret=bucket.spec.found_as,
        variables=(
            ("RCLONE_S3_REGION", store.region),
            ("RCLONE_S3_FORCE_PATH_STYLE", str(store.addressing is Addressing.PATH).lower()),
            *((("RCLONE_CA_CERT", f"{_AUTHORITIES}/{_AUTHORITY}"),) if store.private_authority else ()),
        ),
        private_authority=store.private_authority,
    )


def backup_job(
    accounting: SlurmAccountingSpec,
    backup: SlurmBackupSpec,
    dumps: Dumps,
    images: tuple[str, str],
    place: Mapping[str, Any],
    *,
    host: str,
    user: int,
    system_pool: bool,
) -> Manifest:
    """Return the CronJob.

    Args:
        accounting: database, user and Secret of the password.
        backup: schedule of the dumps.
        dumps: bucket of the dumps.
        images: images of MariaDB and rclone.
        place: namespace and cluster.
        host: host of the database.
        user: number of the user as whom the containers run.
        system_pool: whether the cluster has a pool with role system.
    """
    password = {"secretKeyRef": {"name": accounting.password_secret, "key": "password"}}
    mount = {"name": "dumps", "mountPath": DUMPS}
    # The name of the pod contains the scheduled time.
    dump = {
        "name": "dump",
        "image": images[0],
        "command": ["bash", "-c", _DUMP],
        "env": [
            {"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
            {"name": "HOST", "value": host},
            {"name": "DATABASE", "value": accounting.database},
            {"name": "USERNAME", "value": accounting.user},
            {"name": "PASSWORD", "valueFrom": password},
        ],
        "volumeMounts": [mount],
        "securityContext": dict(HARDENED),
    }
    copy = upload(images[1], mount, f"{dumps.bucket}/slurm/{place['cluster']}", dumps.endpoint, dumps.secret, KEYS)
    copy["env"] += [{"name": name, "value": value} for name, value in dumps.variables]
    volumes: list[dict[str, Any]] = [{"name": "dumps", "emptyDir": {}}]
    if dumps.private_authority:
        copy["volumeMounts"].append({"name": "authority", "mountPath": _AUTHORITIES, "readOnly": True})
        only = [{"key": _AUTHORITY, "path": _AUTHORITY}]
        volumes.append({"name": "authority", "secret": {"secretName": dumps.secret, "items": only}})
    spec = {
        **services(system_pool=system_pool, labels={"kubernetes.io/os": "linux"}),
        "priorityClassName": SERVICE,
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": unprivileged(user),
        "initContainers": [dump],
        "containers": [{**copy, "securityContext": dict(HARDENED)}],
        "volumes": volumes,
    }
    template = {"metadata": {"labels": dict(PODS)}, "spec": spec}
    return cron_job(
        NAME,
        {"backoffLimit": 0, "activeDeadlineSeconds": _SECONDS, "template": template},
        namespace=place["namespace"],
        cluster=place["cluster"],
        labels={},
        schedule=backup.schedule,
        time_zone="Etc/UTC",
    )
