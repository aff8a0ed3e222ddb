"""A previewed change of a repository of regions, applied by ``jacquard up --preview``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from tests.support.data.repositories import COMMIT, git

Invoke = Callable[..., Result]
APPLIED = 3
"""Expected exit code of an ``up`` that waits for nodes, which the local region does not replace."""
MADE_AT = "2026-11-22T12:00:00+00:00"
LATER = "2026-11-22T18:00:00+00:00"
STATE = {
    "version": 3,
    "deployment": {
        "manifest": {"time": "2026-11-01"},
        "resources": [{"type": "pulumi:pulumi:Stack", "inputs": {"x": 1}}],
    },
}


def commit(folder: Path, *more: str) -> str:
    """Commit all of ``folder`` with further paragraphs ``more``, and return the commit hash."""
    git(folder, "add", "."), git(folder, *COMMIT, *(word for text in more for word in ("-m", text)))
    return git(folder, "rev-parse", "HEAD")


class Change:
    """A previewed change of a repository, and the command that applies it."""

    def __init__(self, data: Path, folder: Path, invoke: Invoke, pulumi: Any, clock: pytest.MonkeyPatch) -> None:
        self.clock = clock
        self.data = data
        self.folder = folder
        self.invoke = invoke
        self.pulumi = pulumi
        self.base = commit(data.parent)
        invoke("promote", "laptop", "acme-train/train", "--to", "gpu-2026.11.1", "--all")
        assert invoke("approve", "laptop", "acme", "--by", "Ann").exit_code == 0
        self.head = commit(data.parent)

    def preview(self, key: Path | None = None) -> Path:
        """Preview the change, and return the plan statement."""
        self.clock.setenv("JACQUARD_NOW", MADE_AT)
        options = ("--sign", str(key)) if key else ()
        result = self.invoke("preview", "laptop", "--base", self.base, "--out", str(self.folder), *options)
        self.clock.setenv("JACQUARD_NOW", LATER)
        assert result.exit_code == 0, result.output
        (self.pulumi.folder / "calls").unlink(missing_ok=True)
        return self.folder / "attestation.json"

    def up(self, *options: str) -> Result:
        return self.invoke("up", "laptop", "--timeout", "0", "--preview", str(self.folder), *options)

    def refusal(self, *reasons: str, stale: bool = True) -> tuple[int, str]:
        """Return the outcome of an ``up`` that is rejected for ``reasons``."""
        again = [f"preview again with: jacquard preview laptop --base {self.base[:12]} --out {self.folder}"]
        headline = f"refused: laptop: differs from the preview in {self.folder}, nothing was applied"
        return 4, "".join(f"{line}\n" for line in (headline, *(f"  {one}" for one in (*reasons, *again * stale))))

    def refused(self) -> tuple[int, str]:
        result = self.up()
        assert [call for call in self.pulumi.calls if call[0] in ("up", "preview", "refresh")] == []
        return result.exit_code, result.stderr

    def write(self, file: str, text: str) -> None:
        path = self.data / file
        path.write_text((path.read_text(encoding="utf-8") if path.exists() else "") + text, encoding="utf-8")
