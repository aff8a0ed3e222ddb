"""Help, completion and the command reference agree with the accepted arguments."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from jacquard.cli.command import build
from jacquard.cli.panels import VERBS
from jacquard.machine import paths

JACQUARD = str(Path(sys.executable).parent / "jacquard")
EXAMPLES = [(verb.name, example) for verb in VERBS.values() for example in verb.examples]


def completed(*words: str) -> list[str]:
    """Return the shell completions of the last of ``words``."""
    variables = {
        **os.environ,
        "_JACQUARD_COMPLETE": "complete_bash",
        "COMP_WORDS": shlex.join(words[:-1]) + " " + words[-1],
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run([JACQUARD], env=variables, cwd=paths.ROOT, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(("verb", "example"), EXAMPLES, ids=[example for _, example in EXAMPLES])
def test_an_example_of_a_verb_can_be_typed(verb: str, example: str) -> None:
    words = shlex.split(example.removeprefix('eval "$(').removesuffix(')"').partition(" > ")[0])
    assert words[:2] == ["jacquard", verb]
    command, arguments = VERBS[verb].load(), words[2:]
    if verb == "inventory":
        command, arguments = command.commands[words[2]], words[3:]

    assert command.make_context(verb, arguments).info_name == verb


def test_help_shows_the_examples() -> None:
    done = subprocess.run([JACQUARD, "allocate", "--help"], capture_output=True, text=True, check=True)

    text = " ".join(done.stdout.split())
    assert text.endswith(f"Examples: {' '.join(VERBS['allocate'].examples)}")


def helped(verb: str) -> list[str]:
    """Return the commands of a verb that have help: the verb itself, or its subcommands."""
    return [f"{verb} {name}" for name in getattr(VERBS[verb].load(), "commands", {})] or [verb]


@pytest.mark.parametrize("words", [words for verb in VERBS for words in helped(verb)])
def test_help_fits_a_terminal_and_shows_types_of_values_only(words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"COLUMNS": "80", "NO_COLOR": "1", "TERM": "dumb"}.items():
        monkeypatch.setenv(name, value)

    printed = CliRunner().invoke(build(), [*words.split(), "--help"]).stdout

    assert f"Usage: jacquard {words} " in printed
    assert max(map(len, printed.splitlines())) <= 80
    assert "<bool>" not in printed
    assert "[[" not in printed
    names = [line[2:40] for line in printed.partition("─ Options ─")[0].splitlines() if line.startswith("│")]
    assert [name for name in names if "…" in name] == []  # A truncated argument name


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        (("jacquard", "stat"), ["status"]),
        (("jacquard", "status", "lap"), ["laptop"]),
        (("jacquard", "status", "--form"), ["--format"]),
        (("jacquard", "promote", "laptop", "globex"), ["globex-lab", "globex-lab/lab"]),
        (("jacquard", "promote", "laptop", "d"), ["dpus"]),
        (("jacquard", "promote", "nowhere", ""), []),
    ],
)
def test_the_shell_completes(words: tuple[str, ...], offered: list[str]) -> None:
    assert completed(*words) == offered
