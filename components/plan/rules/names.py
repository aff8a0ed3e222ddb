"""Names that stand twice, collide with a reserved one, or get too long once joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.plan.pools import DataPath, clusters, pool_of, pools, problem, tenant_file
from components.plan.rules.references import IMAGES, INSTANCE_TYPES, REGION, VERSIONS, VM_OFFERINGS
from components.specs.environment import Environment
from components.specs.problems import Problem

RESERVED_NAMESPACES = ("default", "inventory", "operators", "flux-system", "metallb-system", "cert-manager")
RESERVED_PREFIXES = (
    "kube-",
    "tenant-",
    "capi-",
    "capm3-",
    "kamaji-",
    "dpf-",
    "metal3-",
    "ironic-",
    "baremetal-operator-",
    "snapshot-",
)
MAX_GROUP_CHARACTERS = 52
"""A template is called after its group and a hash of ten digits, and no name may exceed 63 characters."""

_Entry = tuple[str, DataPath, str]


def region_name(environment: Environment) -> Iterator[Problem]:
    """Report a region that is not called like its folder."""
    if environment.region.region != environment.name:
        text = f"is '{environment.region.region}' in folder {environment.name}; write {environment.name}"
        yield problem(environment, REGION, ("region",), text)


def reserved_names(environment: Environment) -> Iterator[Problem]:
    """Report clusters that would live in a namespace of the platform."""
    for placed in clusters(environment):
        name = placed.cluster.name
        if name in RESERVED_NAMESPACES or name.startswith(RESERVED_PREFIXES):
            text = f"'{name}' is a namespace of the platform, and a cluster lives in a namespace of its name; rename it"
            yield problem(environment, placed.file, (*placed.path, "name"), text)


def region_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report names that stand twice among the tenants of a region."""
    tenants = environment.tenants
    yield from _twice(
        environment,
        "cluster",
        (((placed.file, (*placed.path, "name"), placed.cluster.name)) for placed in clusters(environment)),
    )
    yield from _twice(
        environment,
        "VPC",
        ((tenant_file(t), ("vpcs", index, "name"), vpc.name) for t in tenants for index, vpc in enumerate(t.vpcs)),
    )
    yield from _twice(
        environment, "pool", ((placed.file, (*placed.path, "name"), placed.key) for placed in pools(environment))
    )
    yield from _twice(
        environment,
        "VM",
        (
            (tenant_file(t), ("vms", "platform", index, "name"), f"{t.vms.cluster}/{vm.name}")
            for t in tenants
            if t.vms
            for index, vm in enumerate(t.vms.platform)
        ),
    )
    yield from _twice(environment, "storage class", _entries(REGION, ("storage",), "name", environment.region.storage))
    stores = environment.region.control_planes.data_stores
    yield from _twice(environment, "data store", _entries(REGION, ("control_planes", "data_stores"), "name", stores))
    yield from _twice(
        environment,
        "hall",
        (
            (REGION, ("sites", index, "halls", place), hall)
            for index, site in enumerate(environment.region.sites)
            for place, hall in enumerate(site.halls)
        ),
    )


def catalog_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report names that stand twice in the catalogue."""
    images, vms = environment.images, environment.vm_catalog
    yield from _twice(environment, "image", _entries(IMAGES, ("images",), "version", images.images))
    yield from _twice(environment, "DPU image", _entries(IMAGES, ("dpu_images",), "version", images.dpu_images))
    kinds = environment.instance_types.instance_types
    yield from _twice(environment, "instance type", _entries(INSTANCE_TYPES, ("instance_types",), "name", kinds))
    yield from _twice(environment, "chart", _entries(VERSIONS, ("charts",), "name", environment.versions.charts))
    yield from _twice(environment, "VM size", _entries(VM_OFFERINGS, ("sizes",), "name", vms.sizes))
    yield from _twice(environment, "VM image", _entries(VM_OFFERINGS, ("images",), "name", vms.images))


def group_names(environment: Environment) -> Iterator[Problem]:
    """Report rollout groups whose derived names would not fit an API object."""
    by_key = {placed.key: placed for placed in pools(environment)}
    for group in environment.allocations.groups:
        name, placed = group.replace("/", "-"), by_key.get(pool_of(group))
        if placed and len(name) > MAX_GROUP_CHARACTERS:
            text = (
                f"its rollout group {name} has {len(name)} characters, {MAX_GROUP_CHARACTERS} are allowed"
                " (cluster, pool and failure domain joined); shorten one of the names"
            )
            yield problem(environment, placed.file, (*placed.path, "name"), text)


def _entries(file: str, path: DataPath, key: str, values: Iterable[object]) -> Iterator[_Entry]:
    for index, value in enumerate(values):
        yield file, (*path, index, key), getattr(value, key)


def _twice(environment: Environment, what: str, entries: Iterable[_Entry]) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for file, path, name in entries:
        here = problem(environment, file, path, "")
        if name in first:
            text = f"{what} '{name}' stands twice, first in {first[name]}; rename one"
            yield problem(environment, file, path, text)
        first.setdefault(name, here.place)
