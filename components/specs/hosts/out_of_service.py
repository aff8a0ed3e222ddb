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
    """The host was put into its rack."""
    SEATRIAL = "seatrial"
    """Cabling, power and inventory of the host are looked at."""
    ZAP = "zap"
    """All firmware of the host is written."""
    TEST = "test"
    """The host is burnt in."""
    TRIAGE = "triage"
    """Something is wrong with the host, and nobody knows what."""
    RMA = "rma"
    """Parts of the host go back to the vendor."""
    DEBUG = "debug"
    """Somebody works on the host."""
    RESERVED = "reserved"
    """The host is kept out on purpose, for a test, a loan or a move."""


class OutOfServiceSpec(Spec):
    """One host that is out of service."""

    state: HostState
    """Why the host takes no work: on its way to production, or out of it. The words are CoreWeave's."""
    since: dt.date
    """First day without work."""
    reason: Text
    """What happened or is planned, for people."""
    ticket: Text | None = None
    """Number or URL of the ticket that tells more, if there is one."""

    def __str__(self) -> str:
        """Return all but the state in one line."""
        return f"since {self.since}: {self.reason}" + (f" ({self.ticket})" if self.ticket else "")


class OutOfServiceFile(DataFile):
    """``out_of_service.yaml``, an optional file. A host that is not listed may work."""

    hosts: dict[Label, OutOfServiceSpec] = Field(default_factory=dict)
    """Hosts that are out of service, by name of the host."""
