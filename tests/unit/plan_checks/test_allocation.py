"""What ``jacquard allocate`` gives, keeps and frees."""

from __future__ import annotations

from typing import Any

import pytest

from components.plan.allocation import allocate
from components.plan.assignment import nodes_within, spares_for, spread
from components.plan.checks import check_data
from components.specs.problems import SpecError

GLOBEX = "tenants/globex.yaml"


def test_laptop_is_allocated_completely_and_stays_as_it_is(laptop: Any) -> None:
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


def test_a_tenant_that_leaves_frees_its_own_and_nothing_else(laptop: Any) -> None:
    before = laptop.load().allocations
    (laptop.folder / GLOBEX).unlink()
    laptop.allocate()

    after = laptop.load().allocations
    assert after.vpcs == {"acme": before.vpcs["acme"]}
    assert after.hosts == {host: pool for host, pool in before.hosts.items() if pool.startswith("acme-train/")}
    assert laptop.report() == ""


def test_a_tenant_that_comes_moves_nobody(laptop: Any) -> None:
    before = laptop.load().allocations
    text = (laptop.folder / GLOBEX).read_text(encoding="utf-8")
    text = text.replace("globex", "aardvark").replace(
        "h100-ib-8, nodes: 4}\n    storage", "cpu-gen4, nodes: 2}\n    storage"
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


def test_a_new_group_of_a_pool_runs_what_the_pool_runs(laptop: Any) -> None:
    laptop.edit("images.lock.yaml", "acme-train/train/a02", "acme-train/train/a09")
    laptop.allocate()

    pins = laptop.load().image_pins.groups
    assert pins["acme-train/train/a02"].image == "gpu-2026.10.2"
    assert "acme-train/train/a09" not in pins


def test_a_new_pool_gets_the_newest_image_of_its_channel(laptop: Any) -> None:
    for rack in ("a01", "a02"):
        laptop.edit("images.lock.yaml", f"acme-train/train/{rack}", f"acme-train/train/{rack}-gone")
    laptop.allocate()

    assert laptop.load().image_pins.groups["acme-train/train/a01"].image == "gpu-2026.11.1"


def test_a_pool_that_names_a_version_gets_it(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.10.2 ")
    for rack in ("a01", "a02"):
        laptop.edit("images.lock.yaml", f"acme-train/train/{rack}", f"acme-train/train/{rack}-gone")
    laptop.allocate()

    assert laptop.load().image_pins.groups["acme-train/train/a01"].image == "gpu-2026.10.2"


def test_a_pin_is_never_moved(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.11.1 ")
    laptop.allocate()

    assert laptop.load().image_pins.groups["acme-train/train/a01"].image == "gpu-2026.10.2"
    assert laptop.report() == ""


def test_nothing_is_allocated_when_something_cannot_be(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "nodes: 10", "nodes: 40")
    with pytest.raises(SpecError, match="40 h100-ib-8 nodes wanted, 10 can be given"):
        allocate(laptop.load())


def test_what_must_be_sound_before_anything_is_allocated(laptop: Any) -> None:
    laptop.edit("allocations.lock.yaml", "vni: 10001", "vni: 10000")
    assert check_data(laptop.load()) == []

    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.11.2 ")
    assert [problem.place for problem in check_data(laptop.load())] == ["tenants/acme.yaml:29"]


def test_a_region_without_lock_files_is_told_the_next_step(laptop: Any) -> None:
    for name in ("allocations.lock.yaml", "images.lock.yaml"):
        (laptop.folder / name).unlink()
    assert laptop.report() == (
        "environments/laptop: 1 problem\n  allocations.lock.yaml  is not written yet; run jacquard allocate laptop"
    )

    laptop.allocate()
    assert laptop.report() == ""


def test_spares_are_rounded_up_in_each_domain() -> None:
    assert [spares_for(nodes, "2%") for nodes in (0, 1, 50, 51)] == [0, 1, 1, 2]
    assert [spares_for(nodes, 2) for nodes in (0, 1, 50)] == [0, 2, 2]
    assert [nodes_within(hosts, "2%") for hosts in (0, 1, 2, 52, 53)] == [0, 0, 1, 50, 51]
    assert nodes_within(8, 0) == 8


def test_nodes_spread_evenly_where_there_is_room() -> None:
    assert spread(10, {}, {"a": 8, "b": 8}) == {"a": 5, "b": 5}
    assert spread(10, {}, {"a": 3, "b": 8}) == {"a": 3, "b": 7}
    assert spread(3, {"a": 4, "b": 2}, {"a": 8, "b": 8}) == {"a": 2, "b": 1}
    assert spread(9, {}, {"a": 2, "b": 3}) == {"a": 2, "b": 3}
