"""Hosts that stand in a rack and take no work. One that is not listed is in production."""

from __future__ import annotations

import datetime as dt
from enum import StrEnum

from pydantic import Field

from components.specs.base import DataFile, Label, Spec, Text

PRODUCTION = "production"
"""State of a host that is not out of service."""


class HostState(StrEnum):
    """Why a host takes no work: on its way to production, or out of it. The words are CoreWeave's."""

    ONBOARD = "onboard"
    """It was put into its rack."""
    SEATRIAL = "seatrial"
    """Cabling, power and inventory are looked at."""
    ZAP = "zap"
    """All its firmware is written."""
    TEST = "test"
    """It is burnt in."""
    TRIAGE = "triage"
    """Something is wrong; nobody knows what."""
    RMA = "rma"
    """Parts go back to the vendor."""
    DEBUG = "debug"
    """Somebody works on it."""
    RESERVED = "reserved"
    """Kept out on purpose: a test, a loan, a move."""


class OutOfServiceSpec(Spec):
    """One host that is out of service."""

    state: HostState
    since: dt.date
    """First day without work."""
    reason: Text
    ticket: Text | None = None

    def __str__(self) -> str:
        """Return all but the state in one line."""
        return f"since {self.since}: {self.reason}" + (f" ({self.ticket})" if self.ticket else "")


class OutOfServiceFile(DataFile):
    """``out_of_service.yaml``; optional. A host that is not listed may work."""

    hosts: dict[Label, OutOfServiceSpec] = Field(default_factory=dict)
    """By name of the host."""
