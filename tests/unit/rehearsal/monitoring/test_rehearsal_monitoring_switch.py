"""The switch of the monitoring: what runs, what remains, and what it says if programs are missing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import nullcontext
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import processes
from jacquard.lab.rehearsal.__main__ import main
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.monitoring import programs, switch
from jacquard.lab.rehearsal.region import Region
from jacquard.lab.toolchain import binaries
from jacquard.machine import settings
from jacquard.machine.errors import ToolchainError


@pytest.fixture
def region(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Region]:
    """Return a region without clusters, with programs that are there but never started."""
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    monkeypatch.delenv(settings.MONITORING, raising=False)
    (tmp_path / "built").mkdir()
    for program in programs.PROGRAMS:
        (tmp_path / "built" / program).symlink_to(sys.executable)
    monkeypatch.setenv(binaries.OVERRIDE, str(tmp_path / "built"))
    found = Region.of("lab")
    yield found
    processes.kill(processes.running(found.folder))


def running(region: Region) -> list[str]:
    return [process.part for process in processes.running(region.folder)]


def test_a_region_has_no_monitoring_unless_it_is_asked_for(region: Region) -> None:
    switch.ensure(region, print)
    assert (running(region), programs.folder(region).exists()) == ([], False)


def test_it_stays_until_it_is_switched_off(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.MONITORING, "on")
    switch.ensure(region, print)
    addresses = programs.Addresses.of(region)
    [first] = processes.running(region.folder)

    monkeypatch.delenv(settings.MONITORING)
    switch.ensure(region, print)
    assert (processes.running(region.folder), programs.Addresses.of(region)) == ([first], addresses)

    monkeypatch.setenv(settings.MONITORING, "off")
    switch.ensure(region, print)
    assert (running(region), programs.folder(region).exists()) == ([], False)


def test_another_speed_starts_it_again_at_the_same_addresses(region: Region, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(settings.MONITORING, "on")
    switch.ensure(region, print)
    [first], addresses = processes.running(region.folder), programs.Addresses.of(region)
    monkeypatch.setenv(settings.SPEED, "8")
    switch.ensure(region, print)

    [second] = processes.running(region.folder)
    assert (second.part, second.pid != first.pid) == ("monitoring", True)
    assert programs.Addresses.of(region) == addresses


def test_programs_that_are_not_built_are_named_before_anything_starts(
    region: Region, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv(settings.MONITORING, "on")
    monkeypatch.delenv(binaries.OVERRIDE)
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "empty"))

    with pytest.raises(ToolchainError) as caught:
        switch.ensure(region, print)
    version, _, remedy = str(caught.value).removeprefix("prometheus: prometheus v").partition(" ")
    assert version.startswith("0.")
    assert remedy == ("is not built; run `make setup` with JACQUARD_MONITORING=on, or set JACQUARD_MONITORING=off")
    assert (running(region), programs.folder(region).exists()) == ([], False)


def test_only_changed_files_are_reported(region: Region) -> None:
    rules: dict[str, object] = {"a.yaml": {"groups": []}}

    assert programs.write(region, "prometheus", {"global": {}}, rules)
    assert not programs.write(region, "prometheus", {"global": {}}, rules)
    assert programs.write(region, "prometheus", {"global": {}}, {})
    assert [path.name for path in (programs.folder(region) / "prometheus").rglob("*") if path.is_file()] == [
        "prometheus.yaml"
    ]


def test_up_waits_for_the_monitors_without_a_program_and_prints_them(
    region: Region, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    programs.folder(region).mkdir(parents=True)
    addresses = programs.Addresses.written(region)
    monkeypatch.setattr(programs, "_responds", lambda _: True)
    monkeypatch.setattr(programs, "_has_samples", lambda _: True)

    with pytest.raises(RehearsalError, match="monitoring: not ready after 0 s"):
        programs.await_ready(region, 0)

    programs.write_unserved(region, ["c ServiceMonitor a/b: a/d", "management PodMonitor a/b"])
    assert programs.await_ready(region, 0) == addresses
    assert main(["monitoring", "lab"]) == 0
    assert capsys.readouterr().out.splitlines()[3:] == [
        "no program behind it: c ServiceMonitor a/b: a/d",
        "no program behind it: management PodMonitor a/b",
    ]


@pytest.mark.parametrize(
    ("status", "text", "message"),
    [(200, "", None), (500, "failed to reload config: yaml\n", "prometheus: failed to reload config: yaml")],
)
def test_a_program_that_rejects_its_files_is_reported(status: int, text: str, message: str | None) -> None:
    requested = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            requested.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: object) -> None:
            """Print nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        addresses = programs.Addresses(prometheus=running.server_port, alertmanager=1, exporters=2)
        with pytest.raises(RehearsalError, match=message) if message else nullcontext():
            programs.reload("prometheus", addresses)
        running.shutdown()

    assert requested == ["/-/reload"]
    with pytest.raises(RehearsalError, match=r"^alertmanager: .*refused"):
        programs.reload("alertmanager", addresses)
