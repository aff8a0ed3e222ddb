"""unmonitored-component: a chart or manifest artefact whose pods no monitor selects.

Why: problems of a component without metrics are found by its users. A component is not ready for production before its
metrics are collected.

Rejected: in production, a chart that the library does not know, in a namespace without a ServiceMonitor or PodMonitor.
Rejected: in production, a release without the values that enable the monitor of its chart, in a cluster with an add-on
that provides monitoring.
Reported: the same in other stages.
Correct: a chart of `jacquard show ENV observability` with its values.
Correct: a ServiceMonitor or PodMonitor in an extension component, which selects the pods of the chart.
Correct: a row in versions.yaml with `observed: {without: {monitor: it has no metrics}}`.
Correct: a chart of the management cluster that only regions with a store of metrics observe.
Not evaluated: unknown charts in the engine, which evaluates one object at a time.
"""

from components.lookups.observed_components import Monitor, Release
from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact, contains_unknown
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation

_ALLOWED = "releases with a monitor, or with a reason that jacquard show ENV observability lists"


def find(fact: Fact, context: Context) -> Finding:
    """Check whether a monitor selects the pods of a release."""
    spec, namespace = fact.at("spec"), fact.at("metadata", "namespace")
    if namespace is UNKNOWN or contains_unknown(spec):
        return undecided("the release")
    release = Release.of(spec, namespace)
    row = release.row
    if row is None or (row.monitor is Monitor.RENDERED and not row.stored):
        return _selected(release, context)
    if release.cluster not in context.scraped or not (unset := release.unset()):
        return PASS
    values = ", ".join(f"{path}: {str(value).lower()}" for path, value in unset.items())
    return violation(
        found=f"no monitor: the release of {release.name} does not have the values {values}",
        allowed=_ALLOWED,
        fix="remove the values that disable the monitor from the add-on's values",
    )


def _selected(release: Release, context: Context) -> Finding:
    declared = context.observed.get(release.name)
    if release.row is None and declared and declared.without.monitor:
        return PASS
    if context.monitored is None:
        return NOT_APPLICABLE
    if (release.cluster, release.namespace) in context.monitored:
        return PASS
    space = release.namespace or "the namespaces of its objects"
    return violation(
        found=f"no monitor selects pods in {space} of cluster {release.cluster}, where {release.name} runs",
        allowed=_ALLOWED,
        fix="render a ServiceMonitor or PodMonitor for its pods, such as in an extension component, or write the "
        "reason to observed.without.monitor of its row in versions.yaml",
    )


RULE = Rule(
    name=RuleId.UNMONITORED_COMPONENT,
    description="Each installed chart and manifest artefact has a monitor, or a reason why it has none.",
    why="without metrics, no alert reports problems of the component",
    severity=Severity.HIGH,
    kinds=frozenset({"HelmRelease", "Kustomization"}),
    find=find,
    levels={stage: Enforcement.MANDATORY if stage is Stage.PRODUCTION else Enforcement.ADVISORY for stage in Stage},
)
