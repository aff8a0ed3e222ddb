"""How many engines may run at once on this machine, within its memory and its cores."""

from __future__ import annotations

import os
from pathlib import Path

from jacquard.machine import settings

RUN_BYTES = 700 * 1024**2
"""Peak memory of one run: engine, program, policies and plug-ins (measured in docs/contributing/performance.md)."""
_MEMORY = Path("/proc/meminfo")
_AVAILABLE = "MemAvailable:"
_GROUP = Path("/sys/fs/cgroup")


def at_once() -> int:
    """Return how many engines may run at once: as set, or one for each core as far as memory that is free goes.

    Raises:
        SettingError: the setting is no number.
    """
    return settings.parallelism() or max(1, min(_cores(), available_bytes() // RUN_BYTES))


def available_bytes() -> int:
    """Return the memory that processes may still take: of this machine, or of the container that this runs in."""
    return min(_of_machine(), _of_container())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _of_machine() -> int:
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:  # no Linux: all of it, since nothing says what is free
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    [kibibytes] = (line.split()[1] for line in lines if line.startswith(_AVAILABLE))
    return int(kibibytes) * 1024


def _of_container() -> int:
    """Return what is left of the limit that a container has (cgroup v2); what the machine has where there is none."""
    try:
        limit, used = ((_GROUP / f"memory.{name}").read_text(encoding="ascii") for name in ("max", "current"))
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return _of_machine()
