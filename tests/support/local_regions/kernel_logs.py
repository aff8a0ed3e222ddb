"""Faults that tests inject into nodes of a local region as lines of the kernel log."""

from __future__ import annotations

import datetime as dt
from pathlib import Path

from tests.support.local_regions.local_region import LocalRegion

FELL_OFF_THE_BUS = "NVRM: Xid (PCI:0000:1b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."
GSP_TIMEOUT = (
    "NVRM: Xid (PCI:0000:b4:00): 119, pid=1736, name=train, Timeout after 6s of waiting for RPC response from GPU0 GSP!"
)


def kernel_log(region: LocalRegion, cluster: str, node: str) -> Path:
    """Return the file that represents the kernel log of a node since its last boot."""
    return region.home / "regions" / region.environment / "kernel-logs" / cluster / f"{node}.log"


def inject_kernel_log(region: LocalRegion, cluster: str, node: str, line: str) -> None:
    """Append ``line`` to the kernel log of a node."""
    path = kernel_log(region, cluster, node)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as log:
        log.write(f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ} {line}\n")
