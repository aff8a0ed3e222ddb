"""The page about own repositories, executed literally: from a wheel to a region that is created and deleted.

Nightly, since it is slow; the unit tests of the commands cover the steps without an engine.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.docs.walkthrough import Command, Edit, Script, steps
from tests.support.local_regions.local_region import LocalRegion, processes_of
from tests.support.machine.captured_commands import start_captured
from tests.support.machine.installed_wheel import install_with_dependencies, wheel
from tests.support.machine.outcome import Outcome

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]


class Shell(LocalRegion):
    """A user's shell in a separate folder, with no part of this clone on its path."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, "edge-1", folder / "regions" / "environments")
        self.folder = folder
        del self.variables["JACQUARD_ENVIRONMENTS"]
        self.variables.pop("VIRTUAL_ENV", None)

    def start(self, *command: str) -> subprocess.Popen[str]:
        process = start_captured(*command, folder=self.folder, variables=self.variables)
        self._started.append(process)
        return process

    def type(self, words: tuple[str, ...], built: Path) -> Outcome | None:
        """Run a line of the page, with the URL of the package replaced by the wheel ``built``."""
        match words:
            case ("cd", folder):
                self.folder /= folder
            case ("source", ".venv/bin/activate"):
                self.variables["PATH"] = f"{self.folder / '.venv' / 'bin'}:{self.variables['PATH']}"
            case ("regions/.venv/bin/pip", "install", _):
                install_with_dependencies(built, self.folder / "regions" / ".venv")
            case ("python3", *rest):
                return self.run(sys.executable, *rest)
            case ("jacquard", *rest):
                return self.run(str(self.folder / ".venv" / "bin" / "jacquard"), *rest)
            case (first, *rest):
                return self.run(str(self.folder / first), *rest)
        return None


def contact(shell: Shell, cluster: str) -> str:
    """Return the contact in the note of ``cluster``, which only the repository's own component writes."""
    note = shell.api(cluster).list("v1", "ConfigMap", namespace="kube-public")
    return next(item["data"]["contact"] for item in note if item["metadata"]["name"] == "region-note")


def assert_own_rule_rejects(shell: Shell) -> None:
    """Assert that ``up``, and the engine with the repository's policy pack, reject a note that breaks its rule."""
    component = shell.folder / "extensions" / "components" / "region_note.py"
    right = component.read_text()
    component.write_text(right.replace("@cloud.example", ""))
    jacquard = str(shell.folder / ".venv" / "bin" / "jacquard")
    up = shell.run(jacquard, "up", "edge-1")
    preview = "pulumi preview -s edge-1 --policy-pack policy-pack --non-interactive"
    line = f'eval "$({jacquard} env edge-1)" && exec {preview}'
    preview = shell.run("bash", "-c", line)
    component.write_text(right)
    violation = "note-without-contact: ConfigMap kube-public/region-note in cluster management"
    assert (up.code, violation in up.text) == (4, True), up.text
    assert (preview.code != 0, violation in preview.text) == (True, True), preview.text


def test_the_page_does_as_it_says(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("own")
    built, shell = wheel(folder), Shell(folder)
    try:
        for step in steps("guides/your-own-repository.md"):
            if isinstance(step, Edit):
                step.apply(shell.folder)
                continue
            if isinstance(step, Script):
                step.run(shell.folder)
                continue
            assert isinstance(step, Command)
            if step == Command(("jacquard", "down", "edge-1")):
                assert {contact(shell, name) for name in ("management", "first-train")} == {"on-call@cloud.example"}
                assert_own_rule_rejects(shell)
            outcome = shell.type(step.words, built)
            assert outcome is None or outcome.code == 0, f"{step.words}: {outcome.text}"
    finally:
        shell.kill_running_commands()
        if (folder / "regions" / ".venv" / "bin" / "jacquard").exists():
            shell.folder = folder / "regions"
            shell.run(str(shell.folder / ".venv" / "bin" / "jacquard"), "down", "edge-1")
    assert processes_of(shell.home) == []
