"""The page for new users, executed literally: from an empty folder to a region that is created, changed and deleted.

Nightly, since it is slow; the unit tests of the commands cover the steps without an engine.
"""

from __future__ import annotations

import shutil

import pytest

from jacquard.machine import paths
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.data.repositories import committed
from tests.support.docs.walkthrough import Command, Edit, Script, steps
from tests.support.local_regions.local_region import JACQUARD, LocalRegion, processes_of

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]


def test_the_page_does_as_it_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("first")
    environments = folder / "clone" / "environments"
    shutil.copytree(ENVIRONMENTS / "catalog", environments / "catalog")
    region = LocalRegion(folder, "edge-1", committed(environments))
    try:
        for step in steps("guides/first-region.md"):
            match step:
                case Edit():
                    step.apply(environments.parent)
                case Script():
                    step.run(environments.parent)
                case Command(words=("jacquard", *arguments)):
                    outcome = region.run(JACQUARD, *arguments)
                    assert outcome.code == 0, f"{arguments}: {outcome.text}"
                case Command(words=words):
                    assert words in {("make", "python"), ("make", "setup"), ("source", ".venv/bin/activate")}
    finally:
        region.kill_running_commands()
        region.jacquard("down", "edge-1")
        for written in (paths.ROOT / "environments").glob("Pulumi.edge-1*.yaml"):
            written.unlink()  # Location that Pulumi.yaml of this clone names
    assert processes_of(region.home) == []
