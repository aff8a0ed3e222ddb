"""Kinds of provider plug-ins: values shared by settings, records and options."""

from enum import StrEnum


class Kind(StrEnum):
    """Kind of provider plug-ins."""

    VENDOR = "vendor"
    STAND_IN = "stand-in"

    @property
    def display_name(self) -> str:
        """Return the name of the plug-ins in messages."""
        return "the vendor's plug-ins" if self is Kind.VENDOR else "the stand-ins"
