"""Contents of the report of a change for one environment."""

import datetime as dt

from components.specs.environment import Environment
from components.specs.struct import Struct
from jacquard.previews.impacts.hosts import HostImpact, hosts
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.timeline import Timeline, timeline
from jacquard.previews.preview import Preview


class Report(Struct):
    """Impact of a change on one environment: by rows, by hosts and over time."""

    impact: Impact
    hosts: tuple[HostImpact, ...]
    timeline: Timeline
    preview: Preview | None
    """Preview by engine and policies; None without one."""


def report(
    base: Environment, head: Environment, impact: Impact, start: dt.datetime, preview: Preview | None = None
) -> Report:
    """Return the report of ``impact`` between ``base`` and ``head``, if the change is applied at ``start`` or later.

    Equal inputs, including ``start``, result in equal reports.
    """
    return Report(
        impact=impact,
        hosts=hosts(base, head, impact),
        timeline=timeline(head, impact, start),
        preview=preview,
    )
