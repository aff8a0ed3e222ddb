"""Previews missing stacks on a temporary state, without creating these stacks."""

import copy
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from jacquard.engine.driver import Engine, Ready
from jacquard.engine.locks import project
from jacquard.harness import REHEARSAL_PASSPHRASE
from jacquard.machine import paths
from jacquard.machine.files import existing_text

_EMPTY = '{"version": 3, "checkpoint": {"latest": {"manifest": {"time": "2026-01-01T00:00:00Z"}}}}'
"""State of a stack without resources in the file backend; without a manifest, reading the stack's own outputs
(`stacks.provider_record`) makes the engine panic (pulumi 3.259.0, `GetStackResourceOutputs`)."""
_PASSPHRASE, _SALT = ("PULUMI_CONFIG_PASSPHRASE", "PULUMI_CONFIG_PASSPHRASE_FILE"), "encryptionsalt:"


@contextmanager
def previewing(engine: Engine, ready: Ready) -> Iterator[Engine]:
    """Yield the engine that previews a stack after `Engine.look`, until the block ends.

    `pulumi preview` rejects a stack that does not exist, and `pulumi stack init` would create it, with a settings file
    in the data. A missing stack is therefore previewed on an empty temporary state, with a copy of its settings.
    """
    if ready.made:
        yield engine
        return
    with tempfile.TemporaryDirectory(prefix="jacquard-preview-") as folder:
        state = Path(folder) / "state"
        file = state / ".pulumi" / "stacks" / project() / f"{ready.stack}.json"
        file.parent.mkdir(parents=True)
        file.write_text(_EMPTY)
        yield _temporary(engine, ready.stack, state)


def _temporary(engine: Engine, stack: str, state: Path) -> Engine:
    """Return an engine with its state in a temporary folder, and a copy of the stack's settings next to it."""
    settings = paths.project() / paths.DATA / f"Pulumi.{stack}.yaml"
    text = existing_text(settings)
    (copied := state.parent / settings.name).write_text(text, encoding="utf-8")
    temporary = copy.copy(engine)
    temporary.variables = {**engine.variables, "PULUMI_BACKEND_URL": f"file://{state}?metadata=skip"}
    if _SALT not in text and not any(name in temporary.variables for name in _PASSPHRASE):
        temporary.variables[_PASSPHRASE[0]] = REHEARSAL_PASSPHRASE  # a temporary state contains no secret
    temporary.options = (*engine.options, "--config-file", str(copied))
    return temporary
