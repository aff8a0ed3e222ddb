"""Steps of workflows and actions, run by bash in the folder of a repository, as a GitHub runner does."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from jacquard.machine import paths

_EXPRESSION = re.compile(r"\$\{\{ (.*?) \}\}")


def steps(file: Path) -> Iterator[dict[str, Any]]:
    """Return the steps of all jobs of a workflow, or of an action."""
    loaded = yaml.safe_load(file.read_text())
    for job in [*loaded.get("jobs", {}).values(), *([loaded["runs"]] if "runs" in loaded else [])]:
        yield from job["steps"]


@dataclass
class Runner:
    """A runner with the repository in ``folder``; ``values`` has the value of each expression that a step uses."""

    folder: Path
    home: Path
    """Folder for files of the runner."""
    values: Mapping[str, str | bool]
    variables: Mapping[str, str] = field(default_factory=dict)

    def wanted(self, step: Mapping[str, Any]) -> bool:
        """Return whether the condition of a step is met; a condition without a value is an error."""
        condition = step.get("if")
        return True if condition is None else bool(self.values[_EXPRESSION.fullmatch(condition)[1]])  # type: ignore[index]

    def run(self, step: Mapping[str, Any]) -> subprocess.CompletedProcess[str]:
        """Run the command of a step, with the environment variables of the step."""
        environment = {name: self._filled(str(value)) for name, value in step.get("env", {}).items()}
        files = {"GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary"}
        known = {"RUNNER_TEMP": str(self.home), **{name: str(self.home / file) for name, file in files.items()}}
        inherited = {"PATH": os.environ["PATH"], "PYTHONPATH": str(paths.ROOT), "HOME": str(self.home)}
        assert "${{" not in step["run"]
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]],
            cwd=self.folder,
            env={**inherited, **known, **self.variables, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def outputs(self) -> dict[str, str]:
        """Outputs of all steps so far."""
        lines = (self.home / "output").read_text().splitlines()
        return dict(line.split("=", 1) for line in lines)

    def _filled(self, text: str) -> str:
        return _EXPRESSION.sub(lambda match: str(self.values[match[1]]), text)
