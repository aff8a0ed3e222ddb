"""Rules about names: no duplicates, no reserved names, and length limits of joined names."""

from collections.abc import Iterable, Iterator

from components.lookups.network.peerings import other_side
from components.lookups.pools import DataPath, clusters, pools, problem, tenant_file, vms_of
from components.lookups.slices import slices
from components.render.add_ons.flux import NAMESPACE as FLUX
from components.render.control_planes.kamaji_etcd import NAMESPACE as DATA_STORES
from components.render.manifest import MANAGEMENT
from components.render.namespaces import FREE_HOSTS
from components.render.network.dpu_services import UNASSIGNED
from components.render.region.cluster_api import providers
from components.render.region.operators import NAMESPACE as OPERATORS
from components.render.region.region import region_operators, storage_drivers
from components.rules.region.name_entries import (
    contracts,
    data_stores,
    deployments,
    entries,
    items,
    joined,
    keys_of_buckets,
    named,
    owners_first,
    twice,
)
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import CHARTS, DPUS, parts_of, pool_key, pool_of, vm_key
from components.specs.reading.loader import (
    ADD_ONS,
    FIRMWARE,
    IMAGES,
    INSTANCE_TYPES,
    POLICY,
    REGION,
    VERSIONS,
    VM_OFFERINGS,
)
from components.specs.reading.problems import Problem
from components.specs.region.state import StackLayout
from components.specs.region.tenant import TenantSpec
from components.specs.vms.vm_offering import VmsSpec

RESERVED_CLUSTERS = ("default", FLUX, DATA_STORES, FREE_HOSTS, MANAGEMENT, OPERATORS)
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
_IN_REGION = {
    "storage class": ("storage",),
    "store": ("object_stores",),
    "data store": ("control_planes", "data_stores"),
    "controller": ("bare_metal", "controllers"),
    "DPU cluster": ("dpus", "clusters"),
    "fabric": ("fabrics",),
    "site": ("sites",),
}
"""Lists of ``region.yaml`` whose entries have unique names: kind of entry, and path."""
RESERVED_VPCS = ("default", "lo", "mgmt", UNASSIGNED)
"""VRFs, devices and DPUDeployments that exist on each DPU."""
MAX_GROUP_CHARACTERS = 52
"""Maximum length of a rollout group's name. Template names append a hash of ten characters and are limited to 63."""
MAX_RELEASE_CHARACTERS = 53
"""Maximum length of a Helm release's name; the remaining ten characters of a label are for suffixes of the chart."""
MAX_STACK_CHARACTERS = 100
"""Maximum length of a stack's name in Pulumi's backends."""


def region_name(environment: Environment) -> Iterator[Problem]:
    """Report a region whose name differs from its folder."""
    if environment.region.region != environment.name:
        text = (
            f"is '{environment.region.region}' in folder {environment.name}; write {environment.name}, or restore the"
            " file with git checkout if it is a copy of another region's"
        )
        yield problem(environment, REGION, ("region",), text)


def release_names(environment: Environment) -> Iterator[Problem]:
    """Report charts whose name is too long for a Helm release."""
    for index, chart in enumerate(environment.versions.charts):
        if len(chart.name) > MAX_RELEASE_CHARACTERS:
            text = (
                f"'{chart.name}' has {len(chart.name)} characters, a Helm release of that name may have"
                f" {MAX_RELEASE_CHARACTERS}; shorten it"
            )
            yield problem(environment, VERSIONS, ("charts", index, "name"), text)


def stack_names(environment: Environment) -> Iterator[Problem]:
    """Report regions whose stack names are too long for Pulumi."""
    longest = max((f"{environment.name}.{piece.name}" for piece in slices(environment)), key=len)
    if environment.region.stacks is StackLayout.SLICED and len(longest) > MAX_STACK_CHARACTERS:
        text = (
            f"its stack {longest} has {len(longest)} characters, {MAX_STACK_CHARACTERS} are allowed (region and slice"
            " joined); shorten one of the names"
        )
        yield problem(environment, REGION, ("region",), text)


def reserved_names(environment: Environment) -> Iterator[Problem]:
    """Report reserved names of clusters (platform namespaces, DPUs, charts) and of VPCs (devices on a DPU)."""
    region = environment.region
    taken = {operator.namespace for operator in (*region_operators(region), *storage_drivers(region))}
    taken |= {provider.namespace for provider in providers(region)}
    for placed in clusters(environment):
        name = placed.cluster.name
        if name in {*RESERVED_CLUSTERS, *taken} or name.startswith(RESERVED_PREFIXES):
            text = f"'{name}' is a namespace of the platform, and a cluster uses a namespace with its name; rename it"
            yield problem(environment, placed.file, (*placed.path, "name"), text)
        if name in _PROMOTED:
            text = f"'{name}' is reserved in jacquard promote and the lock files for {_PROMOTED[name]}; rename it"
            yield problem(environment, placed.file, (*placed.path, "name"), text)
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.name in RESERVED_VPCS:
                text = f"'{vpc.name}' is reserved on every DPU; rename it"
                yield problem(environment, tenant_file(tenant), ("vpcs", index, "name"), text)


def region_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report duplicate names within a region; not at the cluster or VPC that is allocated, which cannot be renamed."""
    tenants, allocated = environment.tenants, environment.allocations
    placed_clusters = ((placed.file, (*placed.path, "name"), placed.cluster.name) for placed in clusters(environment))
    yield from twice(environment, "cluster", owners_first(placed_clusters, allocated.clusters))
    vpcs = (vpc for tenant in tenants for vpc in named(tenant_file(tenant), tenant, "vpcs"))
    yield from twice(environment, "VPC", owners_first(vpcs, allocated.vpcs))
    for home in clusters(environment):  # Pools and VMs of a duplicated cluster are not duplicates themselves.
        names = ((index, pool_key(home.cluster.name, pool.name)) for index, pool in enumerate(home.cluster.pools))
        placed_pools = ((home.file, (*home.path, "pools", index, "name"), key) for index, key in names)
        yield from twice(environment, "pool", placed_pools)
    for tenant, cluster in ((tenant, tenant.vms.cluster) for tenant in tenants if tenant.vms):
        vms = ((tenant_file(tenant), (*path, "name"), vm_key(cluster, vm.name)) for path, vm in vms_of(tenant))
        yield from twice(environment, "VM", vms)
    for what, keys in _IN_REGION.items():
        yield from twice(environment, what, named(REGION, environment.region, *keys))
    for what, path, listed in _region_lists(environment):
        yield from twice(environment, what, items(REGION, path, listed), "remove one")
    yield from twice(environment, "freeze", named(POLICY, environment.policy, "freezes"))
    halls = [
        (REGION, ("sites", index, "halls", place), hall)
        for index, site in enumerate(environment.region.sites)
        for place, hall in enumerate(site.halls)
    ]
    yield from twice(environment, "hall", halls)


def _region_lists(environment: Environment) -> Iterator[tuple[str, DataPath, Iterable[str]]]:
    """Yield the lists of ``region.yaml`` that must not contain duplicates: kind of entry, path, and entries."""
    region = environment.region
    yield "denied network", ("networks", "deny"), map(str, region.networks.deny)
    for index, fabric in enumerate(region.fabrics):
        yield "hall", ("fabrics", index, "halls"), fabric.halls
    if addresses_spec := region.nodes.addresses:
        yield "name server", ("nodes", "addresses", "dns"), map(str, addresses_spec.dns)
        yield "clock", ("nodes", "addresses", "ntp"), map(str, addresses_spec.ntp)


def catalog_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report duplicate names in the catalogue."""
    images, vms, inside = environment.images, environment.vm_catalog, environment.add_ons
    yield from twice(environment, "image", named(IMAGES, images, "images", key="version"))
    digests = named(IMAGES, images, "images", key="sha256")
    yield from twice(environment, "digest", digests, "write the digest of each image")
    for key, what in (("url", "URL"), ("sha256", "digest")):
        bundles = named(IMAGES, images, "dpu_images", key=key)
        disks = named(IMAGES, images, "images", key=key) if key == "url" else ()
        yield from twice(environment, what, (*disks, *bundles), f"write the {what} of each image")
        systems = named(VM_OFFERINGS, vms, "images", key=key)
        yield from twice(environment, what, systems, f"write the {what} of each image")
    yield from twice(environment, "DPU image", named(IMAGES, images, "dpu_images", key="version"))
    yield from twice(environment, "instance type", named(INSTANCE_TYPES, environment.instance_types, "instance_types"))
    versions = items(VERSIONS, ("kubernetes",), environment.versions.kubernetes)
    yield from twice(environment, "version", versions, "remove one")
    rows = enumerate(environment.versions.charts)
    releases = [
        (VERSIONS, ("charts", index, "version"), f"{release.name} {release.version}") for index, release in rows
    ]
    yield from twice(environment, "chart", releases, "write the version of each release")
    yield from twice(environment, "artefact of manifests", named(VERSIONS, environment.versions, "manifests"))
    yield from twice(environment, "baseline", named(FIRMWARE, environment.firmware, "firmware_baselines"))
    yield from twice(environment, "add-on", named(ADD_ONS, inside, "add_ons"))
    yield from twice(environment, "pod priority", named(ADD_ONS, inside, "pod_priorities"))
    yield from twice(environment, "VM size", named(VM_OFFERINGS, vms, "sizes"))
    yield from twice(environment, "VM image", named(VM_OFFERINGS, vms, "images"))
    yield from twice(environment, "VM image", named(VM_OFFERINGS, vms, "images", key="version"))


def list_duplicates(environment: Environment) -> Iterator[Problem]:
    """Report duplicate entries in a tenant's lists, and images of a tenant with the name of a catalogue image."""
    for placed in clusters(environment):
        for what, key in (("storage class", "storage"), ("pod priority", "pod_priorities"), ("add-on", "add_ons")):
            listed = getattr(placed.cluster, key)
            if isinstance(listed, tuple):
                yield from twice(environment, what, items(placed.file, (*placed.path, key), listed), "remove one")
        spaces = entries(placed.file, (*placed.path, "namespaces"), "name", placed.cluster.namespaces)
        yield from twice(environment, "namespace", spaces)
        for index, space in enumerate(placed.cluster.namespaces):
            path = (*placed.path, "namespaces", index, "admits")
            yield from twice(environment, "namespace", items(placed.file, path, space.admits), "remove one")
    for pool in pools(environment):
        path = (*pool.path, "taints")
        taints = items(pool.file, path, (f"{taint.key}:{taint.effect}" for taint in pool.pool.taints))
        yield from twice(environment, "taint", taints, "remove one")
    for tenant in environment.tenants:
        yield from _lists_of(environment, tenant)
        if tenant.vms:
            yield from _vm_lists_of(environment, tenant, tenant.vms)


def _lists_of(environment: Environment, tenant: TenantSpec) -> Iterator[Problem]:
    file = tenant_file(tenant)
    yield from twice(environment, "security group", named(file, tenant, "security_groups"))
    yield from twice(environment, "bucket", named(file, tenant, "buckets"))
    for index, bucket in enumerate(tenant.buckets):
        granted = entries(file, ("buckets", index, "access"), "cluster", bucket.access)
        yield from twice(environment, "access of", granted, "merge them")
        for at, access in enumerate(bucket.access):
            places = items(file, ("buckets", index, "access", at, "namespaces"), access.namespaces)
            yield from twice(environment, "namespace", places, "remove one")
    yield from twice(environment, "contract for", contracts(file, tenant), "merge them")
    for index, vpc in enumerate(tenant.vpcs):
        yield from twice(environment, "fabric", items(file, ("vpcs", index, "fabrics"), vpc.fabrics), "remove one")
        peers = items(file, ("vpcs", index, "peers"), ("/".join(other_side(tenant, peer)) for peer in vpc.peers))
        yield from twice(environment, "peer", peers, "remove one")
        deny = items(file, ("vpcs", index, "deny"), map(str, vpc.deny))
        yield from twice(environment, "denied network", deny, "remove one")
        more = entries(file, ("vpcs", index, "more_prefixes"), "name", vpc.more_prefixes)
        yield from twice(environment, "prefix", more)


def _vm_lists_of(environment: Environment, tenant: TenantSpec, vms: VmsSpec) -> Iterator[Problem]:
    file = tenant_file(tenant)
    yield from twice(environment, "VM size", items(file, ("vms", "offerings"), vms.offerings), "remove one")
    yield from twice(environment, "VM image", items(file, ("vms", "images"), vms.images), "remove one")
    for key in ("name", "version"):
        offered = named(VM_OFFERINGS, environment.vm_catalog, "images", key=key)
        own = list(entries(file, ("vms", "own_images"), key, vms.own_images))
        yield from twice(environment, "VM image", (*offered, *own) if own else ())
    for path, vm in vms_of(tenant):
        yield from twice(environment, "volume", entries(file, (*path, "volumes"), "name", vm.volumes))
        yield from twice(environment, "user", entries(file, (*path, "users"), "name", vm.users))
        for key in ("ports", "udp_ports"):
            ports = items(file, (*path, key), map(str, getattr(vm, key)))
            yield from twice(environment, "port", ports, "remove one")


def joined_names(environment: Environment) -> Iterator[Problem]:
    """Report distinct names that become equal when joined."""
    entries = [
        (placed.file, (*placed.path, "name"), "pool", (placed.cluster.name, placed.pool.name))
        for placed in pools(environment)
    ]
    for tenant in environment.tenants:
        for path, vm in vms_of(tenant):
            what = f"{tenant.tenant}'s volume"
            for place, volume in enumerate(vm.volumes):
                entries.append((tenant_file(tenant), (*path, "volumes", place, "name"), what, (vm.name, volume.name)))
    others = (*deployments(environment), *data_stores(environment), *keys_of_buckets(environment))
    yield from joined(environment, [*entries, *others])


def group_names(environment: Environment) -> Iterator[Problem]:
    """Report rollout groups whose derived names exceed the limits of API objects."""
    by_key = {placed.key: placed for placed in pools(environment)}
    known = [(group, by_key[pool_of(group)]) for group in environment.allocations.groups if pool_of(group) in by_key]
    groups = [
        (placed.file, (*placed.path, "name"), f"{placed.cluster.name}'s rollout group", parts_of(group))
        for group, placed in known
    ]
    yield from joined(environment, groups)
    for group, placed in known:
        name = "-".join(parts_of(group))
        if len(name) > MAX_GROUP_CHARACTERS:
            text = (
                f"its rollout group {name} has {len(name)} characters, {MAX_GROUP_CHARACTERS} are allowed"
                " (cluster, pool and failure domain joined); shorten one of the names"
            )
            yield problem(environment, placed.file, (*placed.path, "name"), text)


RULES = Rules(
    references=(region_duplicates, catalog_duplicates, list_duplicates, joined_names, reserved_names),
    identity=(region_name,),
    data=(release_names, stack_names),
    locks=(group_names,),
)
