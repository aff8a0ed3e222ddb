"""Remediations by Cluster API's health check when many nodes fail together, counted from each started remediation.

Fifty nodes are in racks of seven hosts, with one rollout group per rack. The hosts boot from the network, twenty at a
time. Kubelets are simulated: a test sets nodes to not ready. Timeouts of the health check are seconds instead of
quarters of an hour; its limit is the rendered one. Remediations have no strategy, so Metal3 ignores them: the test
counts the hosts that would be power-cycled.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.render.hosts.bare_metal_controllers import PROVISIONED_AT_ONCE
from components.rollout.repair import most_broken, startup_seconds
from components.specs.reading.loader import load_environment
from jacquard.providers.kube import ObjectRef
from tests.support.changes.unavailable_nodes import Group, Watch, uids
from tests.support.local_regions.broken_nodes import CHECK, MACHINE, REMEDIATION, Health, counted_repairs
from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.pools_of_four import CLUSTER, region_of
from tests.support.local_regions.watches import watched_uids

HOST = ("metal3.io/v1alpha1", "BareMetalHost")
pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POOL, NODES, RACKS = "train", 50, 10
UNREADY_SECONDS = 6
STARTUP_SECONDS = 30
"""Minimum duration of the observation."""
_FILLED_SECONDS = 300.0
_SCALE = 60
"""Factor by which timeouts of hardware are shortened while a queue drains."""
_TURN_SECONDS = 24
"""Time to write an image: almost half an hour on hardware, the maximum that the rules permit for a turn."""
_DEPLOYMENT = ("cluster.x-k8s.io/v1beta2", "MachineDeployment")
_STAGE = "/apis/kwok.x-k8s.io/v1alpha1/stages/host-provisioned"


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A pool of fifty ready nodes."""
    folder = tmp_path_factory.mktemp("mass-failures")
    with deleted_at_exit(region_of(folder, {POOL: {"nodes": NODES}}, racks=RACKS, network_boot=True)) as local:
        local.variables["JACQUARD_SPEED"] = "20"
        local.up()
        yield local


def healthy(region: LocalRegion) -> int:
    return sum(check.get("status", {}).get("currentHealthy", 0) for check in region.api().list(*CHECK))


def test_a_queue_beyond_the_timeout_of_one_host_is_no_failure(region: LocalRegion, tmp_path: Path) -> None:
    environment = load_environment(ENVIRONMENT, region.environments)
    [pool] = environment.tenants[0].clusters[0].pools
    alone = pool.health.node_startup_timeout_seconds // _SCALE
    sizes = scale_to_zero(region)
    for check in region.api().list(*CHECK, namespace=CLUSTER):
        ref = ObjectRef(*CHECK, check["metadata"]["name"], CLUSTER)
        timeout = {"nodeStartupTimeoutSeconds": startup_seconds(environment, CLUSTER, pool) // _SCALE}
        region.api().patch(ref, {"spec": {"checks": timeout}}, field_manager="test")
    took = region.api().request("GET", _STAGE)["spec"]["delay"]
    set_duration(
        region, {"durationMilliseconds": _TURN_SECONDS * 1000, "jitterDurationMilliseconds": _TURN_SECONDS * 1000}
    )
    at_work = [0]

    def filled() -> bool:
        at_work.append(hosts_in(region).get("provisioning", 0))
        return healthy(region) == NODES

    with counted_repairs(region, CLUSTER, tmp_path / "repairs.json"), Watch(region, tmp_path / "all.json").running():
        for name, replicas in sizes.items():
            scale(region, name, replicas)
        wait_until(filled, timeout_seconds=_FILLED_SECONDS, what="the pool is filled in turns")
    set_duration(region, took)

    assert watched_uids(tmp_path / "repairs.json") == set()
    assert watched_uids(tmp_path / "all.json") == uids(region)
    assert max(at_work) == PROVISIONED_AT_ONCE
    assert max(map(start_up_seconds, region.api().list(*MACHINE))) > alone


@pytest.fixture(scope="module")
def health(region: LocalRegion) -> Health:
    wait_until(lambda: healthy(region) == NODES, timeout_seconds=_FILLED_SECONDS, what="all nodes are ready")
    return Health(region, CLUSTER, seconds=UNREADY_SECONDS, startup_seconds=STARTUP_SECONDS)


@pytest.fixture
def bounds(region: LocalRegion, health: Health) -> Iterator[dict[Group, int]]:
    """Yield the limits of the rules for each group; afterwards restore all nodes and wait for remediations."""
    environment = load_environment(ENVIRONMENT, region.environments)
    [pool] = environment.tenants[0].clusters[0].pools
    groups = health.machines()
    yield {group: most_broken(environment, pool, len(those)) for group, those in groups.items()}
    health.set_ready("True", [machine for those in health.machines().values() for machine in those])
    wait_until(
        lambda: not region.api().list(*REMEDIATION, namespace=CLUSTER),
        timeout_seconds=120.0,
        what="no repair of a node that is ready again is left",
    )


def names(*groups: list[dict[str, Any]]) -> set[str]:
    return {machine["metadata"]["name"] for those in groups for machine in those}


def test_the_limit_in_the_cluster_is_that_of_the_rules(health: Health, bounds: dict[Group, int]) -> None:
    assert sum(len(those) for those in health.machines().values()) == NODES
    assert len(bounds) > NODES // 10
    assert health.limits() == bounds


def test_one_node_of_each_of_two_racks_is_repaired(
    region: LocalRegion, health: Health, bounds: dict[Group, int], tmp_path: Path
) -> None:
    first, second, *_ = sorted(bounds)
    groups = health.machines()
    broken = [groups[first][0], groups[second][0]]

    with counted_repairs(region, CLUSTER, tmp_path / "repairs.json"):
        health.set_ready("False", broken)
        health.wait_for_verdict(names(broken), "both nodes count as broken")
        wait_until(
            lambda: health.remediations() == {first: 1, second: 1}, timeout_seconds=120.0, what="both are repaired"
        )

    assert len(watched_uids(tmp_path / "repairs.json")) == len(broken)


def test_when_fifty_nodes_fail_together_no_rack_exceeds_its_remediation_limit(
    region: LocalRegion, health: Health, bounds: dict[Group, int], tmp_path: Path
) -> None:
    before, groups = uids(region), health.machines()

    with (
        counted_repairs(region, CLUSTER, tmp_path / "repairs.json"),
        Watch(region, tmp_path / "machines.json").running(),
    ):
        health.set_ready("False", [machine for those in groups.values() for machine in those])
        health.wait_for_verdict(names(*groups.values()), "all nodes count as broken")
        begun = health.remediations()

    assert all(number <= bounds[group] for group, number in begun.items())
    assert len(watched_uids(tmp_path / "repairs.json")) == sum(begun.values()) < NODES / 2
    assert watched_uids(tmp_path / "machines.json") == before == uids(region)


def test_a_rack_whose_nodes_fail_in_sequence_stays_within_its_remediation_limit(
    region: LocalRegion, health: Health, bounds: dict[Group, int], tmp_path: Path
) -> None:
    before, groups = uids(region), health.machines()
    rack = max(groups, key=lambda group: len(groups[group]))
    first, *others = groups[rack]

    with (
        counted_repairs(region, CLUSTER, tmp_path / "repairs.json"),
        Watch(region, tmp_path / "machines.json").running(),
    ):
        health.set_ready("False", [first])
        health.wait_for_verdict(names([first]), "the first node counts as broken")
        health.set_ready("False", others)
        health.wait_for_verdict(names(groups[rack]), "all nodes of the rack count as broken")

    assert len(watched_uids(tmp_path / "repairs.json")) <= bounds[rack] < len(groups[rack])
    assert watched_uids(tmp_path / "machines.json") == before == uids(region)


def test_machines_that_queue_for_hosts_stay_within_the_remediation_limit(
    region: LocalRegion, health: Health, bounds: dict[Group, int], tmp_path: Path
) -> None:
    sizes = scale_to_zero(region)
    region.api().request("DELETE", _STAGE)

    with (
        counted_repairs(region, CLUSTER, tmp_path / "repairs.json"),
        Watch(region, tmp_path / "machines.json").running(),
    ):
        for name, replicas in sizes.items():
            scale(region, name, replicas)
        wait_until(lambda: len(uids(region)) == NODES, timeout_seconds=_FILLED_SECONDS, what="all machines are made")
        queued, groups = uids(region), health.machines()
        health.wait_for_verdict(names(*groups.values()), "all machines took longer than they may")

    within = sum(bounds[group] for group, those in groups.items() if len(those) <= bounds[group])
    assert len(watched_uids(tmp_path / "repairs.json")) <= within < NODES
    assert watched_uids(tmp_path / "machines.json") == queued == uids(region)
    assert not any(machine["status"].get("nodeRef") for those in health.machines().values() for machine in those)
    # On a loaded machine, hosts for the last machines are claimed only after the timeout of the first ones.
    wait_until(
        lambda: hosts_in(region, "delayed") == {"available": NODES - PROVISIONED_AT_ONCE},
        timeout_seconds=_FILLED_SECONDS,
        what="the other hosts wait for a turn",
    )
    assert hosts_in(region)["provisioning"] == PROVISIONED_AT_ONCE


def scale_to_zero(region: LocalRegion) -> dict[str, int]:
    """Scale all deployments to zero; return the number of machines that each had."""
    sizes = {one["metadata"]["name"]: one["spec"]["replicas"] for one in region.api().list(*_DEPLOYMENT)}
    for name in sizes:
        scale(region, name, 0)
    wait_until(lambda: uids(region) == set(), timeout_seconds=_FILLED_SECONDS, what="the pool is empty")
    return sizes


def scale(region: LocalRegion, deployment: str, replicas: int) -> None:
    ref = ObjectRef(*_DEPLOYMENT, deployment, CLUSTER)
    region.api().patch(ref, {"spec": {"replicas": replicas}}, field_manager="test")


def set_duration(region: LocalRegion, delay: dict[str, int]) -> None:
    """Set the duration of writing an image."""
    ref = ObjectRef("kwok.x-k8s.io/v1alpha1", "Stage", "host-provisioned")
    region.api().patch(ref, {"spec": {"delay": delay}}, field_manager="test")


def hosts_in(region: LocalRegion, status: str | None = None) -> Counter[str]:
    """Return the number of hosts in each state, optionally of one operational status."""
    found = [host["status"] for host in region.api().list(*HOST) if "status" in host]
    return Counter(
        one["provisioning"]["state"] for one in found if status is None or one["operationalStatus"] == status
    )


def start_up_seconds(machine: dict[str, Any]) -> float:
    """Return the time from the creation of a Machine until its node was ready."""
    [ready] = [one for one in machine["status"]["conditions"] if one["type"] == "NodeReady"]
    made, ended = (
        dt.datetime.fromisoformat(text)
        for text in (machine["metadata"]["creationTimestamp"], ready["lastTransitionTime"])
    )
    return (ended - made).total_seconds()
