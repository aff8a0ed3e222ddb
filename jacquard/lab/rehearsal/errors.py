"""The one error of the local region."""

from __future__ import annotations


class RehearsalError(Exception):
    """Something the user can put right; the text is the whole message."""
