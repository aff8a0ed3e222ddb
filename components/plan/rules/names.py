"""Names that stand twice, collide with a reserved one, or get too long once joined."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.plan.build.slices import slices
from components.plan.peerings import other_side
from components.plan.pools import DataPath, clusters, pools, problem, tenant_file, vms_of
from components.render.cluster_api import providers
from components.render.dpu_services import UNASSIGNED
from components.render.kamaji_etcd import EVENTS_STORE, MAIN_STORE
from components.render.kamaji_etcd import NAMESPACE as DATA_STORES
from components.render.manifest import MANAGEMENT
from components.render.namespaces import FREE_HOSTS
from components.render.operators import NAMESPACE as OPERATORS
from components.render.region import region_operators
from components.specs.base import StackLayout
from components.specs.dpus import ONLY
from components.specs.environment import Environment
from components.specs.keys import CHARTS, DPUS, parts_of, pool_of, vm_key
from components.specs.loader import ADD_ONS, FIRMWARE, IMAGES, INSTANCE_TYPES, POLICY, REGION, VERSIONS, VM_OFFERINGS
from components.specs.problems import Problem

RESERVED_CLUSTERS = ("default", "flux-system", DATA_STORES, FREE_HOSTS, MANAGEMENT, OPERATORS)
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
_PROMOTED = {DPUS: "all DPUs of a region", CHARTS: "charts of all clusters"}
RESERVED_VPCS = ("default", "lo", "mgmt", UNASSIGNED)
"""VRFs, devices and DPUDeployments that each DPU has already."""
MAX_GROUP_CHARACTERS = 52
"""Most characters of a rollout group: a template is called after it and a hash of ten digits, and no name may exceed
63."""
MAX_RELEASE_CHARACTERS = 53
"""Most characters of a Helm release, which keeps the other ten of a label for what a chart appends."""
MAX_STACK_CHARACTERS = 100
"""Most characters of a stack's name in Pulumi's backends."""

_Entry = tuple[str, DataPath, str]
_Parts = tuple[str, DataPath, str, tuple[str, ...]]
"""File and path of a joined name, what it is, and the names that are joined."""


def region_name(environment: Environment) -> Iterator[Problem]:
    """Report a region that is not called like its folder."""
    if environment.region.region != environment.name:
        text = f"is '{environment.region.region}' in folder {environment.name}; write {environment.name}"
        yield problem(environment, REGION, ("region",), text)


def release_names(environment: Environment) -> Iterator[Problem]:
    """Report charts whose name is too long for the Helm release that is called after it."""
    for index, chart in enumerate(environment.versions.charts):
        if len(chart.name) > MAX_RELEASE_CHARACTERS:
            text = (
                f"'{chart.name}' has {len(chart.name)} characters, a Helm release of that name may have"
                f" {MAX_RELEASE_CHARACTERS}; shorten it"
            )
            yield problem(environment, VERSIONS, ("charts", index, "name"), text)


def stack_names(environment: Environment) -> Iterator[Problem]:
    """Report regions whose stacks would have names that Pulumi does not take."""
    longest = max((f"{environment.name}.{piece.name}" for piece in slices(environment)), key=len)
    if environment.region.stacks is StackLayout.SLICED and len(longest) > MAX_STACK_CHARACTERS:
        text = (
            f"its stack {longest} has {len(longest)} characters, {MAX_STACK_CHARACTERS} are allowed (region and slice"
            " joined); shorten one of the names"
        )
        yield problem(environment, REGION, ("region",), text)


def reserved_names(environment: Environment) -> Iterator[Problem]:
    """Report clusters called like DPUs, charts or a namespace of the platform, and VPCs called like a part of a DPU."""
    region = environment.region
    taken = {one.namespace for one in region_operators(region)} | {one.namespace for one in providers(region)}
    for placed in clusters(environment):
        name = placed.cluster.name
        if name in {*RESERVED_CLUSTERS, *taken} or name.startswith(RESERVED_PREFIXES):
            text = f"'{name}' is a namespace of the platform, and a cluster lives in a namespace of its name; rename it"
            yield problem(environment, placed.file, (*placed.path, "name"), text)
        if name in _PROMOTED:
            text = f"'{name}' is what jacquard promote and the lock files call {_PROMOTED[name]}; rename it"
            yield problem(environment, placed.file, (*placed.path, "name"), text)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.name in RESERVED_VPCS:
                text = f"'{vpc.name}' is a name that every DPU has already; rename it"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "name"), text)


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
    homes = [(t, t.vms.cluster) for t in tenants if t.vms]
    vms = ((tenant_file(t), (*path, "name"), vm_key(home, vm.name)) for t, home in homes for path, vm in vms_of(t))
    yield from _twice(environment, "VM", vms)
    yield from _twice(environment, "storage class", _entries(REGION, ("storage",), "name", environment.region.storage))
    stores = environment.region.control_planes.data_stores
    yield from _twice(environment, "data store", _entries(REGION, ("control_planes", "data_stores"), "name", stores))
    controllers = _entries(REGION, ("bare_metal", "controllers"), "name", environment.region.bare_metal.controllers)
    yield from _twice(environment, "controller", controllers)
    dpu_clusters = _entries(REGION, ("dpus", "clusters"), "name", environment.region.dpus.clusters)
    yield from _twice(environment, "DPU cluster", dpu_clusters)
    yield from _twice(environment, "fabric", _entries(REGION, ("fabrics",), "name", environment.region.fabrics))
    yield from _twice(environment, "site", _entries(REGION, ("sites",), "name", environment.region.sites))
    yield from _twice(environment, "freeze", _entries(POLICY, ("freezes",), "name", environment.policy.freezes))
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
    digests = _entries(IMAGES, ("images",), "sha256", images.images)
    yield from _twice(environment, "digest", digests, "write the digest of each image")
    for key, what in (("url", "URL"), ("sha256", "digest")):
        bundles = _entries(IMAGES, ("dpu_images",), key, images.dpu_images)
        disks = _entries(IMAGES, ("images",), key, images.images) if key == "url" else ()
        yield from _twice(environment, what, (*disks, *bundles), f"write the {what} of each image")
        systems = _entries(VM_OFFERINGS, ("images",), key, vms.images)
        yield from _twice(environment, what, systems, f"write the {what} of each image")
    yield from _twice(environment, "DPU image", _entries(IMAGES, ("dpu_images",), "version", images.dpu_images))
    kinds = environment.instance_types.instance_types
    yield from _twice(environment, "instance type", _entries(INSTANCE_TYPES, ("instance_types",), "name", kinds))
    versions = _items(VERSIONS, ("kubernetes",), environment.versions.kubernetes)
    yield from _twice(environment, "version", versions, "remove one")
    rows = enumerate(environment.versions.charts)
    releases = [(VERSIONS, ("charts", index, "version"), f"{one.name} {one.version}") for index, one in rows]
    yield from _twice(environment, "chart", releases, "write the version of each release")
    artefacts = _entries(VERSIONS, ("manifests",), "name", environment.versions.manifests)
    yield from _twice(environment, "artefact of manifests", artefacts)
    baselines = environment.firmware.firmware_baselines
    yield from _twice(environment, "baseline", _entries(FIRMWARE, ("firmware_baselines",), "name", baselines))
    inside = environment.add_ons
    yield from _twice(environment, "add-on", _entries(ADD_ONS, ("add_ons",), "name", inside.add_ons))
    yield from _twice(
        environment, "pod priority", _entries(ADD_ONS, ("pod_priorities",), "name", inside.pod_priorities)
    )
    yield from _twice(environment, "VM size", _entries(VM_OFFERINGS, ("sizes",), "name", vms.sizes))
    yield from _twice(environment, "VM image", _entries(VM_OFFERINGS, ("images",), "name", vms.images))
    yield from _twice(environment, "VM image", _entries(VM_OFFERINGS, ("images",), "version", vms.images))


def list_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report what a tenant orders twice in one list, and images of its own that are called like the catalogue's."""
    for placed in clusters(environment):
        for what, key in (("storage class", "storage"), ("pod priority", "pod_priorities"), ("add-on", "add_ons")):
            listed = getattr(placed.cluster, key)
            if isinstance(listed, tuple):
                yield from _twice(environment, what, _items(placed.file, (*placed.path, key), listed), "remove one")
    for pool in pools(environment):
        path = (*pool.path, "taints")
        taints = _items(pool.file, path, (f"{taint.key}:{taint.effect}" for taint in pool.pool.taints))
        yield from _twice(environment, "taint", taints, "remove one")
    for tenant in environment.tenants:
        file = tenant_file(tenant)
        groups = _entries(file, ("security_groups",), "name", tenant.security_groups)
        yield from _twice(environment, "security group", groups)
        contract = _entries(file, ("contract",), "instance_type", tenant.contract)
        yield from _twice(environment, "contract for", contract, "make one of them")
        for index, vpc in enumerate(tenant.vpcs):
            fabrics = _items(file, ("vpcs", index, "fabrics"), vpc.fabrics)
            yield from _twice(environment, "fabric", fabrics, "remove one")
            peers = _items(file, ("vpcs", index, "peers"), ("/".join(other_side(tenant, one)) for one in vpc.peers))
            yield from _twice(environment, "peer", peers, "remove one")
        if not tenant.vms:
            continue
        offerings = _items(file, ("vms", "offerings"), tenant.vms.offerings)
        yield from _twice(environment, "VM size", offerings, "remove one")
        yield from _twice(environment, "VM image", _items(file, ("vms", "images"), tenant.vms.images), "remove one")
        for key in ("name", "version"):
            offered = _entries(VM_OFFERINGS, ("images",), key, environment.vm_catalog.images)
            own = list(_entries(file, ("vms", "own_images"), key, tenant.vms.own_images))
            yield from _twice(environment, "VM image", (*offered, *own) if own else ())
        for path, vm in vms_of(tenant):
            yield from _twice(environment, "volume", _entries(file, (*path, "volumes"), "name", vm.volumes))
            yield from _twice(environment, "user", _entries(file, (*path, "users"), "name", vm.users))
            for key in ("ports", "udp_ports"):
                ports = _items(file, (*path, key), map(str, getattr(vm, key)))
                yield from _twice(environment, "port", ports, "remove one")


def joined_names(environment: Environment) -> Iterator[Problem]:
    """Report names that differ and become the same once they are joined."""
    entries = [
        (placed.file, (*placed.path, "name"), "pool", (placed.cluster.name, placed.pool.name))
        for placed in pools(environment)
    ]
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            what = f"{tenant.tenant}'s volume"
            for place, volume in enumerate(vm.volumes):
                entries.append((tenant_file(tenant), (*path, "volumes", place, "name"), what, (vm.name, volume.name)))
    yield from _joined(environment, [*entries, *_deployments(environment), *_data_stores(environment)])


def _deployments(environment: Environment) -> Iterator[_Parts]:
    """Yield the parts of the name of each VPC's DPUDeployment in each DPU cluster."""
    vpcs = [
        (tenant_file(tenant), ("vpcs", index, "name"), vpc.name)
        for tenant in environment.tenants
        for index, vpc in enumerate(tenant.vpcs)
    ]
    for cluster in environment.region.dpus.clusters:
        suffix = () if cluster.name == ONLY else (cluster.name,)
        for file, path, vpc in ((REGION, ("dpus", "clusters"), UNASSIGNED), *vpcs):
            yield file, path, "DPUDeployment", (vpc, *suffix)


def _data_stores(environment: Environment) -> Iterator[_Parts]:
    """Yield the parts of the names of data stores: those that clusters share, and those that clusters may come to own.

    They are in no namespace. The shared ones come last, so that of two names it is theirs that is told: a cluster with
    nodes cannot be renamed.
    """
    region = environment.region.control_planes
    for placed in clusters(environment) if region.dedicated else ():
        for suffix in (MAIN_STORE, EVENTS_STORE):
            yield placed.file, (*placed.path, "name"), "data store", (placed.cluster.name, suffix)
    for index, store in enumerate(region.data_stores):
        yield REGION, ("control_planes", "data_stores", index, "name"), "data store", (store.name,)


def group_names(environment: Environment) -> Iterator[Problem]:
    """Report rollout groups whose derived names would not fit an API object."""
    by_key = {placed.key: placed for placed in pools(environment)}
    known = [(group, by_key[pool_of(group)]) for group in environment.allocations.groups if pool_of(group) in by_key]
    yield from _joined(
        environment,
        [
            (placed.file, (*placed.path, "name"), f"{placed.cluster.name}'s rollout group", parts_of(group))
            for group, placed in known
        ],
    )
    for group, placed in known:
        name = "-".join(parts_of(group))
        if len(name) > MAX_GROUP_CHARACTERS:
            text = (
                f"its rollout group {name} has {len(name)} characters, {MAX_GROUP_CHARACTERS} are allowed"
                " (cluster, pool and failure domain joined); shorten one of the names"
            )
            yield problem(environment, placed.file, (*placed.path, "name"), text)


def _items(file: str, path: DataPath, names: Iterable[str]) -> Iterator[_Entry]:
    for index, name in enumerate(names):
        yield file, (*path, index), name


def _entries(file: str, path: DataPath, key: str, values: Iterable[object]) -> Iterator[_Entry]:
    for index, value in enumerate(values):
        yield file, (*path, index, key), getattr(value, key)


def _twice(
    environment: Environment, what: str, entries: Iterable[_Entry], remedy: str = "rename one"
) -> Iterator[Problem]:
    first: dict[str, str] = {}
    for file, path, name in entries:
        here = problem(environment, file, path, "")
        if name in first:
            text = f"{what} '{name}' stands twice, first in {first[name]}; {remedy}"
            yield problem(environment, file, path, text)
        first.setdefault(name, here.place)


def _joined(environment: Environment, entries: Iterable[_Parts]) -> Iterator[Problem]:
    first: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    for file, path, what, parts in entries:
        name = "-".join(parts)
        other, place = first.setdefault((what, name), (parts, problem(environment, file, path, "").place))
        if other != parts:
            text = f"{what} {'/'.join(parts)} is called {name}, and so is {'/'.join(other)} ({place}); rename one"
            yield problem(environment, file, path, text)
