"""Descriptions of lock file changes: one sentence for each affected cluster only."""

from __future__ import annotations

from components.allocate.releases import release_hosts
from components.reports.lock_changes import sentences
from components.rollout.upgrades import with_version
from components.specs.network.tenant_network import MorePrefixSpec
from tests.support.changes.promotion import promote
from tests.support.data.small_region import allocated, changed, nodes, small_region, tenant

ANT, BEE = tenant("ant", nodes(2), fabrics=("ib",)), tenant("bee", nodes(3))


def test_unchanged_clusters_have_no_sentence() -> None:
    region = allocated(small_region(), tenants=(ANT, BEE))

    assert sentences(region, region) == []
    assert [line.partition(":")[0] for line in sentences(region, allocated(region, tenants=(ANT,)))] == ["bee-one"]


def test_an_added_cluster_and_a_retired_one() -> None:
    with_ant = allocated(small_region(), tenants=(ANT,))
    with_bee = allocated(with_ant, tenants=(BEE,))

    assert sentences(with_ant, with_bee) == [
        (
            "ant-one: is deleted, and its numbers stay in quarantine; lab has 0 nodes instead of 2;"
            " 3 hosts (a1-u1, a1-u2, a1-u3) released by ant-one/lab"
        ),
        "bee-one: is new; 3 new nodes in lab; 4 hosts (a2-u1, a2-u2, a2-u3, a2-u4) to bee-one/lab",
    ]


def test_a_cluster_that_outgrows_its_guids_is_described_with_both_ranges_and_the_reason() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    grown = allocated(before, tenants=(tenant("ant", nodes(3), fabrics=("ib",)),))

    assert sentences(before, grown) == [
        (
            "ant-one: lab has 3 nodes instead of 2; 1 host (a1-u4) to ant-one/lab;"
            " guids {ib: 0x0000000000001000-0x00000000000010ff} -> {ib: 0x0000000000001000-0x00000000000011ff},"
            " as many as its nodes need, on the fabrics of its VPC"
        )
    ]


def test_a_further_prefix_is_described_as_in_the_lock_file() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    more = MorePrefixSpec.model_validate({"name": "burst", "kind": "load_balancers", "size": "/27"})
    after = allocated(before, tenants=(changed(ANT, vpcs=(changed(ANT.vpcs[0], more_prefixes=(more,)),)),))

    assert sentences(before, after) == [
        "ant-one: more_prefixes {} -> {burst: {kind: load_balancers, prefix: 10.64.33.32/27}}, as declared in its data"
    ]


def test_prefixes_of_a_new_cluster_in_a_vpc_are_not_described_for_existing_clusters() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    second = changed(ANT.clusters[0], name="ant-two", pools=(nodes(1),))
    more = MorePrefixSpec.model_validate({"name": "two", "kind": "pods", "size": "/24", "cluster": "ant-two"})
    vpc = changed(ANT.vpcs[0], more_prefixes=(more,))
    after = allocated(before, tenants=(changed(ANT, vpcs=(vpc,), clusters=(*ANT.clusters, second)),))

    assert [sentence.partition(";")[0] for sentence in sentences(before, after)] == ["ant-two: is new"]


def test_hosts_that_change_their_pool_or_are_released() -> None:
    before = allocated(small_region(), tenants=(ANT,))
    other = allocated(before, tenants=(tenant("ant", nodes(2, name="two"), fabrics=("ib",)),))
    smaller = allocated(before, tenants=(tenant("ant", nodes(1), fabrics=("ib",)),))
    numbers, pins = release_hosts(smaller, "ant-one/lab")

    assert sentences(before, other) == [
        (
            "ant-one: lab has 0 nodes instead of 2; 2 new nodes in two;"
            " 3 hosts (a1-u1, a1-u2, a1-u3) from ant-one/lab to ant-one/two"
        )
    ]
    assert sentences(smaller, changed(smaller, allocations=numbers, image_pins=pins)) == [
        "ant-one: 1 host (a1-u3) released by ant-one/lab"
    ]


def test_a_promotion_is_described_with_its_replaced_nodes_and_none_for_control_planes() -> None:
    before = allocated(small_region(), tenants=(tenant("ant", nodes(2, image="gpu-2026.10.2")),))
    pins = promote(changed(before, tenants=(tenant("ant", nodes(2)),)), "ant-one/lab", "gpu-2026.11.1")

    assert sentences(before, changed(before, image_pins=pins)) == [
        "ant-one: 2 nodes of lab are rolled to gpu-2026.11.1"
    ]
    assert sentences(before, with_version(before, "ant-one", "v1.36.1")) == [
        "ant-one: its control plane is upgraded from v1.35.2 to v1.36.1, without changes of nodes"
    ]
