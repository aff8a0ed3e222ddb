"""States that the engine cannot read, such as truncated files, and the copies that replace them."""

import re
import shlex
from pathlib import Path

from jacquard.engine.locks import project
from jacquard.engine.state_files import file_of, last_copy

_UNREADABLE = re.compile(
    r"(?:failed to load checkpoint: |cannot be listed: )(?:place \d+: )?"
    r"(?P<reason>unexpected end of JSON input|invalid character .*|json: .*)"
)
"""Reason in the engine's message about a state that is no JSON of a checkpoint (pulumi:pkg/backend/diy/state.go)."""


def reported(stack: str, message: str, backend: str, folder: Path | None) -> str | None:
    """Return the error about a damaged state of ``stack``, with a remedy; None if ``message`` reports another failure.

    The engine keeps a copy of each state from before its last write, in a file or object beside it, and backups from
    the end of each operation. ``folder`` is the folder of a file backend, None for any other ``backend``. Objects that
    the copy lacks are adopted by the next ``up``.
    """
    found = _UNREADABLE.search(message)
    if found is None:
        return None
    environment, name = stack.partition(".")[0], f".pulumi/stacks/{project()}/{stack}.json"
    if folder is None:
        remedy = f"copy {name}.bak over {name} in {backend}, or restore an earlier version of the latter"
    elif copy := last_copy(folder, stack):
        source = "copy from before the last write" if copy.suffix == ".bak" else "last complete backup"
        remedy = f"restore the {source} with '{shlex.join(['cp', str(copy), str(file_of(folder, stack))])}'"
    else:
        remedy = f"remove it with '{shlex.join(['rm', str(file_of(folder, stack))])}', because it has no complete copy"
    return (
        f"{stack}: its state is damaged ({found['reason'].strip()}), and nothing was changed; {remedy}, then run"
        f" 'jacquard up {environment}', which adopts objects that the state lacks"
    )


def listing(environment: str, message: str) -> str | None:
    """Return the error about a damaged state that is found by a listing, which does not name it; None otherwise."""
    found = _UNREADABLE.search(message)
    if found is None:
        return None
    return (
        f"the stacks cannot be listed, because a state is damaged ({found['reason'].strip()});"
        f" 'jacquard preview {environment}' names it, with a remedy"
    )
