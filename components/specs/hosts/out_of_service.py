"""Hosts that are out of service. A host that is not listed is in production."""

import datetime as dt
from enum import StrEnum

from pydantic import Field

from components.specs.base import DataFile, Label, Spec, Text

PRODUCTION = "production"
"""State of a host in service."""


class HostState(StrEnum):
    """State of a host that is out of service, before or after production. The names are CoreWeave's."""

    ONBOARD = "onboard"
    """The host has been installed in its rack."""
    SEATRIAL = "seatrial"
    """Cabling, power and inventory of the host are being checked."""
    ZAP = "zap"
    """All firmware of the host is being written."""
    TEST = "test"
    """The host is in burn-in."""
    TRIAGE = "triage"
    """The host has a fault of unknown cause."""
    RMA = "rma"
    """Components of the host are being returned to the vendor."""
    DEBUG = "debug"
    """The host is being debugged."""
    RESERVED = "reserved"
    """The host is reserved for a test, a loan or a relocation."""


class OutOfServiceSpec(Spec):
    """Host that is out of service."""

    state: HostState
    """State of the host, before or after production. The names are CoreWeave's."""
    since: dt.date
    """First day in this state."""
    reason: Text
    """Event or plan that caused the state, for operators."""
    ticket: Text | None = None
    """Number or URL of the ticket with more information; optional."""
    by: Text | None = None
    """Person or group that moved the host to this state. Required if ``host_movers`` of ``policy.yaml`` limits it."""

    def __str__(self) -> str:
        """Return all fields except the state, in one line."""
        return f"since {self.since}: {self.reason}" + (f" ({self.ticket})" if self.ticket else "")


class OutOfServiceFile(DataFile):
    """``out_of_service.yaml``, an optional file. A host that is not listed is in service."""

    hosts: dict[Label, OutOfServiceSpec] = Field(default_factory=dict)
    """Hosts that are out of service, by name of the host."""
