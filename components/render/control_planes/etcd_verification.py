"""Verification of a backup: a CronJob that restores the newest snapshot into an empty etcd and counts its keys.

``etcdutl`` compares the snapshot with the hash at its end (ETCD:etcdutl/snapshot/v3_snapshot.go saveDB). Its number of
keys depends on its version, so the restored etcd counts them. The image of etcd has no shell: etcd runs as a sidecar
(KEP-753), and a script in the image of rclone reads its metrics.

Metrics need no login. The chart of Kamaji's etcds enables authentication (KAMAJI-ETCD:charts/kamaji-etcd/templates/
etcd_job_preinstall_2.yaml), and snapshots contain this setting: without a client certificate, the restored etcd rejects
all requests for keys, and its HTTP gateway ignores certificates (ETCD:server/auth/store.go AuthInfoFromTLS).
"""

from collections.abc import Iterator
from typing import Any

from components.render.control_planes.etcd_backup import KEYS, Backup
from components.render.control_planes.sizing import scratch_etcd
from components.render.manifest import Manifest
from components.render.platform_pods import HARDENED, bucket_variables, cron_job, unprivileged
from components.specs.base import GIBIBYTE, Quantity, bytes_of
from components.specs.struct import Struct

SCRATCH = "/scratch"
"""Folder of the snapshot and of the restored data in the pod."""
CLIENTS, PEERS = "http://127.0.0.1:2379", "http://127.0.0.1:2380"
"""URLs of the etcd in the pod."""
SECONDS = 3600
"""Deadline of a verification in seconds."""
_USER = 65532
_SNAPSHOT, _DATA = f"{SCRATCH}/snapshot.db", f"{SCRATCH}/etcd"
_QUOTA_BYTES = 8 * GIBIBYTE
"""Maximum size of a snapshot: the quota of the chart (KAMAJI-ETCD:charts/kamaji-etcd/values.yaml
quotaBackendBytes)."""
_LOG_BYTES = GIBIBYTE
"""Space for the write-ahead log of the restored etcd."""
_KEYS_METRIC = "etcd_debugging_mvcc_keys_total"
"""Number of keys, which etcd counts when it starts (ETCD:server/storage/mvcc/metrics.go keysGauge, 3.3 to 3.7)."""
_FETCH = f"""\
set -eu
export TZ=UTC
found="$(rclone lsf --files-only --format tp --separator ' ' --include '*.db' ":s3:$SOURCE")"
newest="$(printf '%s\\n' "$found" | sort | tail -n 1)"
if [ -z "$newest" ]; then
  echo "$SOURCE contains no snapshot" >&2
  exit 1
fi
name="${{newest##* }}"
age=$((($(date +%s) - $(date -d "${{newest% *}}" +%s)) / 60))
if [ "$age" -gt "$RECOVERY_POINT_MINUTES" ]; then
  echo "the newest snapshot $name is $age min old; at most $RECOVERY_POINT_MINUTES min are allowed" >&2
  exit 1
fi
rclone copyto ":s3:$SOURCE/$name" {_SNAPSHOT}
echo "$name" > {SCRATCH}/name
echo "$name, $age min old" > {SCRATCH}/title
"""
_COMPARE = """\
set -eu
{preparation}\
name="$(cat {scratch}/name)"
if ! rclone cat "{url}$name" | cmp - {snapshot}; then
  echo "the copy of $name in the second bucket is missing, or differs" >&2
  exit 1
fi
"""
_COUNT = f"""\
set -eu
tries=0
until metrics="$(wget -qO- {CLIENTS}/metrics)"; do
  tries=$((tries + 1))
  if [ "$tries" -ge 600 ]; then
    echo "the restored etcd does not answer" >&2
    exit 1
  fi
  sleep 1
done
count="$(printf '%s\\n' "$metrics" | awk '$1 == "{_KEYS_METRIC}" {{ printf "%d", $2 }}')"
case "$count" in
  "") echo "the restored etcd has no metric {_KEYS_METRIC}" >&2; exit 1 ;;
  0) echo "$(cat {SCRATCH}/title): contains no keys" >&2; exit 1 ;;
esac
echo "$(cat {SCRATCH}/title): $count keys"
"""


class Verification(Struct):
    """Verification of the backup of an etcd."""

    backup: Backup
    folder: str
    """Folder of the snapshots in the bucket."""
    nodes: int
    """Maximum number of nodes of the clusters of the etcd."""
    size: Quantity
    """Size of a member's volume."""


def verification_name(etcd: str) -> str:
    """Return the name of the CronJob that verifies the backup of ``etcd``."""
    return f"{etcd}-verify"


def render_verification(
    name: str, namespace: str, labels: dict[str, str], verification: Verification, *, suspend: bool = False
) -> Manifest:
    """Return the CronJob ``name`` of ``verification``."""
    scratch = 2 * min(bytes_of(verification.size), _QUOTA_BYTES) + _LOG_BYTES
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "securityContext": unprivileged(_USER) | {"fsGroup": _USER},
        "initContainers": [
            _fetch(verification, scratch),
            *_compare(verification),
            _restore(verification),
            _etcd(verification),
        ],
        "containers": [_container("count", verification.backup.upload_image, command=["sh", "-c", _COUNT])],
        "volumes": [{"name": "scratch", "emptyDir": {"sizeLimit": f"{_mebibytes(scratch)}Mi"}}],
    }
    return cron_job(
        name,
        {"backoffLimit": 2, "activeDeadlineSeconds": SECONDS, "template": {"spec": pod}},
        namespace=namespace,
        labels=labels,
        schedule=verification.backup.spec.verification,
        time_zone="Etc/UTC",
        suspend=suspend,
    )


def _fetch(verification: Verification, scratch: int) -> dict[str, Any]:
    backup = verification.backup
    env = [
        {"name": "SOURCE", "value": f"{backup.spec.bucket}/{verification.folder}"},
        {"name": "RECOVERY_POINT_MINUTES", "value": str(backup.recovery_point_minutes)},
        *bucket_variables(backup.spec.endpoint, backup.spec.secret, KEYS),
    ]
    space = {"requests": {"ephemeral-storage": f"{_mebibytes(scratch)}Mi"}}
    return _container("fetch", backup.upload_image, command=["sh", "-c", _FETCH], env=env, resources=space)


def _compare(verification: Verification) -> Iterator[dict[str, Any]]:
    """Yield the container that compares the snapshot with its copy in the second bucket."""
    backup = verification.backup
    if backup.spec.second_bucket is not None:
        second = backup.location(verification.folder, second=True)
        named = {"scratch": SCRATCH, "snapshot": _SNAPSHOT, "url": second.url, "preparation": second.preparation}
        script = _COMPARE.format(**named)
        yield _container("compare", backup.upload_image, command=["sh", "-c", script], env=second.variables)


def _restore(verification: Verification) -> dict[str, Any]:
    arguments = ["snapshot", "restore", _SNAPSHOT, f"--data-dir={_DATA}"]
    resources = scratch_etcd(verification.nodes)
    image = verification.backup.snapshot_image
    return _container("restore", image, command=["etcdutl"], args=arguments, resources=resources)


def _etcd(verification: Verification) -> dict[str, Any]:
    arguments = [
        f"--data-dir={_DATA}",
        f"--listen-client-urls={CLIENTS}",
        f"--advertise-client-urls={CLIENTS}",
        f"--listen-peer-urls={PEERS}",
        # The quota of a member may be higher than the default.
        "--quota-backend-bytes=-1",
        "--unsafe-no-fsync",
    ]
    resources = scratch_etcd(verification.nodes)
    image = verification.backup.snapshot_image
    sidecar: dict[str, Any] = {"restartPolicy": "Always", "resources": resources}
    return _container("etcd", image, command=["etcd"], args=arguments, **sidecar)


def _container(name: str, image: str, **further: Any) -> dict[str, Any]:
    mounts = [{"name": "scratch", "mountPath": SCRATCH}]
    return {"name": name, "image": image, **further, "securityContext": dict(HARDENED), "volumeMounts": mounts}


def _mebibytes(size: int) -> int:
    return size >> 20
