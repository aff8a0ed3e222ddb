"""Page with the impact of a change on one or more environments."""

from collections.abc import Sequence
from typing import Any

from components.specs.keys import pool_of
from jacquard.cli.console import plural
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.changes import impact_lists
from jacquard.cli.views.changes.impact_verdict import verdict
from jacquard.cli.views.report import waves
from jacquard.cli.views.report.filled import filled, source
from jacquard.cli.views.report.parts import parts
from jacquard.cli.views.report.region import region
from jacquard.previews.impacts.impact import DISRUPTIVE
from jacquard.previews.report import Report

MARK = "written by jacquard for a change"
"""Comment in a report that names its generator."""


def html(reports: Sequence[Report]) -> str:
    """Return the page of ``reports``, one per environment; deterministic."""
    environments = [_environment(index, report) for index, report in enumerate(reports)]
    style = source("report.css") + _filters(reports)
    return filled("page.html", style, source("report.js"), mark=MARK, environments=environments)


def _environment(index: int, report: Report) -> dict[str, Any]:
    """Return the template values of one environment."""
    impact, drawn = report.impact, waves.Waves(report.timeline)
    columns, affected, part_of = parts(impact)
    tenants = {name: number for number, name in enumerate(_tenants(report))}
    return {
        "id": f"e{index}",
        "impact": impact,
        "verdict": list(verdict(impact)),
        "figures": _figures(report),
        "region": region(report.hosts, tenants),
        "tenant_of": tenants,
        "columns": columns,
        "numbers": view.NUMBERS,
        "parts": affected,
        "part_of": part_of,
        "width": waves.WIDTH,
        "waves": drawn.waves(),
        "spares": drawn.spares(),
        "rolls": drawn.rolls(),
        "start": f"{report.timeline.start:%Y-%m-%d %H:%M} UTC",
        "words": {
            tenant.tenant: impact_lists.word(tenant) if tenant.asks else "not required" for tenant in impact.tenants
        },
        "preview": report.preview,
    }


def _figures(report: Report) -> list[tuple[str, str]]:
    """Return the key figures at the top of the page."""
    impact = report.impact
    disruptive = [row for row in impact.rows if row.effect in DISRUPTIVE]
    return [
        (str(impact.totals.nodes), "nodes disrupted"),
        (str(impact.totals.gpus), "GPUs in them"),
        (str(impact.totals.out_at_once), "nodes unavailable at a time"),
        (str(len({pool_of(row.part) for row in disruptive if row.roll})), "pools with rollouts"),
        (str(len([tenant for tenant in impact.tenants if tenant.asks])), "approvals required"),
        (str(sum(host.rows != () for host in report.hosts)), f"of {plural(len(report.hosts), 'host')} affected"),
    ]


def _tenants(report: Report) -> list[str]:
    """Return the tenants that have hosts or are affected."""
    names = {host.tenant for host in report.hosts} | {row.tenant for row in report.impact.rows}
    return sorted(name for name in names if name)


def _filters(reports: Sequence[Report]) -> str:
    """Return the CSS rules that highlight the selected tenant; tenants are identified by number."""
    rules = []
    for index, report in enumerate(reports):
        choices = [f"#e{index}t", *(f"#e{index}t{number}" for number, _ in enumerate(_tenants(report)))]
        for number, choice in enumerate(choices):
            label = f".filter label[for={choice[1:]}]"
            rules.append(f"{choice}:checked~{label}{{background:var(--link);color:var(--ground)}}")
            rules.append(f"{choice}:focus-visible~{label}{{outline:3px solid var(--link);outline-offset:2px}}")
            if number:
                rules.append(f"{choice}:checked~section .t:not(.t{number - 1}){{opacity:.17}}")
    return "\n".join(rules)
