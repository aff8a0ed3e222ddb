"""Definition of an etcd, independent of the backend, with its defragmentation and backup."""

from collections.abc import Iterator

from components.render.control_planes.etcd_backup import Backup, backup_name, render_backup
from components.render.control_planes.etcd_client import Etcd
from components.render.control_planes.etcd_defragmentation import Defragmentation, render_defragmentation
from components.render.control_planes.etcd_verification import Verification, render_verification, verification_name
from components.render.manifest import Manifest
from components.specs.control_planes.data_stores import DedicatedDataStoreSpec, RestoreSpec
from components.specs.struct import Struct


class Upkeep(Struct):
    """Defragmentation and backup of an etcd."""

    defragmentation: Defragmentation
    backup: Backup | None
    """Backup settings; None for no backup."""


class MadeEtcd(Struct):
    """Definition of an etcd that the library creates."""

    spec: DedicatedDataStoreSpec
    upkeep: Upkeep
    hosts: int | None
    """Number of management cluster hosts for the members; None if unknown."""
    restore: RestoreSpec | None = None
    """Restore of the etcd to a snapshot; None if it is not being restored."""

    @property
    def is_stopped(self) -> bool:
        """Return whether the members are stopped for a restore."""
        return self.restore is not None and self.restore.stops


def render_upkeep(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, made: MadeEtcd, *, folder: str, nodes: int
) -> Iterator[Manifest]:
    """Yield the CronJobs of the etcd ``name``. Snapshots are saved to ``folder`` of the bucket.

    While members are stopped, no run starts.
    """
    upkeep, stopped = made.upkeep, made.is_stopped
    yield render_defragmentation(f"{name}-defrag", namespace, labels, etcd, upkeep.defragmentation, suspend=stopped)
    yield from render_saved(name, namespace, labels, etcd, made, folder=folder, nodes=nodes)


def render_saved(
    name: str, namespace: str, labels: dict[str, str], etcd: Etcd, made: MadeEtcd, *, folder: str, nodes: int
) -> Iterator[Manifest]:
    """Yield the CronJobs that save the etcd ``name``, and verify its snapshots; nothing without a backup.

    ``nodes`` is the maximum number of nodes of its clusters.
    """
    backup, stopped = made.upkeep.backup, made.is_stopped
    if backup is None:
        return
    yield render_backup(backup_name(name), namespace, labels, etcd, backup, folder=folder, suspend=stopped)
    verified = Verification(backup=backup, folder=folder, nodes=nodes, size=made.spec.size)
    yield render_verification(verification_name(name), namespace, labels, verified, suspend=stopped)
