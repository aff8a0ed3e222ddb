"""Restore of an etcd to a snapshot: one Job per member, which replaces the data on the volume of the member once.

Members must be stopped. The image of etcd has no shell: ``etcdutl`` restores into a folder beside the data, and scripts
in the image of rclone move the folder. A volume that has a mark of the snapshot is not changed again, so that neither a
second run of the Job nor a recreated Job replaces newer data.
"""

from collections.abc import Iterator
from typing import Any

from components.render.control_planes.etcd_backup import Backup, Location
from components.render.manifest import Manifest, Readiness
from components.render.objects import digest, manifest
from components.specs.struct import Struct

REVISIONS = 1_000_000_000
"""Number by which the revision increases, more than an etcd writes between a snapshot and its restore. Revisions that
decrease would break watches of API servers and controllers."""
DATA, SNAPSHOTS = "/data", "/snapshots"
"""Folders of the member's volume and of the snapshot in the Jobs."""
_RESTORING = f"{DATA}/restoring"
_NAME = "-restore-"
_SECONDS = 1800
_WAIT_SECONDS = 2100
"""Time that `up` waits for a Job, which is longer than the Job may run."""
_STOPPED = """\
# A running member locks this file.
if [ ! -e {mark} ] && [ -e {data}/member/snap/db ] && ! flock -n {data}/member/snap/db true; then
  echo "the member runs on this volume; stop the members first (step: stop)" >&2
  exit 1
fi
"""
_DOWNLOAD = """\
set -eu
{stopped}\
rm -rf {restoring}
# Data that an earlier restore set aside make room.
find {data} -maxdepth 1 -name 'replaced-*' ! -name 'replaced-{stem}-*' -exec rm -rf {{}} +
{preparation}\
rclone copyto "$SOURCE" {snapshots}/{snapshot}
"""
_REPLACE = """\
set -eu
if [ -e {mark} ]; then
  echo "this volume was restored to {snapshot} before; its data are unchanged"
  rm -rf {restoring}
  exit 0
fi
{stopped}\
touch {restoring}/member/restored-{stem}
sync
[ ! -e {data}/member ] || mv {data}/member {data}/replaced-{stem}-$(date +%s)
mv {restoring}/member {data}/member
rm -rf {restoring}
sync
"""


class Restore(Struct):
    """Restore of an etcd to a snapshot."""

    snapshot: str
    """File name of the snapshot."""
    location: Location
    """Folder of the snapshot."""
    backup: Backup
    peers: dict[str, str]
    """URLs for the peers of each member, by the name of the member."""
    claims: dict[str, str]
    """Claims of the volumes of each member, by the name of the member."""

    @property
    def stem(self) -> str:
        """Return the name of the snapshot without the ending."""
        return self.snapshot.removesuffix(".db")


def restored_etcd(job: str) -> str:
    """Return the name of the etcd that the Job named ``job`` restores."""
    return job.rpartition(_NAME)[0]


def render_restore(name: str, namespace: str, labels: dict[str, str], restore: Restore) -> Iterator[Manifest]:
    """Yield the Jobs that restore the members of the etcd ``name``; `up` waits until they have succeeded."""
    of_snapshot = digest({"snapshot": restore.snapshot}, 6)
    for index, member in enumerate(restore.peers):
        yield manifest(
            "batch/v1",
            "Job",
            f"{name}{_NAME}{of_snapshot}-{index}",
            namespace=namespace,
            labels=labels,
            readiness=Readiness(conditions=("condition=Complete",), timeout_seconds=_WAIT_SECONDS),
            spec={"activeDeadlineSeconds": _SECONDS, "template": {"spec": _pod(restore, member)}},
        )


def _pod(restore: Restore, member: str) -> dict[str, Any]:
    """Return the pod, which runs as root like members: only root can read their files."""
    return {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "initContainers": [_download(restore), _restore(restore, member)],
        "containers": [_container("replace", restore.backup.upload_image, command=_script(_REPLACE, restore))],
        "volumes": [
            {"name": "snapshots", "emptyDir": {}},
            {"name": "data", "persistentVolumeClaim": {"claimName": restore.claims[member]}},
        ],
    }


def _download(restore: Restore) -> dict[str, Any]:
    location = restore.location
    env = [{"name": "SOURCE", "value": f"{location.url}{restore.snapshot}"}, *location.variables]
    return _container("download", restore.backup.upload_image, command=_script(_DOWNLOAD, restore), env=env)


def _restore(restore: Restore, member: str) -> dict[str, Any]:
    peers = ",".join(f"{name}={url}" for name, url in restore.peers.items())
    arguments = [
        "snapshot",
        "restore",
        f"{SNAPSHOTS}/{restore.snapshot}",
        f"--data-dir={_RESTORING}",
        f"--bump-revision={REVISIONS}",
        "--mark-compacted",
        f"--name={member}",
        f"--initial-cluster={peers}",
        # With a new token, a restored member never joins members that still have the former data.
        f"--initial-cluster-token={restore.stem}",
        f"--initial-advertise-peer-urls={restore.peers[member]}",
    ]
    return _container("restore", restore.backup.snapshot_image, command=["etcdutl"], args=arguments)


def _script(text: str, restore: Restore) -> list[str]:
    named = {
        "data": DATA,
        "preparation": restore.location.preparation,
        "mark": f"{DATA}/member/restored-{restore.stem}",
        "restoring": _RESTORING,
        "snapshot": restore.snapshot,
        "snapshots": SNAPSHOTS,
        "stem": restore.stem,
    }
    return ["sh", "-c", text.format(stopped=_STOPPED.format(**named), **named)]


def _container(name: str, image: str, **further: Any) -> dict[str, Any]:
    mounts = [{"name": "snapshots", "mountPath": SNAPSHOTS}, {"name": "data", "mountPath": DATA}]
    return {
        "name": name,
        "image": image,
        **further,
        "securityContext": {"allowPrivilegeEscalation": False, "runAsUser": 0},
        "volumeMounts": mounts,
    }
