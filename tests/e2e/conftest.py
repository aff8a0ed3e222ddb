"""One local region for most end-to-end tests: the real engine, real API servers, the real Cluster API controller.

The tests of a file run one after the other. Files may run side by side: each process has a region of its own.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from local_region import ENVIRONMENT, LocalRegion, processes_of


@pytest.fixture(scope="session")
def region(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalRegion]:
    """A region that is up, and gone at the end whatever happened."""
    local = LocalRegion(tmp_path_factory.mktemp("region"))
    try:
        yield local
    finally:
        local.kill_what_still_runs()
        local.jacquard("down", ENVIRONMENT)
        left = processes_of(local.home)
        assert left == [], f"down left processes behind: {left}"


@pytest.fixture
def running(region: LocalRegion) -> LocalRegion:
    """The region, up: brought up here when a test runs alone."""
    if not region.is_up():
        outcome = region.jacquard("up", ENVIRONMENT)
        assert outcome.code == 0, outcome.text
    return region
