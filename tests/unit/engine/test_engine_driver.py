"""Runs of a scripted fake engine: stacks are prepared, events are followed, Ctrl-C is forwarded."""

from __future__ import annotations

import datetime as dt
import json
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from components.specs.region.state import StateSpec
from jacquard.engine.driver import Engine
from jacquard.engine.errors import EngineError, EngineStopped
from jacquard.engine.events import Progress

PENDING = {
    "version": 3,
    "deployment": {"pending_operations": [{"type": "creating", "resource": {"urn": "urn:pulumi:laptop::x"}}]},
}


def engine(state: StateSpec | None = None) -> Engine:
    return Engine("laptop", state, {})


def test_a_stack_is_created_once_selected(pulumi: Any) -> None:
    assert engine().prepare("laptop").repairs == []

    assert pulumi.calls[0][:4] == ["stack", "select", "--create", "laptop"]
    assert [call[:2] for call in pulumi.calls] == [["stack", "select"], ["stack", "export"]]


def test_the_secrets_provider_of_the_region_is_used_for_a_new_stack(pulumi: Any) -> None:
    engine(StateSpec(backend="s3://state", secrets_provider="awskms://alias/x")).prepare("laptop")

    assert pulumi.calls[0][:6] == ["stack", "select", "--create", "laptop", "--secrets-provider", "awskms://alias/x"]


def test_operations_that_a_killed_engine_left_open_are_forgotten(pulumi: Any) -> None:
    pulumi.answer("stack export", stdout=json.dumps(PENDING))

    [repair] = engine().prepare("laptop").repairs

    assert repair == "laptop: an earlier run was killed with 1 pending operation(s); they are resumed"
    assert [call[:2] for call in pulumi.calls][-1] == ["stack", "import"]
    assert json.loads((pulumi.folder / "imported.json").read_text()) == PENDING


def test_secrets_of_a_stack_stay_encrypted(pulumi: Any) -> None:
    pulumi.answer("stack export", stdout=json.dumps(PENDING))
    pulumi.answer("up", events="create")

    engine().prepare("laptop")
    engine().run("up", "laptop", "--yes")

    assert not [call for call in pulumi.calls if "--show-secrets" in call]


def test_the_lock_of_a_killed_engine_is_removed_and_reported(pulumi: Any, home: Path) -> None:
    del pulumi
    lock = home / "pulumi" / "state" / ".pulumi" / "locks" / "organization" / "jacquard" / "laptop" / "x.json"
    lock.parent.mkdir(parents=True)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    since = dt.datetime(2026, 11, 21, 13, tzinfo=dt.UTC)
    content = {"pid": ended.pid, "username": "ada", "hostname": socket.gethostname(), "timestamp": since.isoformat()}
    lock.write_text(json.dumps(content))

    [repair] = engine().prepare("laptop").repairs

    assert repair == (
        f"laptop: removed the lock of an engine that was killed (process {ended.pid} of ada on {socket.gethostname()}, "
        f"since {since.astimezone():%Y-%m-%d %H:%M:%S})"
    )
    assert not lock.exists()


def test_a_state_of_another_machine_gets_the_kubeconfigs_of_this_one(
    pulumi: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_KUBECONFIGS", "/here")
    provider = {"type": "pulumi:providers:kubernetes", "inputs": {"kubeconfig": "/kubeconfigs/management.yaml"}}
    pulumi.answer("stack export", stdout=json.dumps({"deployment": {"resources": [provider]}}))

    ready = engine().prepare("laptop")

    assert ready.repairs == []
    imported = json.loads((pulumi.folder / "imported.json").read_text())["deployment"]["resources"]
    assert imported == ready.resources == [{**provider, "inputs": {"kubeconfig": "/here/management.yaml"}}]


@pytest.mark.usefixtures("pulumi")
def test_an_incomplete_lock_is_removed_and_reported(home: Path) -> None:
    folder = home / "pulumi" / "state" / ".pulumi" / "locks" / "organization" / "jacquard" / "laptop"
    folder.mkdir(parents=True)
    rest = folder / "8d776fb9.json.18ec7459bf26eed3.tmp"
    rest.touch()

    [repair] = engine().prepare("laptop").repairs

    assert repair == "laptop: removed 1 incomplete file(s), which an earlier run could not finish"
    assert not rest.exists()


def test_a_stack_that_cannot_be_selected_stops_with_the_engines_reason(pulumi: Any) -> None:
    pulumi.answer("stack select", stderr="error: incorrect passphrase\n", code=255)

    with pytest.raises(EngineError) as stop:
        engine().prepare("laptop")

    assert str(stop.value) == "laptop: cannot be selected or created: incorrect passphrase"


def test_a_run_follows_the_events_and_keeps_the_output(pulumi: Any) -> None:
    pulumi.answer("up", stdout="Updating (laptop)\n\nbye\n", events="create")
    seen: list[int] = []

    run = engine().run("up", "laptop", "--yes", watch=lambda progress: seen.append(progress.settled))

    assert (run.code, run.progress.changes, run.tail) == (0, {"create": 2}, "Updating (laptop)\nbye")
    assert seen[-1] == 2
    [call] = pulumi.calls
    assert call[:3] == ["up", "--stack", "laptop"]
    assert call[-4:] == ["--yes", "--non-interactive", "--color", "never"]


def test_a_run_whose_state_was_not_written_fails_though_the_engine_exits_with_0(pulumi: Any) -> None:
    pulumi.answer("up", events="unrecorded")

    assert engine().run("up", "laptop", "--yes").code == 1


def test_events_of_an_earlier_run_are_ignored(pulumi: Any) -> None:
    pulumi.answer("up", events="create")
    engine().run("up", "laptop")
    pulumi.answer("up")

    assert engine().run("up", "laptop").progress == Progress()


def test_a_termination_signal_is_forwarded_and_reported_once(pulumi: Any) -> None:
    pulumi.answer("up", waits=True)
    calls: list[str] = []
    pulumi.terminate_caller()
    with pytest.raises(EngineStopped) as stop:
        engine().run("up", "laptop", stopping=lambda: calls.append("stopping"))

    assert str(stop.value) == (
        "up of laptop was stopped; finished changes are recorded, run the same command again to continue"
    )
    assert calls == ["stopping"]


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells a child that its parent died")
def test_an_engine_ends_when_its_command_is_killed(pulumi: Any, tmp_path: Path) -> None:
    pulumi.answer("up", waits=True)
    code = (
        "import subprocess, sys, time\n"
        "from jacquard.engine import parent_death\n"
        f"command = [sys.executable, '-S', parent_death.__file__, {str(pulumi.program)!r}, 'up']\n"
        "process = subprocess.Popen(command)\n"
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(process.pid))\n"
        "time.sleep(60)\n"
    )
    command = subprocess.Popen([sys.executable, "-c", code])
    while not pulumi.waiting:
        time.sleep(0.01)
    pid = int((tmp_path / "pid").read_text())

    command.kill()
    command.wait()

    deadline = time.monotonic() + 10
    while runs(pid):
        assert time.monotonic() < deadline, "the engine outlived its command"
        time.sleep(0.01)


def runs(pid: int) -> bool:
    try:
        # A process that has not been waited for is a zombie, and has ended.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
