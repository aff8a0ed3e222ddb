"""Processor time of code, for comparison with a baseline of the same run instead of an absolute limit."""

from __future__ import annotations

import time
from collections.abc import Callable


def cost(task: Callable[[], object], *, rounds: int = 3) -> float:
    """Return the processor seconds of ``task``, the minimum of ``rounds``, since other load only increases it."""
    return min(_once(task) for _ in range(rounds))


def _once(task: Callable[[], object]) -> float:
    started = time.process_time()
    task()
    return time.process_time() - started
