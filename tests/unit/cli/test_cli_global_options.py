"""Options of all commands work before and after the verb, and change only output other than the result."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from rich.text import Text
from typer.main import get_command
from typer.testing import CliRunner, Result

from jacquard.cli.command import build
from jacquard.cli.console import Color, output, stderr, stdout
from jacquard.cli.errors import show
from jacquard.cli.panels import VERBS
from jacquard.cli.views.board import board
from jacquard.cli.views.progress import ended, phase
from jacquard.engine.events import Progress
from jacquard.machine import paths

MAIN = "from jacquard.cli.app import main; main()"
NAMES = {"debug", "quiet", "verbose", "color"}


@pytest.fixture(autouse=True)
def defaults() -> Any:
    output.reset()
    yield
    output.reset()


def run(*arguments: str, **variables: str) -> Result:
    """Run ``jacquard`` in this process, with the default colours and these environment variables."""
    return CliRunner(env={"NO_COLOR": None, "FORCE_COLOR": None, **variables}).invoke(build(), list(arguments))


@pytest.mark.parametrize("verb", VERBS)
def test_every_command_has_them(verb: str) -> None:
    command = VERBS[verb].load()

    for item in (command, *getattr(command, "commands", {}).values()):
        assert {param.name for param in item.params} >= NAMES
    assert {param.name for param in get_command(build()).params} >= NAMES


@pytest.mark.parametrize("typed", [("-v", "env", "laptop"), ("env", "laptop", "--verbose")], ids=" ".join)
def test_verbose_prints_each_program(typed: tuple[str, ...], tmp_path: Path) -> None:
    program = f"""
import subprocess, sys
from jacquard.cli.verbs import env
env.exports = lambda _: subprocess.run([sys.executable, "-c", "", "--token", "swordfish"]) and ""
{MAIN}"""
    command = [sys.executable, "-c", program, *typed]
    variables = os.environ | {"JACQUARD_HOME": str(tmp_path)}

    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True, env=variables)

    assert done.stderr.splitlines()[-1] == f"run: {sys.executable} -c '' --token [secret]"


def test_without_verbose_no_program_is_printed() -> None:
    command = [sys.executable, "-c", MAIN, "impact", "lab", "--base", "HEAD"]

    assert subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True).stderr == ""


@pytest.mark.parametrize(
    ("options", "variables", "styled"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        (("--color", "always"), {"NO_COLOR": "1"}, True),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        (("--color", "auto"), {"NO_COLOR": "1"}, False),
    ],
)
def test_colours_are_as_chosen(options: tuple[str, ...], variables: dict[str, str], *, styled: bool) -> None:
    done = run("status", "lapto", *options, **variables)

    assert done.exit_code == 2
    assert done.stderr.startswith("\x1b[1;31merror: " if styled else "error: environment")


def test_colour_always_draws_no_live_display_in_a_pipe() -> None:
    output.color = Color.ALWAYS

    assert not stdout().is_terminal
    assert not stderr().is_terminal


def test_an_unknown_colour_is_refused() -> None:
    done = run("check", "--color", "alway")

    message = "error: --color: must be one of auto, always, never (got 'alway'); did you mean 'always'?\n"
    assert (done.exit_code, done.stderr) == (2, message)


@pytest.mark.parametrize("quiet", [False, True])
def test_quiet_prints_no_progress_and_no_notes_but_warnings(tmp_path: Path, *, quiet: bool) -> None:
    output.quiet = quiet
    with (tmp_path / "log").open("w+") as log:
        console = Console(file=log, width=120)
        with phase(console, "plan of edge-1") as shown:
            shown.engine(Progress(), 3, "resources")
        with board(console, 2, telling=True) as screen:
            with screen.phase("plan of edge-1.foundation") as shown:
                shown.engine(Progress(), 3, "resources")
            screen.tell("edge-1.foundation", [Text("advice")])
        ended(console, "edge-1", 1.0, "no changes")
        show("repaired", "note", console)
        show("expires soon", "warning", console)
        log.seek(0)
        lines = log.read().splitlines()

    kept = ["edge-1.foundation:", "advice", "warning: expires soon"]
    noisy = ["plan of edge-1: started", "plan of edge-1.foundation: started", *kept[:2]]
    assert lines == (kept if quiet else [*noisy, "done edge-1: no changes, 1.0 s", "note: repaired", kept[2]])


def assert_fits(text: str, columns: int) -> None:
    widest = max(len(line.rstrip()) for line in text.splitlines())
    assert widest <= columns
    assert widest > min(columns, 120) * 0.8


@pytest.mark.parametrize("columns", [60, 100, 160])
def test_help_fits_the_terminal(columns: int) -> None:
    command = [sys.executable, "-c", MAIN, "--help"]  # The runner of `run` sets the width of this help to 80.
    variables = os.environ | {"COLUMNS": str(columns)}

    done = subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=True, env=variables)

    assert_fits(done.stdout, columns)


@pytest.mark.parametrize("columns", [60, 100, 160])
@pytest.mark.parametrize("verb", ["promote", "inventory import"])
def test_help_of_a_verb_fits_the_terminal(verb: str, columns: int) -> None:
    assert_fits(run(*verb.split(), "--help", COLUMNS=str(columns)).stdout, columns)
