"""Whether this command is asked to end while engines run, by Ctrl-C or a signal; each is told, and ends in order.

Signals come to a process, and its main thread alone hears them, whichever thread runs an engine: so there is one of
this for all.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from jacquard.engine.errors import EngineStopped


class Asked:
    """How often this process was asked to end while it listened."""

    def __init__(self) -> None:
        self._listening = False
        self._times = 0
        self._unheard = 0

    @property
    def to_pass_on(self) -> int:
        """Return how many times an engine that runs has to be told: all but the terminal's Ctrl-C, which it hears."""
        return self._unheard

    def __bool__(self) -> bool:
        """Tell whether this process was asked to end."""
        return self._times > 0

    @contextmanager
    def listened(self, stopping: Callable[[], None] = lambda: None) -> Iterator[None]:
        """Listen while the block runs, and call ``stopping`` once this process is asked to end.

        A block within a block, and one of another thread than the main one, leave it to whoever listens.
        """
        if self._listening or threading.current_thread() is not threading.main_thread():
            yield
            return

        def hear(number: int, _frame: Any) -> None:
            self._times += 1
            # A second signal would end an engine in disorder.
            if number != signal.SIGINT or not _from_terminal():
                self._unheard += 1
            if self._times == 1:
                stopping()

        self._listening, self._times, self._unheard = True, 0, 0
        before = {number: signal.signal(number, hear) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            self._listening, self._times = False, 0
            for number, handler in before.items():
                signal.signal(number, handler)

    def pass_by(self, what: str) -> None:
        """Pass when nobody asked.

        Raises:
            EngineStopped: somebody did.
        """
        if self:
            msg = f"{what} was stopped; what was done is recorded, the same command goes on from there"
            raise EngineStopped(msg)


asked = Asked()
"""What this process was asked."""


def _from_terminal() -> bool:
    try:
        return os.tcgetpgrp(sys.stdin.fileno()) == os.getpgrp()
    except (OSError, ValueError):
        return False
