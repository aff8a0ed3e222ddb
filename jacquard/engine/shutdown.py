"""Forwards stop requests (Ctrl-C and signals) to running engines, so that each engine exits cleanly.

A process has a single instance, because all signals arrive in the main thread, whichever thread runs an engine.
"""

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jacquard.engine.errors import EngineStopped


class Asked:
    """Number of stop requests to this process while it listened."""

    def __init__(self) -> None:
        self._listening = False
        self._times = 0
        self._to_forward = 0

    @property
    def to_pass_on(self) -> int:
        """Return the number of requests to forward to a running engine; Ctrl-C reaches engines directly."""
        return self._to_forward

    def __bool__(self) -> bool:
        """Return whether this process was asked to stop."""
        return self._times > 0

    @contextmanager
    def listened(self, stopping: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Handle signals while the block runs, and call ``stopping`` at the first stop request.

        Nested blocks, and blocks in other threads than the main thread, leave the signals to the active handler.
        """
        if self._listening or threading.current_thread() is not threading.main_thread():
            yield
            return

        def hear(number: int, _frame: Any) -> None:
            self._times += 1
            # The terminal also signals the engine; a second signal would stop the engine without a clean exit.
            if number != signal.SIGINT or not _from_terminal():
                self._to_forward += 1
            if self._times == 1:
                stopping()

        self._listening, self._times, self._to_forward = True, 0, 0
        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            self._listening, self._times = False, 0
            for number, handler in before.items():
                signal.signal(number, handler)

    def pass_by(self, what: str) -> None:
        """Return if no stop was requested.

        Raises:
            EngineStopped: a stop was requested.
        """
        if self:
            msg = f"{what} was stopped; finished changes are recorded, run the same command again to continue"
            raise EngineStopped(msg)


asked = Asked()
"""Stop requests of this process."""


def _from_terminal() -> bool:
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
