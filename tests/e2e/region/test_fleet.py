"""Two regions on one machine in parallel: an order, a campaign that stops, and the retirement of a region.

Nightly, since it is slow. The steps build on each other: each test depends on the state that the previous one leaves.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from components.specs.reading.loader import environments
from jacquard.cli.errors import ExitCode
from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.repositories import COMMIT, committed, git
from tests.support.docs.walkthrough import TWO_REGIONS, Command, Edit, Script, retired_region
from tests.support.local_regions.broken_nodes import MACHINE, Health
from tests.support.local_regions.local_region import JACQUARD, LocalRegion, processes_of, wait_until
from tests.support.machine.outcome import Outcome

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]
FULL, ROOMY = "edge-1", "edge-2"
"""Region whose tenant takes all hosts for system pools, and region without tenants."""
ORDER = """\
schema_version: 1
order: heron-train
tenant: heron
contacts: {alerts: oncall@heron.example, changes: platform@heron.example}
from: 2026-11-28
cluster: heron-train
version: v1.35.2
items:
  - {instance_type: h100-ib-8, nodes: 3, within: region}
"""
NEW = "gpu-2026.12.0"
CAMPAIGN = f"""\
schema_version: 1
campaign: driver
title: newer GPU driver
images: [{NEW}]
steps:
  - {{regions: [{ROOMY}], soak_hours: 1}}
  - {{regions: [{FULL}], soak_hours: 1}}
"""


@dataclass(frozen=True, slots=True)
class Fleet:
    """Two regions with one folder of data and one home."""

    full: LocalRegion
    roomy: LocalRegion

    @property
    def data(self) -> Path:
        return self.full.environments

    def jacquard(self, *arguments: str) -> Outcome:
        return self.full.jacquard(*arguments)

    def merged(self) -> None:
        """Commit the current data."""
        git(self.data.parent, "add", self.data.name)
        git(self.data.parent, *COMMIT, "--allow-empty")

    def evidence(self, region: LocalRegion, file: Path) -> str:
        """Write the state of ``region`` to ``file``, and return its name."""
        file.write_text(json.dumps(region.status()))
        return str(file)


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """Two regions that were applied in parallel."""
    folder = tmp_path_factory.mktemp("fleet") / "clone"
    data = folder / "environments"
    shutil.copytree(ENVIRONMENTS / "catalog", data / "catalog")
    found = Fleet(LocalRegion(folder.parent, FULL, data), LocalRegion(folder.parent, ROOMY, data))
    for region in (found.full, found.roomy):
        region.variables["PATH"] = f"{Path(JACQUARD).parent}:{os.environ['PATH']}"
        assert region.jacquard("new", region.environment).code == 0
    shutil.rmtree(data / ROOMY / "tenants")
    (data / "fleet.yaml").write_text(TWO_REGIONS)
    for name in (FULL, ROOMY):
        assert found.jacquard("allocate", name).code == 0
    committed(data)
    try:
        yield found
    finally:
        for region in (found.full, found.roomy):
            region.kill_running_commands()
            region.jacquard("down", region.environment)
            for written in (paths.ROOT / "environments").glob(f"Pulumi.{region.environment}*.yaml"):
                written.unlink()  # Location that Pulumi.yaml of this clone names
    assert processes_of(found.full.home) == []


def machines(region: LocalRegion) -> set[str]:
    """Return the UIDs of all Machines of ``region``."""
    return {item["metadata"]["uid"] for item in region.api().list(*MACHINE)}


def images(region: LocalRegion) -> dict[str, int]:
    """Return the number of nodes by image that ``status`` reports for GPU pools."""
    found: dict[str, int] = {}
    for pool in region.status()["pools"]:
        for group in pool["groups"]:
            for image, count in group["images"].items():
                found[image] = found.get(image, 0) + count
    return {image: count for image, count in found.items() if image.startswith("gpu-")}


def test_two_regions_are_applied_in_parallel(fleet: Fleet) -> None:
    both = [region.start(JACQUARD, "up", region.environment) for region in (fleet.full, fleet.roomy)]

    for process in both:
        outcome = fleet.full.end_of(process)
        assert outcome.code == 0, outcome.text
    assert (len(machines(fleet.full)), machines(fleet.roomy)) == (6, set())


def test_an_order_lands_in_the_region_with_room(fleet: Fleet) -> None:
    before = machines(fleet.full)
    (fleet.data / "orders").mkdir()
    (fleet.data / "orders" / "heron-train.yaml").write_text(ORDER)

    placed = fleet.jacquard("place", "heron-train")
    fleet.merged()
    fleet.roomy.up()
    fleet.full.up()

    assert placed.code == 0, placed.text
    assert f"heron-train is placed in {ROOMY}" in placed.text
    assert (len(machines(fleet.roomy)), machines(fleet.full)) == (5, before)
    assert (fleet.roomy.is_up(), fleet.full.is_up()) == (True, True)


def test_a_campaign_stops_after_a_failed_soak(fleet: Fleet, tmp_path: Path) -> None:
    catalog = fleet.data / "catalog" / "images.yaml"
    old = f"version: {NEW}\n    channel: [candidate]"
    assert old in catalog.read_text()
    catalog.write_text(catalog.read_text().replace(old, f"version: {NEW}\n    channel: [latest, stable]"))
    (fleet.data / "campaigns").mkdir()
    (fleet.data / "campaigns" / "driver.yaml").write_text(CAMPAIGN)
    lock = fleet.data / FULL / "images.lock.yaml"
    pinned = lock.read_text()

    canary = fleet.jacquard("campaign", "driver", "--write")
    assert canary.code == ExitCode.OK, canary.text
    fleet.merged()
    fleet.roomy.up()
    assert images(fleet.roomy) == {NEW: 3}
    soaking = fleet.jacquard(
        "campaign", "driver", "--write", "--evidence", fleet.evidence(fleet.roomy, tmp_path / "settled.json")
    )
    assert soaking.code == ExitCode.WAITING, soaking.text
    assert "soak" in soaking.text
    fleet.merged()

    health = Health(fleet.roomy, "heron-train", seconds=3600, startup_seconds=3600)
    health.set_ready("False", [next(one for group, [one, *_] in health.machines().items() if "/h100/" in group)])
    wait_until(lambda: not fleet.roomy.is_up(), timeout_seconds=120.0, what="status reports the broken node")
    stopped = fleet.jacquard(
        "campaign", "driver", "--write", "--evidence", fleet.evidence(fleet.roomy, tmp_path / "failed.json")
    )

    assert stopped.code == ExitCode.REFUSED, stopped.text
    assert "1 failed after all were settled, failed_nodes allows 0" in stopped.text
    assert "stopped:" in (fleet.data / "campaigns" / "driver.yaml").read_text()
    assert (lock.read_text(), images(fleet.full)) == (pinned, {"gpu-2026.11.1": 4})
    fleet.merged()


def test_a_region_is_drained_and_retired_while_another_runs(fleet: Fleet) -> None:
    before, project = machines(fleet.roomy), fleet.data.parent
    (fleet.data / "campaigns" / "driver.yaml").unlink()  # The second step would promote the region.
    for step in retired_region():
        match step:
            case Edit():
                step.apply(project)
            case Script(text=text):
                outcome = fleet.full.run("bash", "-euo", "pipefail", "-c", f"cd {project}\n{text}")
                assert outcome.code == 0, f"{text}: {outcome.text}"
            case Command(words=(_, *arguments)):
                outcome = fleet.jacquard(*arguments)
                assert outcome.code == 0, f"{arguments}: {outcome.text}"
                if arguments[0] in {"up", "down"}:
                    fleet.merged()

    assert [*environments(fleet.data)] == [ROOMY]
    assert machines(fleet.roomy) == before
    assert not (fleet.full.home / "regions" / FULL).exists()
