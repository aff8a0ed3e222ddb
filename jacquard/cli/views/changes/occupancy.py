"""Occupancy of the nodes that a change disrupts: one sentence for all nodes, and a table cell for each part."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence

from components.specs.reading.problems import visible
from jacquard.cli.console import plural
from jacquard.previews.impacts.impact import Occupancy, Row
from jacquard.previews.impacts.occupancy import told


def sentence(occupancy: Occupancy, at: dt.datetime | None, now: dt.datetime | None) -> str:
    """Return the occupied nodes, pods and GPUs by tenant, the moment ``at`` of the facts, and why there may be more."""
    if at is None:
        return f"occupied by jobs: unknown; {visible(occupancy.unknown or '')}"
    age = f", {plural(max(0, round((now - at).total_seconds() / 60)), 'minute')} old" if now else ""
    known = [
        f"{item.tenant} {plural(item.nodes, 'node')} with {plural(item.pods, 'pod')} on {plural(item.gpus, 'GPU')}"
        for item in occupancy.tenants
    ]
    figures = ", ".join([*known, *["unknown"] * bool(occupancy.unknown)]) or "none"
    why = f"; {occupancy.unknown}" if occupancy.unknown else ""
    return visible(f"occupied by jobs (estimate from facts of {told(at)}{age}): {figures}{why}")


def is_known(part: Sequence[Row]) -> bool:
    """Return whether the occupancy of any node of a part is known."""
    return any(row.occupancy and (row.occupancy.tenants or not row.occupancy.unknown) for row in part)


def cell(part: Sequence[Row]) -> str:
    """Return the number of occupied nodes of a part, with a ``+`` if there may be more."""
    known = [row.occupancy for row in part if row.occupancy]
    nodes = sum(item.nodes for occupancy in known for item in occupancy.tenants)
    if not known:
        return "-"
    if not any(occupancy.unknown for occupancy in known):
        return str(nodes)
    return f"{nodes}+" if nodes else "unknown"
