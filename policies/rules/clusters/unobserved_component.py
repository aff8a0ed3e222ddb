"""unobserved-component: a chart or manifest artefact without an alert or without a dashboard.

Why: a component whose metrics no alert and no dashboard uses is not observed: users report its problems first.

Rejected: in production, a release of a chart that the library does not know, without `observed` in versions.yaml.
Rejected: an alert or a dashboard of `observed` that no slice renders.
Reported: the same in other stages.
Correct: a chart of the library; its table states alerts, dashboards and reasons.
Correct: `observed: {alerts: [ToolsDown], dashboards: [Tools]}`, which an extension component renders.
Correct: `observed: {alerts: [ToolsDown], without: {dashboards: the chart contains one}}`.
Not evaluated: the engine, which evaluates one object at a time.
"""

import datetime as dt
from collections.abc import Iterator

from components.lookups.observed_components import Observers, Release
from components.rules.rule import AdvisoryPeriod
from components.specs.base import Stage
from components.specs.reading.problems import nearest
from components.specs.region.policy import Enforcement, RuleId
from components.specs.region.versions import ObservedSpec
from policies.facts import UNKNOWN, Context, Fact, contains_unknown
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check whether the declared alerts and dashboards of a release are complete and rendered."""
    spec, namespace = fact.at("spec"), fact.at("metadata", "namespace")
    if namespace is UNKNOWN or contains_unknown(spec):
        return undecided("the release")
    if context.observers is None:
        return NOT_APPLICABLE
    release = Release.of(spec, namespace)
    if release.row is not None:
        return PASS
    faults = list(_faults(context.observed.get(release.name, ObservedSpec.defaults()), context.observers))
    if not faults:
        return PASS
    return violation(
        found=f"{release.name} has {listed(faults)}",
        allowed="releases with an alert and a dashboard, or with a reason that jacquard show ENV observability lists",
        fix=f"write rendered ones to observed of the row {release.name} in versions.yaml, such as observed: {{alerts: "
        "[ToolsDown], dashboards: [Tools]}, or the reasons, such as without: {dashboards: the chart contains one}",
    )


def _faults(observed: ObservedSpec, observers: Observers) -> Iterator[str]:
    for part, names, reason, rendered in (
        ("alert", observed.alerts, observed.without.alerts, observers.alerts),
        ("dashboard", observed.dashboards, observed.without.dashboards, observers.dashboards),
    ):
        if not names and not reason:
            yield f"no {part}"
        for name in names:
            if name not in rendered:
                near = nearest(name, rendered)
                yield f"the {part} {name}, which no slice renders" + (f" (the nearest is {near})" if near else "")


RULE = Rule(
    name=RuleId.UNOBSERVED_COMPONENT,
    description="Each installed chart and manifest artefact has an alert and a dashboard, or reasons why it has none.",
    why="users are the first to notice problems of a component without alerts and dashboards",
    severity=Severity.HIGH,
    kinds=frozenset({"HelmRelease", "Kustomization"}),
    find=find,
    levels={stage: Enforcement.MANDATORY if stage is Stage.PRODUCTION else Enforcement.ADVISORY for stage in Stage},
    advisory_period=AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)),
)
