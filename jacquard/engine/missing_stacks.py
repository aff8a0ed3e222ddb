"""Previews of stacks that nobody made, and that nobody has made by them: over a state that ends with the preview."""

from __future__ import annotations

import copy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jacquard.engine.driver import Engine, Ready
from jacquard.engine.locks import project
from jacquard.harness import REHEARSAL_PASSPHRASE
from jacquard.machine import paths

_EMPTY = '{"version": 3, "checkpoint": {"latest": {"manifest": {"time": "2026-01-01T00:00:00Z"}}}}'
"""A stack without resources, as the engine's file backend keeps it; without a manifest the program's own look at its
state (`stacks.provider_record`) ends the engine in a panic (pulumi 3.259.0, `GetStackResourceOutputs`)."""
_PASSPHRASE, _SALT = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"), "encryptionsalt:"


@contextmanager
def previewing(engine: Engine, ready: Ready) -> Iterator[Engine]:
    """Give the engine that previews a stack, after a look at it, until the block ends.

    `pulumi preview` refuses a stack that is not there, and `pulumi stack init` would leave it, and a file of settings
    among the data. So one that is not there is previewed over an empty state elsewhere, by a copy of its settings.
    """
    if ready.made:
        yield engine
        return
    with tempfile.TemporaryDirectory(prefix="jacquard-preview-") as folder:
        state = Path(folder) / "state"
        file = state / ".pulumi" / "stacks" / project() / f"{ready.stack}.json"
        file.parent.mkdir(parents=True)
        file.write_text(_EMPTY)
        yield _aside(engine, ready.stack, state)


def _aside(engine: Engine, stack: str, state: Path) -> Engine:
    """Return an engine that keeps its state in a folder, and the stack's settings beside that."""
    settings = paths.project() / paths.DATA / f"Pulumi.{stack}.yaml"
    text = settings.read_text(encoding="utf-8") if settings.exists() else ""
    (copied := state.parent / settings.name).write_text(text, encoding="utf-8")
    found = copy.copy(engine)
    found.variables = {**engine.variables, "PULUMI_BACKEND_URL": f"file://{state}?metadata=skip"}
    if _SALT not in text and not any(name in found.variables for name in _PASSPHRASE):
        found.variables[_PASSPHRASE[0]] = REHEARSAL_PASSPHRASE  # a state that ends with the preview keeps no secret
    found.options = (*engine.options, "--config-file", str(copied))
    return found
