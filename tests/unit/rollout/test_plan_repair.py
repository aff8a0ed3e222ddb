"""Maximum parallel remediations of a group, and the startup timeout of a new node."""

from __future__ import annotations

import math
from typing import Any

import pytest

from components.lookups.pools import pools
from components.rollout import repair
from components.rollout.repair import longest_burn_in_seconds, most_broken, reboot_seconds, startup_seconds
from components.specs.environment import Environment
from components.specs.hosts.bare_metal import BootMethod, ControllerSpec
from components.specs.hosts.firmware import FirmwareCatalog
from components.specs.pools.node_pool import BurnIn, HealthSpec, NodePoolSpec
from components.specs.pools.nodes import FirmwareUpdate, StepDurationsSpec
from tests.support.data.small_region import changed

STEPS = StepDurationsSpec(drain_minutes=90, deprovision_minutes=5, boot_minutes=15, join_minutes=5)


def pool(spares: int | str, **health: Any) -> NodePoolSpec:
    return NodePoolSpec(name="a", instance_type="a", nodes=1, spares=spares, health=HealthSpec(**health))


@pytest.mark.parametrize(
    ("limit", "spares", "nodes", "most"),
    [
        ("20%", 2, 16, 2),  # A whole rack has 16 nodes, and none of it is remediated.
        ("20%", 30, 16, 3),
        ("20%", 0, 16, 1),  # A node that is rebooted without success is lost either way.
        ("20%", 2, 4, 1),
        ("0%", 2, 16, 0),
        (0, 2, 16, 0),
        (8, 2, 16, 2),
        ("20%", "5%", 1440, 72),
    ],
)
def test_parallel_remediations_do_not_exceed_the_spares(
    laptop: Any, limit: int | str, spares: int | str, nodes: int, most: int
) -> None:
    assert most_broken(laptop.load(), pool(spares, max_unhealthy=limit), nodes) == most


DPU_MINUTES = 30
"""Time in which DPF installs up to 50 DPUs in parallel."""


def fleet(environment: Environment, hosts: int, **nodes: Any) -> Environment:
    """Return ``environment`` with that many hosts, and other settings of its nodes."""
    region = environment.region
    region = region.model_copy(update={"nodes": region.nodes.model_copy(update=nodes)})
    return environment.model_copy(update={"region": region, "hosts": environment.hosts[:1] * hosts})


@pytest.mark.parametrize(("hosts", "turns"), [(1, 1), (20, 1), (21, 2), (40, 2), (41, 3), (1440, 72)])
def test_a_machine_that_waits_for_its_turn_is_not_broken(
    laptop: Any, monkeypatch: pytest.MonkeyPatch, hosts: int, turns: int
) -> None:
    environment = laptop.load()
    monkeypatch.setattr(repair, "_updates_firmware", lambda _: False)
    short = pool(0, node_startup_timeout_seconds=1800)
    dpus = DPU_MINUTES * math.ceil(hosts / 50)

    assert startup_seconds(fleet(environment, hosts), "acme-train", pool(0)) == 3600 + (turns * 45 + dpus) * 60
    measured = startup_seconds(fleet(environment, hosts, durations=STEPS), "acme-train", short)
    assert measured == 1800 + (turns * 35 + dpus) * 60


def test_a_reboot_may_include_an_update_of_the_firmware(laptop: Any) -> None:
    environment = laptop.load()
    types = environment.instance_types.by_name
    updated = environment.firmware.firmware_baselines[0].instance_types[0]
    on_reboot = fleet(environment, 101, firmware_updates=FirmwareUpdate.ON_REBOOT)
    without = on_reboot.model_copy(update={"firmware": FirmwareCatalog(schema_version=1)})
    measured = fleet(on_reboot, 101, durations=STEPS, firmware_updates=FirmwareUpdate.ON_REBOOT)

    assert [reboot_seconds(one, types[updated]) for one in (environment, without, on_reboot, measured)] == [
        1800,
        1800,
        1800 + 30 * 60,
        1800 + STEPS.firmware_minutes * 60,
    ]


def test_a_burn_in_may_take_twice_its_expected_duration(laptop: Any) -> None:
    environment = laptop.load()
    placed = next(one for one in pools(environment) if one.cluster.name == "acme-train")
    gated = changed(placed.pool, health=changed(placed.pool.health, burn_in=BurnIn.GATED))
    plain = changed(placed.pool, health=changed(placed.pool.health, burn_in=BurnIn.NONE))

    hours = environment.region.nodes.tests.burn_in_hours
    assert longest_burn_in_seconds(environment, gated) >= 2 * hours * 3600
    assert longest_burn_in_seconds(environment, plain) == 0


def test_dpus_and_firmware_have_their_turn_before_a_machine_has_a_host(laptop: Any) -> None:
    environment = fleet(laptop.load(), 101)
    none = environment.model_copy(update={"firmware": FirmwareCatalog(schema_version=1)})

    assert environment.hosts[0].instance_type in {
        kind
        for baseline in environment.firmware.firmware_baselines
        if baseline.updates
        for kind in baseline.instance_types
    }
    assert startup_seconds(environment, "acme-train", pool(0)) == 3600 + (6 * 75 + 3 * 30) * 60
    assert startup_seconds(none, "acme-train", pool(0)) == 3600 + (6 * 45 + 3 * 30) * 60


def test_the_queue_is_that_of_the_controller_of_the_cluster(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    environment = fleet(laptop.load(), 100)
    monkeypatch.setattr(repair, "_updates_firmware", lambda _: False)
    shards = (
        ControllerSpec(name="north", boot=BootMethod.VIRTUAL_MEDIA, max_hosts=40),
        ControllerSpec(name="south", boot=BootMethod.VIRTUAL_MEDIA, max_hosts=500),
    )
    metal = environment.region.bare_metal.model_copy(update={"controllers": shards})
    lock = environment.allocations
    for controller, turns in (("north", 2), ("south", 5)):
        entry = lock.clusters["acme-train"].model_copy(update={"controller": controller})
        sharded = environment.model_copy(
            update={
                "region": environment.region.model_copy(update={"bare_metal": metal}),
                "allocations": lock.model_copy(update={"clusters": {**lock.clusters, "acme-train": entry}}),
            }
        )

        assert startup_seconds(sharded, "acme-train", pool(0)) == 3600 + (turns * 45 + 2 * DPU_MINUTES) * 60
