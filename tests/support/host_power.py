"""What becomes of the power of hosts, from each change that the API server tells."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from local_region import LocalRegion, wait_until

from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ObjectRef

HOST = ("metal3.io/v1alpha1", "BareMetalHost")
_CAUGHT_UP_SECONDS = 60.0


@contextmanager
def watched_power(region: LocalRegion, namespace: str, host: str, file: Path) -> Iterator[None]:
    """Write all that becomes of a host into ``file`` until the block ends and its last change was told."""
    kubeconfig = region.home / "regions" / region.environment / "kubeconfigs" / "management.yaml"
    what = ("get", "baremetalhosts.metal3.io", host, f"--namespace={namespace}", "--watch", "--output=json")
    with file.open("w") as out:
        process = subprocess.Popen([binaries.path("kubectl"), f"--kubeconfig={kubeconfig}", *what], stdout=out)
    try:
        wait_until(lambda: bool(list(_told(file))), timeout_seconds=_CAUGHT_UP_SECONDS, what="a host is watched")
        yield
        assert process.poll() is None, "the watch ended, so that something may be missing"
        last = (region.api().get(ObjectRef(*HOST, host, namespace)) or {})["metadata"]["resourceVersion"]
        wait_until(
            lambda: any(body["metadata"]["resourceVersion"] == last for body in _told(file)),
            timeout_seconds=_CAUGHT_UP_SECONDS,
            what="the watch tells of the last change",
        )
    finally:
        process.kill()
        process.wait()


def power_states(file: Path) -> list[bool]:
    """Return whether the power was on, one entry for each change."""
    states: list[bool] = []
    for body in _told(file):
        on = bool(body.get("status", {}).get("poweredOn"))
        if states[-1:] != [on]:
            states.append(on)
    return states


def _told(file: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects in a file; what is written right now may be incomplete."""
    text, decoder = file.read_text().lstrip(), json.JSONDecoder()
    while text:
        try:
            body, end = decoder.raw_decode(text)
        except ValueError:
            return
        yield body
        text = text[end:].lstrip()
