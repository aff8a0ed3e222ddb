"""The error of this package whose text is written for the user."""

from __future__ import annotations


class StackError(Exception):
    """A stack that no environment has; its text is for the user."""
