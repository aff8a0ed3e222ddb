"""Bounds on what tests wait for, in seconds of a machine that does nothing else.

An end-to-end test once gave up at load 16 where 50 others passed: the region was slow, not stuck. So a bound is spent
as fast as the machine has processors for those who want one.
"""

from __future__ import annotations

import os
import time


def slowdown() -> float:
    """Return how many want each processor at this moment, at least 1."""
    return max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


class Patience:
    """A bound that is spent as time goes by: the slower, the busier the machine."""

    def __init__(self, seconds: float) -> None:
        self._left = seconds
        self._seen = time.monotonic()

    def is_over(self) -> bool:
        """Tell whether the bound is spent; what was waited since the last look counts at the load of now."""
        now = time.monotonic()
        self._left -= (now - self._seen) / slowdown()
        self._seen = now
        return self._left <= 0
