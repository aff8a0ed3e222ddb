"""Counts of the network report: hosts by DPU cluster, and allocated, reserved and free numbers of each range."""

from __future__ import annotations

from components.render.backends import NETWORK_BACKENDS
from components.reports.caveats import caveats
from components.reports.network.endpoints import named
from components.reports.network.network import RangeUse, RegionNetwork, network
from components.specs.environment import Environment
from components.specs.ranges import NumberRange
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant


def _ranges(found: RegionNetwork) -> dict[str, RangeUse]:
    return {one.range: one for one in found.ranges}


def _two() -> Environment:
    return allocated(
        small_region(), tenants=(tenant("ant", nodes(2), fabrics=("ib",)), tenant("bee", nodes(2), fabrics=("ib",)))
    )


def test_a_backend_without_host_isolation_is_reported_once_with_its_vpcs() -> None:
    region = load_environment("eu-south-03a", paths.ROOT / "environments")

    vpcs = {one.isolation: [vpc.partition(" ")[0] for vpc in one.vpcs] for one in caveats(region)}

    assert vpcs == {"kube-ovn": ["tessera", "vireo", "vireo-dual"], "policy-only": ["solstice", "wisent"]}
    assert [name for name, border in NETWORK_BACKENDS.items() if not (border.isolates_hosts or border.caveat)] == []
    assert all(":" in border.source for border in NETWORK_BACKENDS.values())


def test_ranges_count_allocated_and_free_numbers() -> None:
    ranges = _ranges(network(_two()))

    vnis, pkeys, vips = (ranges[name] for name in ("networks.vni", "fabrics.ib.pkeys", "networks.control_plane_vips"))
    assert (vnis.given, vnis.quarantined, vnis.free) == (2, 0, 1)
    assert (pkeys.written, pkeys.given, pkeys.free) == ("0x10-0x17", 2, 6)
    assert (vips.unit, vips.given, vips.free, vips.reserved) == ("addresses", 2, 251, 3)
    dpus = _two().region.networks.dpu_loopbacks.num_addresses
    assert (ranges["networks.asn"].unit, ranges["networks.asn"].reserved) == ("ASNs", dpus)
    assert ranges["networks.tenants"].largest == "/11"


def test_numbers_of_a_removed_tenant_are_reserved() -> None:
    before = _two()
    after = allocated(before, tenants=before.tenants[:1])

    was, now = _ranges(network(before)), _ranges(network(after))

    assert was.keys() == now.keys()
    for name, one in now.items():
        assert one.free == was[name].free
        assert one.given + one.quarantined == was[name].given
    assert now["networks.vni"].quarantined == 1


def test_numbers_outside_a_reduced_range_are_not_counted() -> None:
    region = _two()
    numbers = region.region.networks.vni
    smaller = changed(region.region.networks, vni=NumberRange(first=numbers.first + 1, last=numbers.last))

    vnis = _ranges(network(changed(region, region=changed(region.region, networks=smaller))))["networks.vni"]

    assert (vnis.given, vnis.free) == (1, 1)


def test_each_host_of_a_vpc_is_counted_in_the_dpu_cluster_that_runs_its_dpu() -> None:
    region = load_environment("us-east-04a", paths.ROOT / "environments")
    found = network(region)

    pools = region.allocations.hosts.values()
    for vpc in found.vpcs:
        names = {cluster.cluster for cluster in vpc.clusters}
        assert sum(share.hosts for share in vpc.dpus) == sum(pool.split("/")[0] in names for pool in pools)
        assert [share.dpu_cluster for share in vpc.dpus] == [*region.allocations.vpcs[vpc.vpc].links]
    assert sum(shard.dpus for shard in found.dpu_clusters) == len(region.hosts)


def test_vms_that_a_tenant_orders_are_ends_of_paths_like_those_of_the_platform() -> None:
    environment = load_environment("eu-south-03a", paths.ROOT / "environments")
    [tenant] = [one for one in environment.tenants if one.tenant == "tessera"]
    assert tenant.vms is not None
    assert tenant.vms.instances

    ends = {one.name: one.where for one in named(environment) if one.name.startswith("vm:")}

    assert ends == {
        f"vm:{tenant.vms.cluster}/{vm.name}": "public" if vm.public_ip else "pods" for vm in tenant.vms.machines
    }


def test_clusters_are_listed_with_their_names_if_any() -> None:
    laptop = load_environment("laptop", paths.ROOT / "environments")
    nameless = laptop.region.control_planes.model_copy(update={"domain": None})
    without = changed(laptop, region=changed(laptop.region, dns=None, control_planes=nameless))

    found = [
        {one.cluster: (one.api_name, one.domain) for vpc in network(environment).vpcs for one in vpc.clusters}
        for environment in (laptop, without)
    ]

    assert found == [
        {
            "acme-train": ("acme-train.api.laptop.cloud.example", "acme-train.laptop.cloud.example"),
            "globex-lab": ("globex-lab.api.laptop.cloud.example", None),
        },
        {"acme-train": (None, None), "globex-lab": (None, None)},
    ]
