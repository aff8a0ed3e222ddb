"""Backups of the stores of metrics and logs to a bucket."""

from pydantic import Field

from components.specs.base import CronSchedule, DnsLabel, HttpsUrl, Spec

KEEP_DAYS = 7


class StoreBackupSpec(Spec):
    """Backup of all storage pods of a store. Each run copies the changes since the last one, and keeps a full copy."""

    schedule: CronSchedule
    """Schedule of the backups, in UTC. Once a day is common; a run that is not finished delays the next one."""
    endpoint: HttpsUrl
    """URL of an S3-compatible store, outside the management cluster."""
    bucket: DnsLabel
    """Bucket of the backups. It must not delete objects by a rule of its own: objects of old runs are part of later
    ones."""
    secret: DnsLabel
    """Secret in namespace ``metrics`` with ``access_key_id`` and ``secret_access_key``, which may read, write and
    delete objects of the bucket."""
    keep_days: int = Field(default=KEEP_DAYS, ge=1, le=365)
    """Days after which the full copy of a run is deleted. Each copy takes the space of the store in the bucket."""
