"""Bare-metal controllers: each cluster gets one that can boot its hosts and has enough capacity."""

from __future__ import annotations

from components.allocate.allocation import attempt
from components.allocate.controllers import Budget, budgets
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BootMethod, ControllerSpec, DhcpSpec
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant

ANT, BEE = tenant("ant", nodes(2)), tenant("bee", nodes(1))
DHCP = DhcpSpec.model_validate({"network": "10.0.8.0/24", "first": "10.0.8.10", "last": "10.0.8.99"})


def controller(name: str, boot: BootMethod, hosts: int = 40) -> ControllerSpec:
    dhcp = DHCP if boot is BootMethod.NETWORK_BOOT else None
    return ControllerSpec(name=name, boot=boot, max_hosts=hosts, dhcp=dhcp)


def region_of(*controllers: ControllerSpec, base: Environment | None = None) -> Environment:
    region = base or small_region()
    free = controllers[-1].name if controllers else None
    metal = changed(region.region.bare_metal, controllers=controllers, free_hosts=free)
    return changed(region, region=changed(region.region, bare_metal=metal))


def booting_from_the_network(region: Environment) -> Environment:
    address = "redfish+https://10.1.0.11/redfish/v1/Systems/1"
    return changed(region, hosts=tuple(changed(host, bmc=address) for host in region.hosts))


def test_a_cluster_with_network_boot_gets_a_controller_that_serves_it() -> None:
    both = (controller("media", BootMethod.VIRTUAL_MEDIA), controller("net", BootMethod.NETWORK_BOOT))
    region = region_of(*both, controller("rest", BootMethod.NETWORK_BOOT))

    given = allocated(booting_from_the_network(region), tenants=(ANT,)).allocations.clusters["ant-one"]

    assert given.controller == "net"
    assert allocated(region, tenants=(ANT,)).allocations.clusters["ant-one"].controller == "media"


def test_no_controller_for_the_way_hosts_boot_is_a_problem() -> None:
    region = booting_from_the_network(region_of(controller("media", BootMethod.VIRTUAL_MEDIA)))

    [problem] = attempt(changed(region, tenants=(ANT,))).problems

    assert problem.text == resolved(
        "no bare-metal controller has room for its 3 hosts, which boot by network-boot (region.yaml:<bare_metal>:"
        " none); add one there",
        LAPTOP,
    )


def test_hosts_that_no_cluster_has_take_room_on_their_controller() -> None:
    region = region_of(controller("a", BootMethod.VIRTUAL_MEDIA, 100), controller("b", BootMethod.VIRTUAL_MEDIA, 40))
    both = allocated(region, tenants=(ANT, BEE))

    assert {given.controller for given in both.allocations.clusters.values()} == {"a"}
    assert budgets(both) == (
        Budget(name="a", boot="virtual-media", clusters=2, assigned=5, free=0, limit=100),
        Budget(name="b", boot="virtual-media", clusters=0, assigned=0, free=23, limit=40),
    )


def test_a_region_without_controllers_has_the_budget_of_one() -> None:
    alone = allocated(region_of(), tenants=(ANT,))

    assert budgets(alone) == (Budget(name="metal3", boot=None, clusters=1, assigned=3, free=25, limit=500),)
    assert alone.allocations.clusters["ant-one"].controller is None


def test_a_cluster_with_hosts_keeps_its_controller_after_its_removal() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    after = region_of(controller("m-2", BootMethod.VIRTUAL_MEDIA), base=before)

    found = attempt(after)

    assert found.numbers.clusters["ant-one"].controller == "m-1"
    [problem] = found.problems
    assert (problem.place, problem.path) == ("tenants/ant.yaml", "clusters[0]")
    assert problem.text == resolved(
        "its 3 hosts are on bare-metal controller 'm-1', which region.yaml:<bare_metal> does not list; add it again: a"
        " host can change controllers only while it is not assigned to a cluster",
        LAPTOP,
    )


def test_shards_are_introduced_and_removed_for_the_whole_region() -> None:
    sharded = allocated(small_region(), tenants=(ANT,))
    alone = allocated(region_of(base=sharded))

    assert alone.allocations.clusters["ant-one"].controller is None
    assert allocated(region_of(*small_region().region.bare_metal.controllers, base=alone)).allocations == (
        sharded.allocations
    )
