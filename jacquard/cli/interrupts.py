"""What Ctrl-C does: a command under way is told, anything else ends at once; never with a traceback.

Python's own answer is an exception wherever the program happens to be. While modules load it is lost or wrapped in
another, and before and after a command nobody catches it. Where SIGINT is ignored, as in a shell's background job, it
stays ignored.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

_Handler = Callable[..., object]

EXIT_CODE = 130
"""What a shell says of a program that Ctrl-C ended."""


def end_at_once() -> None:
    """Let Ctrl-C end this process without a word from now on."""
    _swap(signal.default_int_handler, _end)


def ended_at_once() -> AbstractContextManager[None]:
    """Return where Ctrl-C ends a process at once in which it else raises KeyboardInterrupt."""
    return _swapped(signal.default_int_handler, _end)


def raised() -> AbstractContextManager[None]:
    """Return where Ctrl-C raises KeyboardInterrupt in a process that it else ends at once."""
    return _swapped(_end, signal.default_int_handler)


def _end(*_: object) -> None:
    os._exit(EXIT_CODE)


@contextmanager
def _swapped(usual: _Handler, within: _Handler) -> Iterator[None]:
    swapped = _swap(usual, within)
    try:
        yield
    finally:
        if swapped:
            _swap(within, usual)


def _swap(old: _Handler, new: _Handler) -> bool:
    if signal.getsignal(signal.SIGINT) is not old:
        return False
    signal.signal(signal.SIGINT, new)
    return True
