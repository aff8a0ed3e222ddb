"""Table of host states: allowed transitions, deadlines, required test reports, and statuses in NetBox.

The rows are the YAML file next to this module. ``production`` is a row too, although no data file contains it: a host
that is not listed in ``out_of_service.yaml`` is in production.
"""

import datetime as dt
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import Field

from components.lookups.table_files import shipped_files, table_files
from components.specs.base import CheckedSpec, ConstraintViolation, DataFile
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import PRODUCTION
from components.specs.reading.problems import Problem, SpecError, listed

FOLDER = Path(__file__).parent


class LifecycleState(StrEnum):
    """State of a host: production, or a state out of service."""

    ONBOARD = "onboard"
    SEATRIAL = "seatrial"
    ZAP = "zap"
    TEST = "test"
    PRODUCTION = PRODUCTION
    TRIAGE = "triage"
    RMA = "rma"
    DEBUG = "debug"
    RESERVED = "reserved"


class NetBoxStatus(StrEnum):
    """Status of a device in NetBox (netbox-community/netbox:netbox/dcim/choices.py)."""

    OFFLINE = "offline"
    ACTIVE = "active"
    PLANNED = "planned"
    STAGED = "staged"
    FAILED = "failed"
    INVENTORY = "inventory"
    DECOMMISSIONING = "decommissioning"


class StateRow(CheckedSpec):
    """One state of the life cycle."""

    meaning: str
    """Description of hosts in this state."""
    entry: str
    """Condition under which a host enters the state; part of the message about a refused transition."""
    next: tuple[LifecycleState, ...] = Field(min_length=2)
    """States that may follow, the usual one first."""
    deadline_hours: int | None = Field(default=None, ge=1)
    """Hours after which ``jacquard check`` advises to move the host on; None without a limit."""
    deadline_reason: str | None = None
    """Source or reason of the deadline."""
    evidence_hours: int | None = Field(default=None, ge=1)
    """Maximum age of the test report with which a host enters production from this state. In the row of production, the
    age of a report about a host that is already in production. None if production cannot follow."""
    netbox: NetBoxStatus
    """Status of the device in exports for NetBox."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a deadline without a reason, and the reverse."""
        if (self.deadline_hours is None) != (self.deadline_reason is None):
            yield ConstraintViolation("requires deadline_hours and deadline_reason together", ("deadline_reason",))


class HostStatesFile(DataFile):
    """File of the table."""

    HAS_PLACEHOLDERS = True

    states: dict[LifecycleState, StateRow]
    """Rows by state, in the usual order of the states."""


@cache
def host_states() -> Mapping[LifecycleState, StateRow]:
    """Return the library's states of hosts, with their transitions."""
    return _states(shipped_files(FOLDER, HostStatesFile))


def read_table(folder: Path) -> Mapping[LifecycleState, StateRow]:
    """Return the table in the files of ``folder``.

    Raises:
        SpecError: with all problems of all its files.
    """
    files, problems = table_files(folder, HostStatesFile)
    states = _states(files)
    if not problems:
        problems += [Problem(file, 0, "", text) for file in files for text in _faults(states)]
    if problems:
        raise SpecError(folder.name, problems)
    return states


def _states(files: Mapping[str, HostStatesFile]) -> dict[LifecycleState, StateRow]:
    return {state: row for file in files.values() for state, row in file.states.items()}


def _faults(states: Mapping[LifecycleState, StateRow]) -> Iterator[str]:
    """Yield missing states, and states that lead to production without a test report."""
    missing = [state for state in LifecycleState if state not in states]
    if missing:
        yield f"has no row for {listed(missing)}; add it"
    for state, row in states.items():
        leads = state is LifecycleState.PRODUCTION or LifecycleState.PRODUCTION in row.next
        if leads != (row.evidence_hours is not None):
            yield f"{state} needs evidence_hours if production follows, and only then"


def state_of(environment: Environment, host: str) -> LifecycleState:
    """Return the state of ``host`` in the data."""
    entry = environment.out_of_service.get(host)
    return LifecycleState.PRODUCTION if entry is None else LifecycleState(entry.state)


def refusal(old: LifecycleState, new: LifecycleState) -> str | None:
    """Return why a host in state ``old`` cannot move to ``new``; None if the table allows the transition."""
    states = host_states()
    if new in states[old].next:
        return None
    return f"{new} does not follow {old}: {states[new].entry}; write {either(states[old].next)}"


def either(states: Sequence[str]) -> str:
    """Return ``states`` (at least two) as a choice in a text, such as ``rma, debug or zap``."""
    return f"{', '.join(states[:-1])} or {states[-1]}"


def deadline(environment: Environment, host: str) -> dt.datetime | None:
    """Return the time until which ``host`` should leave its state; None without a deadline.

    The data contain the day of the transition only, so the hours count from the end of that day in UTC.
    """
    hours = host_states()[state_of(environment, host)].deadline_hours
    if hours is None or host not in environment.out_of_service:
        return None
    since = environment.out_of_service[host].since
    return dt.datetime.combine(since, dt.time(), dt.UTC) + dt.timedelta(days=1, hours=hours)
