"""The one error of the toolchain."""

from __future__ import annotations


class ToolchainError(Exception):
    """Something the user can put right; the text is the whole message, several problems on several lines."""
