"""Error of this package whose message is written for users."""

from __future__ import annotations


class StackError(Exception):
    """The stack does not match any environment; the message is for users."""
