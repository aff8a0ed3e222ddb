"""Limits on versions of projects: compatible versions, and required fixes (``version_limits.yaml``)."""

from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import Field

from components.lookups.table_files import table_rows
from components.specs.base import Label, Spec, Text
from components.specs.natural import numbers
from components.specs.reading.problems import listed

FILE = Path(__file__).with_suffix(".yaml")


class Same(StrEnum):
    """Part of a version that two projects share."""

    VERSION = "version"
    TRAIN = "train"


class VersionLimit(Spec):
    """Limit on the version of a project, which applies to versions of another project or always."""

    project: Label | None = None
    """Project to whose versions the limit applies; None for a limit that always applies. The name of ``other`` for
    versions between two fixes, if only some trains have the fault."""
    since: Text | None = Field(default=None, alias="from")
    """First version of ``project`` to which the limit applies."""
    below: Text | None = None
    """First later version of ``project`` to which the limit does not apply."""
    other: Label
    """Project whose version is limited."""
    other_from: Text | None = None
    """First compatible version of ``other``."""
    other_below: Text | None = None
    """First later version of ``other`` that is not compatible."""
    other_versions: tuple[Text, ...] = ()
    """Compatible versions of ``other``; empty for all."""
    other_trains: tuple[Text, ...] = ()
    """Compatible trains of ``other``, such as ``3.2``; empty for all."""
    other_same: Same | None = None
    """Part of the version that ``other`` shares with ``project``."""
    waivable: bool = False
    """Whether a region can operate with the violation, so that a waiver may permit it."""
    why: Text
    source: str = Field(pattern=r"^[-A-Za-z0-9]+/[-A-Za-z0-9]+:\S+$")
    """Source of the limit, ``owner/repository:path``."""

    @property
    def is_own(self) -> bool:
        """Return whether no other project decides on the versions."""
        return self.project in {None, self.other}

    def wanted(self, project: str, other: str) -> str:
        """Return the compatible versions of ``other``, for version ``project``; empty if version ``other`` is one.

        Version ``project`` is irrelevant for a limit that always applies.
        """
        if not _within(project, self.since, self.below):
            return ""
        versions = (project,) if self.other_same is Same.VERSION else self.other_versions
        trains = (_train(project),) if self.other_same is Same.TRAIN else self.other_trains
        if versions and other not in versions:
            return listed(versions)
        if trains and _train(other) not in trains:
            return f"a release of train {listed(trains)}"
        bounds = [("from", self.other_from), ("below", self.other_below)]
        wanted = " and ".join(f"{word} {bound}" for word, bound in bounds if bound)
        return "" if _within(other, self.other_from, self.other_below) else f"a version {wanted}"


@cache
def version_limits() -> tuple[VersionLimit, ...]:
    """Return all limits, in the order of the file."""
    return table_rows(FILE, VersionLimit)


def unsupported(project: str, version: str) -> str:
    """Return why ``version`` of ``project`` lacks a required fix, and versions with it; empty if it has all fixes.

    Limits that a waiver may lift are left out.
    """
    for limit in version_limits():
        required = limit.other == project and limit.is_own and not limit.waivable
        if required and (wanted := limit.wanted(version, version)):
            return f"is not supported, because {limit.why}; select {wanted}"
    return ""


def _within(version: str, first: str | None, end: str | None) -> bool:
    ordered = _ordered(version)
    return (first is None or ordered >= _ordered(first)) and (end is None or ordered < _ordered(end))


def _ordered(version: str) -> tuple[int, ...]:
    """Return the numbers of ``version``; in a pseudo-version without the commit, which has no order."""
    return numbers(version.rpartition("-")[0] or version)


def _train(version: str) -> str:
    return ".".join(version.split(".")[:2])
