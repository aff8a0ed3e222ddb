"""Processes of a region, identified by their command line instead of pid files.

Each program of a region is started through a path inside the region's folder, so that the process table of the
operating system identifies its parts. A pid file can be lost in a crash, which orphans the process; or the pid can be
reused by another program, which would be killed.
"""

import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.rehearsal.errors import RehearsalError

PROC = Path("/proc")
OPERATORS, MONITORING = "jacquard.lab.rehearsal.operators", "jacquard.lab.rehearsal.monitoring"
"""Modules of the parts that are Python programs, which are identified by their arguments."""
_GONE_SECONDS = 10.0
_EXEC_SECONDS = 1.0
_KERNEL_THREAD = 0x00200000
_FLAGS, _START_TIME = 6, 19
"""Field numbers in /proc/PID/stat, counted after the closing bracket of the command."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running process. ``started`` distinguishes it from a later process with the same pid."""

    part: str
    pid: int
    started: str
    arguments: tuple[str, ...]

    def alive(self) -> bool:
        """Return whether this process still runs."""
        return _started(self.pid) == self.started

    def since(self) -> float | None:
        """Return the start time in seconds since the epoch, or None if the operating system does not report it."""
        if not self.started.isdigit():
            return None
        boot = next(line for line in (PROC / "stat").read_text().splitlines() if line.startswith("btime "))
        return int(boot.split()[1]) + int(self.started) / os.sysconf("SC_CLK_TCK")


def running(folder: Path) -> list[Process]:
    """Return all processes of the region in ``folder``, including its clusters, sorted by part."""
    processes = []
    for pid, arguments in _table():
        part = part_of(arguments, folder)
        if part and (started := _started(pid)):
            processes.append(Process(part, pid, started, tuple(arguments)))
    return sorted(processes, key=lambda process: (process.part, process.pid))


def part_of(arguments: Sequence[str], folder: Path) -> str | None:
    """Return the part of the region in ``folder`` that a command line runs, or None.

    ``FOLDER/kwok/clusters/CLUSTER/bin/PROGRAM`` is ``CLUSTER/PROGRAM`` and ``FOLDER/bin/PROGRAM`` is ``PROGRAM``.
    """
    # Most processes are not of this region; a comparison of texts is much faster than one of paths.
    if not arguments or (str(folder) not in arguments[0] and str(folder) != arguments[-1]):
        return None
    for module in (OPERATORS, MONITORING):
        if module in arguments and arguments[-1] == str(folder):
            return name_of(module)
    program = Path(arguments[0])
    if program.parent.name != "bin" or not program.is_relative_to(folder):
        return None
    cluster = program.parent.parent
    return program.name if cluster == folder else f"{cluster.name}/{program.name}"


def name_of(module: str) -> str:
    """Return the part that a module is."""
    return module.rpartition(".")[2]


def launch(arguments: Sequence[str], *, log: Path, environment: Mapping[str, str], folder: Path) -> None:
    """Start a program that keeps running after this one, and append its output to ``log``."""
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("ab") as output:
        child = subprocess.Popen(
            list(arguments),
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            env=dict(environment),
            cwd=folder,
            start_new_session=True,
        )
    # The child keeps running intentionally; without a return code, the destructor of Popen would warn.
    child.returncode = 0


def kill(processes: Iterable[Process]) -> None:
    """Kill processes and wait until they have ended.

    Unsaved data of these processes is either not needed or safe in etcd's log.

    Raises:
        RehearsalError: A process has not ended in time.
    """
    waiting = list(processes)
    for process in waiting:
        if process.alive():
            with contextlib.suppress(ProcessLookupError):  # the process has ended by itself
                os.kill(process.pid, signal.SIGKILL)
    end = time.monotonic() + _GONE_SECONDS
    while waiting := [process for process in waiting if process.alive()]:
        if time.monotonic() > end:
            names = ", ".join(f"{process.part} (process {process.pid})" for process in waiting)
            msg = f"{names}: still running {_GONE_SECONDS:g} s after SIGKILL; check for a stuck disk, then try again"
            raise RehearsalError(msg)
        time.sleep(0.02)


def _table() -> Iterator[tuple[int, list[str]]]:
    if not PROC.joinpath("self").exists():
        listing = subprocess.run(["ps", "-axwwo", "pid=,args="], capture_output=True, text=True, check=True).stdout
        for line in listing.splitlines():
            pid, _, command = line.strip().partition(" ")
            yield int(pid), command.split()
        return
    for name in os.listdir(PROC):  # noqa: PTH208 - the operators read the table in each round, and paths are slow
        if name.isdigit():
            yield int(name), _command_line(f"{PROC}/{name}")


def _command_line(entry: str) -> list[str]:
    """Return the arguments of a process; empty for ended processes and kernel threads.

    A starting program has no arguments for a moment, but must not count as ended.
    """
    end = time.monotonic() + _EXEC_SECONDS
    try:
        while not (command_line := _read(f"{entry}/cmdline")) and time.monotonic() < end:
            fields = _read(f"{entry}/stat").rpartition(b")")[2].split()
            if fields[0] in b"ZX" or int(fields[_FLAGS]) & _KERNEL_THREAD:
                break
            time.sleep(0.001)
    except OSError:
        return []
    return os.fsdecode(command_line).rstrip("\0").split("\0")


def _read(path: str) -> bytes:
    with open(path, "rb", buffering=0) as file:  # noqa: PTH123 - see `_table`
        return file.read()


def _started(pid: int) -> str | None:
    """Return the start time of a process, or None if it has ended or is a zombie."""
    if not PROC.joinpath("self").exists():
        answer = subprocess.run(
            ["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
        )
        state, _, started = answer.stdout.strip().partition(" ")
        return started.strip() if state and not state.startswith("Z") else None
    try:
        fields = (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else fields[_START_TIME]
