"""One local region for most end-to-end tests: the real engine, real API servers, the real Cluster API controller.

The tests of a file run one after the other, and so do the files that share a region; all others may run beside them.
What takes longest comes first.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from api_server import LocalApiServer
from driven_standin import DrivenStandIn
from local_region import LocalRegion, delete_region, deleted_at_exit
from provider_report import provider_line
from xdist.scheduler import LoadFileScheduling

from jacquard.lab.toolchain.engine import choose

_SHARING = (
    (
        "test_region",
        "test_region_policies",  # takes the region that is up
        "test_load_balancers",  # the same
        "test_helm_releases",  # the same
        "test_node_features",  # the same
        "test_fabric",  # the same, and leaves a fabric
        "test_pull_request",  # each night
    ),
    (
        "test_region_changes",
        "test_virtual_machines",  # takes the region that is up, and leaves more than it found
        "test_survives_faults",  # ends with none
    ),
)
"""Files that share a region, in their order; where several processes run tests, each row has one of its own."""
_OF_A_REGION = {name: row[0] for row in _SHARING for name in row}
_LONGEST = "test_fresh_clone"
"""The file that builds everything from nothing, each night."""
_FIRST = (_LONGEST, *_OF_A_REGION, "test_objectset", "test_windows")
_REGION = pytest.StashKey[LocalRegion]()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put files that take longest first, so that no process is left with one of them when the others have ended."""
    places = {name: place for place, name in enumerate(_FIRST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


class _Together(LoadFileScheduling):
    """Gives a file to one process, and all files that share a region to the same."""

    def _split_scope(self, nodeid: str) -> str:
        file: str = super()._split_scope(nodeid)
        return _OF_A_REGION.get(Path(file).stem, file)


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> _Together:
    """Decide which process runs which tests, where several do (``-n``)."""
    return _Together(config, log)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say by whose plug-ins the engine ran."""
    terminalreporter.write_line(provider_line(choose(fetch=False)))


@pytest.fixture(scope="session")
def region(tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Iterator[LocalRegion]:
    """A region that is up, and gone at the end whatever happened."""
    with deleted_at_exit(LocalRegion(tmp_path_factory.mktemp("region"))) as local:
        request.config.stash[_REGION] = local
        yield local


@pytest.fixture(scope="module", autouse=True)
def _no_region_that_nobody_takes(request: pytest.FixtureRequest) -> None:
    """End the region before the first file that does not take it: its parts work, although nobody looks."""
    local = request.config.stash.get(_REGION, None)
    if local is not None and request.path.stem not in _OF_A_REGION:
        del request.config.stash[_REGION]
        delete_region(local)


@pytest.fixture
def running(region: LocalRegion) -> LocalRegion:
    """The region, up: brought up here when a test runs alone."""
    if not region.is_up():
        region.up()
    return region


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """Return a folder with a path that is short enough for sockets."""
    with tempfile.TemporaryDirectory(prefix="jacquard-") as path:
        yield Path(path)


@pytest.fixture(scope="module")
def standin(server: LocalApiServer) -> DrivenStandIn:
    """The stand-in of the vendor's provider, at the API server that the test's file runs."""
    return DrivenStandIn(server.kubeconfig)


@pytest.fixture
def place(server: LocalApiServer, request: pytest.FixtureRequest) -> str:
    """A namespace of the test's own in the API server that its file runs."""
    return server.namespace(request.node.name.replace("_", "-").replace("test-", "")[:60].strip("-"))
