"""All cross-checks over a region: what no file can know alone."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from components.plan.rules import clusters, inventory, locks, names, networks, references
from components.specs.environment import Environment
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
)
"""Without these an allocation means nothing."""

DATA: tuple[Rule, ...] = (
    names.region_name,
    inventory.halls,
    inventory.racks,
    inventory.bmc_addresses,
    inventory.controller_capacity,
    networks.networks_disjoint,
    networks.number_ranges,
    networks.asn_capacity,
    networks.loopbacks,
    networks.service_addresses,
    networks.service_prefixes,
    networks.ovn_central,
    clusters.state_and_context,
    clusters.default_storage_class,
    clusters.one_cluster_per_vpc,
    clusters.vpc_capacity,
    clusters.data_store_capacity,
    clusters.pool_images,
    clusters.rollouts,
    clusters.vm_public_ips,
    clusters.vm_root_disks,
    clusters.vm_gpu_selectors,
)
"""What people write."""

LOCKS: tuple[Rule, ...] = (
    networks.vpc_prefixes,
    networks.vpc_sizes,
    networks.numbers_unique,
    names.group_names,
    locks.allocations,
    locks.pins,
)
"""What machines write. Meaningless while a reference dangles."""


def check(environment: Environment) -> list[Problem]:
    """Return all problems of ``environment``, sorted by file and line; empty when it is sound."""
    dangling = _run(REFERENCES, environment)
    locked = [] if dangling else _run(LOCKS, environment)
    return sorted({*dangling, *_run(DATA, environment), *locked})


def check_data(environment: Environment) -> list[Problem]:
    """Return the problems that must be gone before anything is allocated."""
    return sorted({*_run(REFERENCES, environment), *_run(DATA, environment)})


def _run(rules: Iterable[Rule], environment: Environment) -> list[Problem]:
    return [problem for rule in rules for problem in rule(environment)]
