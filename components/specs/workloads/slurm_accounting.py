"""Accounting of a Slurm cluster: its database, and the dumps of a database that the library creates."""

from collections.abc import Iterator
from typing import Annotated

from pydantic import StringConstraints

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    CronSchedule,
    DnsLabel,
    Endpoint,
    HttpsUrl,
    Quantity,
    bytes_of,
)

LEAST_MEMORY = "2Gi"
"""Memory of the database server of which half is the smallest cache of tables that slurmdbd accepts without a warning
(SLURM:src/plugins/accounting_storage/mysql/as_mysql.c, recommendation of 1 GiB)."""
SYSTEM_DATABASES = ("information_schema", "mysql", "performance_schema", "sys")
DATABASE_NAME = r"^[a-z][a-z0-9_]{0,63}$"
DatabaseName = Annotated[str, StringConstraints(pattern=DATABASE_NAME)]
"""Name of a database, or of its user."""


class SlurmBackupSpec(CheckedSpec):
    """Dumps of the accounting's database in a bucket. A rule of the bucket defines how long they are kept."""

    schedule: CronSchedule
    """Schedule of the dumps, in UTC."""
    bucket: DnsLabel
    """Bucket of the dumps, in the folder ``slurm/`` and the name of the cluster: a bucket of the tenant's ``buckets``
    with keys in namespace ``slurm-cluster``, or, with ``endpoint``, a bucket of that store."""
    endpoint: HttpsUrl | None = None
    """URL of another S3-compatible store, outside the cluster. By default the store of the tenant's bucket."""
    secret: DnsLabel | None = None
    """Secret in namespace ``slurm-cluster`` of the cluster with ``AWS_ACCESS_KEY_ID`` and ``AWS_SECRET_ACCESS_KEY``,
    which may write objects of the bucket at ``endpoint``. A bucket of the tenant has its own keys."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a store without keys, and keys without a store."""
        if self.endpoint and not self.secret:
            text = "is required with endpoint; write secret: slurm-backup, or remove endpoint for a bucket of buckets"
            yield ConstraintViolation(text, ("secret",))
        if self.secret and not self.endpoint:
            text = "has no effect on a bucket of buckets, which has its own keys; remove it, or write endpoint"
            yield ConstraintViolation(text, ("secret",), self.secret)


class SlurmDatabaseSpec(CheckedSpec):
    """Database server (MariaDB) of the accounting, one pod in namespace ``slurm-cluster`` with a volume."""

    storage_class: DnsLabel
    """Storage class of the volume, one of the cluster's ``storage``, whose volumes outlive nodes. It never changes."""
    size: Quantity
    """Size of the volume, at least ``memory``, such as ``50Gi``. It can grow if the class expands volumes."""
    memory: Quantity = "8Gi"
    """Memory of the pod, half of which caches tables. Larger tables need more, in particular when a new release of
    Slurm converts them. A change restarts the server."""
    backup: SlurmBackupSpec | None = None
    """Dumps to a bucket; none by default."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield less memory than slurmdbd accepts without a warning, and a volume that the redo log could fill."""
        if bytes_of(self.memory) < bytes_of(LEAST_MEMORY):
            text = f"leaves a cache of tables below the recommendation of Slurm; write at least {LEAST_MEMORY}"
            yield ConstraintViolation(text, ("memory",), self.memory)
        if bytes_of(self.size) < bytes_of(self.memory):
            text = f"is less than memory, of which the redo log takes an eighth; write at least {self.memory}"
            yield ConstraintViolation(text, ("size",), self.size)


class SlurmAccountingSpec(CheckedSpec):
    """Accounting (slurmdbd) with a database of MySQL or MariaDB: an existing one, or one that the library creates."""

    endpoint: Endpoint | None = None
    """Host and port of an existing database, such as ``mysql.example:3306``, instead of ``server``."""
    server: SlurmDatabaseSpec | None = None
    """Database server that the library creates, instead of ``endpoint``."""
    database: DatabaseName = "slurm_acct_db"
    """Name of the database. In an existing server it exists, or the user may create it."""
    user: DatabaseName = "slurm"
    """User of the database."""
    password_secret: DnsLabel
    """Secret in namespace ``slurm-cluster`` of the cluster with the password of the user, under the key
    ``password``."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield both sources of a database or neither, and databases that a server has for itself."""
        if self.endpoint and self.server:
            yield ConstraintViolation("cannot be combined with endpoint; remove one of the two", ("server",))
        elif not (self.endpoint or self.server):
            yield ConstraintViolation("has neither endpoint nor server; write one of the two")
        if self.server and self.database in SYSTEM_DATABASES:
            text = "is a database of the server itself; write another name"
            yield ConstraintViolation(text, ("database",), self.database)
