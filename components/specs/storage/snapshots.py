"""Snapshots of volumes by storage systems, and snapshots of virtual machines."""

from collections.abc import Iterator
from enum import Enum, auto
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation
from components.specs.times import ClockTime, Weekday

PERIOD = r"^[1-9][0-9]{0,2}[hd]$"
_HOURS = {"h": 1, "d": 24}
Period = Annotated[str, StringConstraints(pattern=PERIOD)]
"""Period in hours or days, ``6h`` or ``3d``."""


class SnapshotMethod(Enum):
    """Method by which a driver takes a snapshot of one volume."""

    POINT_IN_TIME = auto()
    """The storage system captures the volume at one point in time."""
    ARCHIVE = auto()
    """The driver archives the files of the volume, even while they are being written."""


class TreeSnapshotsSpec(CheckedSpec):
    """Snapshots that a storage system takes of a tenant's whole tree, including deleted volumes."""

    every: Period
    """Time between two snapshots, such as ``6h``."""
    keep: Period
    """Retention time of each snapshot, such as ``72h``. Content of a deleted volume can be restored for this time."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a retention time shorter than the interval."""
        if _hours(self.keep) < _hours(self.every):
            rule = f"is shorter than every ({self.every}), so there are times without a snapshot"
            text = f"{rule}; write at least {self.every}"
            yield ConstraintViolation(text, ("keep",), self.keep)

    @property
    def schedule(self) -> str:
        """Return the schedule and retention time in VAST's notation (kb.vastdata.com)."""
        return f"every {self.every} keep-local {self.keep}"


def _hours(period: Period) -> int:
    return int(period[:-1]) * _HOURS[period[-1]]


class VmSnapshotsSpec(CheckedSpec):
    """Snapshot schedule of virtual machines. The snapshot of each day is kept until the same day of the next week."""

    at: ClockTime
    """Time of day in UTC at which snapshots are taken, such as ``"03:15"``."""
    days: tuple[Weekday, ...] = Field(default=tuple(Weekday), max_length=7)
    """Days of the week on which a snapshot is taken, which is also the number of snapshots of each VM. At least two
    days are required, because a snapshot is deleted before the next one of the same day is taken."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield duplicate days, and a single day, whose snapshot is deleted before the next one is taken."""
        if len(self.days) == 1:
            text = "has one day, whose snapshot is deleted before the next one is taken; write two days, or remove it"
            yield ConstraintViolation(text, ("days",))
        for index, day in enumerate(self.days):
            if day in self.days[:index]:
                yield ConstraintViolation(f"'{day}' is listed twice; remove one", ("days", index))
