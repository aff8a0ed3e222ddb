"""Impact of a change as Markdown for a comment: bounded, deterministic, and safe for any names in the data."""

from collections.abc import Iterator, Sequence

from components.lookups.effects.effect import Effect, worst_of
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.changes import impact_lists
from jacquard.cli.views.changes.impact_verdict import verdict
from jacquard.cli.views.changes.markdown import bounded, bullets, code, fold, table
from jacquard.previews.attestations.approvals import missing
from jacquard.previews.impacts.impact import DISRUPTIVE, Impact
from jacquard.previews.impacts.verdict import rejected

MARK = "<!-- jacquard impact -->"
"""First line of each comment; the next run finds and overwrites the comment with this line."""
_LEFT_OUT = "{} omitted (size limit of comments); `jacquard impact --format json` contains all."
_DETAILS = {
    "changed checks of nodes": impact_lists.checks,
    "charts": impact_lists.charts,
    "thresholds of alerts": impact_lists.thresholds,
    "template revisions": impact_lists.templates,
    "image pulls": impact_lists.pulls,
    "objects no longer declared": impact_lists.lost,
    "pending promotions": impact_lists.behind,
    "other environments": impact_lists.elsewhere,
    "warnings of new rules": impact_lists.warnings,
}


def comment(impacts: Sequence[Impact]) -> str:
    """Return the comment: first the verdicts of all environments, then their details, worst first."""
    head = [MARK, f"### {_headline(impacts)}", ""]
    for impact in impacts:
        head += [f"**{code(impact.environment)}**", "", bullets(verdict(impact)), ""]
    return bounded(head, [section for one in impacts for section in (*overview(one), *reasons(one))], _LEFT_OUT)


def disturbs(impacts: Sequence[Impact]) -> str:
    """Return a headline with the worst effect, if any running workload is disrupted."""
    worst = worst_of(impact.effect for impact in impacts)
    if worst in (*DISRUPTIVE, Effect.UNKNOWN, Effect.REFUSED):
        return f"Impact: {worst}"
    return "No running workload is disrupted"


def overview(impact: Impact) -> Iterator[str]:
    """Yield the table of affected parts, and the list of affected tenants."""
    if parts := view.alike(impact.rows):
        yield table(*view.table_of(parts))
    if tenant_lines := list(impact_lists.tenants(impact)):
        yield "\n".join(["", "Tenants:", "", bullets(tenant_lines)])


def reasons(impact: Impact) -> Iterator[str]:
    """Yield collapsible sections: reasons of each part, then charts, deleted objects and pending promotions."""
    for part in view.explained(view.alike(impact.rows)):
        title, *rest = (line for line in view.reasons(part) if line.plain)
        yield fold(title.plain, bullets(rest))
    for name, lines in _DETAILS.items():
        if details := [line for line in lines(impact) if line.plain.strip()]:
            yield fold(f"{impact.environment}: {name}", bullets(details))


def _headline(impacts: Sequence[Impact]) -> str:
    """Return the headline of the comment; a change that fails to apply needs no approval yet."""
    if any(map(rejected, impacts)):
        return f"Impact: {Effect.REFUSED}"
    tenants = dict.fromkeys(tenant.tenant for impact in impacts for tenant in missing(impact))
    return f"Approval required from {', '.join(map(code, tenants))}" if tenants else disturbs(impacts)
