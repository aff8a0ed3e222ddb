"""Report of the policies of an environment: levels, limits, violations and waivers (``jacquard show ENV policies``)."""

import datetime as dt
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum

from components.inputs.manifests import everything
from components.specs.base import Spec, Stage
from components.specs.environment import Environment
from components.specs.reading.loader import WAIVERS
from components.specs.reading.problems import listed
from components.specs.region.policy import Enforcement, RuleId, WaiverSpec
from components.specs.vms.vm_sizes import MOST_ROOT
from policies import extensions
from policies.check import Judgement, judge
from policies.facts import ANY_KIND, WAIVER, Context
from policies.rules.clusters.large_vm_disks import MOST_VOLUMES
from policies.rules.deployments.unlimited_waiver import MOST_DAYS
from policies.verdict import Rule, Severity

FORMAT = 1


class LevelSource(StrEnum):
    """Origin of the level of a policy."""

    STAGE = "stage"
    """Default of the stage of the environment."""
    DATA = "policy.yaml"
    """Set in ``policy.yaml``."""
    CRITICAL = "critical"
    """Critical policies are always mandatory in production."""
    NEW = "new policy"
    """New policies are advisory until the end of their advisory period."""


class WaiverState(StrEnum):
    """State of a waiver."""

    USED = "used"
    """The waiver permits a violation."""
    UNUSED = "unused"
    """The waiver matches no violation and can be removed."""
    EXPIRED = "expired"
    """The waiver has no effect."""
    UNDETERMINED = "undetermined"
    """The waiver is about a policy that only a run of the engine, a change or the status of nodes evaluates."""


class PolicyRow(Spec):
    """One policy in an environment."""

    name: str
    """Name of the policy."""
    severity: Severity
    """Potential harm of a violation."""
    level: Enforcement | None
    """Enforcement level; None if the policy is not evaluated in the stage of the environment."""
    level_source: LevelSource
    """Origin of the level."""
    limits: str | None
    """Values of the environment or of the policy with which objects are compared; None without such values."""
    objects: int
    """Number of rendered objects, or of waivers, of the kinds that the policy judges. Resources of the engine, such as
    providers and stacks, are not counted."""
    refused: int
    """Number of violations that block a deployment."""
    advised: int
    """Number of reported violations that do not block."""
    waived: int
    """Number of waived violations."""


class WaiverRow(Spec):
    """One waiver of an environment."""

    rule: str
    """Waived policy or cross-check."""
    subject: str
    """Subject of the waiver."""
    state: WaiverState
    """Whether the waiver has an effect."""
    violations: int
    """Number of violations that the waiver permits."""
    expires: dt.date
    """First day on which the waiver is void."""
    days_left: int
    """Remaining days of validity, including today; 0 or less for an expired waiver."""
    owner: str
    """Contact that is responsible for the removal of the waiver."""
    second_owner: str | None
    """Second contact; None without one."""
    ticket: str
    """Ticket to fix the violation."""
    reason: str
    """Reason of the waiver."""
    line: int
    """Line in ``waivers.yaml``."""


class PolicyReport(Spec):
    """Policies and waivers of an environment."""

    schema_version: int = FORMAT
    """Version of this format."""
    environment: str
    """Name of the environment."""
    stage: Stage
    """Stage, which determines the default levels."""
    policies: tuple[PolicyRow, ...]
    """All policies, in the order of reports."""
    waivers: tuple[WaiverRow, ...]
    """All waivers, those that expire first at the start."""


def policy_report(environment: Environment, now: dt.datetime) -> PolicyReport:
    """Return the report of ``environment``, whose data must have no problems, at ``now``."""
    judgement, context = judge(environment, now), Context.of(environment, now)
    kinds = Counter(manifest.kind for manifest in everything(environment))
    kinds[WAIVER] = len(environment.waivers.waivers)
    waivers = _waivers(environment, judgement, context.today)
    return PolicyReport(
        environment=environment.name,
        stage=environment.region.stage,
        policies=tuple(_policies(environment, judgement, context, kinds)),
        waivers=tuple(sorted(waivers, key=lambda row: (row.expires, row.line))),
    )


def _policies(
    environment: Environment, judgement: Judgement, context: Context, kinds: Mapping[str, int]
) -> Iterator[PolicyRow]:
    counts = {
        name: Counter(violation.rule.name for violation in violations)
        for name, violations in (
            ("refused", judgement.refused),
            ("advised", judgement.advised),
            ("waived", judgement.waived),
        )
    }
    for rule in extensions.rules():
        limits = _LIMITS.get(rule.name)
        yield PolicyRow(
            name=rule.name,
            severity=rule.severity,
            level=rule.level(context),
            level_source=_level_source(rule, context),
            limits=limits(environment) if limits else None,
            objects=_count(rule, kinds),
            **{name: of_rule[rule.name] for name, of_rule in counts.items()},
        )


def _count(rule: Rule, kinds: Mapping[str, int]) -> int:
    judged = kinds.keys() - {WAIVER} if ANY_KIND in rule.kinds else rule.kinds
    return sum(kinds.get(kind, 0) for kind in judged)


def _level_source(rule: Rule, context: Context) -> LevelSource:
    if rule.binding(context):
        return LevelSource.NEW
    if rule.is_firm(context.stage):
        return LevelSource.CRITICAL
    return LevelSource.DATA if rule.name in context.levels else LevelSource.STAGE


def _waivers(environment: Environment, judgement: Judgement, today: dt.date) -> Iterator[WaiverRow]:
    """Yield the waivers, each with the number of violations that it permits."""
    used = Counter(id(violation.waiver) for violation in judgement.waived)
    used += Counter(id(waiver) for _, waiver in judgement.waived_checks)
    idle = {id(waiver) for waiver in judgement.idle_waivers}
    for index, waiver in enumerate(environment.waivers.waivers):
        yield WaiverRow(
            rule=waiver.rule,
            subject=waiver.subject,
            state=_state(waiver, today, used=used[id(waiver)], idle=id(waiver) in idle),
            violations=used[id(waiver)] if waiver.is_valid(today) else 0,
            expires=waiver.expires,
            days_left=(waiver.expires - today).days,
            owner=waiver.owner,
            second_owner=waiver.second_owner,
            ticket=waiver.ticket,
            reason=waiver.reason,
            line=max(1, environment.positions.line(WAIVERS, ("waivers", index))),
        )


def _state(waiver: WaiverSpec, today: dt.date, *, used: int, idle: bool) -> WaiverState:
    if not waiver.is_valid(today):
        return WaiverState.EXPIRED
    if used:
        return WaiverState.USED
    return WaiverState.UNUSED if idle else WaiverState.UNDETERMINED


def _registries(environment: Environment) -> str:
    return listed(environment.policy.registries) if environment.policy.registries else "any registry"


def _channel(environment: Environment) -> str:
    return f"channel {environment.region.image_channel}"


def _freezes(environment: Environment) -> str:
    return listed([f"{item.name} until {item.to:%Y-%m-%d}" for item in environment.policy.freezes])


_LIMITS: Mapping[str, Callable[[Environment], str]] = {
    RuleId.UNLISTED_REGISTRY: _registries,
    RuleId.IMAGE_OUTSIDE_CHANNEL: _channel,
    RuleId.CHART_OUTSIDE_CHANNEL: _channel,
    RuleId.CHANGE_IN_FREEZE: lambda environment: f"freezes: {_freezes(environment)}",
    RuleId.UNLIMITED_WAIVER: lambda _: f"{MOST_DAYS} days",
    RuleId.LARGE_VM_DISKS: lambda _: f"root disk {MOST_ROOT}, {MOST_VOLUMES} volumes",
}
"""Limits of policies, by name of the policy."""
