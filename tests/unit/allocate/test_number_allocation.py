"""Allocation of numbers: lowest first, each to one owner, in quarantine after release."""

from __future__ import annotations

import pytest

from components.allocate.allocation import allocate, attempt
from components.allocate.releases import release_quarantine
from components.lookups.number_kinds import NUMBER_KINDS
from components.specs.base import Network
from components.specs.hosts.bare_metal import BootMethod, ControllerSpec
from components.specs.ipv6 import Ipv6Spec, Network6
from components.specs.locks import Freed
from components.specs.network.fabrics import FabricSpec
from components.specs.network.tenant_network import MorePrefixSpec
from components.specs.ranges import NumberRange
from components.specs.reading.problems import SpecError
from components.specs.region.observability import MetricsStoreSpec
from components.specs.region.region import NetworksSpec
from components.specs.region.tenant import TenantSpec
from tests.support.checks.places import resolved
from tests.support.data.environment_data import LAPTOP
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant

ANT, BEE = tenant("ant", nodes(2), fabrics=("ib",)), tenant("bee", nodes(1))
CAT, DOG = tenant("cat", nodes(1)), tenant("dog", nodes(1))


def test_a_tenant_gets_the_lowest_of_all_it_needs() -> None:
    lock = allocated(small_region(), tenants=(ANT,)).allocations

    assert lock.vpcs["ant"].model_dump(mode="json", exclude_defaults=True) == {
        "tenant": "ant",
        "isolation": "dpf-ovn",
        "vni": 10000,
        "asn": 4200000000,
        "route_target": 10000,
        "pods": "10.64.0.0/20",
        "services": "10.64.16.0/20",
        "hosts": "10.64.32.0/24",
        "load_balancers": "10.64.33.0/27",
        "pkeys": {"ib": 0x10},
    }
    # 2 nodes x 8 ports x 16 virtual functions
    assert lock.clusters["ant-one"].model_dump(mode="json", exclude_defaults=True) == {
        "tenant": "ant",
        "vip": "10.3.0.1",
        "controller": "m-1",
        "guids": {"ib": "0x0000000000001000-0x00000000000010ff"},
        "vpc": "ant",
        "control_planes": "kamaji",
        "bare_metal": "metal3",
    }


def test_ipv6_prefixes_are_allocated_with_the_others_and_released_into_quarantine() -> None:
    region = small_region()
    networks = changed(region.region.networks, tenants_ipv6=Network6("fd42:7a1c::/40"))
    region = changed(region, region=changed(region.region, networks=networks))
    asked = Ipv6Spec.model_validate({"pods": "/52", "services": "/112"})
    both = changed(ANT, vpcs=(changed(ANT.vpcs[0], ipv6=asked),))
    before = allocated(region, tenants=(ANT, BEE))

    after = allocated(before, tenants=(both, BEE))
    ant = after.allocations.vpcs["ant"]
    assert {kind: str(prefix) for kind, prefix in ant.ipv6.items()} == {
        "pods": "fd42:7a1c::/52",
        "services": "fd42:7a1c:0:1000::/112",
    }
    assert changed(ant, pods_ipv6=None, services_ipv6=None) == before.allocations.vpcs["ant"]

    gone = allocated(after, tenants=(ANT, BEE)).allocations
    assert gone.vpcs == before.allocations.vpcs
    assert gone.quarantine["ant/ant"].prefixes_ipv6 == (ant.pods_ipv6, ant.services_ipv6)
    other = allocated(
        changed(after, allocations=gone), tenants=(ANT, changed(BEE, vpcs=(changed(BEE.vpcs[0], ipv6=asked),)))
    )
    assert other.allocations.vpcs["bee"].pods_ipv6 == Network6("fd42:7a1c:0:2000::/52")
    assert allocated(changed(after, allocations=gone), tenants=(both, BEE)).allocations.vpcs["ant"] == ant


def test_a_region_with_a_separate_range_of_route_targets_uses_it() -> None:
    region = small_region()
    networks = changed(region.region.networks, route_targets=NumberRange(first=500, last=501))
    region = changed(region, region=changed(region.region, networks=networks))

    both = allocated(region, tenants=(ANT, BEE))
    assert {name: vpc.route_target for name, vpc in both.allocations.vpcs.items()} == {"ant": 500, "bee": 501}
    assert allocated(both, tenants=(BEE,)).allocations.quarantine["ant/ant"].route_targets == (500,)


def test_addresses_of_services_of_the_region_are_not_assigned_to_control_planes() -> None:
    region = small_region()
    spec = region.region
    assert spec.registry is not None
    assert spec.observability is not None
    first, second, third = list(spec.networks.control_plane_vips.hosts())[:3]
    metrics = MetricsStoreSpec(size="50Gi", storage_class="local-nvme", address=second)
    served = changed(
        spec,
        registry=changed(spec.registry, address=first),
        observability=changed(spec.observability, metrics=metrics),
    )

    lock = allocated(changed(region, region=served), tenants=(ANT,)).allocations
    assert lock.clusters["ant-one"].vip == third


def _with_more(*more: dict[str, object]) -> TenantSpec:
    specs = tuple(MorePrefixSpec.model_validate(one) for one in more)
    return changed(ANT, vpcs=(changed(ANT.vpcs[0], more_prefixes=specs),))


def test_further_prefixes_are_last_kept_by_name_and_released_into_quarantine() -> None:
    burst = {"name": "burst", "kind": "load_balancers", "size": "/27"}
    demos = {"name": "demos", "kind": "load_balancers", "size": "/28"}
    region = allocated(small_region(), tenants=(_with_more(burst), BEE))

    # After the prefixes of the other tenant, too.
    assert region.allocations.vpcs["ant"].prefixes["load_balancers/burst"] == Network("10.64.33.64/27")
    both = allocated(region, tenants=(_with_more(demos, burst), BEE))
    assert {name: str(more.prefix) for name, more in both.allocations.vpcs["ant"].more_prefixes.items()} == {
        "burst": "10.64.33.64/27",
        "demos": "10.64.33.96/28",
    }
    one = allocated(both, tenants=(_with_more(demos), BEE))
    assert [*one.allocations.vpcs["ant"].more_prefixes] == ["demos"]
    assert one.allocations.quarantine["ant/ant"].prefixes == (Network("10.64.33.64/27"),)
    assert allocated(one, tenants=(_with_more(demos, burst), BEE)).allocations.quarantine == {}


def test_released_numbers_are_in_quarantine_and_unavailable_to_others() -> None:
    before = allocated(small_region(), tenants=(ANT, BEE))
    after = allocated(before, tenants=(BEE, CAT))

    had, vpc = before.allocations, before.allocations.vpcs["ant"]
    assert after.allocations.quarantine == {
        "ant/ant": Freed(
            vnis=(vpc.vni,),
            asns=(vpc.asn,),
            prefixes=(vpc.pods, vpc.services, vpc.hosts, vpc.load_balancers),
            pkeys={"ib": (0x10,)},
        ),
        "ant/ant-one": Freed(vips=(had.clusters["ant-one"].vip,), guids={"ib": (had.clusters["ant-one"].guids["ib"],)}),
    }
    assert after.allocations.vpcs["bee"] == had.vpcs["bee"]
    assert (after.allocations.vpcs["cat"].vni, str(after.allocations.clusters["cat-one"].vip)) == (10002, "10.3.0.3")


def test_a_returning_owner_gets_the_same_numbers() -> None:
    before = allocated(small_region(), tenants=(ANT, BEE))
    away = allocated(before, tenants=(BEE,))
    back = allocated(away, tenants=(ANT, BEE))

    assert back.allocations == before.allocations


def test_another_tenant_with_the_same_names_gets_other_numbers() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    heir = changed(ANT, tenant="heir")
    gone = allocated(before, tenants=())
    after = allocated(gone, tenants=(heir,)).allocations

    assert after.vpcs["ant"].vni == 10001
    assert str(after.clusters["ant-one"].vip) == "10.3.0.2"
    with pytest.raises(SpecError, match="2 h100-ib-8 nodes requested, 0 available"):
        allocate(changed(before, tenants=(heir,), hosts=before.hosts[:4]))


def test_a_cluster_of_another_tenant_gets_no_host_before_its_release() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    after = allocated(before, tenants=(changed(ANT, tenant="heir"),)).allocations

    assert not before.allocations.hosts.keys() & after.hosts.keys()


def test_an_exhausted_range_reports_numbers_in_quarantine_and_how_to_release_them() -> None:
    before = allocated(small_region(), tenants=(ANT, BEE, CAT))
    after = allocated(before, tenants=(BEE, CAT))
    [problem] = attempt(changed(after, tenants=(BEE, CAT, DOG))).problems

    assert (problem.file, problem.path) == ("tenants/dog.yaml", "vpcs[0]")
    assert problem.text == resolved(
        "no free VNI in networks.vni (region.yaml:<networks.vni>, 10000-10002); widen it there, or release quarantined"
        " numbers that are no longer used (1: 10000 of ant/ant): jacquard allocate laptop --release-quarantine ant/ant",
        LAPTOP,
    )
    released = allocated(release_quarantine(after, "ant/ant"), tenants=(BEE, CAT, DOG)).allocations
    assert released.vpcs["dog"].vni == 10000
    assert [*released.quarantine] == ["ant/ant-one"]


@pytest.mark.parametrize(
    ("name", "left"),
    [("ant", ["bee/bee", "bee/bee-one"]), ("ant/ant", ["ant/ant-one", "bee/bee", "bee/bee-one"]), ("all", [])],
)
def test_quarantine_is_released_by_holder_by_tenant_or_as_a_whole(name: str, left: list[str]) -> None:
    gone = allocated(allocated(small_region(), tenants=(ANT, BEE)), tenants=())

    assert [*release_quarantine(gone, name).allocations.quarantine] == left


def test_a_name_without_numbers_in_quarantine_is_reported_with_existing_names() -> None:
    gone = allocated(allocated(small_region(), tenants=(BEE,)), tenants=())
    with pytest.raises(SpecError) as caught:
        release_quarantine(gone, "bee/bee-on")
    assert str(caught.value) == (
        "--release-quarantine: 'bee/bee-on' has no quarantined numbers (holders: bee/bee,"
        " bee/bee-one); did you mean 'bee/bee-one'?"
    )


def test_a_released_partition_is_in_quarantine_and_can_be_reclaimed() -> None:
    before = allocated(small_region(), tenants=(ANT, BEE))
    left = allocated(before, tenants=(tenant("ant", nodes(2)), BEE))

    assert left.allocations.vpcs["ant"].pkeys == {}
    assert left.allocations.quarantine["ant/ant"] == Freed(pkeys={"ib": (0x10,)})
    assert allocated(left, tenants=(ANT, BEE)).allocations == before.allocations


def test_a_cluster_gets_the_least_loaded_controller_and_keeps_it() -> None:
    first = allocated(small_region(), tenants=(ANT,))
    both = allocated(first, tenants=(ANT, BEE))
    three = allocated(both, tenants=(ANT, BEE, CAT))

    assert {name: cluster.controller for name, cluster in three.allocations.clusters.items()} == {
        "ant-one": "m-1",
        "bee-one": "m-2",
        "cat-one": "m-2",
    }
    assert allocated(three, tenants=(CAT,)).allocations.clusters["cat-one"].controller == "m-2"


def test_missing_controller_capacity_is_reported_with_the_load_of_each() -> None:
    region = small_region()
    small = tuple(ControllerSpec(name=name, boot=BootMethod.VIRTUAL_MEDIA, max_hosts=3) for name in ("m-1", "m-2"))
    metal = changed(region.region.bare_metal, controllers=small)
    region = changed(region, region=changed(region.region, bare_metal=metal), tenants=(BEE, tenant("eel", nodes(3))))

    [problem] = attempt(region).problems
    assert (problem.place, problem.path, problem.text) == (
        "tenants/eel.yaml",
        "clusters[0]",
        resolved(
            "no bare-metal controller has room for its 4 hosts (region.yaml:<bare_metal>: m-1 2 of 3, m-2 0 of 3); add"
            " one there",
            LAPTOP,
        ),
    )


def test_the_ledger_knows_every_number_of_the_lock_file() -> None:
    keys = {(sort.entry, key) for sort in NUMBER_KINDS.values() if sort.entry for key in sort.keys}

    assert set(NUMBER_KINDS) == set(Freed.model_fields)
    assert all(key in entry.model_fields for entry, key in keys)
    assert {sort.range for sort in NUMBER_KINDS.values() if sort.by_fabric} <= set(FabricSpec.model_fields)
    assert {sort.range for sort in NUMBER_KINDS.values() if not sort.by_fabric} <= set(NetworksSpec.model_fields)
