"""Totals of an impact: disrupted nodes, each counted once, and the longest duration."""

import math
from collections.abc import Sequence

from components.lookups.effects.effect import Subject, When
from components.specs.environment import Environment
from jacquard.previews.impacts.impact import DISRUPTIVE, Row, Totals
from jacquard.previews.impacts.machines import Machines
from jacquard.previews.impacts.nodes import out_at_once


def totals(head: Environment, rows: Sequence[Row], machines: Machines) -> Totals:
    """Return the totals of ``rows``; a node on a host that several rows name is counted once.

    Args:
        head: region after the change, with its limits.
        rows: all rows of the impact.
        machines: hosts of both sides.
    """
    disruptive = [row for row in rows if row.effect in DISRUPTIVE]
    groups = {row.part: row for row in disruptive if row.falls_on is Subject.NODES and not row.hosts}
    hosts = {host for row in disruptive for host in row.hosts if machines.counts_as_node(host)}
    hosts -= {host for host in hosts if machines.groups([host]) & groups.keys()}
    disrupting = [row for row in disruptive if row in groups.values() or not hosts.isdisjoint(row.hosts)]
    return Totals(
        nodes=sum(row.count or 0 for row in groups.values()) + len(hosts),
        gpus=sum(row.gpus or 0 for row in groups.values()) + machines.gpus(hosts),
        tenants=tuple(sorted({row.tenant for row in disrupting if row.tenant and (row.count or 0) > 0})),
        out_at_once=_away(head, rows),
        minutes=_minutes(head, rows),
        timed=all(timed.minutes is not None for row in rows if (timed := row.roll or row.release)),
        by_hand=any(row.when is When.BY_HAND for row in disrupting),
    )


def _away(head: Environment, rows: Sequence[Row]) -> int:
    """Return the maximum number of simultaneously unavailable nodes, by the limits of pools and of ``dpus.release``."""
    released = sum(row.release.out_at_once for row in rows if row.release)
    limit = head.region.dpus.release
    return sum(out_at_once(rows).values()) + (min(released, limit.max_away) if limit else 0)


def _minutes(head: Environment, rows: Sequence[Row]) -> int | None:
    """Return the longest known duration; all releases together are as slow as ``max_away`` of the region permits."""
    known = [timed.minutes for row in rows if (timed := row.roll or row.release) and timed.minutes is not None]
    limit = head.region.dpus.release
    if limit:
        work = sum((row.release.minutes or 0) * row.release.out_at_once for row in rows if row.release)
        known += [math.ceil(work / limit.max_away)] if work else []
    return max(known, default=None)
