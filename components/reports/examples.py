"""Example orders of a region's offerings, as manifests for tenants: VMs, volumes, pods and jobs with GPUs."""

from collections.abc import Iterator

from components.inputs import vm_offering
from components.intents.images import find_image
from components.intents.nodes import intents_of
from components.lookups.network.pod_ports import joins_host_network, ports_of_node
from components.lookups.pools import PlacedCluster, PlacedPool, clusters
from components.render import examples
from components.render.manifest import Json
from components.render.pools import gpu_sharing
from components.render.vms.vm_chart import chart_values
from components.render.vms.vm_order import ordered, vm_order
from components.reports.nvlink_offers import nvlink_pools
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.struct import Struct, replace
from components.specs.vms.guests import GuestSystem

_MACHINE, _WORKLOAD, _JOB = "workstation", "example", "train"
"""Name of the objects in the examples."""


class Example(Struct):
    """Example manifests, with their cluster."""

    of: str
    """Name of the ordered offering."""
    what: str
    """Description of the order, as the beginning of a sentence."""
    cluster: str
    tenant: str
    manifests: tuple[Json, ...]
    values: Json | None = None
    """Equivalent values of the Helm chart for VMs; None for other objects."""


def examples_of(environment: Environment) -> dict[str, Example]:
    """Return an example for each offered VM size, storage class and GPU instance type, by name of the offering.

    The example is for the first cluster with the offering. If two kinds share a name, the first kind in this order is
    used.
    """
    examples: dict[str, Example] = {}
    for example in (*_machines(environment), *_volumes(environment), *_jobs(environment), *_pods(environment)):
        examples.setdefault(example.of, example)
    return examples


def _machines(environment: Environment) -> Iterator[Example]:
    for placed in clusters(environment):
        for offered in vm_offering.of_cluster(environment, placed):
            known = [image for image in offered.images if image.os is GuestSystem.LINUX]
            for size in offered.sizes if known else ():
                machine = ordered(offered, size, known[0], _MACHINE)
                example = _example(size.name, f"A VM of size {size.name}", placed, vm_order(offered, machine))
                yield replace(example, values=chart_values(offered, machine))


def _volumes(environment: Environment) -> Iterator[Example]:
    classes = {entry.name: entry for entry in environment.region.storage}
    for placed in clusters(environment):
        for name in placed.cluster.storage:
            if classes[name].shared:
                what, manifest = "A volume for many nodes", examples.claim(name, _WORKLOAD)
            else:
                what = "A pod with a volume of its node's disks" if classes[name].LOCAL else "A pod with a volume"
                manifest = examples.scratch_pod(name, _WORKLOAD)
            yield _example(name, f"{what}, of class {name},", placed, manifest)


def _jobs(environment: Environment) -> Iterator[Example]:
    """Yield a job on a whole NVLink domain for each pool whose domains span nodes."""
    for placed, nodes in nvlink_pools(environment):
        kind = environment.instance_types.by_name[placed.pool.instance_type]
        gpus = kind.gpu.count if kind.gpu else 0
        tolerations = [taint.model_dump(mode="json", exclude_defaults=True) for taint in placed.pool.taints]
        job = examples.domain_job(_JOB, nodes=nodes, gpus=gpus, tolerations=tolerations)
        yield _example(kind.name, f"A job on an NVLink domain of {kind.name}", placed, *job)


def _pods(environment: Environment) -> Iterator[Example]:
    """Yield a pod for each pool with GPUs for pods; the pod requests all fabric ports of its node."""
    for placed in clusters(environment):
        for pool in placed.cluster.pools:
            yield from _pod(environment, placed, pool)


def _pod(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> Iterator[Example]:
    kind = environment.instance_types.by_name[pool.instance_type]
    intents = list(intents_of(environment, pool_key(placed.cluster.name, pool.name)).values())
    if kind.gpu is None or not intents:
        return
    image = find_image(environment, intents[0].image)
    if image and image.contents.vfio_devices:  # The GPUs of the pool are reserved for VMs.
        return
    sharing = intents[0].gpu_sharing
    resource, count = gpu_sharing.offered(kind.gpu, sharing)
    ports, networks = ports_of_node(environment, placed, kind) if sharing is None else ({}, ())
    limits = {resource: count if sharing is None else 1, **ports}
    joined = sharing is None and joins_host_network(environment, placed, kind)
    pod = examples.gpu_pod(kind.name, pool.taints, limits, networks, _WORKLOAD, host_network=joined)
    requested = "all GPUs of a node" if sharing is None else "a part of a GPU"
    yield _example(kind.name, f"A pod with {requested} of type {kind.name}", placed, pod)


def _example(of: str, what: str, placed: PlacedCluster | PlacedPool, *manifests: Json) -> Example:
    return Example(of=of, what=what, cluster=placed.cluster.name, tenant=placed.tenant.tenant, manifests=manifests)
