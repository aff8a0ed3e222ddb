"""API server for admission policies."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from jacquard.lab.rehearsal import crds
from tests.support.api_servers.admission import CASES, CUSTOM, definition
from tests.support.api_servers.api_server import LocalApiServer


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    """Return an API server with the kinds of the fixtures and their namespaces."""
    running = LocalApiServer(tmp_path_factory.mktemp("admission") / "server", kinds=())
    try:
        crds.install(running.api, [definition(kind) for kind in CUSTOM])
        cases = [case["object"]["metadata"] for items in CASES.values() for case in items]
        for name in {"default", *(metadata["namespace"] for metadata in cases if metadata.get("namespace"))}:
            running.namespace(name)
        yield running
    finally:
        running.stop()
