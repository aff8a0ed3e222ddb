"""The page of what a change does, for one environment or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from components.specs.keys import pool_of
from jacquard.cli.console import plural
from jacquard.cli.views.changes import impact as view
from jacquard.cli.views.report import waves
from jacquard.cli.views.report.filled import filled, source
from jacquard.cli.views.report.parts import parts
from jacquard.cli.views.report.region import region
from jacquard.previews.impacts.impact import DISRUPTIVE
from jacquard.previews.report import Report

MARK = "written by jacquard for a change"
"""Says in a report what wrote it."""


def html(reports: Sequence[Report]) -> str:
    """Return the page of ``reports``, one for each environment: the same text for the same reports."""
    environments = [_environment(index, report) for index, report in enumerate(reports)]
    style = source("report.css") + _filters(reports)
    return filled("page.html", style, source("report.js"), mark=MARK, environments=environments)


def _environment(index: int, report: Report) -> dict[str, Any]:
    """Return what the templates say of one environment."""
    impact, drawn = report.impact, waves.Waves(report.timeline)
    found, part_of = parts(impact)
    tenants = {name: number for number, name in enumerate(_tenants(report))}
    return {
        "id": f"e{index}",
        "impact": impact,
        "verdict": list(view.verdict(impact)),
        "figures": _figures(report),
        "region": region(report.hosts, tenants),
        "tenant_of": tenants,
        "columns": view.columns(view.parts(impact.rows)),
        "parts": found,
        "part_of": part_of,
        "width": waves.WIDTH,
        "waves": drawn.waves(),
        "spares": drawn.spares(),
        "rolls": drawn.rolls(),
        "start": f"{report.timeline.start:%Y-%m-%d %H:%M} UTC",
        "words": {one.tenant: view.word(one) if one.asks else "nobody" for one in impact.tenants},
        "preview": report.preview,
    }


def _figures(report: Report) -> list[tuple[str, str]]:
    """Return the numbers that stand first."""
    impact = report.impact
    gone = [row for row in impact.rows if row.effect in DISRUPTIVE]
    away = sum(row.roll.out_at_once for row in impact.rows if row.roll)
    return [
        (str(impact.gone), "machines disturbed"),
        (str(sum(row.gpus or 0 for row in gone)), "GPUs in them"),
        (str(away), "nodes away at once"),
        (str(len({pool_of(row.part) for row in gone if row.roll})), "pools rolled"),
        (str(len([one for one in impact.tenants if one.asks])), "tenants asked"),
        (str(sum(host.rows != () for host in report.hosts)), f"of {plural(len(report.hosts), 'host')} touched"),
    ]


def _tenants(report: Report) -> list[str]:
    """Return the tenants that have hosts or are touched."""
    named = {host.tenant for host in report.hosts} | {row.tenant for row in report.impact.rows}
    return sorted(name for name in named if name)


def _filters(reports: Sequence[Report]) -> str:
    """Return the rules by which a tenant that is chosen stands out, with numbers in place of names."""
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
