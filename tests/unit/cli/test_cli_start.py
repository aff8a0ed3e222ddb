"""Start of a verb: only its modules are loaded, and Ctrl-C ends everything at any time without a traceback."""

from __future__ import annotations

import subprocess
import sys

import pytest

from jacquard.cli.panels import VERBS, Verb
from jacquard.machine import paths

_INTERRUPTED_WHILE_LOADING = """
import os, signal, sys
signal.signal(signal.SIGINT, getattr(signal, sys.argv.pop(1)))
wanted = sys.argv.pop(1)
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
sys.meta_path.insert(0, Interrupt())
from jacquard.cli.app import main
main()
"""
_INTERRUPTED_WHILE_RUNNING = """
import os, signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)
from jacquard.cli.app import main
import jacquard.lab.toolchain.doctor
jacquard.lab.toolchain.doctor.report = lambda: os.kill(os.getpid(), signal.SIGINT)
main()
"""
_MAIN = "from jacquard.cli.app import main; main()"
_LOADED = f"import atexit, sys; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); {_MAIN}"


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(command, cwd=paths.ROOT, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
def test_the_line_of_a_verb_is_the_first_of_its_help(verb: Verb) -> None:
    command = verb.load()

    assert (command.name or verb.name, command.help.split("\n\n")[0].replace("\n", " ")) == (verb.name, verb.help)


METADATA: dict[str, set[str]] = {"--help": set(), "--version": {"importlib.metadata", "json"}}
"""Modules that only the version lookup of the package needs."""


@pytest.mark.parametrize("option", METADATA)
def test_an_answer_without_a_verb_loads_none_and_no_model(option: str) -> None:
    done = run(_LOADED, option)

    assert done.returncode == 0
    loaded = set(done.stderr.split())
    assert "jacquard.cli.command" in loaded
    verbs = {verb.target.partition(":")[0] for verb in VERBS.values()}
    assert loaded & {*verbs, "pydantic", "urllib3", "rich", "json", "importlib.metadata"} <= METADATA[option]


def test_a_verb_loads_no_other_verb() -> None:
    done = run(_LOADED, "doctor", "--help")

    loaded = set(done.stderr.split())
    assert "jacquard.cli.verbs.machine" in loaded
    assert loaded & {"jacquard.cli.verbs.up", "jacquard.cli.verbs.data.inventory", "policies"} == set()


def test_a_check_loads_no_cluster_client_and_no_unused_format() -> None:
    done = run(_LOADED, "check", "--help")

    loaded = set(done.stderr.split())
    assert "jacquard.cli.verbs.check" in loaded
    assert loaded & {"urllib3", "ruamel.yaml", "jacquard.observe.facts", "jacquard.cli.views.results.sarif"} == set()


def test_a_check_in_a_pipe_loads_no_styles_and_no_table_that_its_region_does_not_need() -> None:
    done = run(_LOADED, "check", "lab")

    loaded = set(done.stderr.split())
    assert done.stdout.startswith("lab: ok, ")
    assert "policies.check" in loaded
    assert loaded & {"rich", "components.lookups.references.table", "components.lookups.effects.table"} == set()


def test_pydantic_does_not_search_installed_packages_for_plugins() -> None:
    done = run(f"import importlib.metadata; importlib.metadata.distributions = None\n{_MAIN}", "check", "lab")

    assert (done.returncode, done.stderr) == (0, "")


def test_an_answer_that_is_no_page_loads_no_templates() -> None:
    done = run(_LOADED, "show", "--help")

    loaded = set(done.stderr.split())
    assert "jacquard.cli.verbs.show" in loaded
    assert loaded & {"jinja2", "markupsafe"} == set()


def test_no_verb_loads_pulumi() -> None:
    every = ", ".join(verb.target.partition(":")[0] for verb in VERBS.values())
    done = run(f"import sys, {every}; print(*sys.modules)")

    loaded = set(done.stdout.split())
    assert {"jacquard.cli.verbs.up", "jacquard.cli.verbs.preview"} < loaded
    assert loaded & {"pulumi", "grpc"} == set()


@pytest.mark.parametrize(
    "module",
    [
        "jacquard.cli.command",
        "typer",
        "jacquard.cli.errors",
        "jacquard.cli.verbs.machine",
        "pydantic",
        "jacquard.cli.arguments",
    ],
)
def test_ctrl_c_while_modules_load_ends_with_130_and_no_word(module: str) -> None:
    done = run(_INTERRUPTED_WHILE_LOADING, "default_int_handler", module, "doctor", "--help")

    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_ctrl_c_in_a_verb_exits_with_130_and_names_the_next_step() -> None:
    done = run(_INTERRUPTED_WHILE_RUNNING, "doctor")

    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted: run the same command again to continue\n"


def test_an_ignored_sigint_stays_ignored() -> None:
    done = run(_INTERRUPTED_WHILE_LOADING, "SIG_IGN", "typer", "--version")

    assert (done.returncode, done.stdout, done.stderr) == (0, "jacquard 0.1.0\n", "")
