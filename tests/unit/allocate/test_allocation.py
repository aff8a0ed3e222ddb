"""Assigned, kept and released numbers and hosts of ``jacquard allocate``."""

from __future__ import annotations

from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.allocate.assignment import spread
from components.lookups.spares import nodes_within, spares_for
from components.rollout.upgrades import with_version
from components.rules.checks import check_data
from components.rules.region.names import group_names
from components.specs.locks import GroupAllocation, ImagesLock
from components.specs.reading.problems import SpecError
from tests.support.changes.promotion import promote

GLOBEX = "tenants/globex.yaml"


def test_laptop_is_allocated_completely_and_without_changes(laptop: Any) -> None:
    environment = laptop.load()

    assert allocate(environment) == (environment.allocations, environment.image_pins)
    assert laptop.report() == ""


def test_groups_and_spares_of_laptop(laptop: Any) -> None:
    numbers = laptop.load().allocations

    assert {key: group.nodes for key, group in numbers.groups.items()} == {
        "acme-train/system/a04": 2,
        "acme-train/train/a01": 5,
        "acme-train/train/a02": 5,
        "acme-train/infer/a03": 4,
        "globex-lab/lab/a01": 1,
        "globex-lab/lab/a02": 1,
        "globex-lab/lab/a03": 2,
    }
    for key, group in numbers.groups.items():
        pool, rack = key.rsplit("/", 1)
        assigned = [host for host, owner in numbers.hosts.items() if owner == pool and host.startswith(rack)]
        assert len(assigned) == group.nodes + 1, key


def test_a_removed_tenant_only_releases_its_numbers(laptop: Any) -> None:
    before = laptop.load().allocations
    (laptop.folder / GLOBEX).unlink()
    laptop.allocate()

    after = laptop.load().allocations
    assert after.vpcs == {"acme": before.vpcs["acme"]}
    assert after.hosts == {host: pool for host, pool in before.hosts.items() if pool.startswith("acme-train/")}
    assert laptop.report() == ""


def test_a_host_changes_its_cluster_in_two_changes_never_in_one(laptop: Any) -> None:
    before = laptop.load().allocations
    globex = (laptop.folder / GLOBEX).read_text(encoding="utf-8")
    laptop.edit(GLOBEX, "name: globex-lab", "name: globex-new")
    with pytest.raises(SpecError) as short:
        allocate(laptop.load())
    assert str(short.value) == laptop.resolved(
        "environments/laptop: 1 problem\n"
        "  tenants/globex.yaml:LINE  clusters[0].pools[0].nodes: 4 h100-ib-8 nodes requested, 0 available: rack a01 has"
        " 8, all in other pools, rack a02 has 8, all in other pools, rack a03 has 8, all in other pools"
        " (inventory/hall-a.csv); remove the pool or add a rack; 7 released by other clusters can be used after the"
        " next up and allocate"
    )

    (laptop.folder / GLOBEX).unlink()
    laptop.allocate()
    (laptop.folder / GLOBEX).write_text(globex.replace("globex-lab", "globex-new"), encoding="utf-8")
    laptop.allocate()

    moved = {host for host, pool in laptop.load().allocations.hosts.items() if pool == "globex-new/lab"}
    assert moved == {host for host, pool in before.hosts.items() if pool == "globex-lab/lab"}


def test_a_host_may_change_its_pool_within_a_cluster(laptop: Any) -> None:
    before = laptop.load().allocations
    laptop.edit("tenants/acme.yaml", "name: infer", "name: serve")
    laptop.allocate()

    after = laptop.load().allocations
    assert after.hosts == {
        host: "acme-train/serve" if pool == "acme-train/infer" else pool for host, pool in before.hosts.items()
    }


def test_a_new_tenant_moves_no_allocation(laptop: Any) -> None:
    before = laptop.load().allocations
    text = (laptop.folder / GLOBEX).read_text(encoding="utf-8")
    text = (
        text.replace("globex", "aardvark")
        .replace("isolation: dpf-ovn", "isolation: dpf-hbn")
        .replace("h100-ib-8, nodes: 4}", "cpu-gen4, nodes: 2}")
        .replace(", gpus]", "]")
    )
    (laptop.folder / "tenants" / "aardvark.yaml").write_text(text, encoding="utf-8")
    laptop.allocate()

    after = laptop.load().allocations
    for section in ("vpcs", "clusters", "public_ips", "hosts", "groups"):
        assert getattr(before, section).items() <= getattr(after, section).items(), section
    assert laptop.report() == ""


def test_a_pool_that_shrinks_keeps_its_hosts_as_spares(laptop: Any) -> None:
    before = laptop.load().allocations
    laptop.edit("tenants/acme.yaml", "nodes: 10", "nodes: 7")
    laptop.allocate()

    after = laptop.load().allocations
    assert after.hosts == before.hosts
    assert (after.groups["acme-train/train/a01"].nodes, after.groups["acme-train/train/a02"].nodes) == (4, 3)


def test_a_new_group_of_a_pool_gets_the_intent_of_the_pool(laptop: Any) -> None:
    laptop.edit("images.lock.yaml", "acme-train/train/a02", "acme-train/train/a09")
    laptop.allocate()

    pins = laptop.load().image_pins
    assert pins.groups["acme-train/train/a02"] == pins.groups["acme-train/train/a01"]
    assert "acme-train/train/a09" not in pins.groups


def test_a_pool_that_moves_to_other_failure_domains_keeps_its_image(laptop: Any) -> None:
    laptop.edit("region.yaml", "failure_domain: rack", "failure_domain: hall")
    laptop.allocate()

    pins = laptop.load().image_pins
    assert {group: pins.node(group).image for group in pins.groups} == {
        "acme-train/infer/a": "gpu-2026.10.2",
        "acme-train/system/a": "cpu-2026.10.2",
        "acme-train/train/a": "gpu-2026.10.2",
        "globex-lab/lab/a": "gpu-2026.11.1",
    }


def test_a_new_pool_gets_the_newest_image_of_its_channel(laptop: Any) -> None:
    for rack in ("a01", "a02"):
        laptop.edit("images.lock.yaml", f"acme-train/train/{rack}", f"acme-train/gone/{rack}")
    laptop.allocate()

    assert laptop.load().image_pins.node("acme-train/train/a01").image == "gpu-2026.11.1"


def test_a_control_plane_may_go_ahead_of_its_nodes_but_new_nodes_join_at_its_minor_version(laptop: Any) -> None:
    laptop.edit("../catalog/versions.yaml", "v1.35.2,", "v1.35.2, v1.36.0,")
    laptop.edit(GLOBEX, "version: v1.35.2", "version: v1.36.0")
    assert laptop.report() == ""

    environment = laptop.load()
    ahead = with_version(environment, "globex-lab", "v1.36.0")
    with pytest.raises(SpecError, match=r"kubelet v1\.35\.2, and new nodes can join control plane v1\.36\.0 only with"):
        promote(ahead, "globex-lab/lab", "gpu-2026.11.1")
    pins = ImagesLock(schema_version=1, groups={})
    with pytest.raises(SpecError, match=r"no image of channel stable fits h100-ib-8 with a kubelet for v1\.36\.0"):
        allocate(environment.model_copy(update={"image_pins": pins}))


def test_a_pool_that_names_a_version_gets_it(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.10.2 ")
    for rack in ("a01", "a02"):
        laptop.edit("images.lock.yaml", f"acme-train/train/{rack}", f"acme-train/gone/{rack}")
    laptop.allocate()

    assert laptop.load().image_pins.node("acme-train/train/a01").image == "gpu-2026.10.2"


def test_a_pin_is_never_moved(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.11.1 ")
    laptop.allocate()

    assert laptop.load().image_pins.node("acme-train/train/a01").image == "gpu-2026.10.2"
    assert laptop.report() == ""


def test_nothing_is_allocated_when_something_cannot_be(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "nodes: 10", "nodes: 40")
    with pytest.raises(SpecError, match="40 h100-ib-8 nodes requested, 10 available"):
        allocate(laptop.load())


def test_data_that_must_be_valid_before_an_allocation(laptop: Any) -> None:
    laptop.edit("allocations.lock.yaml", "vni: 10001", "vni: 10000")
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.11.2 ")
    number, digest = "allocations.lock.yaml:<vpcs.globex.vni>", "allocations.lock.yaml:<digest>"
    image = "tenants/acme.yaml:<clusters.acme-train.pools.train.image>"

    places = [problem.place for problem in check_data(laptop.load(), edits_meant=True)]
    assert places == [laptop.resolved(place) for place in (number, image)]
    places = [problem.place for problem in check_data(laptop.load())]
    assert places == [laptop.resolved(place) for place in (number, digest, image)]


def test_a_region_without_lock_files_is_reported_with_the_next_step(laptop: Any) -> None:
    for name in ("allocations.lock.yaml", "images.lock.yaml"):
        (laptop.folder / name).unlink()
    assert laptop.report() == (
        "environments/laptop: 1 problem\n  allocations.lock.yaml  does not exist yet; run jacquard allocate laptop"
    )

    laptop.allocate()
    assert laptop.report() == ""


def test_rollout_groups_with_equal_joined_names_are_reported(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "name: infer", "name: train-u")
    environment = laptop.load()
    groups = dict.fromkeys(("acme-train/train/u-a03", "acme-train/train-u/a03"), GroupAllocation(nodes=1))
    lock = environment.allocations.model_copy(update={"groups": groups})

    [found] = group_names(environment.model_copy(update={"allocations": lock}))

    assert found.place == laptop.resolved("tenants/acme.yaml:<clusters.acme-train.pools.train-u>")
    assert found.text == laptop.resolved(
        "acme-train's rollout group acme-train/train-u/a03 becomes acme-train-train-u-a03, and so does"
        " acme-train/train/u-a03 (tenants/acme.yaml:<clusters.acme-train.pools.train>); rename one"
    )


def test_spares_are_rounded_up_in_each_domain() -> None:
    assert [spares_for(nodes, "2%") for nodes in (0, 1, 50, 51)] == [0, 1, 1, 2]
    assert [spares_for(nodes, 2) for nodes in (0, 1, 50)] == [0, 2, 2]
    assert [nodes_within(hosts, "2%") for hosts in (0, 1, 2, 52, 53)] == [0, 0, 1, 50, 51]
    assert nodes_within(8, 0) == 8


def test_nodes_are_spread_evenly_over_free_capacity() -> None:
    assert spread(10, {}, {"a": 8, "b": 8}) == {"a": 5, "b": 5}
    assert spread(10, {}, {"a": 3, "b": 8}) == {"a": 3, "b": 7}
    assert spread(3, {"a": 4, "b": 2}, {"a": 8, "b": 8}) == {"a": 2, "b": 1}
    assert spread(9, {}, {"a": 2, "b": 3}) == {"a": 2, "b": 3}
