"""Buckets: their store and clusters are there, nobody else has them, and workloads reach them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

from components.lookups.pools import DataPath, PlacedCluster, clusters_of, place, problem, tenant_file
from components.rules.references import undeclared
from components.rules.storage.storage import address_of, cut_off
from components.specs.control_planes.data_stores import BackupSpec
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, dotted
from components.specs.region.tenant import TenantSpec
from components.specs.storage.buckets import BucketSpec, ObjectStoreSpec

_THERE = "default"
"""Namespace that every cluster has."""
_HTTPS_PORT = ":443"
_Place = tuple[str, str]
"""Host of a store, with a port that is not the usual one, and the name of a bucket there."""


@dataclass(frozen=True, slots=True)
class Held:
    """A bucket that a region has in a store, and where its name there is written."""

    endpoint: str
    bucket: str
    file: str
    path: DataPath

    @property
    def place(self) -> _Place:
        """Return what no two buckets have in common."""
        return urlsplit(self.endpoint).netloc.lower().removesuffix(_HTTPS_PORT), self.bucket


def references(environment: Environment) -> Iterator[Problem]:
    """Report buckets in a store that the region does not have, and keys for a cluster that the tenant does not have."""
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
    """Report a bucket that two tenants would have, or one twice, or that keeps snapshots of control planes."""
    held: dict[_Place, Held] = {}
    for one in in_stores(environment):
        other = held.setdefault(one.place, one)
        if other is not one and one.file != REGION:
            text = (
                f"'{one.bucket}' at {one.endpoint} is also {dotted(other.path)}"
                f" ({place(environment, other.file, other.path)}), so that keys of one would open the other; pick"
                " another name for it in the store (bucket)"
            )
            yield problem(environment, one.file, one.path, text)


def in_stores(environment: Environment) -> Iterator[Held]:
    """Yield all buckets that ``environment`` has in object stores, the platform's own first."""
    for path, spec in _backups(environment):
        yield Held(spec.endpoint, spec.bucket, REGION, path)
    stores = _stores(environment)
    for tenant, path, bucket in _buckets(environment):
        if bucket.store in stores:
            name, here = bucket.name_in_store(tenant.tenant), (*path, "bucket" if bucket.bucket else "name")
            yield Held(stores[bucket.store].endpoint, name, tenant_file(tenant), here)


def namespaces(environment: Environment) -> Iterator[Problem]:
    """Report keys for namespaces that the cluster does not list, since nobody would make them."""
    for tenant, path, bucket in _buckets(environment):
        listed = {one.name: [space.name for space in one.namespaces] for one in tenant.clusters}
        for at, access in enumerate(bucket.access):
            for index, name in enumerate(access.namespaces if access.cluster in listed else ()):
                if name not in (_THERE, *listed[access.cluster]):
                    text = undeclared(name, (_THERE, *listed[access.cluster]), f"namespaces of {access.cluster}")
                    where = (*path, "access", at, "namespaces", index)
                    yield problem(environment, tenant_file(tenant), where, text)


def reachable(environment: Environment) -> Iterator[Problem]:
    """Report stores whose address a cluster with keys cannot reach. A name is taken as it is."""
    stores = _stores(environment)
    for tenant, path, bucket in _buckets(environment):
        placed = {one.cluster.name: one for one in clusters_of(tenant)}
        for at, access in enumerate(bucket.access):
            if access.cluster in placed and bucket.store in stores:
                text = _cut_off(environment, placed[access.cluster], stores[bucket.store])
                if text:
                    yield problem(environment, tenant_file(tenant), (*path, "access", at, "cluster"), text)


def _cut_off(environment: Environment, placed: PlacedCluster, store: ObjectStoreSpec) -> str | None:
    index = environment.region.object_stores.index(store)
    there = place(environment, REGION, ("object_stores", index, "endpoint"))
    return cut_off(environment, placed, store.name, address_of(store.host), there)


def _stores(environment: Environment) -> dict[str, ObjectStoreSpec]:
    return {store.name: store for store in environment.region.object_stores}


def _buckets(environment: Environment) -> Iterator[tuple[TenantSpec, DataPath, BucketSpec]]:
    """Yield all buckets with their tenant and where they are written."""
    for tenant in environment.tenants:
        for index, bucket in enumerate(tenant.buckets):
            yield tenant, ("buckets", index), bucket


def _backups(environment: Environment) -> Iterator[tuple[DataPath, BackupSpec]]:
    """Yield where the platform keeps snapshots of its own."""
    region = environment.region.control_planes
    if region.dedicated and region.dedicated.backup:
        yield ("control_planes", "dedicated", "backup", "bucket"), region.dedicated.backup
    for index, store in enumerate(region.data_stores):
        if store.backup:
            yield ("control_planes", "data_stores", index, "backup", "bucket"), store.backup
