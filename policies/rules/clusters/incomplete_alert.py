"""incomplete-alert: an alert without a hold time, a severity, a summary or a runbook.

Why: an alert without a hold time fires at each restart, one without a known severity reaches no receiver, and one
without a summary and a runbook cannot be acted on.

Rejected: an alert of a PrometheusRule or VMRule without `for`, `labels.severity`, `annotations.summary` or
`annotations.runbook_url`, for example in an extension component.
Rejected: another severity than `critical`, `warning` and `info`, or `none` for a watchdog.
Correct: `for: 10m`, `labels: {severity: warning}`, `annotations: {summary: ..., runbook_url: ...}`.
Correct: `for: 0s` for an event that must fire immediately.
Not evaluated: recording rules, and alerts in charts. The admission webhook of kube-prometheus-stack parses expressions.
"""

from collections.abc import Iterator
from typing import Any

from components.specs.region.observability import Severity
from components.specs.region.policy import RuleId
from policies.facts import Context, Fact, contains_unknown
from policies.verdict import NOT_APPLICABLE, PASS, Finding, advisory, listed, undecided, violation

_REQUIRED = (("for",), ("labels", "severity"), ("annotations", "summary"), ("annotations", "runbook_url"))
_SEVERITIES = (*map(str, Severity), "none")


def find(fact: Fact, _context: Context) -> Finding:
    """Check all alerts of a rule object."""
    spec = fact.at("spec")
    if contains_unknown(spec):
        return undecided("an alert")
    alerts = [rule for group in spec["groups"] for rule in group.get("rules") or () if "alert" in rule]
    faults = [f"{alert['alert']} has {fault}" for alert in alerts if (fault := ", ".join(_faults(alert)))]
    if not faults:
        return PASS if alerts else NOT_APPLICABLE
    return violation(
        found=listed(faults),
        allowed=f"alerts with a hold time, a severity ({', '.join(_SEVERITIES)}), a summary and a runbook_url",
        fix="add the fields to the alert, for: 0s if it must fire immediately",
    )


def _faults(alert: Any) -> Iterator[str]:
    for path in _REQUIRED:
        value = alert
        for step in path:
            value = (value or {}).get(step)
        if not value:
            yield f"no {'.'.join(path)}"
        elif path[-1] == "severity" and value not in _SEVERITIES:
            yield f"severity {value}"


RULE = advisory(
    RuleId.INCOMPLETE_ALERT,
    description="An alert has a hold time, a severity, a summary and a runbook.",
    why="an alert without them fires too early, reaches no receiver, or cannot be acted on",
    kinds={"PrometheusRule", "VMRule"},
    find=find,
)
