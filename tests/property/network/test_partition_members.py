"""Each port is in at most one partition for arbitrary tenants, and a new tenant moves no port of others."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from components.reports.network.partitions import FabricPartitions, partitions
from components.specs.environment import Environment
from components.specs.network.fabrics import LAST_PKEY
from tests.support.network.drawn_regions import FABRIC, NAMES, TENANTS, Wish, region


def cabled(environment: Environment) -> Environment:
    """Return ``environment`` with GUIDs of all InfiniBand ports in its inventory."""
    ports = {kind.name: kind.infiniband_ports for kind in environment.instance_types.instance_types}
    hosts = (
        host.model_copy(
            update={"port_guids": tuple(f"0x946d{at:08x}{port:04x}" for port in range(ports[host.instance_type]))}
        )
        for at, host in enumerate(environment.hosts)
    )
    return environment.model_copy(update={"hosts": tuple(hosts)})


def reported(environment: Environment) -> FabricPartitions:
    [found] = partitions(cabled(environment)).fabrics
    return found


@given(TENANTS, st.sampled_from(NAMES))
@settings(max_examples=60)
def test_each_port_is_in_at_most_one_partition_for_any_tenants(wishes: dict[str, Wish], newcomer: str) -> None:
    before = region({name: wish for name, wish in wishes.items() if name != newcomer}, None)
    after = region(wishes, None, before)
    was, found = reported(before), reported(after)
    entered = [guid for one in found.partitions for guid in one.request.guids]
    nobody = [guid for guids in found.nobody.values() for guid in guids]
    keys = [int(one.request.pkey, 16) for one in found.partitions]
    ranges = sorted((one.guids.first, one.guids.last) for part in found.partitions for one in part.functions)

    assert sorted(f"0x{guid}" for guid in (*entered, *nobody)) == sorted(
        guid for host in cabled(after).hosts for guid in host.port_guids
    )
    assert len(set(keys)) == len(keys)
    assert all(0 < key <= LAST_PKEY and FABRIC.pkeys and key in FABRIC.pkeys for key in keys)
    assert not any(first <= int(guid, 16) <= last for first, last in ranges for guid in entered)
    assert all(last < following for (_, last), (following, _) in pairwise(ranges))
    assert {one.vpc for one in found.partitions} == {
        name for name, wish in wishes.items() if wish.fabric and not wish.rails
    }
    assert tuple(one for one in found.partitions if one.tenant != newcomer) == tuple(
        one for one in was.partitions if one.tenant != newcomer
    )


@given(TENANTS)
@settings(max_examples=30)
def test_hosts_of_a_partition_are_those_allocated_to_its_vpc(wishes: dict[str, Wish]) -> None:
    drawn = region(wishes, None)
    clusters, hosts = drawn.allocations.clusters, drawn.allocations.hosts

    for one in reported(drawn).partitions:
        assert one.hosts
        assert {clusters[hosts[host].partition("/")[0]].vpc for host in one.hosts} == {one.vpc}
        assert [guid for guids in one.hosts.values() for guid in guids] == list(one.request.guids)
        assert one.unknown == ()
