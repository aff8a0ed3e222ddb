"""Rules about VM sizes with special requirements for kubelets and images of nodes."""

from collections.abc import Iterator

from components.intents.vm_nodes import setups
from components.intents.vm_room import vms_on
from components.lookups.pools import place, problem, tenant_file, vm_pools
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import IMAGES, REGION
from components.specs.reading.problems import Problem, listed
from components.specs.vms.vm_sizes import VmSizeSpec


def needs(environment: Environment) -> Iterator[Problem]:
    """Report sizes with dedicated CPUs, NUMA alignment or huge pages that no pool for VMs supports."""
    sizes, kinds = environment.vm_catalog.sizes_by_name(), environment.instance_types.by_name
    for tenant in environment.tenants:
        for cluster in tenant.clusters:
            if not tenant.vms or cluster.name != tenant.vms.cluster:
                continue
            chosen = vm_pools(environment, tenant.vms, cluster)
            for index, name in enumerate(tenant.vms.offerings):
                size = sizes.get(name)
                able = [pool for pool in chosen if size and _holds(kinds.get(pool.instance_type), size)]
                lacking = [_lacking(environment, cluster.name, pool, size) for pool in able if size]
                if lacking and all(lacking):
                    text = (
                        f"'{name}' requires features that nodes for VMs lack: {'; '.join(lacking)}; remove the offering"
                        f" until the pool is promoted to settings (kubelet of {cluster.name}) and an image ({IMAGES})"
                        " that support it"
                    )
                    yield problem(environment, tenant_file(tenant), ("vms", "offerings", index), text)


def emulated_gpus(environment: Environment) -> Iterator[Problem]:
    """Report sizes with GPUs in a region with emulated VMs, because emulated VMs do not support GPUs."""
    sizes = environment.vm_catalog.sizes_by_name()
    for tenant in environment.tenants if environment.region.vm_emulation else ():
        for index, name in enumerate(tenant.vms.offerings if tenant.vms else ()):
            if name in sizes and sizes[name].gpu is not None:
                there = place(environment, REGION, ("vm_emulation",))
                text = (
                    f"'{name}' has GPUs, which emulated VMs do not support (vm_emulation, {there}); remove the"
                    " offering, or vm_emulation there"
                )
                yield problem(environment, tenant_file(tenant), ("vms", "offerings", index), text)


def _holds(kind: InstanceType | None, size: VmSizeSpec) -> bool:
    return kind is not None and vms_on(kind, size) > 0


def _lacking(environment: Environment, cluster: str, pool: NodePoolSpec, size: VmSizeSpec) -> str:
    """Return the requirements of ``size`` that nodes of ``pool`` lack; empty if one rollout group meets all of them."""
    kind = environment.instance_types.by_name[pool.instance_type]
    node_setups = setups(environment, cluster, pool.name).values()
    lacks = dict.fromkeys((setup.image, tuple(setup.lacks(kind, size))) for setup in node_setups)
    if not all(what for _, what in lacks):
        return ""
    return "; ".join(f"nodes of {pool.name} on {image} lack {listed(what)}" for image, what in lacks)


RULES = Rules(data=(needs, emulated_gpus))
