"""Error of this package with a message for users."""

from __future__ import annotations


class StackError(Exception):
    """The stack matches no environment; the message is for users."""
