"""One local region for most end-to-end tests: the real engine, real API servers, the real Cluster API controller.

The tests of a file run in order, and so do the files that share a region. Other files may run in parallel. The slowest
files start first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadFileScheduling

from jacquard.lab.toolchain.engine import choose
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.driven_standin import DrivenStandIn
from tests.support.engine.provider_report import provider_line
from tests.support.local_regions.local_region import LocalRegion, delete_region, deleted_at_exit

_SHARING = (
    (
        "test_region",
        "test_region_policies",  # Uses the running region.
        "test_load_balancers",  # Uses the running region.
        "test_helm_releases",  # Uses the running region.
        "test_node_features",  # Uses the running region.
        "test_fabric",  # Uses the running region, and adds a fabric.
        "test_pull_request",  # Nightly
    ),
    (
        "test_region_changes",
        "test_virtual_machines",  # Uses the running region, and adds objects.
        "test_survives_faults",  # Deletes the region.
    ),
)
"""Files that share a region, in order; with several processes, each row has its own region."""
_OF_A_REGION = {name: row[0] for row in _SHARING for name in row}
_LONGEST = "test_fresh_clone"
"""The nightly file that builds everything from an empty cache."""
_FIRST = (_LONGEST, *_OF_A_REGION, "test_objectset", "test_windows", "test_routes_by_frr")
_REGION = pytest.StashKey[LocalRegion]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Start the slowest files first, so that the run does not end with one process busy and the others idle.

    The other files follow by name: files of one folder often need the same programs, and would run in parallel.
    """
    places = {name: place for place, name in enumerate(_FIRST)}
    own = Path(__file__).parent
    items.sort(
        key=lambda item: (
            places.get(item.path.stem, len(places)),
            item.path.name if item.path.is_relative_to(own) else "",
        )
    )


class SharedRegionScheduling(LoadFileScheduling):
    """Assigns all tests of a file, and all files that share a region, to the same process."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return _OF_A_REGION.get(Path(file).stem, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> SharedRegionScheduling:
    """Return the scheduler that assigns tests to processes (``-n``)."""
    return SharedRegionScheduling(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Report which provider plug-ins the engine ran with."""
    terminalreporter.write_line(provider_line(choose(fetch=False)))


@pytest.fixture(scope="session")
def region(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalRegion]:
    """A local region for the session; all its processes and files are deleted at the end."""
    with deleted_at_exit(LocalRegion(tmp_path_factory.mktemp("region"))) as local:
        request.config.stash[_REGION] = local
        yield local


@pytest.fixture(scope="module", autouse=True)
def _delete_unused_region(request: pytest.FixtureRequest) -> None:
    """Delete the shared region before the first file that does not use it, since its controllers use processor time."""
    local = request.config.stash.get(_REGION, None)
    if local is not None and request.path.stem not in _OF_A_REGION:
        del request.config.stash[_REGION]
        delete_region(local)


@pytest.fixture
def running(region: LocalRegion) -> LocalRegion:
    """The region after `up`, also if a test runs alone."""
    if not region.is_up():
        region.up()
    return region


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="jacquard-") as path:
        yield Path(path)


@pytest.fixture(scope="module")
def standin(server: LocalApiServer) -> DrivenStandIn:
    """The stand-in of the vendor's provider, at the API server of the test's module."""
    return DrivenStandIn(server.kubeconfig)


@pytest.fixture
def place(server: LocalApiServer, request: pytest.FixtureRequest) -> str:
    """A namespace for the test in the API server of its module."""
    return server.namespace(request.node.name.replace("_", "-").replace("test-", "")[:60].strip("-"))
