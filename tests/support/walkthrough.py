"""A page whose commands and edits are run as they stand there."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from jacquard.machine import paths

_BLOCK = re.compile(r"^```(diff)?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Command:
    """A line that is typed."""

    words: tuple[str, ...]


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


def steps(page: str) -> list[Command | Edit]:
    """Return what ``docs/PAGE`` says to do, in order."""
    text = (paths.ROOT / "docs" / page).read_text(encoding="utf-8")
    found: list[Command | Edit] = []
    for kind, block in _BLOCK.findall(text):
        found += [_edit(block)] if kind else [Command(tuple(shlex.split(line))) for line in block.splitlines()]
    return found


def _edit(block: str) -> Edit:
    first, *lines = block.splitlines()
    parts = {sign: "\n".join(line[1:] for line in lines if line[0] == sign) for sign in "-+"}
    return Edit(first.removeprefix("--- "), parts["-"], parts["+"])
