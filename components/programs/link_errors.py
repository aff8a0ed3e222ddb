"""Test of a node's fabric ports: all are active, and no error counter changes within a minute.

The program is the test ``links`` of nodes and runs with the standard library only. It reads the files of
``/sys/class/infiniband`` (Linux drivers/infiniband/core/sysfs.c), for InfiniBand and RoCE.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

PORTS = Path("/sys/class/infiniband")
COUNTERS = (
    "symbol_error",
    "link_error_recovery",
    "link_downed",
    "port_rcv_errors",
    "local_link_integrity_errors",
    "excessive_buffer_overrun_errors",
)
_SECONDS = 50.0
_ACTIVE, _ETHERNET = "ACTIVE", "Ethernet"


def counts(root: Path) -> dict[str, int]:
    """Return the error counters of all ports below ``root``, by port and counter, such as ``mlx5_0/1 link_downed``."""
    return {
        f"{port.parents[1].name}/{port.name} {counter}": int(file.read_text())
        for port in sorted(root.glob("*/ports/*"))
        for counter in COUNTERS
        if (file := port / "counters" / counter).exists()
    }


def inactive(root: Path) -> list[str]:
    """Return the InfiniBand ports below ``root`` that are not active, each with its state.

    Ethernet ports are omitted, because the functions of a DPU have no link of their own.
    """
    found = []
    for port in sorted(root.glob("*/ports/*")):
        state = (port / "state").read_text().strip()
        if (port / "link_layer").read_text().strip() != _ETHERNET and not state.endswith(_ACTIVE):
            found.append(f"{port.parents[1].name}/{port.name} is {state}")
    return found


def problems(root: Path, seconds: float) -> list[str]:
    """Return the inactive ports, and the counters that grow within ``seconds``; a node without ports is a problem."""
    before = counts(root)
    if not before:
        return [f"no ports in {root}"]
    time.sleep(seconds)
    after = counts(root)
    grown = [f"{name} grew by {after[name] - count}" for name, count in before.items() if after.get(name, 0) > count]
    return [*inactive(root), *grown]


if __name__ == "__main__":
    sys.exit("; ".join(problems(PORTS, _SECONDS)) or None)
