"""Who works on an environment: our own lock, and the locks that the engine leaves in a file backend.

Ours is held by the kernel for as long as the process lives, so it can never be stale. The engine's is a file that
outlives a killed engine; one whose process is gone from this machine is removed, any other is respected.
"""

from __future__ import annotations

import datetime as dt
import json
import os
import re
import socket
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from jacquard.engine.errors import EngineError
from jacquard.machine import paths
from jacquard.machine.lock import locked

PROJECT = "jacquard"
"""Name of the project whose ``Pulumi.yaml`` says none that can be read; `pulumi` tells what is wrong with it."""
_NAME = re.compile(r"""^name:\s*["']?([\w.-]+)""", re.MULTILINE)
_PROCESSES = Path("/proc")
_ENDED = "Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """Who holds a lock, and where it is written."""

    pid: int
    user: str
    host: str
    since: dt.datetime
    file: Path

    @property
    def gone(self) -> bool:
        """Tell whether the process is certain to be gone: this machine, and no such engine runs."""
        return self.host == socket.gethostname() and not _runs_engine(self.pid)

    def __str__(self) -> str:
        """Return who, where and since when."""
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since.astimezone():%Y-%m-%d %H:%M:%S}"


def exclusively(environment: str, verb: str) -> AbstractContextManager[object]:
    """Hold the environment for one command of this project.

    Raises:
        EngineError: another command holds it; says which, who and since when.
    """

    def refusal(holder: str) -> EngineError:
        who = holder or "a process that has just begun"
        return EngineError(f"{environment}: another command works on it: {who}; wait for its end and run this again")

    now = dt.datetime.now().astimezone()
    owner = f"jacquard {verb}, process {os.getpid()} on {socket.gethostname()}, since {now:%Y-%m-%d %H:%M:%S}"
    return locked(paths.home() / "locks" / f"{environment}.lock", owner, refusal=refusal)


def engine_locks(state: Path, stack: str) -> list[Holder]:
    """Return the engine's locks of ``stack`` in the file backend at ``state``, oldest first."""
    folder = state / ".pulumi" / "locks" / "organization" / project() / stack
    holders = []
    for file in sorted(folder.glob("*.json")):
        try:
            content = json.loads(file.read_bytes())
            since = dt.datetime.fromisoformat(content["timestamp"])
            holders.append(
                Holder(
                    pid=int(content["pid"]), user=content["username"], host=content["hostname"], since=since, file=file
                )
            )
        except FileNotFoundError:
            continue  # released since the listing
        except (ValueError, KeyError):
            msg = f"{file}: is no lock that the engine writes; look whether 'pulumi' runs, then delete the file"
            raise EngineError(msg) from None
    return sorted(holders, key=lambda holder: holder.since)


def project() -> str:
    """Return the name of the project, by which the engine keeps its stacks and locks apart from those of others."""
    found = _NAME.search((paths.project() / paths.PROJECT_FILE).read_text(encoding="utf-8", errors="replace"))
    return found[1] if found else PROJECT


def free(state: Path, stack: str) -> list[Holder]:
    """Remove the engine's stale locks of ``stack`` and return their holders.

    Raises:
        EngineError: a lock is held by a living process, or by one of another machine that cannot be looked at.
    """
    stale = []
    for holder in engine_locks(state, stack):
        if not holder.gone:
            raise EngineError(_refusal(stack, holder))
        for file in (holder.file, holder.file.with_name(f"{holder.file.name}.attrs")):
            file.unlink(missing_ok=True)
        stale.append(holder)
    return stale


def _refusal(stack: str, holder: Holder) -> str:
    if holder.host == socket.gethostname():
        remedy = "wait for its end, or stop it with Ctrl-C where it runs, and run this again"
    else:
        remedy = f"wait for its end; when that machine is gone for good, 'pulumi cancel -s {stack}' removes the lock"
    return f"{stack}: another operation holds the stack's lock: {holder}; {remedy}"


def _runs_engine(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # A process number is given out again: only a `pulumi` can be the one that wrote the lock.
        program = (_PROCESSES / str(pid) / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
        state = (_PROCESSES / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return True
    # A process has no command line when it has ended and nobody asked how, or when it only just begins.
    return Path(program).name.startswith("pulumi") if program else state != _ENDED
