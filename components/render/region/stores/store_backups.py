"""Backups of the stores of metrics and logs: one CronJob for each storage pod, on the host of the pod.

A job mounts the volume of its storage pod read-only: a volume with the access mode ``ReadWriteOnce`` is available to
all pods of one host (K8S:concepts/storage/persistent-volumes Access Modes). The storage pods need no container for it
and do not restart. Both programs create snapshots of immutable files by hard links:

- *Metrics.* ``vmbackup`` creates a snapshot, uploads the parts that the bucket lacks, and deletes the snapshot
  (VM:docs/victoriametrics/vmbackup.md Cluster backup). The operator offers ``vmbackupmanager`` instead, which requires
  the enterprise version (VMO:api/operator/v1beta1/common_types.go VMBackup).
- *Logs.* No such program exists. VictoriaLogs creates snapshots of its days, of which upstream recommends a copy with
  rsync (VL:docs/victorialogs/README.md Backup and restore); rclone has the same effect for a bucket.

A run first updates the folder ``latest`` of the bucket, then copies it inside the bucket to a folder of the run
(vmbackup.md Smart backups), and finally deletes the folders of old runs. An interrupted run does not damage the
folders of earlier runs.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from components.render.manifest import Manifest, ManifestSet, Rendered
from components.render.platform_pods import HARDENED, bucket_variables, cron_job, unprivileged
from components.render.region.metrics_store import NAMESPACE
from components.render.region.monitors import alert, backup_late, prometheus_rule
from components.specs.region.region import RegionSpec
from components.specs.region.store_backups import StoreBackupSpec
from components.specs.struct import Struct

BACKUP_TOOL, UPLOAD_TOOL, SHELL_TOOL = "vmbackup", "rclone", "alpine"
TOOLS: Mapping[str, tuple[str, ...]] = {"metrics": (BACKUP_TOOL, UPLOAD_TOOL), "logs": (SHELL_TOOL, UPLOAD_TOOL)}
"""Images of the jobs of each store, among the tools of the version vector."""
_USER = 65534
"""User of the storage pods (VMO:internal/controller/operator/factory/build/security.go containerUserGroup)."""
_SECONDS = 20 * 3600
"""Deadline of a run in seconds. A run is aborted after this time so that the next run can start."""
_VOLUME, _WORK = "storage", "/work"
COMPLETE = "complete"
"""Object in the folder of a run of logs with all files; vmbackup has a similar one."""
_METRICS_PATH, _LOGS_PATH = "/vmstorage-data", "/vlstorage-data"
"""Folders of the volumes (VMO:internal/controller/operator/factory/build/defaults.go). Snapshots of logs are reported
with theirs."""
_METRICS_PORT, _LOGS_PORT = 8482, 9491
_PATHS = f"""tr -d '[]" \\n' < {_WORK}/paths | tr ',' '\\n' | while read -r path || [ -n "$path" ]; do"""
"""Loop over the paths of the snapshots, which the store returns as a list in JSON."""
_SNAPSHOT = f"""\
set -eu
wget -qO /dev/null "$STORE/internal/partition/snapshot/delete_stale?max_age=1s"
wget -qO {_WORK}/paths "$STORE/internal/partition/snapshot/create"
mkdir -p {_WORK}/partitions
{_PATHS}
  day="${{path#*/partitions/}}"
  ln -s "$path" "{_WORK}/partitions/${{day%%/*}}"
done
"""
"""Creates a snapshot of each day, and links to it by the name of the day; before, deletes those of aborted runs."""
_RELEASE = f"""\
set -eu
{_PATHS}
  wget -qO /dev/null "$STORE/internal/partition/snapshot/delete?path=$path"
done
"""


class _Store(Struct):
    """Storage pods of a store."""

    name: str
    workload: str
    claim: str
    pods: int
    path: str
    port: int
    backup: StoreBackupSpec

    def pod(self, index: int) -> str:
        return f"{self.workload}-{index}"

    def url(self, index: int) -> str:
        return f"http://{self.pod(index)}.{self.workload}.{NAMESPACE}.svc:{self.port}"


def render(region: RegionSpec, images: Mapping[str, str]) -> tuple[Rendered, ...]:
    """Return the CronJobs and the alert of each store with a backup.

    Args:
        region: the region.
        images: image of each of `TOOLS`; a rule reports missing ones, without which there are no jobs.
    """
    return tuple(
        item for store in _stores(region) if images.keys() >= {*TOOLS[store.name]} for item in _render(store, images)
    )


def _stores(region: RegionSpec) -> Iterator[_Store]:
    metrics, logs = region.observability and region.observability.store, region.log_store
    if metrics and metrics.backup:
        yield _Store(
            name="metrics",
            workload="vmstorage-metrics",
            claim="vmstorage-db",
            pods=metrics.storage_pods,
            path=_METRICS_PATH,
            port=_METRICS_PORT,
            backup=metrics.backup,
        )
    if logs and logs.backup:
        yield _Store(
            name="logs",
            workload="vlstorage-logs",
            claim="vlstorage-db",
            pods=logs.storage_pods,
            path=_LOGS_PATH,
            port=_LOGS_PORT,
            backup=logs.backup,
        )


def _render(store: _Store, images: Mapping[str, str]) -> Iterator[Rendered]:
    steps = _metrics_steps if store.path == _METRICS_PATH else _logs_steps
    jobs = {store.pod(index): _job(store, index, steps(store, index, images)) for index in range(store.pods)}
    yield ManifestSet(name=f"{store.name}-backups", namespace=NAMESPACE, members=jobs)
    yield _rules(store.name)


def _job(store: _Store, index: int, steps: Iterable[dict[str, Any]]) -> Manifest:
    """Return the CronJob that runs ``steps`` one after another on the host of a storage pod."""
    *first, last = steps
    # The container mounts the volume read-only. A read-only claim would mount its file system again with other options
    # than those of the storage pod, which fails.
    claim = {"claimName": f"{store.claim}-{store.pod(index)}"}
    host = {
        "labelSelector": {"matchLabels": {"statefulset.kubernetes.io/pod-name": store.pod(index)}},
        "topologyKey": "kubernetes.io/hostname",
    }
    spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [host]}},
        # Files belong to the user of the storage pods. Without fsGroup, kubelets change no owner of a file.
        "securityContext": unprivileged(_USER),
        "initContainers": [_hardened(step) for step in first],
        "containers": [_hardened(last)],
        "volumes": [{"name": _VOLUME, "persistentVolumeClaim": claim}, {"name": "work", "emptyDir": {}}],
    }
    return cron_job(
        f"{store.name}-backup-{index}",
        {"backoffLimit": 0, "activeDeadlineSeconds": _SECONDS, "template": {"spec": spec}},
        namespace=NAMESPACE,
        labels={},
        schedule=store.backup.schedule,
        time_zone="Etc/UTC",
    )


def _hardened(step: dict[str, Any]) -> dict[str, Any]:
    return {**step, "securityContext": dict(HARDENED)}


def _metrics_steps(store: _Store, index: int, images: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    latest, kept = _folders(store, index)
    source = [f"-storageDataPath={store.path}", f"-snapshot.createURL={store.url(index)}/snapshot/create"]
    upload, keep = [*source, f"-dst=s3://{latest}"], [f"-origin=s3://{latest}", f"-dst=s3://{kept}"]
    for name, further in (("upload", upload), ("keep", keep)):
        yield {
            "name": name,
            "image": images[BACKUP_TOOL],
            "args": [*further, f"-customS3Endpoint={store.backup.endpoint}"],
            "env": [*_run(), *_login(store.backup, "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY")],
            "volumeMounts": _mounts(store)[:1],
        }
    yield _expire(store, index, images)


def _logs_steps(store: _Store, index: int, images: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    latest, kept = (f":s3:{folder}" for folder in _folders(store, index))
    yield _shell("snapshot", _SNAPSHOT, store, index, images)
    # Links lead to the snapshots. Objects that a day no longer has are deleted after all others are uploaded.
    yield _rclone("upload", ["sync", "--copy-links", f"{_WORK}/partitions", latest], store, images)
    yield _shell("release", _RELEASE, store, index, images)
    yield _rclone("keep", ["copy", latest, f"{kept}/partitions"], store, images)
    yield _rclone("complete", ["touch", f"{kept}/{COMPLETE}"], store, images)
    yield _expire(store, index, images)


def _folders(store: _Store, index: int) -> tuple[str, str]:
    """Return the folder of the last run and that of this run, with the bucket."""
    latest, kept = (f"{store.backup.bucket}/{kind}/{store.name}/{store.pod(index)}" for kind in ("latest", "history"))
    return latest, f"{kept}/$(POD)"


def _expire(store: _Store, index: int, images: Mapping[str, str]) -> dict[str, Any]:
    """Return the step that deletes the copies of old runs.

    The server received all objects of a copy during its run. Without ``--use-server-modtime``, their age is that of the
    files in the store: rclone uploads the time of a file as metadata, which copies keep (RCLONE:backend/s3/s3.go
    ModTime, Copy).
    """
    folder = f":s3:{store.backup.bucket}/history/{store.name}/{store.pod(index)}"
    age = ["--min-age", f"{store.backup.keep_days}d", "--use-server-modtime"]
    return _rclone("expire", ["delete", folder, *age], store, images)


def _rclone(name: str, args: list[str], store: _Store, images: Mapping[str, str]) -> dict[str, Any]:
    backup = store.backup
    return {
        "name": name,
        "image": images[UPLOAD_TOOL],
        "command": ["rclone"],
        "args": args,
        "env": [
            *_run(),
            *bucket_variables(backup.endpoint, backup.secret, ("access_key_id", "secret_access_key")),
        ],
        "volumeMounts": _mounts(store),
    }


def _shell(name: str, script: str, store: _Store, index: int, images: Mapping[str, str]) -> dict[str, Any]:
    return {
        "name": name,
        "image": images[SHELL_TOOL],
        "command": ["sh", "-c", script],
        "env": [{"name": "STORE", "value": store.url(index)}],
        "volumeMounts": _mounts(store),
    }


def _mounts(store: _Store) -> list[dict[str, Any]]:
    return [{"name": _VOLUME, "mountPath": store.path, "readOnly": True}, {"name": "work", "mountPath": _WORK}]


def _run() -> list[dict[str, Any]]:
    """Return the variable with the name of the pod, which contains the scheduled time of the run."""
    return [{"name": "POD", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]


def _login(backup: StoreBackupSpec, key: str, secret: str) -> list[dict[str, Any]]:
    names = {key: "access_key_id", secret: "secret_access_key"}
    return [
        {"name": name, "valueFrom": {"secretKeyRef": {"name": backup.secret, "key": entry}}}
        for name, entry in names.items()
    ]


def _rules(name: str) -> Manifest:
    """Return the alert for storage pods without a recent backup, based on kube-state-metrics."""
    of = f'namespace="{NAMESPACE}",cronjob=~"{name}-backup-[0-9]+"'
    late = alert(
        "StoreBackupLate",
        "warning",
        backup_late(of),
        f"No backup of a storage pod of the store of {name} succeeded recently; check the logs of its last Job.",
    )
    rule = f"{name}-backups"
    return prometheus_rule(rule, rule, [late], {}, namespace=NAMESPACE, labels={})
