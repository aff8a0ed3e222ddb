"""Policy settings of an environment: how strict each rule is, when nothing may change, what is waived."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from enum import StrEnum

from pydantic import AwareDatetime, Field

from components.specs.base import CheckedSpec, DataFile, Label, Misfit, ShortName, Spec, Text


class Enforcement(StrEnum):
    """What an offence against a policy rule does."""

    MANDATORY = "mandatory"
    """It stops the deploy."""
    ADVISORY = "advisory"
    """It is reported."""


class FreezeSpec(CheckedSpec):
    """A time in which nothing of tenants is applied; see ``change-in-freeze`` in docs/policies.md."""

    name: Label
    from_: AwareDatetime = Field(alias="from")
    """A moment with its offset from UTC, such as ``2026-12-20T00:00:00Z``."""
    to: AwareDatetime
    """End, not included."""
    reason: Text
    tenants: tuple[ShortName, ...] = ()
    """Whom it protects; none given: all, and what they share."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an end that is not after the beginning."""
        if self.to <= self.from_:
            yield Misfit(
                f"must be after from, {self.from_.isoformat()}; write a later moment", ("to",), self.to.isoformat()
            )

    def covers(self, moment: dt.datetime, tenant: str) -> bool:
        """Tell whether ``tenant`` is protected at ``moment``, which has a time zone."""
        return self.from_ <= moment < self.to and (not self.tenants or tenant in self.tenants)


class PolicySpec(DataFile):
    """``policy.yaml``; optional."""

    rules: dict[Label, Enforcement] = Field(default_factory=dict)
    """By name of the policy rule, see docs/policies.md; one that is not listed is as strict as its stage asks."""
    freezes: tuple[FreezeSpec, ...] = ()


class WaiverSpec(Spec):
    """Leave to offend against one rule in one place, for a time."""

    rule: Label
    subject: Text
    """What offends, as the report names it: a host, a pool (``cluster/pool``), a tenant, or ``Kind namespace/name``."""
    reason: Text
    owner: Text
    """Who has it removed in time."""
    ticket: Text
    expires: dt.date
    """First day on which it is void."""


class WaiversSpec(DataFile):
    """``waivers.yaml``; optional."""

    waivers: tuple[WaiverSpec, ...] = ()
