"""Steps of the workflows and of the action, run by bash in a repository with two regions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from jacquard.machine import paths
from tests.support.data.repositories import COMMIT, git
from tests.support.machine.workflow_steps import Runner, steps

ACTION = paths.ROOT / "action.yml"
STARTER = paths.ROOT / "jacquard/starters/files" / "repository"
WORKFLOWS = STARTER / "github" / "workflows"
COMMANDS = ("check", "impact", "preview", "comment")
RECORD = """#!/bin/bash
echo "$(basename "$0") $*" >> "$RUNNER_TEMP/calls"
if [ "$1" = impact ] && [ -e "$RUNNER_TEMP/broken" ]; then exit 2; fi
if [ "$1" = preview ]; then folder="${@: -1}"; mkdir -p "$folder"; echo sarif > "$folder/preview.sarif"; fi
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository whose programs only record their calls."""
    folder = tmp_path / "repository"
    for name in ("edge-1", "edge-2"):
        (folder / "environments" / name).mkdir(parents=True)
        (folder / "environments" / name / "region.yaml").touch()
    (folder / "environments" / "catalog").mkdir()
    for name in (".venv/bin/jacquard", ".venv/bin/pip", "bin/python"):
        program = folder / name
        program.parent.mkdir(parents=True, exist_ok=True)
        program.write_text(RECORD)
        program.chmod(0o755)
    (tmp_path / "home").mkdir()
    return folder


def action(folder: Path, command: str, **inputs: str) -> tuple[list[int], list[str], Runner]:
    """Run the action; return the exit codes of its steps, the calls, and the runner."""
    defaults = {name: spec["default"] for name, spec in yaml.safe_load(ACTION.read_text())["inputs"].items()}
    values: dict[str, str | bool] = {f"inputs.{name}": value for name, value in (defaults | inputs).items()}
    values["inputs.command"] = command
    for name in COMMANDS:
        values[f"inputs.command == '{name}'"] = values[f"!cancelled() && inputs.command == '{name}'"] = name == command
    known = f"!contains(fromJSON('{json.dumps(COMMANDS)}'), inputs.command)"
    values[known] = command not in COMMANDS
    values["steps.list.outputs.names"] = '["edge-1","edge-2"]'
    variables = {"PATH": f"{folder / 'bin'}:/usr/bin:/bin", "GITHUB_ACTION_PATH": "/action"}
    runner = Runner(folder, folder.parent / "home", values, variables)
    codes = [runner.run(step).returncode for step in steps(ACTION) if "run" in step and runner.wanted(step)]
    calls = runner.home / "calls"
    return codes, calls.read_text().splitlines() if calls.exists() else [], runner


def test_the_regions_are_the_folders_of_the_repository(repository: Path) -> None:
    for file in (WORKFLOWS / "preview.yml", WORKFLOWS / "nightly.yml", ACTION):
        runner = Runner(repository, repository.parent / "home", {})
        (runner.home / "output").unlink(missing_ok=True)
        [step] = [step for step in steps(file) if step.get("id") == "list"]
        assert runner.run(step).returncode == 0
        assert json.loads(runner.outputs["names"]) == ["edge-1", "edge-2"]


@pytest.mark.parametrize(
    ("command", "inputs", "calls"),
    [
        ("check", {}, ["check --format github", "check --format sarif"]),
        (
            "check",
            {"regions": "edge-1 edge-2"},
            ["check edge-1 edge-2 --format github", "check edge-1 edge-2 --format sarif"],
        ),
        (
            "impact",
            {"base": "origin/main"},
            [
                "impact --base origin/main --format markdown",
                "comment HOME/impact.md",
                "impact --base origin/main --format sarif",
            ],
        ),
        (
            "preview",
            {"base": "origin/main"},
            ["setup", "preview edge-1 edge-2 --base origin/main --out .preview/edge-1+edge-2"],
        ),
        (
            "preview",
            {"base": "origin/main", "regions": "edge-2"},
            ["setup", "preview edge-2 --base origin/main --out .preview/edge-2"],
        ),
    ],
)
def test_the_action_runs_the_requested_command(
    repository: Path, command: str, inputs: dict[str, str], calls: list[str]
) -> None:
    codes, called, runner = action(repository, command, **inputs)

    assert set(codes) == {0}
    assert called[:2] == ["python -m venv .venv", "pip install /action"]
    assert called[2:] == [f"jacquard {call.replace('HOME', str(runner.home))}" for call in calls]
    assert Path(runner.outputs["sarif"]).is_file()


def test_the_pinned_version_is_installed_if_there_is_one(repository: Path) -> None:
    (repository / "requirements.txt").touch()

    assert action(repository, "check")[1][1] == "pip install -r requirements.txt"


def test_the_comment_is_that_of_all_files(repository: Path) -> None:
    for name in ("edge-1", "edge-2"):
        (repository / ".preview" / name).mkdir(parents=True)
        (repository / ".preview" / name / "comment.md").touch()

    assert action(repository, "comment")[1][2:] == [
        "jacquard comment .preview/edge-1/comment.md .preview/edge-2/comment.md"
    ]


def test_an_impact_that_fails_is_shown_and_fails_the_step(repository: Path) -> None:
    (repository.parent / "home" / "broken").touch()

    codes, called, _ = action(repository, "impact", base="origin/main")

    assert codes[-2:] == [2, 2]
    assert [call.split()[1] for call in called[2:]] == ["impact", "comment", "impact"]


def test_an_unknown_command_is_refused(repository: Path) -> None:
    [refuse, *_] = steps(ACTION)
    runner = Runner(repository, repository.parent / "home", {"inputs.command": "chekc"})

    done = runner.run(refuse)

    assert done.returncode == 2
    assert done.stdout == "::error::command: must be check, impact, preview or comment (got 'chekc')\n"
    assert action(repository, "chekc")[0][0] == 2


@pytest.mark.nightly
def test_the_check_of_a_pull_request_runs_as_it_is_written(tmp_path: Path) -> None:
    folder, home = tmp_path / "regions", tmp_path / "home"
    home.mkdir()
    jacquard = Path(sys.executable).parent / "jacquard"
    variables = {"PYTHONPATH": str(paths.ROOT), "PATH": "/usr/bin:/bin", "JACQUARD_CACHE": str(tmp_path / "cache")}

    def run(*arguments: str, at: Path) -> None:
        subprocess.run([jacquard, *arguments], cwd=at, env=variables, check=True, capture_output=True)

    run("new", "edge-1", "--repository", str(folder), at=tmp_path)
    run("allocate", "edge-1", at=folder)
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", "-A")
    git(folder, *COMMIT)
    git(folder, "update-ref", "refs/remotes/origin/main", "HEAD")
    tenant = folder / "environments" / "edge-1" / "tenants" / "first.yaml"
    tenant.write_text(tenant.read_text().replace("nodes: 2", "nodes: 3", 1))
    run("allocate", "edge-1", at=folder)
    (folder / ".venv" / "bin").mkdir(parents=True)
    (folder / ".venv" / "bin" / "jacquard").symlink_to(jacquard)
    pull_request = {"github.base_ref": "main", "github.event_name == 'pull_request'": True}
    published = "!cancelled() && github.event_name == 'pull_request' && hashFiles('impact.md') != ''"
    job = {
        "GITHUB_REPOSITORY": "acme/regions",
        "GITHUB_REF": "refs/pull/7/merge",
        "GITHUB_API_URL": "http://127.0.0.1:9",
    }
    numbers = {"GITHUB_ACTIONS": "true", "GITHUB_RUN_NUMBER": "1", "GITHUB_RUN_ATTEMPT": "1"}
    runner = Runner(folder, home, {**pull_request, published: True}, {**variables, **job, **numbers})
    for step in steps(WORKFLOWS / "check.yml"):
        if "run" in step and "pip install" not in step["run"] and runner.wanted(step):
            done = runner.run(step)
            assert done.returncode == 0, f"{step['run']}: {done.stdout}{done.stderr}"
    page = (home / "summary").read_text()
    assert ("<!-- jacquard impact -->" in page, "<!-- jacquard render -->" in page) == (True, True), page
    assert "edge-1" in page
