"""The program that holds Machines of reserved Slurm nodes: its pools and times, and what it may change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from components.inputs.hosted_control_plane import of_tenant
from components.inputs.workloads.slurm import reservations_of
from components.lookups.health.node_tests import burn_in_minutes
from components.programs import slurm_reservations
from components.render.workloads.slurm_reservations import NAME, PROGRAM, SETTINGS, SlurmReservations
from components.specs.environment import Environment
from components.specs.pools.node_pool import BurnIn, RolloutStrategy
from components.specs.pools.nodes import StepDurationsSpec
from components.specs.struct import replace
from tests.support.data.small_region import changed
from tests.support.workloads.slurm_clusters import POOLS, placed_slurm


def planned(environment: Environment, *idle: str, **fields: Any) -> SlurmReservations | None:
    """Return the reservations of a Slurm cluster whose pools ``idle`` wait for jobs; ``fields`` are those of pools."""
    placed = placed_slurm(environment)
    strategies = {True: RolloutStrategy.IDLE, False: RolloutStrategy.ROLLING}
    pools = tuple(
        changed(pool, rollout=changed(pool.rollout, strategy=strategies[pool.name in idle]), **fields)
        for pool in placed.cluster.pools
    )
    return reservations_of(environment, replace(placed, cluster=changed(placed.cluster, pools=pools)))


def settings(given: SlurmReservations | None) -> dict[str, Any]:
    assert given is not None
    [config] = [item for item in given.in_management({}) if item.kind == "ConfigMap"]
    found: dict[str, Any] = json.loads(config.body["data"][SETTINGS])
    return found


@pytest.fixture
def given(laptop: Environment) -> SlurmReservations:
    found = planned(laptop, *POOLS)
    assert found is not None
    return found


def test_pools_that_do_not_wait_for_jobs_ignore_reservations(laptop: Environment) -> None:
    assert planned(laptop) is None
    assert list(settings(planned(laptop, POOLS[1]))["pools"]) == [POOLS[1]]


def test_clusters_without_slurm_have_no_program(laptop: Environment) -> None:
    assert [plane.reservations for tenant in laptop.tenants for plane in of_tenant(laptop, tenant)] == [None, None]


def test_a_replacement_takes_the_measured_steps_and_the_burn_in(laptop: Environment) -> None:
    steps = StepDurationsSpec(drain_minutes=1000, deprovision_minutes=5, boot_minutes=7, join_minutes=11)
    measured = changed(laptop, region=changed(laptop.region, nodes=changed(laptop.region.nodes, durations=steps)))
    [pool] = [item for item in placed_slurm(measured).cluster.pools if item.name == POOLS[0]]
    gated = changed(pool.health, burn_in=BurnIn.GATED)

    assert settings(planned(measured, POOLS[0]))["pools"] == {POOLS[0]: 60 * 23}
    burn_in = burn_in_minutes(measured, changed(pool, health=gated))
    assert burn_in > 0
    assert settings(planned(measured, POOLS[0], health=gated))["pools"] == {POOLS[0]: 60 * (23 + burn_in)}


def test_the_program_reads_what_it_is_given(given: SlurmReservations) -> None:
    [job] = [item for item in given.in_management({}) if item.kind == "CronJob"]
    pod = job.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    volumes = {item["name"]: item for item in pod["volumes"]}

    assert pod["containers"][0]["args"][2:] == [f"/program/{SETTINGS}", "/kubeconfig/value"]
    assert volumes["kubeconfig"]["secret"] == {"secretName": "acme-train-kubeconfig"}
    assert settings(given) | {"pools": {}} == {
        "cluster": "acme-train",
        "namespace": "slurm-cluster",
        "service": "slurm-restapi:6820",
        "path": "/slurm/v0.0.44/reservations/",
        "keys_secret": "slurm-keys",
        "user": "slurm",
        "pools": {},
    }
    modules = {f"components.programs.{name.removesuffix('.py')}" for name in PROGRAM}
    used = {value.__module__ for value in vars(slurm_reservations).values() if hasattr(value, "__module__")}
    assert {name for name in used if name.startswith("components.")} <= modules


def test_it_only_reads_and_annotates_machines_of_its_cluster(given: SlurmReservations) -> None:
    objects = {item.kind: item for item in given.in_management({})}

    assert {item.namespace for item in objects.values()} == {"acme-train"}
    assert objects["Role"].body["rules"] == [
        {"apiGroups": ["cluster.x-k8s.io"], "resources": ["machines"], "verbs": ["list", "patch"]}
    ]
    assert objects["RoleBinding"].body["subjects"] == [
        {"kind": "ServiceAccount", "name": NAME, "namespace": "acme-train"}
    ]
