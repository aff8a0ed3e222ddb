"""Rules about the buckets of dumps of Slurm's accounting."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem
from components.render.storage.seaweedfs import ACTIONS
from components.render.workloads.slurm_pool import NAMESPACE
from components.rules.rule import Rules
from components.rules.storage.bucket_keys import lacking_keys
from components.rules.storage.buckets import PlacedBucket, in_stores
from components.specs.environment import Environment
from components.specs.reading.problems import Problem, Undeclared, undeclared
from components.specs.storage.buckets import Rights
from components.specs.workloads.slurm_accounting import SlurmBackupSpec

AREA = "slurm"


def backup_buckets(environment: Environment) -> Iterator[Problem]:
    """Report buckets of dumps that the tenant does not declare, or that have no keys in Slurm's namespace.

    An endpoint must not name a declared bucket: the dumps would need further keys, and could be in the bucket of
    another tenant or of the platform.
    """
    for placed in clusters(environment):
        server = placed.cluster.slurm.database_server if placed.cluster.slurm else None
        if server is None or server.backup is None:
            continue
        path = (*placed.path, "slurm", "accounting", "server", "backup", "bucket")
        judge = _declared if server.backup.endpoint is None else _elsewhere
        if text := judge(environment, placed, server.backup, path):
            yield problem(environment, placed.file, path, text)


def _declared(
    environment: Environment, placed: PlacedCluster, backup: SlurmBackupSpec, _: DataPath
) -> str | Undeclared:
    """Return why dumps cannot be written to a bucket of the tenant; empty if they can."""
    declared = {bucket.name: bucket for bucket in placed.tenant.buckets}
    if backup.bucket not in declared:
        return undeclared(backup.bucket, declared, f"buckets of {placed.tenant.tenant}")
    operated = {store.name for store in environment.region.object_stores if store.seaweedfs}
    usable = (Rights.WRITE, Rights.READ_WRITE)
    granted = ACTIONS if declared[backup.bucket].store in operated else usable
    needed = tuple(rights for rights in usable if rights in granted)
    return lacking_keys(environment, placed, backup.bucket, NAMESPACE, needed)


def _elsewhere(environment: Environment, placed: PlacedCluster, backup: SlurmBackupSpec, path: DataPath) -> str:
    """Return that the bucket at an endpoint is a declared one; empty if it is not."""
    here = PlacedBucket(backup.endpoint or "", backup.bucket, placed.file, path)
    other = next((one for one in in_stores(environment) if one.place == here.place), None)
    if other is None:
        return ""
    remedy = "write another bucket"
    if other.file == placed.file:
        names = {bucket.name_in_store(placed.tenant.tenant): bucket.name for bucket in placed.tenant.buckets}
        remedy = f"write bucket: {names[other.bucket]}, without endpoint and secret"
    there = place(environment, other.file, other.path)
    return f"'{backup.bucket}' is declared ({there}), with keys of its own; {remedy}"


RULES = Rules(data=(backup_buckets,))
