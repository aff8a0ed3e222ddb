"""The page about CI components names existing inputs, outputs, permissions, workflows and hooks; examples are valid."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import yaml

from jacquard.machine import paths
from tests.support.machine.built_programs import built

PAGE = (paths.ROOT / "docs" / "changes" / "ci-components.md").read_text()
WORKFLOWS = paths.ROOT / ".github" / "workflows"
ACTION = yaml.safe_load((paths.ROOT / "action.yml").read_text())
EXAMPLES = re.findall(r"^```yaml\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def rows(header: str) -> dict[str, list[str]]:
    """Return the cells of each row of the table with this first column, by the names in the first cell."""
    table = PAGE.partition(f"| {header} |")[2].partition("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in table]
    return {name: rest for first, *rest in cells for name in re.findall(r"`([^`]+)`", first)}


def example(key: str) -> Any:
    return next(loaded for text in EXAMPLES if key in (loaded := yaml.safe_load(text)))


def granted(file: Path) -> set[str]:
    """Return the permissions that the jobs of a workflow request, and that their caller must grant."""
    jobs = yaml.safe_load(file.read_text())["jobs"].values()
    return {f"{scope}: {right}" for job in jobs for scope, right in job["permissions"].items()}


def test_inputs_and_outputs_of_the_action_are_those_of_the_page() -> None:
    component = yaml.safe_load((paths.ROOT / "templates/jacquard/template.yml").read_text().split("\n---\n")[0])
    github, _, gitlab = PAGE.partition("## GitLab component")

    assert list(rows("input")) == list(ACTION["inputs"])
    assert list(rows("output")) == list(ACTION["outputs"])
    listed = re.findall(r"^\| (`.+?`) \|", gitlab.partition("## Roles")[0], re.MULTILINE)
    assert re.findall(r"`(\w+)`", " ".join(listed)) == list(component["spec"]["inputs"])
    for name, (_, default) in rows("input").items():
        plain = re.fullmatch(r"`([^`]+)`", default)
        assert plain is None or plain[1] == ACTION["inputs"][name]["default"], name
    assert "OWNER/jacquard@" in github


def test_each_reusable_workflow_is_listed_with_its_rights() -> None:
    listed = rows("workflow")

    assert listed.keys() == {file.name for file in WORKFLOWS.glob("regions-*.yml")}
    for name, (_, rights) in listed.items():
        named = {*re.findall(r"`([^`]+)`", rights), *(["contents: read"] if rights.startswith("also") else [])}
        assert named == granted(WORKFLOWS / name), name


def test_the_example_calls_workflows_with_the_rights_that_they_need(tmp_path: Path) -> None:
    workflow = example("jobs")

    for job in workflow["jobs"].values():
        file = WORKFLOWS / re.fullmatch(r"OWNER/jacquard/\.github/workflows/(.+)@v.+", job["uses"])[1]  # type: ignore[index]
        assert {f"{scope}: {right}" for scope, right in job["permissions"].items()} == granted(file)
    (tmp_path / "regions.yml").write_text(next(text for text in EXAMPLES if "jobs:" in text))
    done = subprocess.run([built("actionlint"), tmp_path / "regions.yml"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_the_action_of_the_example_has_its_inputs() -> None:
    [step] = [step for step in example("steps")["steps"] if step["uses"].startswith("OWNER/jacquard@")]

    assert step["with"].keys() <= ACTION["inputs"].keys()


def test_the_hooks_of_the_example_exist() -> None:
    hooks = yaml.safe_load((paths.ROOT / ".pre-commit-hooks.yaml").read_text())

    assert [hook["id"] for hook in example("repos")["repos"][0]["hooks"]] == [hook["id"] for hook in hooks]
