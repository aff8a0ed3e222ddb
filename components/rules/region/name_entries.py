"""Names that must be unique, with their places, and checks for duplicates."""

from collections.abc import Iterable, Iterator, Mapping
from operator import attrgetter

from components.lookups.pools import DataPath, clusters, place, problem, tenant_file
from components.render.control_planes.kamaji_etcd import EVENTS_STORE, MAIN_STORE
from components.render.network.dpu_services import UNASSIGNED
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.locks import ClusterAllocation
from components.specs.network.dpus import ONLY
from components.specs.network.vpc_allocation import VpcAllocation
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem
from components.specs.region.tenant import TenantSpec

Entry = tuple[str, DataPath, str]
"""Name, preceded by its file and path."""

Parts = tuple[str, DataPath, str, tuple[str, ...]]
"""Parts of a joined name, preceded by file, path and kind of the name."""


def items(file: str, path: DataPath, names: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a list of names at ``path``."""
    for index, name in enumerate(names):
        yield file, (*path, index), name


def entries(file: str, path: DataPath, key: str, values: Iterable[object]) -> Iterator[Entry]:
    """Yield the values of ``key`` in the items of the list at ``path``."""
    for index, value in enumerate(values):
        yield file, (*path, index, key), getattr(value, key)


def named(file: str, document: Spec, *path: str, key: str = "name") -> Iterator[Entry]:
    """Yield the values of ``key`` of the items of the list at ``path`` of a document."""
    return entries(file, path, key, attrgetter(".".join(path))(document))


def contracts(file: str, tenant: TenantSpec) -> Iterator[Entry]:
    """Yield the instance types of a tenant's contracts, with their periods: entries with other periods add up."""
    for index, contract in enumerate(tenant.contract):
        yield file, ("contract", index, "instance_type"), f"{contract.instance_type}{contract.period}"


def twice(
    environment: Environment, what: str, entries_seen: Iterable[Entry], remedy: str = ("rename one")
) -> Iterator[Problem]:
    """Yield a problem for each duplicate name."""
    first: dict[str, tuple[str, DataPath]] = {}
    for file, path, name in entries_seen:
        if name in first:
            text = f"{what} '{name}' is duplicated, first in {place(environment, *first[name])}; {remedy}"
            yield problem(environment, file, path, text)
        first.setdefault(name, (file, path))


def owners_first(
    entries_seen: Iterable[Entry], allocated: Mapping[str, ClusterAllocation | VpcAllocation]
) -> list[Entry]:
    """Return names in the order of the data, but names in the file of their tenant in the lock file first."""
    owners = {name: f"tenants/{allocation.tenant}.yaml" for name, allocation in allocated.items()}
    return sorted(entries_seen, key=lambda entry: entry[0] != owners.get(entry[2], entry[0]))


def joined(environment: Environment, parts_seen: Iterable[Parts]) -> Iterator[Problem]:
    """Yield a problem for each joined name that equals a joined name of other parts."""
    first: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    for file, path, what, parts in parts_seen:
        name = "-".join(parts)
        other, there = first.setdefault((what, name), (parts, place(environment, file, path)))
        if other != parts:
            text = f"{what} {'/'.join(parts)} becomes {name}, and so does {'/'.join(other)} ({there}); rename one"
            yield problem(environment, file, path, text)


def keys_of_buckets(environment: Environment) -> Iterator[Parts]:
    """Yield the name parts of Secrets with bucket keys, in the namespace from which Secrets are copied to a cluster."""
    for tenant in environment.tenants:
        for index, bucket in enumerate(tenant.buckets):
            for at, access in enumerate(bucket.access):
                for position, name in enumerate(access.namespaces):
                    path = ("buckets", index, "access", at, "namespaces", position)
                    yield tenant_file(tenant), path, f"Secret for {access.cluster}", (name, bucket.found_as)


def deployments(environment: Environment) -> Iterator[Parts]:
    """Yield the name parts of each VPC's DPUDeployment in each DPU cluster."""
    vpcs = [
        (tenant_file(tenant), ("vpcs", index, "name"), vpc.name)
        for tenant in environment.tenants
        for index, vpc in enumerate(tenant.vpcs)
    ]
    for cluster in environment.region.dpus.clusters:
        suffix = () if cluster.name == ONLY else (cluster.name,)
        for file, path, vpc in ((REGION, ("dpus", "clusters"), UNASSIGNED), *vpcs):
            yield file, path, "DPUDeployment", (vpc, *suffix)


def data_stores(environment: Environment) -> Iterator[Parts]:
    """Yield the name parts of shared data stores and of dedicated data stores that clusters may get.

    Data stores are cluster-scoped. Shared data stores are last, so that a duplicate is reported at the shared data
    store: a cluster with nodes cannot be renamed.
    """
    region = environment.region.control_planes
    for placed in clusters(environment) if region.dedicated else ():
        for suffix in (MAIN_STORE, EVENTS_STORE):
            yield placed.file, (*placed.path, "name"), "data store", (placed.cluster.name, suffix)
    for index, store in enumerate(region.data_stores):
        yield REGION, ("control_planes", "data_stores", index, "name"), "data store", (store.name,)
