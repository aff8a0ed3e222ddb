"""Rules about buckets: declared store and clusters, one owner, and reachable from workloads."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from components.lookups.pools import DataPath, PlacedCluster, clusters_of, place, problem, tenant_file
from components.render.storage.seaweedfs import ACTIONS
from components.render.workloads.slurm_pool import NAMESPACE as SLURM
from components.rules.rule import Rules
from components.rules.storage.storage import address_of, cut_off
from components.specs.control_planes.data_stores import BackupSpec, SecondBucketSpec
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted, undeclared
from components.specs.region.external_secrets import SecretsSource
from components.specs.region.store_backups import StoreBackupSpec
from components.specs.region.tenant import TenantSpec
from components.specs.storage.buckets import ALWAYS_THERE, BucketSpec, ObjectStoreSpec, SeaweedSpec
from components.specs.struct import Struct

_HTTPS_PORT = ":443"
_Place = tuple[str, str]
"""Host of an object store, with any non-default port, and the name of a bucket in the store."""


class PlacedBucket(Struct, kw_only=False):
    """Bucket of a region in an object store, with file and path of its name."""

    endpoint: str
    bucket: str
    file: str
    path: DataPath

    @property
    def place(self) -> _Place:
        """Return the unique identity of the bucket."""
        return urlsplit(self.endpoint).netloc.lower().removesuffix(_HTTPS_PORT), self.bucket


def references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared stores of buckets, and access for undeclared clusters."""
    stores = [store.name for store in environment.region.object_stores]
    for tenant, path, bucket in _buckets(environment):
        if bucket.store not in stores:
            none = f"'{bucket.store}' is not declared in {REGION}, which has no object_stores; add it there"
            text = undeclared(bucket.store, stores, REGION) if stores else none
            yield problem(environment, tenant_file(tenant), (*path, "store"), text)
        names = [cluster.name for cluster in tenant.clusters]
        for at, access in enumerate(bucket.access):
            if access.cluster not in names:
                text = undeclared(access.cluster, names, "clusters of this file")
                yield problem(environment, tenant_file(tenant), (*path, "access", at, "cluster"), text)


def one_owner(environment: Environment) -> Iterator[Problem]:
    """Report buckets that two tenants share, that are duplicated, or that store backups of the platform."""
    owners: dict[_Place, PlacedBucket] = {}
    for bucket in in_stores(environment):
        other = owners.setdefault(bucket.place, bucket)
        if other is not bucket and bucket.file != REGION:
            text = (
                f"'{bucket.bucket}' at {bucket.endpoint} is also {dotted(other.path)}"
                f" ({place(environment, other.file, other.path)}), so keys of one would grant access to the other; pick"
                " another name in the store (bucket)"
            )
            yield problem(environment, bucket.file, bucket.path, text)


def in_stores(environment: Environment) -> Iterator[PlacedBucket]:
    """Yield all buckets of ``environment`` in object stores; buckets of the platform are first."""
    for path, spec in _backups(environment):
        yield PlacedBucket(spec.endpoint, spec.bucket, REGION, path)
    stores = _stores(environment)
    for tenant, path, bucket in _buckets(environment):
        if bucket.store in stores:
            name, here = bucket.name_in_store(tenant.tenant), (*path, "bucket" if bucket.bucket else "name")
            yield PlacedBucket(stores[bucket.store].endpoint, name, tenant_file(tenant), here)


def namespaces(environment: Environment) -> Iterator[Problem]:
    """Report access for namespaces that the cluster does not list, because these namespaces would not exist.

    A cluster with Slurm has the namespace of Slurm, whose backups use keys there.
    """
    for tenant, path, bucket in _buckets(environment):
        declared = {
            cluster.name: (
                ALWAYS_THERE,
                *((SLURM,) if cluster.slurm else ()),
                *(space.name for space in cluster.namespaces),
            )
            for cluster in tenant.clusters
        }
        for at, access in enumerate(bucket.access):
            known = declared.get(access.cluster)
            for index, name in enumerate(access.namespaces):
                if known is not None and name not in known:
                    text = undeclared(name, known, f"namespaces of {access.cluster}")
                    where = (*path, "access", at, "namespaces", index)
                    yield problem(environment, tenant_file(tenant), where, text)


def reachable(environment: Environment) -> Iterator[Problem]:
    """Report stores whose address is unreachable from a cluster with access. Hostnames are not checked."""
    stores = _stores(environment)
    for tenant, path, bucket in _buckets(environment):
        placed = {cluster.cluster.name: cluster for cluster in clusters_of(tenant)}
        for at, access in enumerate(bucket.access):
            if access.cluster in placed and bucket.store in stores:
                text = _cut_off(environment, placed[access.cluster], stores[bucket.store])
                if text:
                    yield problem(environment, tenant_file(tenant), (*path, "access", at, "cluster"), text)


def one_store(environment: Environment) -> Iterator[Problem]:
    """Report object stores that share a SeaweedFS cluster: their buckets would not be compared by `one_owner`."""
    first: dict[SeaweedSpec, int] = {}
    for index, store in enumerate(environment.region.object_stores):
        if store.seaweedfs and (other := first.setdefault(store.seaweedfs, index)) != index:
            path = ("object_stores", other, "seaweedfs")
            text = (
                f"'{store.seaweedfs.namespace}/{store.seaweedfs.name}' is also {dotted(path)}"
                f" ({place(environment, REGION, path)}), so two tenants could own one bucket; list the store once"
            )
            yield problem(environment, REGION, ("object_stores", index, "seaweedfs"), text)


def delivered(environment: Environment) -> Iterator[Problem]:
    """Report stores with an operator in a region that does not push the generated keys to clusters."""
    source = environment.region.secrets.source
    for index, store in enumerate(environment.region.object_stores):
        if store.seaweedfs and source is not SecretsSource.EXTERNAL_SECRETS:
            text = (
                f"creates keys that External Secrets Operator pushes to clusters, but secrets.source is {source}; write"
                " secrets: {source: external-secrets, store: NAME}, or remove seaweedfs"
            )
            yield problem(environment, REGION, ("object_stores", index, "seaweedfs"), text)


def provisioned(environment: Environment) -> Iterator[Problem]:
    """Report settings that SeaweedFS's operator cannot apply: retention periods, and keys that write but do not delete.

    Sources: seaweedfs/seaweedfs-operator 0.1.39, ``api/v1/bucket_types.go``: ``objectLock`` has no period, and action
    ``Write`` includes deletion.
    """
    stores = _stores(environment)
    for tenant, path, bucket in _buckets(environment):
        if bucket.store not in stores or stores[bucket.store].seaweedfs is None:
            continue
        if bucket.object_lock:
            text = (
                f"cannot be set by the operator of store '{bucket.store}', which enables locks without a period; remove"
                " object_lock, or use a store without seaweedfs"
            )
            yield problem(environment, tenant_file(tenant), (*path, "object_lock"), text)
        for at, access in enumerate(bucket.access):
            if access.rights not in ACTIONS:
                text = (
                    f"'{access.rights}' cannot be granted by the operator of store '{bucket.store}', whose keys that"
                    f" write also delete; write one of {', '.join(ACTIONS)}, or use a store without seaweedfs"
                )
                yield problem(environment, tenant_file(tenant), (*path, "access", at, "rights"), text)


def _cut_off(environment: Environment, placed: PlacedCluster, store: ObjectStoreSpec) -> str | None:
    index = environment.region.object_stores.index(store)
    there = place(environment, REGION, ("object_stores", index, "endpoint"))
    return cut_off(environment, placed, store.name, address_of(store.host), there)


def _stores(environment: Environment) -> dict[str, ObjectStoreSpec]:
    return {store.name: store for store in environment.region.object_stores}


def _buckets(environment: Environment) -> Iterator[tuple[TenantSpec, DataPath, BucketSpec]]:
    """Yield all buckets with their tenant and path."""
    for tenant in environment.tenants:
        for index, bucket in enumerate(tenant.buckets):
            yield tenant, ("buckets", index), bucket


def _backups(environment: Environment) -> Iterator[tuple[DataPath, BackupSpec | SecondBucketSpec | StoreBackupSpec]]:
    """Yield the backup buckets of the platform."""
    observability = environment.region.observability
    for name, backup in observability.backups.items() if observability else ():
        yield ("observability", name, "backup", "bucket"), backup
    region = environment.region.control_planes
    found: list[tuple[DataPath, BackupSpec | None]] = [
        (("control_planes", "dedicated"), region.dedicated.backup if region.dedicated else None),
        *((("control_planes", "data_stores", index), store.backup) for index, store in enumerate(region.data_stores)),
    ]
    for path, saved in found:
        if saved:
            yield (*path, "backup", "bucket"), saved
        if saved and saved.second_bucket:
            yield (*path, "backup", "second_bucket", "bucket"), saved.second_bucket


RULES = Rules(references=(references,), data=(one_owner, one_store, delivered, provisioned, namespaces, reachable))
