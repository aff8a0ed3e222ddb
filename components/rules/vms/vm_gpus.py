"""Rules about GPUs of virtual machines: nodes offer the GPUs that VMs use."""

from collections.abc import Iterator

from components.intents.images import find_image
from components.intents.nodes import intents_of
from components.intents.vm_room import vms_on
from components.lookups.pools import place, problem, tenant_file, vm_pools
from components.rules.rule import Rules
from components.rules.vms.vm_offering import homes, kinds_of
from components.specs.environment import Environment
from components.specs.keys import pool_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import IMAGES, VM_OFFERINGS
from components.specs.reading.problems import Problem
from components.specs.vms.vm_sizes import VmGpuSpec

AREA = "vms"
"""Prefix of the names of these rules in waivers and reports."""


def vm_gpu_selectors(environment: Environment) -> Iterator[Problem]:
    """Report VM sizes with different GPUs under one device name: KubeVirt permits one selector per device name."""
    first: dict[str, tuple[str, str]] = {}
    for index, size in enumerate(environment.vm_catalog.sizes):
        if size.gpu is None:
            continue
        path = ("sizes", index, "gpu", "pci_selector")
        here = place(environment, VM_OFFERINGS, path)
        other, there = first.setdefault(size.gpu.device, (size.gpu.pci_selector, here))
        if other != size.gpu.pci_selector:
            text = (
                f"'{size.gpu.pci_selector}' differs from the selector of {size.gpu.device} elsewhere ('{other}',"
                f" {there}); correct one of the two, or the device"
            )
            yield problem(environment, VM_OFFERINGS, path, text)


def vm_gpus(environment: Environment) -> Iterator[Problem]:
    """Report VM sizes with GPUs that no pool for VMs provides, because images reserve the GPUs for containers."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant, vms, cluster in homes(environment):
        chosen = vm_pools(environment, vms, cluster)
        for index, name in enumerate(vms.offerings):
            gpu = sizes[name].gpu if name in sizes else None
            if gpu is None:
                continue
            able = [pool for pool in chosen if any(vms_on(kind, sizes[name]) for kind in kinds_of(environment, [pool]))]
            lacking = [_kept_from_vms(environment, cluster.name, pool, gpu) for pool in able]
            if lacking and all(lacking):
                text = (
                    f"'{name}' has {gpu.count} of {gpu.device}, but {'; '.join(lacking)}; in one of these pools, use an"
                    f" image that lists {gpu.pci_selector} in contents.vfio_devices ({IMAGES}), or remove the offering"
                )
                yield problem(environment, tenant_file(tenant), ("vms", "offerings", index), text)


def _kept_from_vms(environment: Environment, cluster: str, pool: NodePoolSpec, gpu: VmGpuSpec) -> str:
    """Return the image of ``pool`` that does not reserve ``gpu`` for VMs, with the reason; empty if all images do."""
    intents = intents_of(environment, pool_key(cluster, pool.name))
    for name in dict.fromkeys(intent.image for intent in intents.values()):
        image = find_image(environment, name)
        if image and gpu.pci_selector.upper() not in {device.upper() for device in image.contents.vfio_devices}:
            driver = image.contents.gpu_driver
            other = f"has gpu_driver {driver} for containers" if driver else "binds no such device"
            return f"image {name} of pool {pool.name} {other} instead of binding {gpu.pci_selector} to vfio-pci"
    return ""


RULES = Rules(data=(vm_gpu_selectors, vm_gpus))
