"""The local region as commands drive it: the addresses of its monitoring."""

from __future__ import annotations

import os
import subprocess

import pytest

from jacquard.cli import local_region
from jacquard.cli.errors import Stop
from jacquard.machine import paths


def ended(code: int, stdout: str, stderr: str) -> subprocess.CompletedProcess[str]:
    return subprocess.CompletedProcess([], code, stdout, stderr)


def test_a_region_without_monitoring_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_region, "_done", lambda *_: pytest.fail("a process is started"))

    assert local_region.monitoring("laptop", os.environ) == ""


@pytest.mark.usefixtures("home")
def test_its_addresses_are_printed_and_a_failure_ends_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    (paths.region("laptop") / paths.MONITORING).mkdir(parents=True)
    monkeypatch.setattr(local_region, "_done", lambda *_: ended(0, "alerts: a\nnotices: n\n", ""))
    assert local_region.monitoring("laptop", os.environ) == "alerts: a\nnotices: n"

    message = "monitoring: not ready after 120 s; see /logs"
    monkeypatch.setattr(local_region, "_done", lambda *_: ended(1, "", f"{message}\n"))
    with pytest.raises(Stop) as stop:
        local_region.monitoring("laptop", os.environ)
    assert str(stop.value) == message
