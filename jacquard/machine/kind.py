"""Whose plug-ins pulumi runs with: words that settings, records and options share."""

from __future__ import annotations

from enum import StrEnum


class Kind(StrEnum):
    """Whose plug-ins."""

    VENDOR = "vendor"
    STAND_IN = "stand-in"

    @property
    def words(self) -> str:
        """Return what messages call them."""
        return "the vendor's plug-ins" if self is Kind.VENDOR else "the stand-ins"
