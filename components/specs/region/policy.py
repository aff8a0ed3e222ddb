"""Policy settings of an environment: strictness of rules, change freezes, waivers."""

import datetime as dt
from collections.abc import Container, Iterable, Iterator
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import AwareDatetime, Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    Label,
    Registry,
    RuleName,
    ShortName,
    Spec,
    Text,
)
from components.specs.hosts.out_of_service import HostState


class RuleId(StrEnum):
    """Names of the rules for rendered objects and nodes, in data and reports."""

    UNPINNED_IMAGE = "unpinned-image"
    """Node images must be pinned by the SHA-256 of the catalogue."""
    IMAGE_OUTSIDE_CHANNEL = "image-outside-channel"
    """Nodes must boot an image that the environment's channel offers."""
    CHART_OUTSIDE_CHANNEL = "chart-outside-channel"
    """Clusters must have chart releases that the environment's channel offers and that are not revoked."""
    UNSIGNED_IMAGE = "unsigned-image"
    """Nodes in production must boot signed images."""
    DEPRECATED_IMAGE = "deprecated-image"
    """Nodes must boot images that are still maintained."""
    FETCHED_BY_TAG = "fetched-by-tag"
    """Software of the platform must be fetched by digest."""
    UNLISTED_REGISTRY = "unlisted-registry"
    """Software must be fetched from registries that the environment lists."""
    HOST_BEYOND_IDENTITY = "host-beyond-identity"
    """Host entries must contain only an identity."""
    UNVERIFIED_BMC = "unverified-bmc"
    """BMCs must be verified by a certificate."""
    PLAIN_TEXT_BMC = "plain-text-bmc"
    """Connections to BMCs must be encrypted."""
    TEMPLATE_EDITED_IN_PLACE = "template-edited-in-place"
    """Machine templates must not be edited: new content requires a new template."""
    MISSING_TEMPLATE = "missing-template"
    """Machines must have templates that exist."""
    MIXED_POOL = "mixed-pool"
    """Nodes of a pool must have the same image and settings."""
    PROVIDER_WITHOUT_CLUSTER_IDENTIFIER = "provider-without-cluster-identifier"
    """Providers must have a clusterIdentifier that never changes."""
    DUPLICATE_OBJECT = "duplicate-object"
    """Objects must be rendered by one resource."""
    FORGETFUL_PROVIDER = "forgetful-provider"
    """Providers must keep the objects of unreachable clusters."""
    FOREIGN_REGION = "foreign-region"
    """Stacks must not use providers and stacks of other regions."""
    IGNORED_CHANGES = "ignored-changes"
    """The engine must not ignore changes of objects."""
    SELF_CHOSEN_PARTITION = "self-chosen-partition"
    """Tenants must not be able to select the InfiniBand partition of their ports."""
    ESCALATING_ROLE = "escalating-role"
    """Roles must not have permissions that lead to all permissions."""
    EXCESSIVE_BINDING = "excessive-binding"
    """Bindings must not grant administrators' roles, or have anonymous subjects."""
    PRIVILEGED_NAMESPACE = "privileged-namespace"
    """Namespaces must enforce the Pod Security Standard restricted or baseline."""
    UNMATCHED_MONITOR = "unmatched-monitor"
    """Monitors must select a Service or pods."""
    UNMONITORED_COMPONENT = "unmonitored-component"
    """Charts and manifest artefacts must have a monitor, or a reason why they have none."""
    UNOBSERVED_COMPONENT = "unobserved-component"
    """Charts and manifest artefacts must have an alert and a dashboard, or reasons why they have none."""
    INCOMPLETE_ALERT = "incomplete-alert"
    """Alerts must have a hold time, a severity, a summary and a runbook."""
    LEFT_OUT_ADD_ON = "left-out-add-on"
    """Clusters must not omit default add-ons."""
    OVERRIDDEN_ADD_ON = "overridden-add-on"
    """Add-ons must have the same values in each cluster of a region."""
    CLOSED_VM_PORT = "closed-vm-port"
    """Ports of a VM's public address must be open at the edge of its VPC."""
    EMULATED_VMS = "emulated-vms"
    """VMs must use hardware virtualisation."""
    UNSIZED_VM = "unsized-vm"
    """VMs must have an instance type and a preference of the platform."""
    LARGE_VM_DISKS = "large-vm-disks"
    """VMs must not have large root disks or many volumes."""
    TURNS_ON_FABRIC = "turns-on-fabric"
    """Nodes on a fabric must not use GPU time-slicing."""
    SHARED_CONTROL_PLANE_HOST = "shared-control-plane-host"
    """Members of an etcd and replicas of a control plane must be on different hosts in production."""
    OVERCOMMITTED_NAMESPACES = "overcommitted-namespaces"
    """Namespaces of a tenant must not exceed its quota in total."""
    CHANGE_IN_FREEZE = "change-in-freeze"
    """Changes must not be applied to a tenant during a freeze that protects it."""
    UNLIMITED_WAIVER = "unlimited-waiver"
    """Waivers must be limited to 90 days, and have two owners for critical policies."""
    UNIFORMITY = "uniformity"
    """Nodes of a pool must be identical. This is not a policy: ``jacquard show ENV uniformity`` reports it and blocks
    nothing."""


class Enforcement(StrEnum):
    """Effect of a policy violation."""

    MANDATORY = "mandatory"
    """A violation blocks the deployment."""
    ADVISORY = "advisory"
    """A violation is reported only."""


_LONGEST = dt.timedelta(days=366)
"""Maximum length of a freeze; a longer one probably has a wrong year."""


class FreezeSpec(CheckedSpec):
    """Period without changes to tenants; see ``change-in-freeze`` in docs/reference/policies.md."""

    name: Label
    """Name of the freeze in reports."""
    from_: AwareDatetime = Field(alias="from")
    """Start of the freeze, with its offset from UTC, such as ``2026-12-20T00:00:00Z``."""
    to: AwareDatetime
    """End of the freeze, not included, with its offset from UTC."""
    reason: Text
    """Reason for the freeze, shown for blocked changes."""
    tenants: tuple[ShortName, ...] = ()
    """Tenants that the freeze protects; all tenants and their shared objects if the list is empty."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an end that is not after the start, and a freeze that is too long."""
        if self.to <= self.from_:
            yield ConstraintViolation(
                f"must be after from, {self.from_.isoformat()}; write a later moment", ("to",), self.to.isoformat()
            )
        if self.to - self.from_ > _LONGEST:
            text = f"must be at most {_LONGEST.days} days after from, {self.from_.isoformat()}; write an earlier moment"
            yield ConstraintViolation(text, ("to",), self.to.isoformat())

    def covers(self, moment: dt.datetime, tenant: str) -> bool:
        """Return whether ``tenant`` is protected at ``moment``, which must have a time zone."""
        return self.from_ <= moment < self.to and self.protects(tenant)

    def protects(self, tenant: str) -> bool:
        """Return whether the freeze protects ``tenant``."""
        return not self.tenants or tenant in self.tenants


class PolicySpec(DataFile):
    """``policy.yaml``, an optional file."""

    rules: dict[Label, Enforcement] = Field(default_factory=dict)
    """Strictness of policies by name (``docs/reference/policies.md``). The stage determines the strictness of policies
    that are not listed."""
    registries: tuple[Registry, ...] = Field(default=(), max_length=100)
    """Registries, each with an optional path, from which charts, manifests and images of the platform's pods may be
    fetched (policy ``unlisted-registry``). Hosts and whole path segments are compared. Any registry is allowed if the
    list is empty."""
    freezes: tuple[FreezeSpec, ...] = ()
    """Periods without changes to tenants."""
    host_movers: dict[HostState | Literal["production"], Annotated[tuple[Text, ...], Field(min_length=1)]] = Field(
        default_factory=dict
    )
    """Persons and groups that may move hosts to a state, by state, as they are written in ``by`` of the host's entry
    (``jacquard host --by``). Everyone may move hosts to states that are not listed."""


class WaiverSpec(Spec):
    """Temporary exception from one rule for one subject."""

    rule: RuleName
    """Name of the waived rule: a policy (docs/reference/policies.md), ``uniformity``, or a cross-check that
    docs/reference/rules.md lists as waivable."""
    subject: Text
    """Object that violates the rule, as named in the report: a host, a pool (``cluster/pool``), a tenant, or ``Kind
    namespace/name``."""
    reason: Text
    """Reason why the violation is acceptable for now; shown in reports."""
    owner: Text
    """Contact that is responsible for the removal of the waiver."""
    second_owner: Text | None = None
    """Second contact that agreed to the waiver, for a critical policy (policy ``unlimited-waiver``)."""
    ticket: Text
    """Number or URL of the ticket to fix the violation."""
    expires: dt.date
    """First day on which the waiver is void."""

    def is_valid(self, today: dt.date) -> bool:
        """Return whether the waiver permits violations on the day ``today``."""
        return today < self.expires

    def __str__(self) -> str:
        return f"{self.reason} ({self.owner}, {self.ticket}, until {self.expires})"


class WaiversSpec(DataFile):
    """``waivers.yaml``, an optional file."""

    waivers: tuple[WaiverSpec, ...] = ()
    """Temporary exceptions from rules."""


def longest_waiver(waivers: Iterable[WaiverSpec], rule: str, subjects: Container[str]) -> WaiverSpec | None:
    """Return the waiver of ``rule`` for any of ``subjects`` that expires last, even if it is expired."""
    fitting = [waiver for waiver in waivers if waiver.rule == rule and waiver.subject in subjects]
    return max(fitting, key=lambda waiver: waiver.expires, default=None)
