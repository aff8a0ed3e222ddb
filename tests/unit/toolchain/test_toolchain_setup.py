"""The setup command: outdated Python, problems, a complete setup, cleaning, progress."""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.toolchain import __main__ as entry
from jacquard.lab.toolchain import command, doctor, setup
from jacquard.lab.toolchain.doctor import State
from jacquard.lab.toolchain.progress import Progress
from jacquard.machine import paths
from jacquard.machine.errors import ToolchainError

OutputOf = Callable[[Callable[[Progress], None]], str]


def test_the_entry_parses_under_python_3_6() -> None:
    for name in ("__init__.py", "__main__.py"):
        ast.parse((paths.ROOT / "jacquard/lab/toolchain" / name).read_text(), feature_version=(3, 6))


def test_an_old_python_is_reported(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "version_info", (3, 9, 2, "final", 0))
    assert entry.main() == 1
    assert capsys.readouterr().err == (
        f"python: {sys.executable} is 3.9.2, needs 3.11 or newer; "
        "install a newer version and pass it: make PYTHON=python3.11\n"
    )


@pytest.mark.usefixtures("pip", "search_path")
def test_a_bare_machine_gets_all_problems_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.run([]) == 1
    assert capsys.readouterr().err == (
        "go: is not on PATH; install Go 1.26.6 or newer from go.dev/dl\n"
        "git: is not on PATH; install it with the system's package manager\n"
        "make: is not on PATH; install it with the system's package manager\n"
    )
    assert not paths.VENV.exists()


@pytest.mark.usefixtures("pip", "search_path")
def test_an_unusable_engine_is_one_of_the_problems(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JACQUARD_TOOLCHAIN", "vendor")
    assert command.run(["setup"]) == 1
    first, second, *_ = capsys.readouterr().err.splitlines()
    assert first == "pulumi: pulumi is not on PATH; install it, or set JACQUARD_TOOLCHAIN=build"
    assert second == "go: is not on PATH; install Go 1.26.6 or newer from go.dev/dl"


@pytest.mark.usefixtures("machine")
def test_a_whole_set_up_leaves_the_tree_clean_and_a_second_has_nothing_to_do(tree: Path, output_of: OutputOf) -> None:
    before = {path for path in tree.rglob("*") if paths.VENV not in (path, *path.parents)}
    output_of(setup.set_up)

    assert {path for path in tree.rglob("*") if paths.VENV not in (path, *path.parents)} == before
    assert {item.name: item.remedy for item in doctor.report() if item.state is not State.OK} == {
        "provider jacquard": "run `make setup`",  # Entry points are created by pip, which is simulated here.
    }
    again = output_of(setup.set_up).splitlines()
    assert [line.split()[0] for line in again] == ["engine", ".venv", "binaries", "simulated", "ready"]
    assert "up to date" in again[1]


@pytest.mark.usefixtures("machine")
def test_the_set_up_says_which_controllers_are_simulated_until_they_are_built(output_of: OutputOf) -> None:
    line = "metallb, external-dns; `make controllers` builds them"
    assert line in output_of(setup.set_up)

    assert line not in output_of(partial(setup.set_up, controllers=True))
    assert "simulated" not in output_of(setup.set_up)


def test_clusters_of_others_need_no_kubernetes(
    machine: Any, cache: Path, monkeypatch: pytest.MonkeyPatch, output_of: OutputOf
) -> None:
    monkeypatch.setenv("JACQUARD_CLUSTER", "kind")
    output_of(setup.set_up)
    assert machine.calls == ["venv", "download", "dependencies", "project", "bytecode"]
    assert sorted(path.name.split("-")[0] for path in (cache / "binaries").iterdir()) == [
        "charts",
        "cluster",
        "crds",
        "distribution",
        "former",
        "helm",
        "kwok",
        "node",
        "node",
        "pulumi",
    ]


def test_the_python_setup_needs_no_go_and_builds_nothing(
    machine: Any, cache: Path, output_of: OutputOf, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(setup.tools, "find", _never)
    monkeypatch.setattr(setup.engine, "choose", _never)
    text = output_of(setup.set_up_python)

    assert machine.calls == ["venv", "download", "dependencies", "project", "bytecode"]
    assert [line.split()[0] for line in text.splitlines()] == [".venv", "ready"]
    assert not (cache / "binaries").exists()


def _never(*_: object, **__: object) -> Any:
    pytest.fail("nobody asked for this")


@pytest.mark.usefixtures("machine")
def test_cleaning_removes_files_of_the_setup_and_keeps_regions(tree: Path, cache: Path, output_of: OutputOf) -> None:
    output_of(setup.set_up)
    (tree / "jacquard.egg-info").mkdir()
    (tree / ".mypy_cache").mkdir()
    output_of(partial(setup.clean, shared=False))

    assert sorted(path.name for path in tree.iterdir()) == ["jacquard", "pyproject.toml", "requirements.lock"]
    assert paths.pulumi_state().is_dir()
    assert (cache / "binaries").is_dir()

    output_of(partial(setup.clean, shared=True))
    assert not (cache / "binaries").exists()


@pytest.mark.usefixtures("machine")
def test_the_monitoring_is_announced_before_it_is_built(
    cache: Path, monkeypatch: pytest.MonkeyPatch, output_of: OutputOf
) -> None:
    monkeypatch.setenv("JACQUARD_MONITORING", "on")
    lines = [line.split(maxsplit=1) for line in output_of(setup.set_up).splitlines()]
    [announced, started] = [number for number, (name, _) in enumerate(lines) if name in ("monitoring", "build")]

    assert announced < started
    assert "of memory while it runs" in lines[announced][1]
    assert "alertmanager, prometheus: about" in lines[started][1]
    assert {"alertmanager", "prometheus"} <= {path.name.split("-")[0] for path in (cache / "binaries").iterdir()}


@pytest.mark.parametrize(
    ("raised", "code", "text"),
    [
        (ToolchainError("go: is not on PATH"), 1, "go: is not on PATH\n"),
        (OSError(28, "No space left on device", "/cache/x"), 1, "/cache/x: no space left on device\n"),
        (KeyboardInterrupt(), 130, "interrupted; run the same command again to continue\n"),
    ],
)
def test_every_end_is_one_message_and_a_code(
    raised: BaseException, code: int, text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_progress: Progress) -> None:
        raise raised

    monkeypatch.setattr(setup, "set_up", fail)
    assert command.run([]) == code
    assert capsys.readouterr().err == text


def test_wrong_usage_is_exit_code_2() -> None:
    with pytest.raises(SystemExit) as caught:
        command.run(["up"])
    assert caught.value.code == 2


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_shows_elapsed_and_expected_time_in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "80")
    stream = Terminal()
    progress = Progress(stream)
    tick = progress.running("etcd", 45)
    tick(72.4)
    progress.say("etcd", "done")

    clear = "\r\033[K"
    assert stream.getvalue() == (
        f"{clear}  etcd                        0 s of about 45 s"
        f"{clear}  etcd                        1 min 12 s of about 45 s"
        f"{clear}  etcd                        done\n"
    )


@pytest.fixture
def installed(machine: None, tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed code, used in a repository of regions."""
    del machine
    regions = tree.parent / "regions"
    (regions / "environments").mkdir(parents=True)
    (regions / "Pulumi.yaml").write_text("name: jacquard\n")
    monkeypatch.chdir(regions)
    monkeypatch.setattr(paths, "IS_CLONE", False)


@pytest.mark.usefixtures("installed")
def test_foreign_installations_are_not_cleaned(tree: Path, output_of: OutputOf) -> None:
    paths.VENV.mkdir()
    (tree / "other.egg-info").mkdir()

    output_of(partial(setup.clean, shared=False))

    assert paths.VENV.is_dir()
    assert (tree / "other.egg-info").is_dir()


@pytest.mark.usefixtures("installed")
def test_the_setup_keeps_a_foreign_virtual_environment(tree: Path, output_of: OutputOf) -> None:
    (tree / "requirements.lock").unlink()

    output_of(setup.set_up)

    assert not paths.VENV.exists()
    assert (paths.pulumi_bin() / "pulumi").exists()
