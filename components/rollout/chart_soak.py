"""Check evidence for a wave of clusters: the chart is installed and the cluster has been settled since. Pure."""

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
    """Yield why ``evidence`` does not prove that clusters of ``wave`` have run ``intent`` for ``soak_minutes``."""
    seen = evidence.seen
    if seen.environment != environment:
        yield f"is from environment {seen.environment}, not from {environment}"
        return
    by_cluster = {item.cluster: item for item in seen.charts if item.chart == intent.chart}
    for cluster in wave.groups:
        key = chart_key(intent.chart, cluster)
        if cluster not in by_cluster:
            yield f"has no entry for {key}"
            continue
        missing = _missing(environment, by_cluster[cluster], intent, soak_minutes, seen.observed_at)
        yield from (f"{key} {text}" for text in missing)


def _missing(
    environment: str, seen: ChartEvidence, intent: ChartIntent, soak_minutes: int, observed_at: dt.datetime
) -> Iterator[str]:
    if seen.applied != intent.digest:
        applied = seen.applied or "nothing"
        yield f"has {applied} applied, not {intent.digest}; apply it first: jacquard up {environment}"
    elif not seen.settled:
        yield f"is not settled: {seen.why[0]}" if seen.why else "is not settled"
    elif seen.installed != intent.digest:
        yield f"has {seen.installed or 'nothing'} installed, not {intent.digest}"
    elif seen.settled_since is None:
        yield "has no settled_since time"
    else:
        yield from too_short(seen.settled_since, soak_minutes, observed_at)
