"""Environment laptop with backups, and with a restore of the data store that its clusters share."""

from __future__ import annotations

from components.inputs.region import of_region
from components.render.control_planes.kamaji_etcd import NAMESPACE
from components.render.manifest import Manifest
from components.specs.control_planes.data_stores import BackupSpec, RestoreSpec, RestoreStep
from components.specs.environment import Environment
from tests.support.data.environment_data import reference
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of

STORE, ETCD = "shared-a", "shared-a-etcd"
SNAPSHOT = "shared-a-etcd-backup-29384756-x2x4q.db"
"""Snapshot of the minute 2025-11-14 01:56 UTC."""
BACKUP = BackupSpec.model_validate(
    {"schedule": "0 */6 * * *", "endpoint": "https://objects.example", "bucket": "etcd", "secret": "etcd-backup"}
)


COPIED = BackupSpec.model_validate(
    {
        **BACKUP.model_dump(exclude_unset=True),
        "second_bucket": {"endpoint": "https://other.example", "bucket": "copies", "secret": "etcd-copies"},
    }
)
"""Backup with encrypted copies in a second bucket."""


def restored(step: RestoreStep | None, backup: BackupSpec = BACKUP, *, second: bool = False) -> Environment:
    """Return laptop whose data store is at this step of a restore; None before the restore.

    With ``second``, the snapshot is restored from the second bucket of ``backup``.
    """
    laptop = reference("laptop")
    [shared, *others] = laptop.region.control_planes.data_stores
    restore = RestoreSpec(snapshot=SNAPSHOT, step=step, from_second_bucket=second) if step else None
    stores = (changed(shared, backup=backup, restore=restore), *others)
    control_planes = changed(laptop.region.control_planes, data_stores=stores)
    return changed(laptop, region=changed(laptop.region, control_planes=control_planes))


def rendered(step: RestoreStep | None, environment: Environment | None = None) -> list[Manifest]:
    """Return the objects of the data store, in the order in which they are applied."""
    environment = environment or restored(step)
    [region] = of_region(environment, environment.region)
    return [item for item in objects_of(region) if item.namespace == NAMESPACE and item.name.startswith(STORE)]
