"""Error of the local region."""

from __future__ import annotations


class RehearsalError(Exception):
    """A problem that the user can fix; the text is the complete message."""
