"""One process of VictoriaLogs with records of a test, without a proxy."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlencode

import pytest

from jacquard.lab.rehearsal import ports
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs
from tests.support.monitoring.victoria_stores import is_healthy, request

CLUSTER = "acme-train"
"""Cluster of all records."""


class LogStore:
    """A store of logs with its data in ``folder``; `stop` ends it.

    Raises:
        ToolchainError: the program is not built.
    """

    def __init__(self, folder: Path) -> None:
        program = str(binaries.path("victoria-logs"))
        folder.mkdir(parents=True, exist_ok=True)
        self._programs = Programs(folder)
        [port] = ports.free(1)
        address = f"{ports.LOOPBACK}:{port}"
        self.url, self.data = f"http://{address}", folder / "data"
        self._programs.start("victoria-logs", program, f"-httpListenAddr={address}", f"-storageDataPath={self.data}")
        try:
            wait_until(lambda: is_healthy(address), timeout_seconds=60, what="the store is healthy")
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """Stop the program."""
        self._programs.stop()

    def ask(self, path: str, project: str = "0", **arguments: str) -> str:
        """Return the response to a query of a project."""
        body = urlencode(arguments).encode()
        found = request(f"{self.url}/select/logsql/{path}", body, AccountID="0", ProjectID=project)
        assert found.status == 200, f"{arguments}: {found.text}"
        return found.text

    def messages(self) -> list[str]:
        """Return the messages of all records, sorted."""
        return sorted(json.loads(line)["_msg"] for line in self.ask("query", query="*").splitlines())

    def write(self, records: Iterable[Mapping[str, str]], project: str = "0") -> None:
        """Write records with the current time, and wait until queries return them."""
        now, before = datetime.now(tz=UTC).isoformat(), self._count(project)
        lines = [json.dumps({"_time": now, "cluster": CLUSTER, **record}) for record in records]
        headers = {"AccountID": "0", "ProjectID": project, "Content_Type": "application/stream+json"}
        written = request(f"{self.url}/insert/jsonline?_stream_fields=cluster", "\n".join(lines).encode(), **headers)
        assert written.status == 200, written
        expected = before + len(lines)
        wait_until(lambda: self._count(project) == expected, timeout_seconds=60, what="the records arrive")

    def _count(self, project: str) -> int:
        return self.ask("query", project, query="*").count("\n")


@contextmanager
def running_log_store(folder: Path) -> Iterator[LogStore]:
    """Run a store; a test is skipped if it is not built."""
    try:
        store = LogStore(folder)
    except ToolchainError as error:
        pytest.skip(f"NO STORE: {error}; make test-nightly builds it")
    try:
        yield store
    finally:
        store.stop()
