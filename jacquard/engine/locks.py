"""Locks of an environment: Jacquard's lock, and the locks of the engine in a file backend.

The kernel holds Jacquard's lock for the lifetime of the process, so it is never stale. The engine's lock is a file that
outlives a killed engine. Locks of processes that no longer run on this machine are removed; others are respected.
"""

import datetime as dt
import json
import os
import re
import socket
from contextlib import AbstractContextManager
from pathlib import Path

from components.specs.struct import Struct
from jacquard.engine.errors import EngineError
from jacquard.machine import paths
from jacquard.machine.lock import locked

PROJECT = "jacquard"
"""Default project name if ``Pulumi.yaml`` contains no readable name; `pulumi` reports the error."""
_NAME = re.compile(r"""^name:\s*["']?([\w.-]+)""", re.MULTILINE)
_REPORTED = re.compile(
    r"^ {2}\S+: created by (?P<user>.*)@(?P<host>\S*) \(pid (?P<pid>\d+)\) at (?P<since>\S+)$", re.MULTILINE
)
"""Line of a lock in the engine's message about a locked stack (pulumi:pkg/backend/diy/lock.go, checkForLock)."""
_LOCKED = "the stack is currently locked by "
_PROCESSES = Path("/proc")
_ENDED = "Z"


class Holder(Struct):
    """Holder of a lock, and the file of the lock in a file backend."""

    pid: int
    user: str
    host: str
    since: dt.datetime
    file: Path | None = None

    @property
    def gone(self) -> bool:
        """Return whether the process has certainly ended: it ran on this machine, where no engine has its number."""
        return self.host == socket.gethostname() and not _runs_engine(self.pid)

    def __str__(self) -> str:
        """Return the process, user, host and start time."""
        return f"process {self.pid} of {self.user} on {self.host}, since {self.since.astimezone():%Y-%m-%d %H:%M:%S}"


def exclusively(environment: str, verb: str) -> AbstractContextManager[object]:
    """Lock the environment for a command of this project.

    Raises:
        EngineError: another command has the lock; the message contains its verb, process and start time.
    """

    def refusal(holder: str) -> EngineError:
        process = holder or "a process that has just started"
        msg = f"{environment}: locked by another command: {process}; wait for its end, then run this again"
        return EngineError(msg)

    now = dt.datetime.now().astimezone()
    owner = f"jacquard {verb}, process {os.getpid()} on {socket.gethostname()}, since {now:%Y-%m-%d %H:%M:%S}"
    return locked(paths.home() / "locks" / f"{environment}.lock", owner, refusal=refusal)


def engine_locks(state: Path, stack: str) -> list[Holder]:
    """Return the engine's locks of ``stack`` in the file backend at ``state``, oldest first."""
    holders = []
    for file in sorted(lock_folder(state, stack).glob("*.json")):
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
            msg = f"{file}: is not a lock of the engine; check that no 'pulumi' runs, then delete the file"
            raise EngineError(msg) from None
    return sorted(holders, key=lambda holder: holder.since)


def lock_folder(state: Path, stack: str) -> Path:
    """Return the folder of the engine's locks of ``stack`` in the file backend at ``state``."""
    return state / ".pulumi" / "locks" / "organization" / project() / stack


def project() -> str:
    """Return the name of the project; the engine stores stacks and locks under this name."""
    match = _NAME.search((paths.project() / paths.PROJECT_FILE).read_text(encoding="utf-8", errors="replace"))
    return match[1] if match else PROJECT


def free(state: Path, stack: str) -> list[Holder]:
    """Remove the engine's stale locks of ``stack`` and return their holders.

    Raises:
        EngineError: a running process has the lock, or a process of another machine, which cannot be checked.
    """
    stale = []
    for holder in engine_locks(state, stack):
        if not holder.gone:
            raise EngineError(_refusal(stack, holder))
        if holder.file is not None:
            for file in (holder.file, holder.file.with_name(f"{holder.file.name}.attrs")):
                file.unlink(missing_ok=True)
        stale.append(holder)
    return stale


def reported(stack: str, message: str) -> str | None:
    """Return the holder of the lock of ``stack`` and a remedy, from the engine's ``message``; None without a lock.

    Backends other than files are read by the engine alone, which reports the lock when it starts an operation.
    """
    found = _REPORTED.search(message) if _LOCKED in message else None
    if found is None:
        return None
    since = dt.datetime.fromisoformat(found["since"])
    return _refusal(stack, Holder(pid=int(found["pid"]), user=found["user"], host=found["host"], since=since))


def _refusal(stack: str, holder: Holder) -> str:
    if holder.host == socket.gethostname() and not holder.gone:
        remedy = "wait until it ends, or stop it with Ctrl-C where it runs, then run this again"
    else:
        environment, what = stack.partition(".")[0], "process" if holder.host == socket.gethostname() else "machine"
        remedy = (
            f"wait until it ends; if that {what} no longer exists, remove the lock with "
            f"'eval \"$(jacquard env {environment})\" && pulumi cancel -s {stack}'"
        )
    return f"{stack}: locked by another operation: {holder}; {remedy}"


def _runs_engine(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    try:
        # Process IDs are reused, and only a `pulumi` process can have written the lock.
        program = (_PROCESSES / str(pid) / "cmdline").read_bytes().split(b"\0")[0].decode(errors="replace")
        state = (_PROCESSES / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()[0]
    except OSError:
        return True
    # The command line is empty for a zombie process and for a process that has just started.
    return Path(program).name.startswith("pulumi") if program else state != _ENDED
