"""Policies of an environment as tables: levels, limits, violations and waivers."""

from collections import Counter
from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table
from policies.report import PolicyReport, PolicyRow, WaiverState

_SOON_DAYS = 14
"""Number of remaining days from which a waiver is highlighted."""
_STYLES = {WaiverState.EXPIRED: "red", WaiverState.UNUSED: "yellow"}


def lines(report: PolicyReport) -> Iterator[RenderableType]:
    """Yield the table of policies, then the table of waivers and a summary."""
    table = plain_table(
        "policy", "severity", "level", "set by", "objects", "violations", "limits", numbers=("objects",)
    )
    for row in report.policies:
        level, objects = row.level.value if row.level else "-", str(row.objects or "-")
        table.add_row(row.name, row.severity, level, row.level_source, objects, _violations(row), row.limits or "-")
    yield table
    yield Text("")
    if report.waivers:
        waivers = plain_table(
            "waiver of", "subject", "state", "permits", "days left", "expires", "owner", "ticket", numbers=("permits",)
        )
        for waiver in report.waivers:
            soon = "yellow" if waiver.days_left <= _SOON_DAYS else ""
            owners = ", ".join(filter(None, (waiver.owner, waiver.second_owner)))
            waivers.add_row(
                waiver.rule,
                waiver.subject,
                Text(waiver.state, _STYLES.get(waiver.state, "")),
                str(waiver.violations),
                Text(str(max(0, waiver.days_left)), soon),
                str(waiver.expires),
                owners,
                waiver.ticket,
            )
        yield waivers
        yield Text("")
    yield Text(_summary(report))


def _violations(row: PolicyRow) -> str:
    parts = {"refused": row.refused, "advice": row.advised, "waived": row.waived}
    return ", ".join(f"{count} {word}" for word, count in parts.items() if count) or "-"


def _summary(report: PolicyReport) -> str:
    counts = [f"{report.environment} ({report.stage}): {plural(len(report.policies), 'policy', 'policies')}"]
    counts.append(plural(len(report.waivers), "waiver"))
    states = Counter(waiver.state for waiver in report.waivers)
    noted = (WaiverState.UNUSED, WaiverState.EXPIRED)
    return ", ".join([*counts, *(f"{states[state]} {state}" for state in noted if states[state])])
