"""Waits until a region is settled, with a timeout."""

from __future__ import annotations

import time
from collections.abc import Callable

from jacquard.observe.region_status import RegionStatus

_POLL_SECONDS = 1.0


def settle(
    look: Callable[[], RegionStatus],
    show: Callable[[RegionStatus], None],
    *,
    polls: int,
    timeout_seconds: float,
    sleep: Callable[[float], None] = time.sleep,
    clock: Callable[[], float] = time.monotonic,
) -> RegionStatus:
    """Poll until the region is settled in ``polls`` consecutive observations, and return the last status.

    One observation is not sufficient after a change: controllers that have not started look like finished controllers.
    """
    deadline = clock() + timeout_seconds
    in_a_row = 0
    while True:
        status = look()
        show(status)
        in_a_row = in_a_row + 1 if status.settled else 0
        if in_a_row >= polls or clock() >= deadline:
            return status
        sleep(_POLL_SECONDS)
