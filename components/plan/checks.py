"""All cross-checks over a region: what no file can know alone."""

from __future__ import annotations

import inspect
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from components.plan.rules import (
    add_ons,
    bare_metal,
    capacity,
    clusters,
    contracts,
    control_planes,
    dpus,
    fabrics,
    governance,
    images,
    inventory,
    locks,
    names,
    networks,
    node_pools,
    quotas,
    references,
    regions,
    rollouts,
    sites,
    storage,
    vms,
)
from components.specs.environment import Environment
from components.specs.memory import no_collections
from components.specs.problems import Problem

Rule = Callable[[Environment], Iterable[Problem]]

REFERENCES: tuple[Rule, ...] = (
    references.dpu_image,
    references.image_instance_types,
    references.host_instance_types,
    references.contracts,
    references.cluster_references,
    references.pool_references,
    references.vm_references,
    references.charts,
    names.region_duplicates,
    names.catalog_duplicates,
    names.list_duplicates,
    names.joined_names,
    names.reserved_names,
    inventory.host_duplicates,
    inventory.out_of_service,
    sites.cluster_sites,
    fabrics.fabric_references,
    fabrics.fabric_halls,
    dpus.served,
    clusters.pool_racks,
)
"""Without these an allocation means nothing."""

DATA: tuple[Rule, ...] = (
    names.region_name,
    names.release_names,
    names.stack_names,
    inventory.halls,
    inventory.racks,
    inventory.bmc_addresses,
    inventory.mac_addresses,
    inventory.bmc_logins,
    networks.networks_disjoint,
    networks.number_ranges,
    networks.asn_capacity,
    networks.service_addresses,
    networks.service_prefixes,
    networks.ovn_central,
    dpus.room,
    dpus.loopbacks,
    dpus.router_ids,
    dpus.isolation,
    fabrics.fabric_capacity,
    fabrics.guid_ranges,
    fabrics.one_fabric,
    fabrics.adapters,
    fabrics.partition_limit,
    clusters.state_and_context,
    clusters.one_cluster_per_vpc,
    clusters.rollouts,
    clusters.canaries,
    clusters.pool_labels,
    node_pools.burn_ins,
    node_pools.surges,
    node_pools.restarts,
    clusters.quorums,
    clusters.endpoints,
    *control_planes.RULES,
    capacity.vpc_capacity,
    capacity.pods_per_node,
    capacity.cluster_size,
    capacity.data_store_capacity,
    capacity.dedicated_data_stores,
    capacity.control_planes,
    capacity.controllers,
    bare_metal.boot_networks,
    bare_metal.provider,
    capacity.loopbacks,
    contracts.contracted_nodes,
    contracts.contracted_capacity,
    contracts.autoscaling,
    quotas.quota_classes,
    quotas.public_addresses,
    quotas.load_balancers,
    quotas.storage,
    images.pool_images,
    images.doca,
    images.drivers,
    images.firmware,
    images.firmware_instance_types,
    storage.default_storage_class,
    storage.local_disks,
    storage.durable_volumes,
    storage.mount_options,
    storage.reachable,
    add_ons.add_on_references,
    add_ons.add_on_cycles,
    add_ons.add_on_needs,
    add_ons.system_pools,
    vms.vm_public_ips,
    vms.vm_root_disks,
    vms.vm_gpu_selectors,
    vms.vm_sizes,
    governance.tenants,
    governance.windows,
    governance.twice,
)
"""What people write."""

LOCKS: tuple[Rule, ...] = (
    networks.vpc_sizes,
    names.group_names,
    fabrics.partitions,
    dpus.links,
    capacity.controller_load,
    bare_metal.boot_methods,
    bare_metal.free_hosts,
    node_pools.rollout_limits,
    node_pools.template_revisions,
    rollouts.mixed,
    rollouts.in_motion_together,
    locks.digests,
    locks.numbers,
    locks.allocations,
    locks.pins,
)
"""What machines write. Meaningless while a reference dangles."""


_PROMOTED: frozenset[Rule] = frozenset({locks.pins, node_pools.template_revisions, rollouts.mixed})
"""What a promotion mends."""


def check(environment: Environment) -> list[Problem]:
    """Return all problems of ``environment``, sorted by file and line; empty when it is sound.

    No clock decides: the same data gives the same answer for ever. What has expired is for policies to say.
    """
    dangling = _run(REFERENCES, environment)
    locked = [] if dangling else _run(LOCKS, environment)
    return sorted({*dangling, *_run(DATA, environment), *locked})


def check_data(environment: Environment) -> list[Problem]:
    """Return the problems that must be gone before anything is allocated: a number given twice is one."""
    return sorted({*_run((*REFERENCES, *DATA, locks.numbers), environment)})


def check_promotable(environment: Environment) -> list[Problem]:
    """Return the problems that must be gone before a pin moves: all but those of pins."""
    mended = set(map(rule_name, _PROMOTED))
    return [problem for problem in check(environment) if problem.rule not in mended]


def check_regions(environments: Sequence[Environment]) -> dict[str, list[Problem]]:
    """Return by environment what is wrong between ``environments``; without those that nothing is wrong with.

    Of two sides a problem is told at the one that comes later by name, and names the file and line of the other.
    """
    ordered = sorted(environments, key=lambda environment: environment.name)
    found: dict[str, set[Problem]] = defaultdict(set)
    for rule in regions.RULES:
        for environment, problem in rule(ordered):
            found[environment.name].add(_named(rule, problem))
    return {name: sorted(problems) for name, problems in found.items()}


def rule_name(rule: Callable[..., object]) -> str:
    """Return what reports call ``rule``: module and function, such as ``networks.vpc-sizes``."""
    return f"{rule.__module__.rpartition('.')[2]}.{rule.__name__}".replace("_", "-")


def descriptions() -> dict[str, str]:
    """Return what each rule reports, by its name."""
    every: tuple[Callable[..., object], ...] = (*REFERENCES, *DATA, *LOCKS, *regions.RULES)
    return {rule_name(rule): inspect.getdoc(rule) or "" for rule in every}


def _run(rules: Iterable[Rule], environment: Environment) -> list[Problem]:
    with no_collections():
        return [_named(rule, problem) for rule in rules for problem in rule(environment)]


def _named(rule: Callable[..., object], problem: Problem) -> Problem:
    return replace(problem, rule=rule_name(rule))
