"""Data stores of hosted control planes: etcds created by the library, or existing ones."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    CronSchedule,
    DnsLabel,
    Endpoint,
    HttpsUrl,
    Quantity,
    Spec,
)
from components.specs.schedules import longest_interval_minutes
from components.specs.times import HOUR_MINUTES

RUN_HOURS = 1
"""Maximum duration of a run that saves a snapshot, in hours."""
DPU_STORE = "default"
"""Data store of the control planes of DPUs; DPF requests it from Kamaji by this name
(doca-platform:internal/clustermanager/kamaji/handler.go)."""
SNAPSHOT = r"^[a-z0-9][a-z0-9-]*\.db$"
"""File name of a snapshot: name of the pod that saved it, with ``.db``."""
_SIZE = "100Gi"
_ELSEWHERE = "an existing etcd defines it; remove it, or remove endpoints and secret to create an etcd"


class SecondBucketSpec(Spec):
    """Bucket in another place, with a copy of each snapshot. It survives the loss of the first bucket."""

    endpoint: HttpsUrl
    """URL of an S3-compatible store."""
    bucket: DnsLabel
    """Bucket of the copies, with the prefixes of the first bucket."""
    secret: DnsLabel
    """Secret with ``access_key_id``, ``secret_access_key`` and, for encrypted copies, ``encryption_password``, in the
    namespaces of the Secret of the first bucket."""
    encrypted: bool = True
    """Whether rclone encrypts the copies before the upload. Without the password, no copy can be restored."""


class BackupSpec(CheckedSpec):
    """Snapshots of a data store. A rule of the bucket defines their retention time."""

    schedule: CronSchedule
    """Schedule of snapshots, in UTC."""
    recovery_point_hours: int | None = Field(default=None, ge=1, le=744)
    """Maximum age of the newest snapshot, after which an alert fires and verifications fail. By default two intervals
    of ``schedule``, the longest ones."""
    verification: CronSchedule = "47 4 * * *"
    """Schedule of verifications, in UTC: the newest snapshot is restored into an empty etcd, and its keys are
    counted."""
    endpoint: HttpsUrl
    """URL of an S3-compatible store."""
    bucket: DnsLabel
    """Bucket of the snapshots. The prefix is the name of a cluster, or ``data-stores/`` and the name of a shared data
    store."""
    secret: DnsLabel
    """Secret with ``access_key_id`` and ``secret_access_key``, in the namespace of each cluster and, for shared data
    stores, in ``data-stores``."""
    second_bucket: SecondBucketSpec | None = None
    """Bucket in another place, with a copy of each snapshot; none by default."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a second bucket that is the first one, and a recovery point that the schedule exceeds.

        The recovery point has to cover an interval, and the hour that a run may take.
        """
        second = self.second_bucket
        if second and (second.endpoint, second.bucket) == (self.endpoint, self.bucket):
            text = "is the bucket of the backup, so both are lost together; pick another bucket"
            yield ConstraintViolation(text, ("second_bucket", "bucket"), second.bucket)
        needed = -(-longest_interval_minutes(self.schedule) // HOUR_MINUTES) + RUN_HOURS
        if self.recovery_point_hours is not None and self.recovery_point_hours < needed:
            text = (
                f"is {self.recovery_point_hours}, but snapshots of '{self.schedule}' are up to {needed} hours old when"
                f" the next one is complete; write at least {needed}, or a schedule with more runs"
            )
            yield ConstraintViolation(text, ("recovery_point_hours",))


class RestoreStep(StrEnum):
    """Step of a restore. Each step is a reviewed change, and ``jacquard up`` applies it."""

    STOP = "stop"
    """Members are stopped, and a Job for each member replaces its data by the snapshot. API servers are unavailable."""
    START = "start"
    """Members are started after all Jobs succeeded, and API servers are restarted."""
    DONE = "done"
    """The Jobs are deleted, and failed nodes of the clusters are repaired again. The entry remains until the next
    restore; its removal restarts API servers again."""


class RestoreSpec(Spec):
    """Restore of a data store to a snapshot: all its clusters lose all later changes. Nodes and pods continue."""

    snapshot: str = Field(pattern=SNAPSHOT, max_length=128)
    """File of the snapshot in the bucket, without its folder, such as ``shared-a-etcd-backup-29384756-x2x4q.db``."""
    step: RestoreStep
    """Step of the restore, in this order: ``stop``, ``start``, ``done``."""
    from_second_bucket: bool = False
    """Whether the snapshot is downloaded from the second bucket of the backup."""

    @property
    def is_open(self) -> bool:
        """Return whether the restore is not done."""
        return self.step is not RestoreStep.DONE

    @property
    def stops(self) -> bool:
        """Return whether the members are stopped in this step."""
        return self.step is RestoreStep.STOP


class EtcdSpec(Spec):
    """etcd that the library creates, defragments and backs up."""

    members: int = Field(default=3, ge=1, le=9)
    """Number of etcd members, which must be odd: one more member would not tolerate more failures."""
    defragmentation: CronSchedule = "17 3 * * *"
    """Schedule of defragmentation, in UTC. Members with much free space are defragmented one after the other."""


class DedicatedDataStoreSpec(EtcdSpec):
    """etcd of a single cluster with ``control_plane.data_store: dedicated``."""

    size: Quantity = _SIZE
    """Volume size of one member, such as ``100Gi``."""
    storage_class: DnsLabel
    """Storage class of the management cluster, not of tenants."""
    backup: BackupSpec | None = None
    """Destination and schedule of snapshots; none by default."""


class DataStoreSpec(EtcdSpec, CheckedSpec):
    """etcd shared by several hosted control planes.

    The library creates it, unless ``endpoints`` and ``secret`` refer to an existing one.
    """

    name: DnsLabel
    """Name of the data store, referenced by ``control_plane.data_store`` of clusters. DPF uses the data store
    ``default`` for the control planes of its DPUs; clusters of tenants cannot use it."""
    endpoints: tuple[Endpoint, ...] = ()
    """Addresses of the members of an existing etcd, as ``host:port``, without a scheme (Kamaji's rule)."""
    secret: DnsLabel | None = None
    """Secret in the ``kamaji-system`` namespace with ca.crt, ca.key, tls.crt, tls.key of an existing etcd. The field is
    a reference, never a value."""
    size: Quantity | None = None
    """Volume size of one member; by default the size in ``dedicated``, or 100Gi."""
    storage_class: DnsLabel | None = None
    """Storage class of the management cluster; by default the class in ``dedicated``."""
    backup: BackupSpec | None = None
    """Destination and schedule of snapshots; by default the settings in ``dedicated``."""
    restore: RestoreSpec | None = None
    """Restore of the data store to one of its snapshots; none by default."""
    max_clusters: int = Field(ge=1, le=200)
    """Maximum number of hosted control planes in the data store."""
    max_nodes: int = Field(default=5000, ge=1, le=50000)
    """Maximum number of nodes of all these clusters together, for which members are sized."""

    @property
    def is_existing(self) -> bool:
        """Return whether the data store is an existing etcd."""
        return bool(self.endpoints)

    def with_defaults(self, dedicated: DedicatedDataStoreSpec | None) -> DedicatedDataStoreSpec:
        """Return the settings of the data store, with defaults from ``dedicated``."""
        own = self.model_dump(include={"size", "storage_class"}, exclude_none=True)
        other = dedicated.model_dump(include={"size", "storage_class"}) if dedicated else {}
        backup = self.backup or (dedicated.backup if dedicated else None)
        return DedicatedDataStoreSpec(
            members=self.members, defragmentation=self.defragmentation, backup=backup, **{**other, **own}
        )

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield incomplete references to an existing etcd, and settings that have no effect on an existing etcd."""
        there = {"endpoints": self.endpoints, "secret": self.secret}
        missing = [key for key, value in there.items() if not value]
        if len(missing) == 1:
            [other] = there.keys() - missing
            text = f"is required with {other}, for an existing etcd; add it, or remove {other}"
            yield ConstraintViolation(f"{text} to create an etcd", (missing[0],))
        for key in ("size", "storage_class", "backup", "restore", "defragmentation") if self.is_existing else ():
            if key in self.model_fields_set:
                yield ConstraintViolation(f"cannot be combined with endpoints: {_ELSEWHERE}", (key,))
