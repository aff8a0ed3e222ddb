"""Rules whose cases would be long as YAML, on copies of loaded data."""

from __future__ import annotations

from typing import Any

from components.inputs.slice_inputs import inputs
from components.lookups.pools import most_nodes
from components.lookups.slices import Slice, SliceKind
from components.render.manifest import objects
from components.render.pools.node_pool import NodePoolInput
from components.reports.capacity import most_hosts
from components.rules.control_planes import control_planes, hosted_control_plane
from components.rules.hosts import inventory
from components.rules.network import fabrics, tenant_network
from components.rules.pools import node_pool
from components.rules.region import capacity, contracts, names
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.hosts.instance_types import Scale
from components.specs.locks import GroupAllocation
from components.specs.pools.node_pool import PoolRole
from components.specs.ranges import NumberRange
from components.specs.region.region import ControlPlaneBackend, FailureDomain
from components.specs.region.state import StackLayout
from components.specs.struct import replace

LONG = "a-region-whose-name-is-as-long-as-a-name-may-be-in-kubernetes-1"


def _reported(problems: Any) -> list[str]:
    return [f"{problem.place} {problem.path}: {problem.text}" for problem in problems]


def test_a_stack_whose_name_pulumi_would_refuse(laptop: Any) -> None:
    environment = laptop.load()
    site = environment.region.sites[0].model_copy(update={"halls": ("a", "a-hall-with-a-name-of-some-length")})
    region = environment.region.model_copy(update={"sites": (site,), "stacks": StackLayout.SLICED})
    long = environment.model_copy(update={"name": LONG, "region": region})

    stack = f"{LONG}.inventory-a-hall-with-a-name-of-some-length"
    [reported] = _reported(names.stack_names(long))
    assert reported == laptop.resolved(
        f"region.yaml:LINE region: its stack {stack} has 107 characters, 100 are allowed (region and slice joined);"
        " shorten one of the names"
    )
    whole = region.model_copy(update={"stacks": StackLayout.WHOLE})
    assert _reported(names.stack_names(long.model_copy(update={"region": whole}))) == []
    assert _reported(names.stack_names(long.model_copy(update={"name": "short"}))) == []


def test_more_partitions_than_a_tenant_may_have_on_a_fabric(laptop: Any) -> None:
    environment = laptop.load()
    [acme, globex] = environment.tenants
    vpcs = tuple(acme.vpcs[0].model_copy(update={"fabrics": ("ib",)}) for _ in range(32))

    def with_vpcs(count: int) -> Environment:
        tenant = acme.model_copy(update={"vpcs": vpcs[:count]})
        return environment.model_copy(update={"tenants": (tenant, globex)})

    assert _reported(fabrics.partition_limit(with_vpcs(32))) == [
        laptop.resolved(
            "tenants/acme.yaml:LINE vpcs[31].fabrics[0]: acme has more than 31 partitions on ib; merge VPCs"
        )
    ]
    assert _reported(fabrics.partition_limit(with_vpcs(31))) == []


def test_labels_that_tenants_may_not_write_are_the_ones_that_pools_render(laptop: Any) -> None:
    [*_, pool] = [
        part
        for part in inputs(laptop.load(), Slice(name="tenant-globex", kind=SliceKind.TENANT))
        if isinstance(part, NodePoolInput)
    ]
    system = replace(pool, spec=pool.spec.model_copy(update={"role": PoolRole.SYSTEM, "labels": {}}))
    rendered = next(item for item in objects(system.render()) if item.kind == "MachineDeployment")
    on_nodes = {
        key
        for key in rendered.body["spec"]["template"]["metadata"]["labels"]
        if key.startswith("node-restriction.kubernetes.io/")
    }

    assert on_nodes == set(hosted_control_plane.OUR_LABELS)


def test_whole_racks_are_counted_with_the_spares_inside_them(laptop: Any) -> None:
    environment = laptop.load()
    [gpu, cpu, *others] = environment.instance_types.instance_types
    kinds = (gpu.model_copy(update={"scale": Scale.RACK}), cpu, *others)
    catalog = environment.instance_types.model_copy(update={"instance_types": kinds})
    [acme, globex] = environment.tenants
    [cluster] = globex.clusters
    pool = cluster.pools[0].model_copy(update={"nodes": None, "racks": 2})
    racks = globex.model_copy(update={"clusters": (cluster.model_copy(update={"pools": (pool,)}),)})
    environment = environment.model_copy(update={"instance_types": catalog, "tenants": (acme, racks)})

    assert (gpu.nodes_per_rack, most_nodes(environment, pool)) == (8, 14)
    assert most_hosts(environment)["globex-lab"] == 16
    [problem] = contracts.contracted_nodes(environment)
    assert problem.text == laptop.resolved(
        "4 h100-ib-8 are contracted, but the pools up to tenants/globex.yaml:<clusters.globex-lab.pools.lab> have 14;"
        " make the pools smaller by 10, because the inventory has no more capacity"
    )


def test_a_rack_in_two_halls(laptop: Any) -> None:
    environment = laptop.load()
    first, second, *_ = environment.hosts
    hosts = (first, second.model_copy(update={"hall": "b"}))

    [reported] = _reported(inventory.racks(environment.model_copy(update={"hosts": hosts})))
    assert reported == (
        "inventory/hall-b.csv rack: 'a01' is also a rack of inventory/hall-a.csv; rack names are unique in a region,"
        " rename one"
    )


def test_more_numbers_than_the_protocols_count(laptop: Any) -> None:
    environment = laptop.load()

    def with_ranges(**ranges: NumberRange) -> list[str]:
        plan = environment.region.networks.model_copy(update=ranges)
        region = environment.region.model_copy(update={"networks": plan})
        return _reported(tenant_network.number_ranges(environment.model_copy(update={"region": region})))

    too_many = NumberRange(first=1, last=5_000_000_000)
    assert with_ranges(asn=too_many, route_targets=NumberRange(first=1, last=9)) == [
        laptop.resolved(
            "region.yaml:LINE networks.asn: 1-5000000000 exceeds 1-4294967295, the valid ASNs; write a range within"
        )
    ]
    [reported] = with_ranges(asn=NumberRange(first=64512, last=65534), route_targets=too_many)
    assert reported == laptop.resolved(
        "region.yaml:LINE networks.route_targets: 1-5000000000 exceeds 1-4294967295, the route targets with a two-byte"
        " ASN; write a range within"
    )


def test_a_cluster_in_more_failure_domains_than_cluster_api_lists(laptop: Any) -> None:
    environment = laptop.load()

    def in_domains(count: int, backend: BareMetalBackend = BareMetalBackend.METAL3) -> Environment:
        groups = {f"acme-train/{pool}/r{number}": GroupAllocation(nodes=1) for number in range(count) for pool in "ab"}
        metal = environment.region.bare_metal.model_copy(update={"backend": backend})
        allocations = environment.allocations.model_copy(update={"groups": groups})
        region = environment.region.model_copy(update={"bare_metal": metal})
        return environment.model_copy(update={"allocations": allocations, "region": region})

    [reported] = _reported(capacity.failure_domains(in_domains(101)))
    assert reported == laptop.resolved(
        "tenants/acme.yaml:LINE clusters[0].pools: acme-train is in 101 failure domains, but Cluster API lists 100 for"
        " a cluster; split it into two clusters"
    )
    assert _reported(capacity.failure_domains(in_domains(100))) == []
    assert _reported(capacity.failure_domains(in_domains(101, BareMetalBackend.IRONCORE_METAL))) == []


def test_racks_of_rack_scale_types_do_not_count_as_the_regions_failure_domain(laptop: Any) -> None:
    environment = laptop.load()
    kinds = tuple(kind.model_copy(update={"scale": Scale.RACK}) for kind in environment.instance_types.instance_types)
    catalog = environment.instance_types.model_copy(update={"instance_types": kinds})
    region = environment.region.model_copy(update={"failure_domain": FailureDomain.HALL})
    others = environment.model_copy(update={"region": region})

    assert len(_reported(node_pool.failure_domains(others))) == 1
    assert _reported(node_pool.failure_domains(others.model_copy(update={"instance_types": catalog}))) == []


def test_failure_domains_may_become_others_while_no_node_runs(laptop: Any) -> None:
    environment = laptop.load()
    region = environment.region.model_copy(update={"failure_domain": FailureDomain.HALL})
    groups = {key: group.model_copy(update={"nodes": 0}) for key, group in environment.allocations.groups.items()}
    allocations = environment.allocations.model_copy(update={"groups": groups})
    idle = environment.model_copy(update={"region": region, "allocations": allocations})

    assert _reported(node_pool.failure_domains(idle)) == []


def test_clusters_of_other_tenants_bind_no_backend(laptop: Any) -> None:
    environment = laptop.load()
    control_plane = environment.region.control_planes.model_copy(update={"backend": ControlPlaneBackend.K0SMOTRON})
    moved = environment.model_copy(
        update={"region": environment.region.model_copy(update={"control_planes": control_plane})}
    )

    def reported(**changes: Any) -> list[str]:
        given = {name: one.model_copy(update=changes) for name, one in environment.allocations.clusters.items()}
        lock = environment.allocations.model_copy(update={"clusters": given})
        return _reported(control_planes.kept(moved.model_copy(update={"allocations": lock})))

    [refused] = reported()
    expected = "region.yaml:LINE control_planes.backend: 'k0smotron' instead of kamaji, which created acme-train"
    assert refused.startswith(laptop.resolved(expected))
    assert reported(tenant="other") == []
