"""Watches in the management cluster of a local region, which kubectl records in files."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from jacquard.lab.toolchain import binaries
from tests.support.local_regions.local_region import LocalRegion, wait_until

_CAUGHT_UP_SECONDS = 180.0
_SPACE = re.compile(r"\s*")


@contextmanager
def watching(region: LocalRegion, file: Path, *what: str, catch_up: Callable[[], bool]) -> Iterator[None]:
    """Write the events of a watch into ``file`` until the block ends.

    Args:
        region: Running region, whose management cluster is watched.
        file: File of the events, read by `watched`.
        what: Arguments of ``kubectl get``: the kind, its name or namespace. With the path of a watch (``--raw``), the
            first event is the one after the resource version in the path.
        catch_up: Returns whether the file has all events so far; awaited before the block and at its end.
    """
    kubeconfig = region.home / "regions" / region.environment / "kubeconfigs" / "management.yaml"
    command = [binaries.path("kubectl"), f"--kubeconfig={kubeconfig}", "get", *what]
    if "--raw" not in what:
        # A list in chunks would be recorded as lists instead of objects.
        command += ["--watch", "--output-watch-events", "--output=json", "--chunk-size=0"]
    with file.open("w") as out:
        process = subprocess.Popen(command, stdout=out)
    try:
        wait_until(catch_up, timeout_seconds=_CAUGHT_UP_SECONDS, what=f"the watch of {what[0]} has begun")
        yield
        assert process.poll() is None, "the watch ended, so that events may be missing"
        wait_until(catch_up, timeout_seconds=_CAUGHT_UP_SECONDS, what=f"the watch of {what[0]} has the last event")
    finally:
        process.kill()
        process.wait()


def watched(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the complete events in the file of a watch, each with ``type`` and ``object``."""
    text, decoder, at = file.read_text(), json.JSONDecoder(), 0
    while at < len(text):
        try:
            event, at = decoder.raw_decode(text, at)
        except ValueError:
            return
        yield event
        at = _SPACE.match(text, at).end()


def watched_uids(file: Path) -> set[str]:
    """Return the uids of all objects in the file of a watch, including deleted ones."""
    return {event["object"]["metadata"]["uid"] for event in watched(file)}
