"""Which nodes run VMs, and how many of a size fit on one: a thread for each CPU, and nothing else on the node."""

from __future__ import annotations

import re
from collections import Counter

from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.hosted_control_plane import ClusterSpec
from components.specs.instance_types import InstanceType
from components.specs.node_pool import NodePoolSpec
from components.specs.vm_offering import VmSizeSpec, VmsSpec


def vm_pools(environment: Environment, vms: VmsSpec, cluster: ClusterSpec) -> tuple[NodePoolSpec, ...]:
    """Return the pools of ``cluster`` that run VMs: those that ``vms`` names, or else those without GPUs."""
    if vms.pools:
        return tuple(pool for pool in cluster.pools if pool.name in vms.pools)
    known = environment.instance_types.by_name
    return tuple(pool for pool in cluster.pools if not (kind := known.get(pool.instance_type)) or kind.gpu is None)


def vms_on(kind: InstanceType, size: VmSizeSpec) -> int:
    """Return how many VMs of ``size`` one empty node of ``kind`` holds; none where it has another GPU.

    KubeVirt packs CPUs of VMs without dedicated ones closer than that. What a node keeps for itself is not taken off,
    since it differs between images.
    """
    counts = [kind.cpus // size.cpus, bytes_of(kind.memory) // bytes_of(size.memory)]
    if size.gpu is not None:
        counts.append(kind.gpu.count // size.gpu.count if kind.gpu and _named(kind.gpu.model, size.gpu.device) else 0)
    if kind.nvme_disk_size is not None:  # the root of a VM is an overlay on the disks of its node
        counts.append(kind.nvme_disks * bytes_of(kind.nvme_disk_size) // bytes_of(size.root_disk))
    return min(counts)


def ordered(environment: Environment, vms: VmsSpec) -> Counter[str]:
    """Return how many machines are written as data, and their CPUs, GPUs and bytes of memory, by these words.

    Machines of a size that is not offered are not counted: that is told by itself.
    """
    sizes = {size.name: size for size in environment.vm_catalog.sizes if size.name in vms.offerings}
    found = Counter[str]()
    for vm in vms.machines:
        if size := sizes.get(vm.size):
            count, gpus = vm.count or 1, size.gpu.count if size.gpu else 0
            found["machines"] += count
            found["cpus"] += count * size.cpus
            found["memory"] += count * bytes_of(size.memory)
            found["gpus"] += count * gpus
    return found


def _named(model: str, device: str) -> bool:
    """Tell whether the device that KubeVirt permits is a GPU of ``model``, by the name of its chip."""
    return model.partition("-")[0] in re.split("[^a-z0-9]", device.lower())
