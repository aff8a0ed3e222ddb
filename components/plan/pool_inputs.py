"""What node pools and their hosts are made from."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from components.plan.pools import PlacedCluster, failure_domain, group_key, pool_of
from components.plan.replacement import spare_hosts
from components.render.join_service import HostIdentity
from components.render.node_pool import NodePoolInput, RolloutGroup, group_name
from components.render.pool_windows import TOOL, PoolWindows
from components.specs.catalog import BootMode
from components.specs.environment import Environment
from components.specs.firmware import FirmwareBaseline
from components.specs.lock_text import naturally
from components.specs.node_pool import NodePoolSpec
from components.specs.nodes import Windows


def pool_input(environment: Environment, placed: PlacedCluster, pool: NodePoolSpec) -> NodePoolInput:
    """Return what ``pool`` is made from.

    Raises:
        KeyError: the lock files do not fit the data.
    """
    region, kind = environment.region, environment.instance_types.by_name[pool.instance_type]
    return NodePoolInput(
        name=f"{placed.cluster.name}-{pool.name}",
        cluster=placed.cluster.name,
        tenant=placed.tenant.tenant,
        pool=pool,
        kind=kind,
        max_pods=kind.max_pods if placed.cluster.max_pods is None else placed.cluster.max_pods,
        groups=tuple(_groups(environment, f"{placed.cluster.name}/{pool.name}", pool)),
        control_plane=region.control_planes.backend,
        bare_metal=region.bare_metal.backend,
        window=placed.tenant.changes.window,
        burn_in=region.nodes.burn_in,
    )


def pool_windows(environment: Environment, placed: PlacedCluster) -> PoolWindows | None:
    """Return the window that holds the rolls of a cluster's pools; None where none does."""
    window, paused = placed.tenant.changes.window, {pool.name for pool in placed.cluster.pools if pool.rollout.paused}
    groups = [
        group_name(*parts)
        for parts in (key.split("/") for key in naturally(environment.allocations.groups))
        if parts[0] == placed.cluster.name and parts[1] not in paused
    ]
    if window is None or not groups or environment.region.nodes.windows is Windows.ANNOTATE:
        return None
    return PoolWindows(window=window, groups=tuple(groups), image=str(environment.versions.tool(TOOL)))


def firmware_of_hosts(environment: Environment) -> dict[str, FirmwareBaseline]:
    """Return the firmware baseline of each host whose rollout group runs an image that names one."""
    known = {baseline.name: baseline for baseline in environment.firmware.firmware_baselines}
    baselines = {image.version: known[image.firmware] for image in environment.images.images if image.firmware}
    groups = {key: baselines[pin.image] for key, pin in environment.image_pins.groups.items() if pin.image in baselines}
    if not groups:
        return {}
    found = {}
    for host in environment.hosts:
        pool = environment.allocations.hosts.get(host.host)
        baseline = pool and groups.get(group_key(pool, failure_domain(environment, host)))
        if baseline:
            found[host.host] = baseline
    return found


def _groups(environment: Environment, pool_key: str, pool: NodePoolSpec) -> Iterator[RolloutGroup]:
    images = {image.version: image for image in environment.images.images}
    pins = {key: pin for key, pin in environment.image_pins.groups.items() if pool_of(key) == pool_key}
    spares = spare_hosts(environment, pool_key) if pool.rollout.surge else {}
    asking = {key for key, pin in pins.items() if images[pin.image].boot is BootMode.LIVE_ISO}
    identities = _identities(environment, pool_key) if asking else {}
    for key, size in sorted(environment.allocations.groups.items()):
        if pool_of(key) != pool_key:
            continue
        yield RolloutGroup(
            failure_domain=key.rpartition("/")[2],
            size=size,
            image=images[pins[key].image],
            pin=pins[key],
            spares=spares.get(key, 0),
            hosts=tuple(identities[key]) if key in asking else (),
        )


def _identities(environment: Environment, pool_key: str) -> dict[str, list[HostIdentity]]:
    """Return the hosts of a pool by rollout group."""
    found: dict[str, list[HostIdentity]] = defaultdict(list)
    for host in environment.hosts:
        if environment.allocations.hosts.get(host.host) == pool_key:
            identity = HostIdentity(host=host.host, boot_mac=host.boot_mac, dpu_serial=host.dpu_serial)
            found[group_key(pool_key, failure_domain(environment, host))].append(identity)
    return found
