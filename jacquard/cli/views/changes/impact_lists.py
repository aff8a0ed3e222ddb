"""Impact of a change as lists: tenants, deletions, charts, alerts, templates, pulls and pending promotions."""

from collections.abc import Iterable, Iterator

from rich.text import Text

from components.lookups.effects.effect import Effect
from components.specs.reading.problems import abbreviated, listed
from jacquard.cli.console import plural
from jacquard.cli.views.changes import impact_checks
from jacquard.cli.views.changes.values import VALUE
from jacquard.previews.impacts.impact import Impact, Shared
from jacquard.previews.impacts.tenant_impact import Agreement, TenantImpact

_MOST = 10


def tenants(impact: Impact) -> Iterator[str]:
    """Yield a line per affected tenant: required approval, available capacity, window and freezes."""
    for tenant in impact.tenants:
        notes = [word(tenant)] if tenant.asks else []
        notes += [
            f"at least {contract.lowest} of {contract.contracted} contracted {contract.instance_type} available"
            for contract in tenant.capacity
        ]
        if tenant.window:
            enforced = "" if tenant.window.held else ", not enforced"
            opens = f", {plural(tenant.window.openings, 'opening')}" if tenant.window.openings else ""
            notes.append(f"window {tenant.window.text}{opens}{enforced}")
        notes += [
            f"freeze {freeze.name} {freeze.begins:%Y-%m-%d} to {freeze.ends:%Y-%m-%d}" for freeze in tenant.freezes
        ]
        if notes:
            yield f"{tenant.tenant}: {'; '.join(notes)}"


def word(tenant: TenantImpact) -> str:
    """Return the state of a tenant's approval for its part of the change, identified by the digest of the part."""
    part = f"part {abbreviated(tenant.digest or '')}"
    match tenant.agreement:
        case None:
            return f"{tenant.asks} must approve {part}"
        case Agreement(void=True) as approval:
            expired = f"the approval by {approval.by} expired on {approval.expires}"
            return f"{tenant.asks} must approve {part} again: {expired}"
        case approval:
            until = f", until {approval.expires}" if approval.expires else ""
            return f"{part} approved by {approval.by} on {approval.day}{until}"


def lost(impact: Impact) -> Iterator[Text]:
    """Yield the objects that are no longer declared, by outcome: deleted, retained or protected."""
    for outcome in dict.fromkeys(item.outcome for item in impact.lost):
        names = [f"{item.kind.rpartition('/')[2]} {item.name}" for item in impact.lost if item.outcome == outcome]
        yield Text("")
        yield Text(f"{plural(len(names), 'object')} {outcome}: {listed(names, _MOST)}")


def charts(impact: Impact) -> Iterator[Text]:
    """Yield the clusters whose chart releases change, with the workloads that restart."""
    yield from _titled("charts", (f"{chart.cluster}: {chart.told}" for chart in impact.charts))


def thresholds(impact: Impact) -> Iterator[Text]:
    """Yield the alerts whose thresholds change."""
    lines = (f"{item.alert}: {item.before} -> {item.after} {item.unit}" for item in impact.thresholds)
    yield from _titled("thresholds of alerts", lines)


def templates(impact: Impact) -> Iterator[Text]:
    """Yield the pools and DPUs whose template revision changes, with the improvements."""
    lines = (
        line
        for item in impact.templates
        for line in (
            f"{item.pool}: {plural(item.groups, 'group')} from revision {item.before} to {item.after}",
            *(f"  {improvement}" for improvement in item.improvements),
        )
    )
    yield from _titled("template revisions", lines)


def pulls(impact: Impact) -> Iterator[Text]:
    """Yield the pools whose nodes pull images from other registries."""
    lines = (f"{plural(one.nodes, 'node')} of {one.pool}: {one.before} -> {one.after}" for one in impact.pulls)
    yield from _titled("image pulls", lines)


def checks(impact: Impact) -> Iterator[Text]:
    """Yield the pools with nodes that a changed check acts on now, or would have acted on."""
    yield from _titled("changed checks of nodes", impact_checks.details(impact))


def warnings(impact: Impact) -> Iterator[Text]:
    """Yield the violations of new rules, which do not block the change, and their number."""
    yield from _titled(f"{plural(len(impact.warnings), 'warning')} of new rules", impact.warnings)


def behind(impact: Impact) -> Iterator[Text]:
    """Yield the pools that are out of date, and the command that promotes each."""
    lines = (
        Text.assemble(
            f"{item.pool} ({listed(item.fields)}), {'since' if item.new else 'before'} this change: ",
            (item.command, VALUE),
        )
        for item in impact.behind
    )
    yield from _titled("pending promotions", lines)


def elsewhere(impact: Impact) -> Iterator[Text]:
    """Yield the other environments that read a changed file, such as one of the catalogue."""
    yield from _titled("other environments that read the changed files", map(_shared, impact.shared))


def _shared(other: Shared) -> Text:
    machines = f", {plural(other.nodes, 'node')}" if other.nodes else ""
    worst = "effect unknown" if other.effect is Effect.UNKNOWN else f"worst effect: {other.effect}"
    command = (f"jacquard impact {other.environment}", VALUE)
    return Text.assemble(f"{other.environment}: {worst}{machines}; see: ", command)


def _titled(title: str, lines: Iterable[str | Text]) -> Iterator[Text]:
    """Yield an empty line, the title and the indented ``lines``; nothing without lines."""
    texts = [Text.assemble("  ", line) for line in lines]
    if texts:
        yield from (Text(""), Text(f"{title}:"), *texts)
