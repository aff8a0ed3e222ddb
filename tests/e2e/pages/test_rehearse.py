"""A tenant of the large region in production is rehearsed as the page says, and then a change of its data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from tests.support.changes.unavailable_nodes import uids
from tests.support.data.environment_data import copy_data
from tests.support.local_regions.local_region import JACQUARD, UP_TIMEOUT_SECONDS, LocalRegion, deleted_at_exit

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]
REGION, TENANT, CLUSTER = "us-east-04a", "kestrel", "kestrel-drive"
MACHINES = ("cluster.x-k8s.io/v1beta2", "MachineDeployment")
PATIENCE_SECONDS = 1800
"""Longer than other regions need: jobs of the region take its hosts into service in steps of two minutes."""


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data of the region in production, which a test may edit."""
    return copy_data(tmp_path_factory.mktemp("production") / paths.DATA, REGION)


@pytest.fixture(scope="module")
def trial(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """The running rehearsal of one tenant."""
    folder = tmp_path_factory.mktemp("rehearsal")
    region = LocalRegion(folder, REGION, folder / "trial" / paths.DATA)
    with deleted_at_exit(region):
        rehearse(region, data)
        apply(region)
        yield region


def rehearse(region: LocalRegion, data: Path) -> None:
    folder = str(region.environments.parent)
    of_production = ("env", f"JACQUARD_ENVIRONMENTS={data}", JACQUARD, "rehearse", REGION, folder, "--tenant", TENANT)
    outcome = region.run(*of_production)
    assert outcome.code == 0, outcome.text


def apply(region: LocalRegion) -> None:
    command = (JACQUARD, "up", REGION, "--timeout", f"{PATIENCE_SECONDS}")
    outcome = region.run(*command, timeout_seconds=UP_TIMEOUT_SECONDS + PATIENCE_SECONDS)
    assert outcome.code == 0, outcome.text


def test_all_nodes_of_the_tenant_join(trial: LocalRegion, data: Path) -> None:
    environment = load_environment(REGION, data)
    [tenant] = (tenant for tenant in environment.tenants if tenant.tenant == TENANT)
    wanted = sum(pool.nodes or 0 for cluster in tenant.clusters for pool in cluster.pools)

    names = [node["metadata"]["name"] for node in trial.api(CLUSTER).list("v1", "Node")]

    assert len(names) == wanted
    assert {environment.allocations.hosts[name].partition("/")[0] for name in names} == {CLUSTER}
    assert trial.status()["settled"]


def test_the_stack_settings_of_production_are_not_touched(trial: LocalRegion, data: Path) -> None:
    assert list(trial.environments.glob(f"Pulumi.{REGION}.*.yaml"))
    assert not list(data.glob("Pulumi.*"))
    assert not list((paths.ROOT / paths.DATA).glob(f"Pulumi.{REGION}*"))


def test_a_change_is_applied_to_the_running_rehearsal(trial: LocalRegion, data: Path) -> None:
    before = uids(trial)
    tenant = data / REGION / "tenants" / f"{TENANT}.yaml"
    tenant.write_text(tenant.read_text().replace("max_unavailable: 10%", "max_unavailable: 2%"))

    rehearse(trial, data)
    apply(trial)

    limits = {
        group["metadata"]["name"]: group["spec"]["rollout"]["strategy"]["rollingUpdate"]["maxUnavailable"]
        for group in trial.api().list(*MACHINES, namespace=CLUSTER)
    }
    assert limits[f"{CLUSTER}-b200-c"] == 2
    assert uids(trial) == before
