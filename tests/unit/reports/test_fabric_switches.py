"""VRFs of VPCs on an Ethernet fabric: one number for each VPC, and at most one VRF for each host port."""

from __future__ import annotations

from functools import cache

from components.allocate.allocation import allocate
from components.lookups.network.rails import rails_of
from components.lookups.pools import clusters
from components.render.network.rails import render
from components.reports.network.border import contract
from components.reports.network.fabric_switches import FabricSwitches
from components.reports.network.network import network
from components.specs.environment import Environment
from components.specs.keys import cluster_of
from components.specs.reading.loader import load_environment
from jacquard.machine import paths


@cache
def region() -> Environment:
    return load_environment("eu-south-03a", paths.ROOT / "environments")


def switches(environment: Environment) -> FabricSwitches:
    [found] = contract(environment).fabrics
    return found


def without(environment: Environment, tenant: str) -> Environment:
    """Return ``environment`` with VPCs of ``tenant`` on no fabric, allocated again."""
    tenants = tuple(
        one.model_copy(update={"vpcs": tuple(vpc.model_copy(update={"fabrics": ()}) for vpc in one.vpcs)})
        if one.tenant == tenant
        else one
        for one in environment.tenants
    )
    changed = environment.model_copy(update={"tenants": tenants})
    return changed.model_copy(update={"allocations": allocate(changed)[0]})


def test_each_port_of_a_host_is_in_the_vrf_of_its_vpc_or_in_none() -> None:
    found, lock = switches(region()), region().allocations
    by_vpc = {vrf.vpc: vrf.hosts for vrf in found.vrfs}
    every = [host for host in region().hosts if host.instance_type in {"h100-eth-8", "h200-eth-8"}]

    assert {vrf.vpc: vrf.vni for vrf in found.vrfs} == {
        name: vpc.fabric_vnis["roce-south"] for name, vpc in lock.vpcs.items() if vpc.fabric_vnis
    }
    for host in every:
        cluster = cluster_of(lock.hosts.get(host.host, ""))
        vpc = lock.clusters[cluster].vpc if cluster in lock.clusters else None
        assert [name for name, hosts in by_vpc.items() if host.host in hosts] == ([vpc] if vpc else [])
        assert (host.host in found.unused) == (vpc is None)
    counted = [ports for hosts in (*by_vpc.values(), found.unused) for ports in hosts.values()]
    assert counted == [8] * len(every)


def test_a_vpc_that_leaves_a_fabric_frees_its_number_and_its_ports() -> None:
    before, after = switches(region()), without(region(), "vireo")
    [leaves] = [vrf for vrf in before.vrfs if vrf.vpc == "vireo"]

    assert switches(after).vrfs == tuple(vrf for vrf in before.vrfs if vrf is not leaves)
    assert switches(after).unused == {**before.unused, **leaves.hosts}
    assert after.allocations.quarantine["vireo/vireo"].fabric_vnis == {"roce-south": (leaves.vni,)}
    [range_] = [one for one in network(after).ranges if one.range == "fabrics.roce-south.vnis"]
    assert (range_.given, range_.quarantined) == (2, 1)


def test_switches_have_each_rail_of_a_cluster_with_the_gateway_that_pods_ask() -> None:
    [wisent] = [vrf for vrf in switches(region()).vrfs if vrf.vpc == "wisent"]
    [mine] = [placed for placed in clusters(region()) if placed.cluster.name == "wisent-train"]
    cut = rails_of(region(), mine)
    assert cut is not None
    pools = [item.body["spec"] for item in render(cut, "wisent-train", "wisent") if item.kind == "IPPool"]

    assert [rail.rail for rail in wisent.rails] == list(range(8))
    assert [(str(rail.subnet), str(rail.gateway)) for rail in wisent.rails] == [
        (pool["subnet"], pool["gateway"]) for pool in pools
    ]
    assert not any(vrf.rails for vrf in switches(region()).vrfs if vrf.vpc != "wisent")


def test_a_returning_vpc_gets_its_number_again() -> None:
    gone = without(region(), "vireo")
    back = gone.model_copy(update={"tenants": region().tenants})
    again = back.model_copy(update={"allocations": allocate(back)[0]})

    assert switches(again) == switches(region())
