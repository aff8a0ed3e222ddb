"""Clusters, pools and VMs: what fits together and how much fits in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from components.plan.assignment import spares_for
from components.plan.images import CHANNEL, find_image, standing_objections
from components.plan.pools import clusters, pools, problem, tenant_file
from components.plan.rules.references import REGION, VM_OFFERINGS
from components.render.dpf_hbn import POINT_TO_POINT
from components.specs.base import Stage, bytes_of, limit_of
from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.problems import Problem, listed
from components.specs.region import RegionSpec
from components.specs.tenant_network import Isolation

POD_PREFIX_PER_NODE = 24
_HOST_PREFIX = {Isolation.DPF_HBN: (POINT_TO_POINT, 0), Isolation.DPF_OVN: (32, 3)}
"""Length of the prefix that a host takes, and how many are lost: OVN's network, gateway and broadcast address."""


def state_and_context(environment: Environment) -> Iterator[Problem]:
    """Report an environment on real hardware that does not say where its state and its cluster are."""
    region: RegionSpec = environment.region
    if region.stage is Stage.REHEARSAL:
        return
    for key, example in (("state", '{backend: "s3://...", secrets_provider: "awskms://..."}'), ("context", "<name>")):
        if getattr(region, key) is None:
            text = f"is required at stage {region.stage}; add {key}: {example}"
            yield problem(environment, REGION, (key,), text)


def default_storage_class(environment: Environment) -> Iterator[Problem]:
    """Report clusters that offer storage without exactly one default class."""
    known = [entry.name for entry in environment.region.storage]
    default = [entry.name for entry in environment.region.storage if entry.default]
    for placed in clusters(environment):
        found = [name for name in placed.cluster.storage if name in default]
        if placed.cluster.storage and len(found) != 1 and set(placed.cluster.storage) <= set(known):
            text = (
                f"{len(found)} default classes among {listed(placed.cluster.storage)}, a cluster has exactly one"
                f" (default in {REGION}: {listed(default)}); list one of these, or set default: true on one class there"
            )
            yield problem(environment, placed.file, (*placed.path, "storage"), text)


def one_cluster_per_vpc(environment: Environment) -> Iterator[Problem]:
    """Report a VPC that two clusters share: both would number their pods from the same prefix."""
    first: dict[tuple[str, str], str] = {}
    for placed in clusters(environment):
        key, path = (placed.tenant.tenant, placed.cluster.vpc), (*placed.path, "vpc")
        if key in first:
            text = (
                f"VPC '{placed.cluster.vpc}' already carries cluster {first[key]}; give this cluster a VPC of its own"
            )
            yield problem(environment, placed.file, path, text)
        first.setdefault(key, placed.cluster.name)


def vpc_capacity(environment: Environment) -> Iterator[Problem]:
    """Report VPCs whose prefixes are too small for the nodes of their cluster."""
    for placed in clusters(environment):
        nodes = sum(pool.nodes for pool in placed.cluster.pools)
        hosts = _hosts(environment, placed.cluster)
        for index, vpc in enumerate(placed.tenant.vpcs):
            if vpc.name != placed.cluster.vpc:
                continue
            pods = _subnets(vpc.pods, POD_PREFIX_PER_NODE)
            if pods < nodes:
                text = (
                    f"/{vpc.pods} holds the pods of {pods} nodes (a /{POD_PREFIX_PER_NODE} each),"
                    f" {placed.cluster.name} has {nodes}; write /{_wide_enough(POD_PREFIX_PER_NODE, nodes)}"
                )
                yield problem(environment, placed.file, ("vpcs", index, "pods"), text)
            each, reserved = _HOST_PREFIX[vpc.isolation]
            room = max(0, _subnets(vpc.hosts, each) - reserved)
            if room < hosts:
                text = (
                    f"/{vpc.hosts} has room for {room} hosts (a /{each} each), {placed.cluster.name} has {hosts} with"
                    f" its spares; write /{_wide_enough(each, hosts + reserved)}"
                )
                yield problem(environment, placed.file, ("vpcs", index, "hosts"), text)


def _hosts(environment: Environment, cluster: ClusterSpec) -> int:
    """Return how many hosts ``cluster`` needs with its spares, or has already."""
    planned = sum(pool.nodes + spares_for(pool.nodes, environment.region.spares) for pool in cluster.pools)
    held = sum(key.startswith(f"{cluster.name}/") for key in environment.allocations.hosts.values())
    return max(planned, held)


def data_store_capacity(environment: Environment) -> Iterator[Problem]:
    """Report data stores with more clusters than they may hold."""
    used = Counter(placed.cluster.control_plane.data_store for placed in clusters(environment))
    for index, store in enumerate(environment.region.control_planes.data_stores):
        if used[store.name] > store.max_clusters:
            text = (
                f"'{store.name}' may hold {store.max_clusters}, but {used[store.name]} clusters name it;"
                " add a data store and name it in new clusters"
            )
            yield problem(environment, REGION, ("control_planes", "data_stores", index, "max_clusters"), text)


def pool_images(environment: Environment) -> Iterator[Problem]:
    """Report pools that name an image which may not run there."""
    for placed in pools(environment):
        image = find_image(environment, placed.pool.image)
        if placed.pool.image == CHANNEL or image is None:
            continue
        for objection in standing_objections(environment, image, placed.cluster, placed.pool):
            text = f"{objection}; write channel, or another version of ../catalog/images.yaml"
            yield problem(environment, placed.file, (*placed.path, "image"), text)


def rollouts(environment: Environment) -> Iterator[Problem]:
    """Report pools that could never take a new image, or only all at once."""
    for placed in pools(environment):
        amount, nodes = placed.pool.rollout.max_unavailable, placed.pool.nodes
        limit, path = limit_of(amount, nodes), (*placed.path, "rollout", "max_unavailable")
        if limit < 1:
            text = f"{amount} would never replace a node; write at least 1"
            yield problem(environment, placed.file, path, text)
        elif limit >= nodes > 1:
            text = f"{amount} would replace all {nodes} nodes at once; write at most {nodes - 1}"
            yield problem(environment, placed.file, path, text)


def vm_public_ips(environment: Environment) -> Iterator[Problem]:
    """Report more public addresses used than ordered."""
    for tenant in environment.tenants:
        if not tenant.vms:
            continue
        used = sum(vm.public_ip for vm in tenant.vms.platform)
        if used > tenant.vms.public_ips:
            text = f"{tenant.vms.public_ips} ordered, but platform VMs use {used}; write at least {used}"
            yield problem(environment, tenant_file(tenant), ("vms", "public_ips"), text)


def vm_root_disks(environment: Environment) -> Iterator[Problem]:
    """Report VM images that do not fit on the root disk of a size they are offered with."""
    images = {image.name: image for image in environment.vm_catalog.images}
    sizes = {size.name: size for size in environment.vm_catalog.sizes}
    for tenant in environment.tenants:
        offered = [sizes[name] for name in (tenant.vms.offerings if tenant.vms else ()) if name in sizes]
        for index, name in enumerate(tenant.vms.images if tenant.vms else ()):
            small = [
                size for size in offered if name in images and bytes_of(size.root_disk) < bytes_of(images[name].size)
            ]
            if small:
                text = (
                    f"'{name}' needs {images[name].size}, more than root_disk of {listed(size.name for size in small)};"
                    " remove one or the other"
                )
                yield problem(environment, tenant_file(tenant), ("vms", "images", index), text)


def vm_gpu_selectors(environment: Environment) -> Iterator[Problem]:
    """Report VM sizes that mean different GPUs by one device name: KubeVirt permits one selector for each."""
    first: dict[str, tuple[str, int]] = {}
    for index, size in enumerate(environment.vm_catalog.sizes):
        if size.gpu is None:
            continue
        path = ("sizes", index, "gpu", "pci_selector")
        line = environment.positions.line(VM_OFFERINGS, path)
        other, place = first.setdefault(size.gpu.device, (size.gpu.pci_selector, line))
        if other != size.gpu.pci_selector:
            text = (
                f"'{size.gpu.pci_selector}' is not the selector of {size.gpu.device} elsewhere ('{other}',"
                f" {VM_OFFERINGS}:{place}); correct one of the two, or the device"
            )
            yield problem(environment, VM_OFFERINGS, path, text)


def _subnets(wide: int, narrow: int) -> int:
    """Return how many prefixes of length ``narrow`` one of length ``wide`` holds."""
    return 2 ** (narrow - wide) if wide <= narrow else 0


def _wide_enough(longest: int, count: int) -> int:
    """Return the prefix length that holds ``count`` prefixes of length ``longest``."""
    return longest - (count - 1).bit_length()
