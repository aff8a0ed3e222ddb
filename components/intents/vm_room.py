"""Capacity of nodes for VMs, with one host thread per CPU of a VM and no other workload on the node."""

import re
from collections import Counter

from components.intents.vm_nodes import Setup, setups
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.vms.vm_offering import VmsSpec
from components.specs.vms.vm_sizes import VmSizeSpec


def vms_on(kind: InstanceType, size: VmSizeSpec, setup: Setup | None = None) -> int:
    """Return the number of VMs of ``size`` that fit on an empty node of ``kind``; 0 if the GPU model differs.

    KubeVirt packs VMs without dedicated CPUs more densely than counted here. Without a ``setup`` only the hardware
    counts: system reservations differ between images. With a ``setup``, the CPUs reserved by the kubelet are
    subtracted. Huge pages are subtracted from the memory of VMs without huge pages
    (K8S:pkg/kubelet/nodestatus/setters.go).
    """
    if setup is not None and any(setup.lacks(kind, size)):
        return 0
    reserved = setup.kept_cpus if setup is not None and size.dedicated_cpus else 0
    memory = setup.memory(kind, size) if setup is not None else bytes_of(kind.memory)
    counts = [(kind.cpus - reserved) // size.threads, memory // bytes_of(size.memory)]
    if size.gpu is not None:
        same_gpu = kind.gpu and _is_model(kind.gpu.model, size.gpu.device)
        counts.append(kind.gpu.count // size.gpu.count if kind.gpu and same_gpu else 0)
    if kind.ephemeral_bytes is not None:  # An ephemeral root disk is an overlay on the kubelet's file system.
        counts.append(kind.ephemeral_bytes // bytes_of(size.root_disk))
    return min(counts)


def vms_in(environment: Environment, cluster: str, pool: NodePoolSpec, size: VmSizeSpec) -> int:
    """Return the number of VMs of ``size`` that fit on a node of ``pool``: the maximum over its rollout groups."""
    kind = environment.instance_types.by_name.get(pool.instance_type)
    known = setups(environment, cluster, pool.name).values()
    return max((vms_on(kind, size, setup) for setup in known or [None]), default=0) if kind else 0


def node_resources(environment: Environment, cluster: str, pool: NodePoolSpec, kind: InstanceType) -> Counter[str]:
    """Return a node's resources for VMs in ``pool``, by the keys of `ordered`: the maximum over its rollout groups.

    The resources include ``roots`` only if the size of the kubelet's file system is declared.
    """
    known, memory = list(setups(environment, cluster, pool.name).values()), bytes_of(kind.memory)
    room = Counter[str](memory=0 if known else memory, threads=0 if known else kind.cpus)
    for setup in known:
        pages = {str(size): amount for size, amount in setup.huge_pages.items()}
        threads = kind.cpus - setup.kept_cpus if setup.gives_cpus else 0
        room |= Counter({"memory": memory - setup.huge_pages.total(), "threads": threads, **pages})
    roots = kind.ephemeral_bytes if kind.kubelet_disk_size else None
    return room + Counter({"gpus": kind.gpu.count if kind.gpu else 0, "roots": roots or 0})


def ordered(environment: Environment, vms: VmsSpec) -> Counter[str]:
    """Return the totals of the VMs declared in the data: ``machines``, ``cpus``, ``gpus`` and ``memory`` in bytes.

    ``threads`` is the number of host threads with dedicated CPUs, and ``roots`` are bytes of ephemeral root disks.
    Memory in huge pages is also counted by page size.
    Machines of a size that is not offered are not counted; a rule reports them.
    """
    sizes = {size.name: size for size in environment.vm_catalog.sizes if size.name in vms.offerings}
    totals = Counter[str]()
    for vm in vms.machines:
        if size := sizes.get(vm.size):
            count, gpus = vm.count or 1, size.gpu.count if size.gpu else 0
            totals["machines"] += count
            totals["cpus"] += count * size.cpus
            totals["memory"] += count * bytes_of(size.memory)
            totals["gpus"] += count * gpus
            totals["roots"] += 0 if vm.root else count * bytes_of(size.root_disk)
            totals["threads"] += count * size.threads if size.dedicated_cpus else 0
            if size.huge_pages is not None:
                totals[str(size.huge_pages)] += count * bytes_of(size.memory)
    return totals


def _is_model(model: str, device: str) -> bool:
    """Return whether ``device``, a host device that KubeVirt permits, is a GPU of ``model``, by its chip name."""
    return model.partition("-")[0] in re.split("[^a-z0-9]", device.lower())
