"""Whether evidence shows that clusters of a wave have a chart, and have been well since then. Pure."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator

from components.rollout.soak import too_short
from components.specs.keys import chart_key
from components.specs.locks import Wave
from components.specs.pools.intents import ChartIntent
from components.specs.region.evidence import ChartEvidence, Evidence


def shortcomings(
    environment: str, wave: Wave, intent: ChartIntent, soak_minutes: int, evidence: Evidence
) -> Iterator[str]:
    """Yield what ``evidence`` lacks to show that clusters of ``wave`` have had ``intent`` for ``soak_minutes``."""
    seen = evidence.seen
    if seen.environment != environment:
        yield f"is of environment {seen.environment}, not of {environment}"
        return
    found = {one.cluster: one for one in seen.charts if one.chart == intent.chart}
    for cluster in wave.groups:
        key = chart_key(intent.chart, cluster)
        if cluster not in found:
            yield f"says nothing of {key}"
            continue
        lacks = _lacks(environment, found[cluster], intent, soak_minutes, seen.observed_at)
        yield from (f"{key} {text}" for text in lacks)


def _lacks(
    environment: str, seen: ChartEvidence, intent: ChartIntent, soak_minutes: int, observed_at: dt.datetime
) -> Iterator[str]:
    if seen.applied != intent.digest:
        applied = seen.applied or "nothing"
        yield f"is applied as {applied}, not as {intent.digest}; apply it first: jacquard up {environment}"
    elif not seen.settled:
        yield f"is not settled: {seen.why[0]}" if seen.why else "is not settled"
    elif seen.installed != intent.digest:
        yield f"is installed as {seen.installed or 'nothing'}, not as {intent.digest}"
    elif seen.settled_since is None:
        yield "does not say since when it is settled"
    else:
        yield from too_short(seen.settled_since, soak_minutes, observed_at)
