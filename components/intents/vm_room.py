"""Which nodes run VMs, and how many of a size fit on one: a thread for each CPU, and nothing else on the node."""

from __future__ import annotations

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
    """Return how many VMs of ``size`` one empty node of ``kind`` holds; none where it has another GPU.

    KubeVirt packs CPUs of VMs without dedicated ones closer than that. What a node keeps for itself is not taken off,
    since it differs between images; of one with a ``setup`` what its kubelet keeps, and huge pages, which are no other
    memory (K8S:pkg/kubelet/nodestatus/setters.go). Without one it is what the hardware alone could hold.
    """
    if setup is not None and any(setup.lacks(kind, size)):
        return 0
    kept = setup.kept_cpus if setup is not None and size.dedicated_cpus else 0
    memory = setup.memory(kind, size) if setup is not None else bytes_of(kind.memory)
    counts = [(kind.cpus - kept) // size.threads, memory // bytes_of(size.memory)]
    if size.gpu is not None:
        counts.append(kind.gpu.count // size.gpu.count if kind.gpu and _named(kind.gpu.model, size.gpu.device) else 0)
    if kind.nvme_disk_size is not None:  # the root of a VM is an overlay on the disks of its node
        counts.append(kind.nvme_disks * bytes_of(kind.nvme_disk_size) // bytes_of(size.root_disk))
    return min(counts)


def vms_in(environment: Environment, cluster: str, pool: NodePoolSpec, size: VmSizeSpec) -> int:
    """Return how many VMs of ``size`` one node of ``pool`` holds: of all its groups that with the most."""
    kind = environment.instance_types.by_name.get(pool.instance_type)
    found = setups(environment, cluster, pool.name).values()
    return max((vms_on(kind, size, setup) for setup in found or [None]), default=0) if kind else 0


def given_by(environment: Environment, cluster: str, pool: NodePoolSpec, kind: InstanceType) -> Counter[str]:
    """Return what one node of ``pool`` has for VMs, in the words of `ordered`: of all its groups the most of each."""
    found, memory = list(setups(environment, cluster, pool.name).values()), bytes_of(kind.memory)
    room = Counter[str](memory=0 if found else memory, threads=0 if found else kind.cpus)
    for setup in found:
        pages = {str(size): amount for size, amount in setup.huge_pages.items()}
        threads = kind.cpus - setup.kept_cpus if setup.gives_cpus else 0
        room |= Counter({"memory": memory - setup.huge_pages.total(), "threads": threads, **pages})
    return room + Counter({"gpus": kind.gpu.count if kind.gpu else 0})


def ordered(environment: Environment, vms: VmsSpec) -> Counter[str]:
    """Return how many machines are written as data, and their CPUs, GPUs and bytes of memory, by these words.

    Threads are those of nodes that are for one machine alone, and memory in huge pages is called by their size too.
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
            found["threads"] += count * size.threads if size.dedicated_cpus else 0
            if size.huge_pages is not None:
                found[str(size.huge_pages)] += count * bytes_of(size.memory)
    return found


def _named(model: str, device: str) -> bool:
    """Tell whether the device that KubeVirt permits is a GPU of ``model``, by the name of its chip."""
    return model.partition("-")[0] in re.split("[^a-z0-9]", device.lower())
