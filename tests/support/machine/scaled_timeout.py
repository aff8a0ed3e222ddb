"""Timeouts that scale with the load of the machine.

An end-to-end test once timed out at load 16 while 50 others passed: the region was slow, not stuck. A timeout is
therefore given in seconds of an idle machine and elapses more slowly under load.
"""

from __future__ import annotations

import os
import time


def slowdown() -> float:
    """Return the number of runnable processes per processor, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class ScaledTimeout:
    """A timeout that elapses more slowly on a busy machine."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._seen = time.monotonic()

    def is_over(self) -> bool:
        """Return whether the timeout has elapsed; the time since the last call counts at the current load."""
        now = time.monotonic()
        self._left -= (now - self._seen) / slowdown()
        self._seen = now
        return self._left <= 0
