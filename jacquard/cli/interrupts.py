"""Handling of Ctrl-C without tracebacks: a running command gets KeyboardInterrupt; otherwise the process exits.

By default, Python raises KeyboardInterrupt at the current position of the program. While modules load, the exception is
lost or wrapped in another exception; before and after a command, nothing catches the exception. If the process ignores
SIGINT, as in a background job of a shell, it continues to ignore SIGINT.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

_Handler = Callable[..., object]

EXIT_CODE = 130
"""Exit code of a program that was terminated by SIGINT, as shells report it."""


def end_at_once() -> None:
    """Make Ctrl-C exit this process silently from now on."""
    _swap(signal.default_int_handler, _end)


def ended_at_once() -> AbstractContextManager[None]:
    """Return a context in which Ctrl-C exits the process instead of raising KeyboardInterrupt."""
    return _swapped(signal.default_int_handler, _end)


def raised() -> AbstractContextManager[None]:
    """Return a context in which Ctrl-C raises KeyboardInterrupt instead of exiting the process."""
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
