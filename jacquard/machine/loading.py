"""Loading modules without the collector of garbage, which finds none there and takes a third of the time."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collector() -> Iterator[None]:
    """Keep the collector off until the end of the block, and from then on away from what was loaded in it."""
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()
