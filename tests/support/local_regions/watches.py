"""Watches in the management cluster of a local region, which kubectl records in files."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from jacquard.lab.toolchain import binaries
from tests.support.local_regions.local_region import LocalRegion, wait_until

_CAUGHT_UP_SECONDS = 180.0
_LONGEST_SECONDS = 4 * 3600
"""Timeout of a watch; by default, API servers end watches after half an hour to an hour."""
_SPACE = re.compile(r"\s*")


@contextmanager
def watching(
    region: LocalRegion, file: Path, path: str, *, catch_up: Callable[[], bool], **query: str
) -> Iterator[None]:
    """Write the events of a watch into ``file`` until the block ends.

    Args:
        region: Running region, whose management cluster is watched.
        file: File of the events, read by `watched`.
        path: Path of the watched resource on the API server.
        catch_up: Returns whether the file has all events so far; awaited before the block and at its end.
        query: Further parameters, such as ``resourceVersion``, after which the events begin. Without it, the existing
            objects come first.
    """
    kubeconfig = region.home / "regions" / region.environment / "kubeconfigs" / "management.yaml"
    parameters = urlencode({"watch": "true", "timeoutSeconds": _LONGEST_SECONDS, **query})
    # As raw output, which is faster: a server ends watches of clients that are too slow for a large region.
    command = [binaries.path("kubectl"), f"--kubeconfig={kubeconfig}", "get", "--raw", f"{path}?{parameters}"]
    with file.open("w") as out:
        process = subprocess.Popen(command, stdout=out)
    try:
        wait_until(catch_up, timeout_seconds=_CAUGHT_UP_SECONDS, what=f"the watch of {path} has begun")
        yield
        assert process.poll() is None, "the watch ended, so that events may be missing"
        wait_until(catch_up, timeout_seconds=_CAUGHT_UP_SECONDS, what=f"the watch of {path} has the last event")
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
