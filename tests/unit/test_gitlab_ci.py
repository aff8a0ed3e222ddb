"""The pipeline of a new repository and the CI/CD component for GitLab: valid, and alike."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.cli.panels import VERBS
from jacquard.machine import paths

STARTER = paths.ROOT / "jacquard/starters/files" / "repository" / "gitlab-ci.yml"
COMPONENT = paths.ROOT / "templates" / "jacquard" / "template.yml"
REGIONS = ["edge-1", "edge-2"]
INPUT = re.compile(r"\$\[\[ inputs\.(\w+) \]\]")
LOGIN = (
    'if [ "$AWS_ROLE" ]; then echo "$AWS_TOKEN" > /tmp/aws; '
    'export AWS_ROLE_ARN="$AWS_ROLE" AWS_WEB_IDENTITY_TOKEN_FILE=/tmp/aws; fi'
)
OTHERS = {"python -m venv .venv && .venv/bin/pip install -r requirements.txt", LOGIN}
GLOBAL = {"default", "workflow", "variables", "include", "stages"}


def included(**inputs: Any) -> str:
    """Return the component as GitLab includes it: without its header, and with its inputs."""
    header, text = COMPONENT.read_text().split("\n---\n")
    declared = yaml.safe_load(header)["spec"]["inputs"]
    values = {name: spec["default"] for name, spec in declared.items() if "default" in spec} | inputs
    assert values.keys() == declared.keys()
    return INPUT.sub(lambda match: json.dumps(values[match[1]]), text)


def jobs(text: str) -> dict[str, dict[str, Any]]:
    """Return the jobs of a pipeline and their templates, by names without the prefix of the component."""
    named = {name: job for name, job in yaml.safe_load(text).items() if name not in GLOBAL}
    return {name.replace("jacquard-", ""): job for name, job in named.items()}


@pytest.mark.parametrize("source", ["starter", "component"])
def test_the_published_schema_accepts_it(source: str, tmp_path: Path) -> None:
    file = tmp_path / ".gitlab-ci.yml"
    file.write_text(STARTER.read_text() if source == "starter" else included(regions=REGIONS))
    command = [paths.VENV / "bin" / "check-jsonschema", "--builtin-schema", "vendor.gitlab-ci"]
    done = subprocess.run(
        [*command, "--data-transform", "gitlab-ci", file], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_inputs_of_the_component_are_described() -> None:
    spec = yaml.safe_load(COMPONENT.read_text().split("\n---\n")[0])["spec"]["inputs"]

    assert all({"description"} < fields.keys() <= {"description", "type", "default"} for fields in spec.values())
    assert {*INPUT.findall(COMPONENT.read_text())} == spec.keys()


def test_the_component_changes_nothing_of_the_project_that_includes_it() -> None:
    names = yaml.safe_load(included(regions=REGIONS)).keys()

    assert [name for name in names if not name.removeprefix(".").startswith("jacquard-")] == []


def test_both_run_the_same_jobs() -> None:
    starter = jobs(STARTER.read_text().replace("[starter]", str(REGIONS)))
    component = jobs(included(regions=REGIONS).replace("jacquard-", ""))
    common = {**yaml.safe_load(STARTER.read_text())}
    for name in (".python", ".toolchain"):
        starter[name] |= {"image": common["default"]["image"], "variables": common["variables"]}

    assert component == starter


@pytest.mark.parametrize("text", [STARTER.read_text(), included(regions=REGIONS)], ids=["starter", "component"])
def test_pipelines_only_run_our_commands(text: str) -> None:
    found = [
        command for job in jobs(text).values() for key in ("before_script", "script") for command in job.get(key, [])
    ]

    assert len(found) > len(jobs(text)) / 2
    ours = {command for command in found if command.split()[0] == ".venv/bin/jacquard" and command.split()[1] in VERBS}
    assert {*found} - ours == OTHERS


def test_only_jobs_of_the_project_itself_get_its_roles_and_tokens() -> None:
    for name, job in jobs(STARTER.read_text()).items():
        if "environment" in job:
            conditions = [rule["if"] for rule in job["rules"]]
            forks = [text for text in conditions if "merge_request_event" in text and "SOURCE_PROJECT_ID" not in text]
            assert forks == [], name
