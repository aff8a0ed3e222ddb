"""The one base of errors whose text is written for the user."""

from __future__ import annotations


class ProviderError(Exception):
    """An error that is shown to the user as its text alone: what happened, the rule, the remedy; no traceback."""
