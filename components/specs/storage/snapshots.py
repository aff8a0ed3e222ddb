"""Snapshots of volumes: those that a storage system takes by itself, and those that are taken of virtual machines."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, Misfit
from components.specs.times import ClockTime, Weekday

PERIOD = r"^[1-9][0-9]{0,2}[hd]$"
_HOURS = {"h": 1, "d": 24}
Period = Annotated[str, StringConstraints(pattern=PERIOD)]
"""Hours or days, ``6h`` or ``3d``."""


class TreeSnapshotsSpec(CheckedSpec):
    """Snapshots that a storage system takes of a tenant's whole tree, deleted volumes too as long as they are kept."""

    every: Period
    """Time between two snapshots, such as ``6h``."""
    keep: Period
    """How long each is kept, such as ``72h``; what a deleted volume held can be brought back for so long."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield snapshots that go before the next one comes, so that at times there would be none."""
        if _hours(self.keep) < _hours(self.every):
            text = f"is shorter than every ({self.every}), and at times there is none; write at least {self.every}"
            yield Misfit(text, ("keep",), self.keep)

    @property
    def schedule(self) -> str:
        """Return when they are taken and how long they stay, as VAST writes it (kb.vastdata.com)."""
        return f"every {self.every} keep-local {self.keep}"


def _hours(period: Period) -> int:
    return int(period[:-1]) * _HOURS[period[-1]]


class VmSnapshotsSpec(CheckedSpec):
    """When snapshots of virtual machines are taken: one for each day, kept until that day of the next week."""

    at: ClockTime
    """Time of day in UTC at which snapshots are taken, such as ``"03:15"``."""
    days: tuple[Weekday, ...] = Field(default=tuple(Weekday), max_length=7)
    """Days of the week on which a snapshot is taken, so many there are of each VM. They are two at least, since one
    goes before the next of its day is taken."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield days that stand twice, and one day alone, whose snapshot goes before the next is taken."""
        if len(self.days) == 1:
            text = "has one day, whose snapshot goes before the next is taken; name two days, or leave it out"
            yield Misfit(text, ("days",))
        for index, day in enumerate(self.days):
            if day in self.days[:index]:
                yield Misfit(f"'{day}' stands twice; remove one", ("days", index))
