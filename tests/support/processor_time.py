"""What code costs, for tests that compare it with a floor of the same run and never with a clock."""

from __future__ import annotations

import time
from collections.abc import Callable


def cost(task: Callable[[], object], *, rounds: int = 3) -> float:
    """Return the processor seconds of ``task``, the least of ``rounds``: other work only ever adds to it."""
    return min(_once(task) for _ in range(rounds))


def _once(task: Callable[[], object]) -> float:
    started = time.process_time()
    task()
    return time.process_time() - started
