"""Inputs of node pools."""

from collections import defaultdict
from collections.abc import Iterator

from components.inputs.node_addresses import addresses_of
from components.intents.nodes import intents_of
from components.lookups.add_ons import gives, node_tests
from components.lookups.data_stores import restore_of
from components.lookups.health.node_checks import checks_of
from components.lookups.pools import PlacedCluster, clusters_of, failure_domain
from components.render.health.node_tests import IDLE_FAULT, IDLE_SECONDS
from components.render.pools.join_service import HostIdentity
from components.render.pools.node_pool import NodePoolInput, RolloutGroup
from components.rollout.repair import longest_burn_in_seconds, most_broken, reboot_seconds, startup_seconds
from components.rollout.replacement import replacement, spare_hosts
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.health.node_checks import HealthAction
from components.specs.hosts.instance_types import InstanceType
from components.specs.keys import domain_of, group_key, pool_key, pool_of
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.region.catalog import BootMode
from components.specs.region.tenant import TenantSpec


def of_tenant(environment: Environment, tenant: TenantSpec) -> Iterator[NodePoolInput]:
    """Yield the pools of each cluster of a tenant."""
    for placed in clusters_of(tenant):
        for pool in placed.cluster.pools:
            yield pool_input(environment, placed, pool)


def pool_input(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> NodePoolInput:
    """Return the input of ``pool``.

    Raises:
        KeyError: the lock files do not match the data.
    """
    region, kind = environment.region, environment.instance_types.by_name[pool.instance_type]
    restore = restore_of(environment, placed)
    # A restore can lose Nodes whose machines run, which Cluster API would replace immediately.
    repairs = restore is None or not restore.is_open
    groups = tuple(_groups(environment, pool_key(placed.cluster.name, pool.name), pool, repairs=repairs))
    return NodePoolInput(
        name=f"{placed.cluster.name}-{pool.name}",
        cluster=placed.cluster.name,
        tenant=placed.tenant.tenant,
        spec=pool,
        kind=kind,
        groups=groups,
        bare_metal=region.bare_metal.backend,
        startup_seconds=startup_seconds(environment, placed.cluster.name, pool),
        reboot_seconds=reboot_seconds(environment, kind),
        burn_in_seconds=longest_burn_in_seconds(environment, pool),
        window=placed.tenant.changes.window,
        burn_in=region.nodes.gate,
        faults=_faults(environment, placed, pool, kind),
        addresses=addresses_of(environment, pool_key(placed.cluster.name, pool.name)),
    )


def _faults(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec, kind: InstanceType) -> dict[str, int]:
    """Return the conditions that are repaired; none in a cluster where no add-on sets conditions."""
    if not gives(environment, placed, Capability.NODE_PROBLEMS):
        return {}
    checks, tests = checks_of(environment, kind), node_tests(environment, placed)
    faults = {
        check.condition: check.hold_seconds
        for check in checks
        if check.condition and check.action is HealthAction.REPAIR
    }
    if tests is not None and pool.name in tests.pools and tests.pools[pool.name].when_idle:
        faults[IDLE_FAULT] = IDLE_SECONDS
    return faults


def _groups(environment: Environment, of_pool: str, pool: NodePoolSpec, *, repairs: bool) -> Iterator[RolloutGroup]:
    intents = intents_of(environment, of_pool)
    spares = spare_hosts(environment, of_pool) if pool.rollout.surge else {}
    live_iso = {key for key, intent in intents.items() if intent.boot is BootMode.LIVE_ISO}
    identities = _identities(environment, of_pool) if live_iso else {}
    for key, size in sorted(environment.allocations.groups.items()):
        if pool_of(key) != of_pool:
            continue
        plan = replacement(pool.rollout, size.nodes, spares.get(key, 0))
        yield RolloutGroup(
            failure_domain=domain_of(key),
            size=size,
            intent=intents[key],
            max_surge=plan.max_surge,
            max_unavailable=plan.max_unavailable,
            most_broken=most_broken(environment, pool, size.most_nodes) if repairs else 0,
            hosts=tuple(identities[key]) if key in live_iso else (),
        )


def _identities(environment: Environment, of_pool: str) -> dict[str, list[HostIdentity]]:
    """Return the hosts of a pool by rollout group."""
    identities: dict[str, list[HostIdentity]] = defaultdict(list)
    for host in environment.hosts:
        if environment.allocations.hosts.get(host.host) == of_pool:
            identity = HostIdentity(host=host.host, boot_mac=host.boot_mac, dpu_serial=host.dpu_serial)
            identities[group_key(of_pool, failure_domain(environment, host))].append(identity)
    return identities
