"""The workflows of this repository and those of a new repository of regions are valid and consistent."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
import yaml

from jacquard.cli.panels import VERBS
from jacquard.machine import paths
from tests.support.machine.built_programs import built
from tests.support.machine.workflow_steps import steps

OWN = paths.ROOT / ".github"
STARTER = paths.ROOT / "jacquard/starters/files" / "repository"
WORKFLOWS = sorted([*OWN.glob("workflows/*.yml"), *STARTER.glob("github/workflows/*.yml")])
ACTION = paths.ROOT / "action.yml"
FILES = [*WORKFLOWS, *sorted(OWN.glob("actions/*/action.yml")), ACTION]
REUSABLE = sorted(OWN.glob("workflows/regions-*.yml"))
INSTALLED = "python -m venv .venv && .venv/bin/pip install -r requirements.txt"
LISTED = (
    """jq -nrc '"names=\\([$ARGS.positional[] | split("/")[1]])"' --args environments/*/region.yaml"""
    ' >> "$GITHUB_OUTPUT"'
)
SET_UP = {INSTALLED, LISTED, ".venv/bin/jacquard setup"}
PIN = re.compile(r"uses: ([\w./-]+)@([0-9a-f]{40}) # v\d+\.\d+\.\d+")
EACH = pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(paths.ROOT)))
TARGETS = re.findall(r"^([a-z-]+):.*## ", (paths.ROOT / "Makefile").read_text(), re.MULTILINE)


def commands(file: Path) -> list[str]:
    """Return the commands that a workflow or an action runs."""
    return [step["run"] for step in steps(file) if "run" in step]


def known(command: str) -> bool:
    """Return whether a command is one of Jacquard's."""
    match command.split():
        case [".venv/bin/jacquard", verb, *_]:
            return verb in VERBS
        case ["make", target]:
            return target in TARGETS
    return command in {INSTALLED, LISTED}


def test_actionlint_has_nothing_to_say() -> None:
    done = subprocess.run(
        [built("actionlint"), *WORKFLOWS], capture_output=True, text=True, cwd=paths.ROOT, check=False
    )

    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_zizmor_has_nothing_to_say() -> None:
    options = ["--offline", "--no-progress", "--quiet", "--config", OWN / "zizmor.yml"]
    done = subprocess.run(
        [paths.VENV / "bin" / "zizmor", *options, *FILES], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("schema", "files"), [("github-workflows", WORKFLOWS), ("github-actions", FILES[len(WORKFLOWS) :])]
)
def test_published_schemas_accept_them(schema: str, files: list[Path]) -> None:
    command = [paths.VENV / "bin" / "check-jsonschema", "--builtin-schema", f"vendor.{schema}", *files]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("file", [file for file in FILES if file != ACTION], ids=str)
def test_workflows_only_run_our_commands_without_inserted_expressions(file: Path) -> None:
    assert [command for command in commands(file) if not known(command) or "${{" in command] == []


@EACH
def test_actions_of_others_are_pinned_by_content(file: Path) -> None:
    used = [line.strip(" -") for line in file.read_text().splitlines() if "uses:" in line and "./" not in line]

    assert [line for line in used if not PIN.fullmatch(line)] == []


def test_each_action_has_one_pin() -> None:
    pins = {pin for file in FILES for pin in PIN.findall(file.read_text())}

    assert len(pins) == len({name for name, _ in pins})


@pytest.mark.parametrize("file", WORKFLOWS, ids=lambda file: str(file.relative_to(paths.ROOT)))
def test_a_job_has_the_rights_that_it_names_and_ends(file: Path) -> None:
    workflow = yaml.safe_load(file.read_text())

    assert workflow["permissions"] == {}
    assert all(job["permissions"] and job["timeout-minutes"] for job in workflow["jobs"].values())
    assert "pull_request_target" not in file.read_text()
    checkouts = [step for step in steps(file) if step.get("uses", "").startswith("actions/checkout@")]
    assert all(step["with"]["persist-credentials"] is False for step in checkouts)


FOR_FORKS = pytest.mark.parametrize(
    "file", [file for file in WORKFLOWS if file.name == "check.yml"], ids=["own", "starter"]
)


@FOR_FORKS
def test_a_pull_request_of_a_fork_gets_the_impact_and_the_changed_objects(file: Path) -> None:
    verbs = [command.split()[1] for command in commands(file) if command.startswith(".venv/bin/jacquard ")]

    assert verbs == ["check", "schema", "impact", "comment", "render", "comment"]


@FOR_FORKS
def test_the_comment_of_the_impact_is_published_also_if_the_impact_failed(file: Path) -> None:
    runs = {step["run"]: step.get("if", "") for step in steps(file) if "run" in step}

    assert "!cancelled()" in runs[".venv/bin/jacquard comment impact.md"]
    assert any(run.startswith(".venv/bin/jacquard impact") and "--format markdown > impact.md" in run for run in runs)


@FOR_FORKS
def test_jobs_of_forks_have_no_secrets_and_no_write_permissions(file: Path) -> None:
    text = file.read_text()

    assert not re.search(r"secrets\.|github\.token|environment:|: write", text)


def test_only_a_job_that_runs_nothing_of_the_branch_may_write_comments() -> None:
    for file in WORKFLOWS:
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            if "pull-requests" in job["permissions"]:
                assert job["steps"][0]["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
                assert "environment" not in job


@pytest.mark.parametrize("name", ["check.yml", "preview.yml", "nightly.yml"])
def test_both_repositories_do_the_same(name: str) -> None:
    """In this repository, ``check`` also rejects violations of new rules, since its data are examples."""
    own, starter = (
        [
            re.sub(r'"?(\.preview/)?(\blaptop\b|\$REGION)"?', r"\1REGION", command)
            for command in commands(file)
            if command not in SET_UP and command.startswith(".venv/bin/jacquard ")
        ]
        for file in (OWN / "workflows" / name, STARTER / "github" / "workflows" / name)
    )

    assert [command.replace(" --strict", "") for command in own if " drift " not in command] == starter


def test_an_action_gets_values_by_its_variables() -> None:
    assert [command for command in commands(ACTION) if "${{" in command] == []


@pytest.mark.parametrize("file", REUSABLE, ids=lambda file: file.stem)
def test_a_reusable_workflow_equals_that_of_a_new_repository(file: Path) -> None:
    reusable, starter = (
        yaml.safe_load(path.read_text())
        for path in (file, STARTER / "github" / "workflows" / file.name.removeprefix("regions-"))
    )

    assert {key: reusable[key] for key in ("jobs", "permissions", "concurrency")} == {
        key: starter[key] for key in ("jobs", "permissions", "concurrency")
    }
    inputs = {
        name: spec["description"] for name, spec in (reusable[True]["workflow_call"] or {}).get("inputs", {}).items()
    }
    ordered = (starter[True].get("workflow_dispatch") or {}).get("inputs", {})
    assert inputs == {name: spec["description"] for name, spec in ordered.items()}


def test_each_workflow_of_a_new_repository_is_also_reusable() -> None:
    assert [f"regions-{file.name}" for file in sorted(STARTER.glob("github/workflows/*.yml"))] == [
        file.name for file in REUSABLE
    ]


def test_no_job_of_a_new_repository_has_a_key_of_a_cloud() -> None:
    """Jobs assume roles by their OIDC identity, and only jobs that assume one may request a token."""
    for file in WORKFLOWS:
        assert "secrets." not in file.read_text()
        for job in yaml.safe_load(file.read_text())["jobs"].values():
            assumes = any(step.get("uses", "").startswith("aws-actions/") for step in job["steps"])
            assert (job["permissions"].get("id-token") == "write") is assumes
