"""The doctor reports the location of each tool, and how to install missing tools."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from jacquard.lab.toolchain import command, doctor, setup, tools
from jacquard.lab.toolchain.doctor import Item, State
from jacquard.lab.toolchain.progress import Progress

OutputOf = Callable[[Callable[[Progress], None]], str]


def test_status_is_available_as_text_and_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [
        Item(name="git", state=State.OK, used="2.39.5", where="/usr/bin/git"),
        Item(name="go", state=State.OLD, used="1.20.0", where="/usr/bin/go", remedy="install a newer one"),
    ]
    monkeypatch.setattr(doctor, "report", lambda: items)

    assert command.run(["status"]) == 1
    assert capsys.readouterr().out == (
        "ok       git  2.39.5  /usr/bin/git\nold      go   1.20.0  /usr/bin/go\n              install a newer one\n"
    )
    assert command.run(["status", "--format", "json"]) == 1
    assert json.loads(capsys.readouterr().out)[1] == {
        "name": "go",
        "state": "old",
        "used": "1.20.0",
        "where": "/usr/bin/go",
        "remedy": "install a newer one",
    }
    items.pop()
    assert command.run(["status"]) == 0


@pytest.mark.usefixtures("pip", "search_path")
def test_the_doctor_of_a_bare_machine_names_every_remedy_and_creates_nothing(cache: Path) -> None:
    found = {item.name: item for item in doctor.report()}

    assert found["python"].state is State.OK
    assert found["go"].remedy == "go: is not on PATH; install Go 1.26.6 or newer from go.dev/dl"
    assert found["kube-apiserver"].remedy == found["cluster-api files"].remedy == "run `make setup`"
    missing = {name for name, item in found.items() if item.state is not State.OK}
    controllers = {"metallb-controller", "external-dns"}
    assert set(found) - missing == {"JACQUARD_CACHE", "python", "disk", "cache", *controllers}
    assert {found[name].used for name in controllers} == {"simulated; `make controllers` builds it"}
    assert all(found[name].remedy for name in missing)
    assert not cache.exists()


@pytest.mark.usefixtures("pip", "search_path")
def test_the_doctor_lists_settings_and_their_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JACQUARD_SPEED", "8")
    monkeypatch.setenv("JACQUARD_CLUSTER", "banana")
    found = [item for item in doctor.report() if item.name in ("JACQUARD_SPEED", "JACQUARD_CLUSTER")]
    assert found == [
        Item(
            name="JACQUARD_CLUSTER",
            state=State.WRONG,
            used="banana",
            where="environment",
            remedy="JACQUARD_CLUSTER: 'banana' is unknown; write kwok, kind or context:NAME",
        ),
        Item(name="JACQUARD_SPEED", state=State.OK, used="8", where="environment"),
    ]


@pytest.mark.usefixtures("pip", "search_path")
def test_the_doctor_finds_a_cache_that_is_no_folder(cache: Path) -> None:
    cache.touch()
    [item] = [item for item in doctor.report() if item.name == "cache"]
    assert (item.state, item.remedy) == (
        State.WRONG,
        f"cache: cannot write to {cache}; make it writable, or choose another folder with JACQUARD_CACHE",
    )


@pytest.mark.usefixtures("machine")
def test_an_old_go_does_no_harm_once_everything_is_built(search_path: Path, output_of: OutputOf) -> None:
    output_of(setup.set_up)
    (search_path / "go").write_text("#!/bin/sh\necho go1.20.1\n")
    output_of(setup.set_up)

    [go] = [item for item in doctor.report() if item.name == "go"]
    assert (go.state, go.used) == (State.OK, "not needed, everything is built")


def test_version_queries_of_tools_have_a_timeout(search_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = search_path / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    slow.chmod(0o755)
    monkeypatch.setattr(tools, "_TIMEOUT_SECONDS", 0.2)
    found = tools.find("git")
    assert found is not None
    assert found.known_version == "of unknown version"
