"""Limits the number of parallel engines by the memory and cores of this machine."""

import os
from pathlib import Path

from jacquard.machine import settings

RUN_BYTES = 700 * 1024**2
"""Peak memory of one run: engine, program, policies and plug-ins (measured in docs/contributing/performance.md)."""
_MEMORY = Path("/proc/meminfo")
_AVAILABLE = "MemAvailable:"
_GROUP = Path("/sys/fs/cgroup")


def at_once() -> int:
    """Return the maximum number of parallel engines: the setting, or one per core within available memory.

    Raises:
        SettingError: the setting is not a number.
    """
    return settings.parallelism() or max(1, min(_cores(), available_bytes() // RUN_BYTES))


def available_bytes() -> int:
    """Return the available memory of this machine, or of its container."""
    return min(_of_machine(), _of_container())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _of_machine() -> int:
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:  # not Linux: use the total memory, because the available memory is unknown
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    [kibibytes] = (line.split()[1] for line in lines if line.startswith(_AVAILABLE))
    return int(kibibytes) * 1024


def _of_container() -> int:
    """Return the unused part of the container's memory limit (cgroup v2), or the machine's available memory."""
    try:
        limit, used = ((_GROUP / f"memory.{name}").read_text(encoding="ascii") for name in ("max", "current"))
        return max(0, int(limit) - int(used))
    except (OSError, ValueError):
        return _of_machine()
