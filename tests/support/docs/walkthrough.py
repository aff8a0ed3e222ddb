"""A documentation page whose commands and edits a test runs literally."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from jacquard.machine import paths

HOW_TOS = tuple(sorted(page.stem for page in (paths.ROOT / "docs" / "how-to").glob("*.md")))
"""Pages for single tasks, each of which starts from the region of the tutorial."""
RETIRED_REGION = "retire-a-region"
"""Page that requires a fleet, and refers to the page about tenants."""
LOST_HALL = "survive-the-loss-of-a-hall"
"""Page about hosts without power."""
POWER_RETURNS = "## 5. When the power returns"
"""Heading of the page about a lost hall before which the power returns."""
TWO_REGIONS = """\
schema_version: 1
regions:
  edge-1: {status: open, jurisdictions: [us]}
  edge-2: {status: open, jurisdictions: [us]}
"""
"""Fleet that the page about retired regions starts from."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A command line."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Script:
    """Lines of one shell script."""

    text: str

    def run(self, project: Path, **variables: str) -> None:
        """Run the lines in the folder of a project, with the command of this environment."""
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        person = {f"GIT_{role}_{what}": "a@example" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        environment = {**os.environ, "PATH": path, "PYTHONPATH": str(paths.ROOT), **person, **variables}
        command = ["bash", "-euo", "pipefail", "-c", self.text]
        done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{self.text}\n{done.stdout}{done.stderr}"


@dataclass(frozen=True)
class Edit:
    """One file of a project whose ``old`` lines become ``new``."""

    file: str
    old: str
    new: str

    def apply(self, project: Path) -> None:
        text = (project / self.file).read_text()
        assert self.old in text, f"{self.file} has no {self.old!r}"
        (project / self.file).write_text(text.replace(self.old, self.new))


def steps(page: str) -> list[Command | Edit | Script]:
    """Return the steps of ``docs/PAGE`` in order; blocks in other languages are only examples."""
    return _steps((paths.ROOT / "docs" / page).read_text(encoding="utf-8"))


def lost_hall() -> tuple[list[Command | Edit | Script], list[Command | Edit | Script]]:
    """Return the steps of the page about a lost hall, before and after the power returns."""
    text = (paths.ROOT / "docs" / "how-to" / f"{LOST_HALL}.md").read_text(encoding="utf-8")
    before, heading, after = text.partition(f"{POWER_RETURNS}\n")
    assert heading, f"{LOST_HALL}.md has no heading {POWER_RETURNS!r}"
    return _steps(before), _steps(after)


def _steps(text: str) -> list[Command | Edit | Script]:
    found: list[Command | Edit | Script] = []
    for kind, block in _BLOCK.findall(text):
        match kind:
            case "diff":
                found.append(_edit(block))
            case "bash":
                found.append(Script(block))
            case "":
                found += [Command(tuple(shlex.split(line))) for line in block.splitlines()]
    return found


def retired_region() -> list[Command | Edit | Script]:
    """Return the steps of the page about retired regions, with those of the page about tenants at the link to it."""
    closing, *rest = steps(f"how-to/{RETIRED_REGION}.md")
    return [closing, *steps("how-to/retire-a-tenant.md"), *rest]


def _edit(block: str) -> Edit:
    first, *lines = block.splitlines()
    old, new = ("\n".join(line[1:] for line in lines if line[0] in signs) for signs in ("- ", "+ "))
    return Edit(first.removeprefix("--- "), old, new)
