"""On how many nodes that a change disturbs jobs run, for people: a sentence for all, and a cell for each part."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from components.specs.reading.problems import visible
from jacquard.cli.console import plural
from jacquard.previews.impacts.impact import Occupancy, Row
from jacquard.previews.impacts.occupancy import told


def sentence(found: Occupancy, at: dt.datetime | None, now: dt.datetime | None) -> str:
    """Return on how many nodes jobs run and whose, by facts of the moment ``at``, and why there may be more."""
    if at is None:
        return f"occupied by jobs: unknown; {visible(found.unknown or '')}"
    age = f", {plural(max(0, round((now - at).total_seconds() / 60)), 'minute')} old" if now else ""
    known = [
        f"{one.tenant} {plural(one.nodes, 'node')} with {plural(one.pods, 'pod')} on {plural(one.gpus, 'GPU')}"
        for one in found.tenants
    ]
    figures = ", ".join([*known, *["unknown"] * bool(found.unknown)]) or "none"
    why = f"; {found.unknown}" if found.unknown else ""
    return visible(f"occupied by jobs (an estimate, by facts of {told(at)}{age}): {figures}{why}")


def is_known(part: Sequence[Row]) -> bool:
    """Tell whether anything is known of the jobs on the nodes of a part."""
    return any(row.occupancy and (row.occupancy.tenants or not row.occupancy.unknown) for row in part)


def cell(part: Sequence[Row]) -> str:
    """Return on how many nodes of a part jobs run; with a plus where there may be more."""
    found = [row.occupancy for row in part if row.occupancy]
    nodes = sum(one.nodes for occupancy in found for one in occupancy.tenants)
    if not found:
        return "-"
    if not any(one.unknown for one in found):
        return str(nodes)
    return f"{nodes}+" if nodes else "unknown"
