"""Finding and ending the processes of a region."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.lab.rehearsal import processes, python_parts
from jacquard.lab.rehearsal.region import Region


@pytest.fixture
def region(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "region"
    for place in (folder / "bin", folder / "kwok" / "clusters" / "acme" / "bin"):
        place.mkdir(parents=True)
        (place / "sleep").symlink_to(shutil.which("sleep") or "/bin/sleep")
    yield folder
    processes.kill(processes.running(folder))


def start(folder: Path, *arguments: str) -> None:
    processes.launch(list(arguments), log=folder / "log", environment=os.environ, folder=folder)


def test_a_part_is_known_by_the_path_it_was_started_with() -> None:
    folder = Path("/x/regions/laptop")

    def part(*arguments: str) -> str | None:
        return processes.part_of(arguments, folder)

    assert part("/x/regions/laptop/bin/cluster-api-manager", "--leader-elect=false") == "cluster-api-manager"
    assert part("/x/regions/laptop/kwok/clusters/acme/bin/etcd") == "acme/etcd"
    assert part("/usr/bin/python", "-m", "jacquard.lab.rehearsal.operators", "/x/regions/laptop") == "operators"
    assert part("/usr/bin/python", "-m", "jacquard.lab.rehearsal.operators", "/x/regions/laptop2") is None
    assert part("/usr/bin/python", "-m", "jacquard.lab.rehearsal.monitoring", "/x/regions/laptop") == "monitoring"
    assert part("/x/regions/laptop2/bin/cluster-api-manager") is None
    assert part("vim", "/x/regions/laptop/bin/cluster-api-manager") is None
    assert part("tail", "-f", "/x/regions/laptop/logs/operators.log") is None
    assert part("") is None


def test_running_parts_are_found_without_any_file_about_them(region: Path) -> None:
    before = time.time()
    start(region, str(region / "bin" / "sleep"), "60")
    start(region, str(region / "kwok" / "clusters" / "acme" / "bin" / "sleep"), "60")
    (region / "log").unlink()

    assert [process.part for process in processes.running(region)] == ["acme/sleep", "sleep"]
    assert [process.part for process in processes.running(region / "kwok" / "clusters" / "acme")] == ["sleep"]
    process = processes.running(region)[-1]
    since, rounding = process.since(), 2
    assert since is not None
    assert before - rounding <= since <= time.time() + rounding


def test_killed_processes_have_ended_when_kill_returns(region: Path) -> None:
    start(region, str(region / "bin" / "sleep"), "60")

    processes.kill(processes.running(region))

    assert processes.running(region) == []


def test_a_process_that_got_a_dead_parts_number_is_never_killed() -> None:
    with subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) as other:
        dead = processes.Process("etcd", other.pid, "1", ("etcd",))

        processes.kill([dead])

        assert not dead.alive()
        assert other.poll() is None
        other.kill()


def test_a_process_that_ends_by_itself_just_before_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    answers = iter(["1", None])
    monkeypatch.setattr(processes, "_started", lambda _pid: next(answers))

    processes.kill([processes.Process("etcd", child.pid, "1", ("etcd",))])

    assert list(answers) == []


def test_a_process_that_only_waits_to_be_noticed_is_dead(region: Path) -> None:
    with subprocess.Popen([str(region / "bin" / "sleep"), "60"]) as child:
        [found] = processes.running(region)
        child.kill()
        end = time.monotonic() + 10
        while found.alive() and time.monotonic() < end:
            time.sleep(0.01)

        assert not found.alive()
        assert processes.running(region) == []


def test_a_python_part_outlasts_the_workspace_that_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    link = tmp_path / "workspace"
    link.symlink_to(sys.prefix)
    started: list[str] = []
    monkeypatch.setenv("JACQUARD_HOME", str(tmp_path))
    monkeypatch.setattr(sys, "prefix", str(link))
    monkeypatch.setattr(sys, "executable", str(link / "bin" / Path(sys.executable).name))
    monkeypatch.setattr(processes, "launch", lambda arguments, **_: started.extend(arguments))

    python_parts.ensure(Region("laptop", tmp_path / "region"), processes.OPERATORS, print)

    assert Path(started[0]).exists()
    assert not Path(started[0]).is_relative_to(tmp_path)
