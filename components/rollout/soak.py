"""Check evidence that a wave is settled and has soaked. All timestamps are read from the evidence."""

import datetime as dt
from collections.abc import Iterator

from components.lookups.pools import PlacedPool
from components.specs.keys import group_key, pool_key
from components.specs.locks import Wave
from components.specs.pools.intents import NodeIntent
from components.specs.region.evidence import Evidence, GroupEvidence


def shortcomings(
    environment: str, placed: PlacedPool, wave: Wave, intent: NodeIntent, soak_minutes: int, evidence: Evidence
) -> Iterator[str]:
    """Yield why ``evidence`` does not prove that ``wave`` has run ``intent`` for ``soak_minutes``."""
    seen = evidence.seen
    if seen.environment != environment:
        yield f"is from environment {seen.environment}, not from {environment}"
        return
    pools = (pool for pool in seen.pools if pool_key(pool.cluster, pool.name) == placed.key)
    groups = {group.failure_domain: group for pool in pools for group in pool.groups}
    for domain in wave.groups:
        group = group_key(placed.key, domain)
        if domain not in groups:
            yield f"has no entry for {group}"
            continue
        if groups[domain].fingerprint != intent.fingerprint:
            yield (
                f"{group} has {groups[domain].fingerprint or 'nothing'} applied, not {intent.fingerprint};"
                f" apply it first: jacquard up {environment}"
            )
            continue
        for text in _missing(groups[domain], intent.image, soak_minutes, seen.observed_at):
            yield f"{group} {text}"


def _missing(group: GroupEvidence, image: str, soak_minutes: int, observed_at: dt.datetime) -> Iterator[str]:
    others = {name: count for name, count in group.images.items() if name != image and count}
    if others:
        yield f"runs {', '.join(f'{name} ({count})' for name, count in sorted(others.items()))}, not only {image}"
    elif not group.settled:
        yield f"is not settled: {group.why[0]}" if group.why else "is not settled"
    elif group.total and group.images.get(image, 0) < group.total:
        yield f"has {group.images.get(image, 0)} of {group.total} nodes on {image}"
    elif group.total and group.settled_since is None:
        yield "has no settled_since time"
    elif group.settled_since is not None:
        yield from too_short(group.settled_since, soak_minutes, observed_at)


def too_short(settled_since: dt.datetime, soak_minutes: int, observed_at: dt.datetime) -> Iterator[str]:
    """Yield a message with the earliest time to check again if the soak time was not over at ``observed_at``."""
    until = settled_since + dt.timedelta(minutes=soak_minutes)
    if soak_minutes and observed_at < until:
        minutes = int((observed_at - settled_since).total_seconds() // 60)
        yield f"was settled for {minutes} of {soak_minutes} minutes; check again at {until.isoformat()} or later"
