"""All that a report of a change tells of one environment."""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass

from components.specs.environment import Environment
from jacquard.previews.impacts.hosts import HostImpact, hosts
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.timeline import Timeline, timeline
from jacquard.previews.preview import Preview


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a change does to one environment, told by rows, by hosts and in time."""

    impact: Impact
    hosts: tuple[HostImpact, ...]
    timeline: Timeline
    preview: Preview | None
    """What the engine would do and policies say; None where nobody asked them."""


def report(
    base: Environment, head: Environment, impact: Impact, start: dt.datetime, preview: Preview | None = None
) -> Report:
    """Return the report of ``impact`` of ``head`` over ``base``, if that is applied at ``start`` at the earliest.

    Equal inputs give equal reports; ``start`` is one of them.
    """
    return Report(
        impact=impact,
        hosts=hosts(base, head, impact),
        timeline=timeline(head, impact, start),
        preview=preview,
    )
