"""The pages for single tasks, executed literally and in sequence in one region. Nightly, since it is slow."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.changes.unavailable_nodes import uids
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.repositories import COMMIT, committed, git
from tests.support.docs.walkthrough import HOW_TOS, LOST_HALL, RETIRED_REGION, Command, Edit, Script, lost_hall, steps
from tests.support.exchange.fake_inventory import netbox_with_a_new_host
from tests.support.local_regions.broken_nodes import CHECK, counted_repairs
from tests.support.local_regions.local_region import JACQUARD, LocalRegion, processes_of
from tests.support.local_regions.lost_power import hasty_health_checks, node_uids, power_lost, ready_nodes
from tests.support.local_regions.watches import watched_uids

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]
CLUSTER = "first-train"
UNREADY_SECONDS = 6
LAST = "retire-a-tenant"
"""Page that removes the tenant which the other pages use."""


@pytest.fixture(scope="module")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """The region of the tutorial, applied."""
    folder = tmp_path_factory.mktemp("tasks") / "clone"
    shutil.copytree(ENVIRONMENTS / "catalog", folder / "environments" / "catalog")
    region = LocalRegion(folder.parent, "edge-1", folder / "environments")
    region.variables["PATH"] = f"{Path(JACQUARD).parent}:{os.environ['PATH']}"
    try:
        for verb in ("new", "allocate", "up"):
            outcome = region.run(JACQUARD, verb, "edge-1")
            assert outcome.code == 0, outcome.text
        committed(region.environments)
        yield region
    finally:
        region.kill_running_commands()
        region.jacquard("down", "edge-1")
        for written in (paths.ROOT / "environments").glob("Pulumi.edge-1*.yaml"):
            written.unlink()  # Location that Pulumi.yaml of this clone names
    assert processes_of(region.home) == []


def _remove_vms(region: LocalRegion) -> None:
    """Remove the VMs of another page, as the last page requires."""
    tenant = region.environments / "edge-1" / "tenants" / "first.yaml"
    others, found, _ = tenant.read_text().partition("\nvms:\n")
    if found:
        tenant.write_text(f"{others}\n")
        allocated, blocked = (region.run(JACQUARD, verb, "edge-1") for verb in ("allocate", "up"))
        assert (allocated.code, blocked.code) == (0, ExitCode.CONFIRMATION_REQUIRED), allocated.text + blocked.text
        confirmed = region.run(JACQUARD, "up", "edge-1", "--confirm", blocked.text.rsplit("--confirm ")[-1].strip())
        assert confirmed.code == 0, confirmed.text


def test_a_hall_that_loses_power_returns_with_all_machines_and_nodes(region: LocalRegion, tmp_path: Path) -> None:
    """The first page, because others use up hosts and delete nodes."""
    project, before = region.environments.parent, (uids(region), node_uids(region, CLUSTER))
    outage, after = lost_hall()

    with hasty_health_checks(region, CLUSTER, UNREADY_SECONDS), counted_repairs(region, CLUSTER, tmp_path / "repairs"):
        with power_lost(region, CLUSTER):
            _follow(region, project, outage)
            assert ready_nodes(region, CLUSTER) == 0
        _follow(region, project, after)

    assert (uids(region), node_uids(region, CLUSTER)) == before
    assert ready_nodes(region, CLUSTER) == len(before[1])
    assert watched_uids(tmp_path / "repairs") == set()
    limits = [check["spec"]["remediation"]["triggerIf"] for check in region.api().list(*CHECK)]
    assert {*map(tuple, limits)} == {("unhealthyLessThanOrEqualTo",)}
    assert load_environment("edge-1", region.environments).out_of_service == {}


@pytest.mark.parametrize("page", [*sorted({*HOW_TOS} - {LAST, LOST_HALL, RETIRED_REGION}), LAST])
def test_the_page_does_as_it_says(region: LocalRegion, page: str) -> None:
    project = region.environments.parent
    if page == LAST:
        _remove_vms(region)
    with netbox_with_a_new_host("edge-1", region.environments) as variables:
        region.variables.update(variables)
        _follow(region, project, steps(f"how-to/{page}.md"))
    git(project, "add", "environments")
    git(project, *COMMIT, "--allow-empty")


def _follow(region: LocalRegion, project: Path, page: list[Command | Edit | Script]) -> None:
    for step in page:
        match step:
            case Edit():
                step.apply(project)
            case Script(text=text):
                outcome = region.run("bash", "-euo", "pipefail", "-c", f"cd {project}\n{text}")
                assert outcome.code == 0, f"{text}: {outcome.text}"
            case Command(words=(_, *arguments)):
                outcome = region.run(JACQUARD, *arguments)
                assert outcome.code == 0, f"{arguments}: {outcome.text}"
                if arguments[0] == "up":  # Applied data are committed.
                    git(project, "add", "environments")
                    git(project, *COMMIT, "--allow-empty")
