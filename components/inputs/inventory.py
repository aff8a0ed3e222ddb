"""Inputs of the hosts of a hall."""

from collections.abc import Iterable, Iterator

from components.lookups.bmcs import unverified_bmcs
from components.lookups.network.dpu_clusters import DpuClusters
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import clusters, failure_domain
from components.render.hosts.hosts import HostOwner, PlacedHost
from components.render.hosts.inventory import InventoryInput
from components.specs.environment import Environment
from components.specs.hosts.firmware import Firmware
from components.specs.hosts.inventory import HostSpec
from components.specs.hosts.out_of_service import PRODUCTION
from components.specs.keys import group_key, pool_key


def of_hall(environment: Environment, hall: str) -> Iterator[InventoryInput]:
    """Yield the hosts of one hall, grouped by rack."""
    owners = {
        pool_key(placed.cluster.name, pool.name): HostOwner(
            cluster=placed.cluster.name, pool=pool.name, vpc=placed.cluster.vpc
        )
        for placed in clusters(environment)
        for pool in placed.cluster.pools
    }
    kinds, away = environment.instance_types.by_name, environment.out_of_service
    unverified = unverified_bmcs(environment)
    here = sorted((host for host in environment.hosts if host.hall == hall), key=lambda host: (host.rack, host.slot))
    firmware, running = firmware_of_hosts(environment, here), DpuClusters(environment.region.dpus.clusters)

    def place(host: HostSpec) -> PlacedHost:
        owner = environment.allocations.hosts.get(host.host)
        return PlacedHost(
            host=host,
            failure_domain=environment.failure_domain(host),
            dpu_functions=kinds[host.instance_type].dpu.host_functions,
            architecture=kinds[host.instance_type].architecture,
            root_device=kinds[host.instance_type].root_device,
            unverified=host.host in unverified,
            owner=None if owner is None else owners[owner],
            state=away[host.host].state if host.host in away else PRODUCTION,
            why=str(away[host.host]) if host.host in away else None,
            firmware=firmware.get(host.host),
            dpu_cluster=running.of(host),
        )

    yield InventoryInput(
        name=hall,
        backend=environment.region.bare_metal.backend,
        dpf=uses_dpf(environment),
        firmware_updates=environment.region.nodes.firmware_updates,
        hosts=tuple(place(host) for host in here),
    )


def firmware_of_hosts(environment: Environment, hosts: Iterable[HostSpec]) -> dict[str, Firmware]:
    """Return the firmware of each of ``hosts`` whose rollout group has an intent with firmware."""
    pins = environment.image_pins
    groups = {key: firmware for key, name in pins.groups.items() if (firmware := pins.intents[name].firmware)}
    if not groups:
        return {}
    baselines = {}
    for host in hosts:
        pool = environment.allocations.hosts.get(host.host)
        baseline = pool and groups.get(group_key(pool, failure_domain(environment, host)))
        if baseline:
            baselines[host.host] = baseline
    return baselines
