"""Policy settings of an environment: how strict each rule is, when nothing may change, what is waived."""

from __future__ import annotations

import datetime as dt
from collections.abc import Container, Iterable, Iterator
from enum import StrEnum

from pydantic import AwareDatetime, Field

from components.specs.base import CheckedSpec, DataFile, Label, Misfit, RuleName, ShortName, Spec, Text


class RuleId(StrEnum):
    """What data and reports call the rules that judge rendered objects and nodes."""

    UNPINNED_IMAGE = "unpinned-image"
    """A node image is pinned by the SHA-256 that the catalogue has for it."""
    IMAGE_OUTSIDE_CHANNEL = "image-outside-channel"
    """A node boots an image that the environment's channel offers."""
    CHART_OUTSIDE_CHANNEL = "chart-outside-channel"
    """A cluster has a release of a chart that the environment's channel offers and nobody revoked."""
    UNSIGNED_IMAGE = "unsigned-image"
    """In production a node boots an image that is signed."""
    DEPRECATED_IMAGE = "deprecated-image"
    """A node boots an image that is still maintained."""
    FETCHED_BY_TAG = "fetched-by-tag"
    """A digest decides what the platform itself runs."""
    HOST_BEYOND_IDENTITY = "host-beyond-identity"
    """A host entry carries its identity and nothing else."""
    UNVERIFIED_BMC = "unverified-bmc"
    """A BMC proves by a certificate who it is."""
    TEMPLATE_EDITED_IN_PLACE = "template-edited-in-place"
    """A machine template is never edited: new content is a new template."""
    PROVIDER_WITHOUT_CLUSTER_IDENTIFIER = "provider-without-cluster-identifier"
    """A provider names its cluster by a clusterIdentifier that never changes."""
    SELF_CHOSEN_PARTITION = "self-chosen-partition"
    """A tenant cannot choose the InfiniBand partition of its ports."""
    LEFT_OUT_ADD_ON = "left-out-add-on"
    """A cluster has what all clusters have."""
    OVERRIDDEN_ADD_ON = "overridden-add-on"
    """An add-on has the same values in each cluster of a region."""
    CLOSED_VM_PORT = "closed-vm-port"
    """A port that a VM lists at its public address is open at the edge of its VPC."""
    EMULATED_VMS = "emulated-vms"
    """VMs run by the virtualisation of the hardware."""
    TURNS_ON_FABRIC = "turns-on-fabric"
    """Nodes on a fabric give a GPU to one pod at a time."""
    OVERCOMMITTED_NAMESPACES = "overcommitted-namespaces"
    """Namespaces of a tenant may take no more together than its quota."""
    CHANGE_IN_FREEZE = "change-in-freeze"
    """Nothing is applied to a tenant while a freeze protects it."""
    UNIFORMITY = "uniformity"
    """Nodes of a pool are the same. This is no policy: ``jacquard show ENV uniformity`` tells and stops nothing."""


class Enforcement(StrEnum):
    """What an offence against a policy rule does."""

    MANDATORY = "mandatory"
    """An offence stops the deploy."""
    ADVISORY = "advisory"
    """An offence is reported."""


_LONGEST = dt.timedelta(days=366)
"""Longest freeze: what is longer was meant for another year."""


class FreezeSpec(CheckedSpec):
    """A time in which nothing of tenants is applied; see ``change-in-freeze`` in docs/reference/policies.md."""

    name: Label
    """Name of the freeze, which reports name."""
    from_: AwareDatetime = Field(alias="from")
    """Moment at which the freeze begins, with its offset from UTC, such as ``2026-12-20T00:00:00Z``."""
    to: AwareDatetime
    """Moment at which the freeze ends, not included, with its offset from UTC."""
    reason: Text
    """Why nothing may change, for people whom the freeze stops."""
    tenants: tuple[ShortName, ...] = ()
    """Tenants that the freeze protects; it protects all, and what they share, when none is listed."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield an end that is not after the beginning, or in another year than anybody meant."""
        if self.to <= self.from_:
            yield Misfit(
                f"must be after from, {self.from_.isoformat()}; write a later moment", ("to",), self.to.isoformat()
            )
        if self.to - self.from_ > _LONGEST:
            text = f"must be at most {_LONGEST.days} days after from, {self.from_.isoformat()}; write an earlier moment"
            yield Misfit(text, ("to",), self.to.isoformat())

    def covers(self, moment: dt.datetime, tenant: str) -> bool:
        """Tell whether ``tenant`` is protected at ``moment``, which has a time zone."""
        return self.from_ <= moment < self.to and self.protects(tenant)

    def protects(self, tenant: str) -> bool:
        """Tell whether ``tenant`` is protected while the freeze lasts."""
        return not self.tenants or tenant in self.tenants


class PolicySpec(DataFile):
    """``policy.yaml``, an optional file."""

    rules: dict[Label, Enforcement] = Field(default_factory=dict)
    """How strict policy rules are, by name (``docs/reference/policies.md``); a rule that is not listed is as strict
    as its stage asks."""
    freezes: tuple[FreezeSpec, ...] = ()
    """Times in which nothing of tenants is applied."""


class WaiverSpec(Spec):
    """Leave to offend against one rule in one place, for a time."""

    rule: RuleName
    """A policy (docs/reference/policies.md), ``uniformity``, or a cross-check that docs/reference/rules.md lists as
    one to waive."""
    subject: Text
    """What offends, as the report names it: a host, a pool (``cluster/pool``), a tenant, or ``Kind namespace/name``."""
    reason: Text
    """Why the offence is right for now, as reports show it."""
    owner: Text
    """Who has the waiver removed in time."""
    ticket: Text
    """Number or URL of the ticket that ends the offence."""
    expires: dt.date
    """First day on which the waiver is void."""

    def __str__(self) -> str:
        return f"{self.reason} ({self.owner}, {self.ticket}, until {self.expires})"


class WaiversSpec(DataFile):
    """``waivers.yaml``, an optional file."""

    waivers: tuple[WaiverSpec, ...] = ()
    """Offences that are allowed for a time."""


def longest_waiver(waivers: Iterable[WaiverSpec], rule: str, subjects: Container[str]) -> WaiverSpec | None:
    """Return the waiver of ``rule`` for any of ``subjects`` that lasts the longest, also one that has expired."""
    fitting = [waiver for waiver in waivers if waiver.rule == rule and waiver.subject in subjects]
    return max(fitting, key=lambda waiver: waiver.expires, default=None)
