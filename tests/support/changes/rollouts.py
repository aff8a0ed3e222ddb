"""Regions with an outdated image, and evidence of finished rollouts."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

from components.intents.nodes import wanted_intent
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.locks import ImagesLock
from components.specs.pools.intents import NodeIntent
from components.specs.pools.nodes import RolloutLimitsSpec
from components.specs.reading.lock_text import sealed
from components.specs.reading.positions import Positions
from components.specs.region.evidence import Evidence, read_evidence
from tests.support.data.small_region import allocated, changed, rack, racks, small_region, tenant

OLD, NEW = "gpu-2026.10.2", "gpu-2026.11.1"
SEEN_AT = dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC)


def rollable(
    counts: dict[str, int], rollout: dict[str, Any] | None = None, limits: dict[str, Any] | None = None
) -> Environment:
    """Return a region in which each tenant of ``counts`` has that many racks of 4 nodes, all on the previous image."""
    base = small_region()
    more = [host for number in range(4, sum(counts.values()) + 1) for host in rack(f"n{number}")]
    nodes = changed(base.region.nodes, rollouts=RolloutLimitsSpec(**(limits or {})))
    tenants = tuple(
        tenant(name, racks(count, spares=0, rollout=rollout or {}), fabrics=("ib",)) for name, count in counts.items()
    )
    limited = changed(base, region=changed(base.region, nodes=nodes), hosts=(*base.hosts, *more))
    made = allocated(limited, tenants=tenants, positions=Positions())
    return with_intent(made, pin(made, OLD))


def pin(environment: Environment, version: str) -> NodeIntent:
    """Return the pin of the first pool's nodes for an image of the catalogue."""
    [image] = (image for image in environment.images.images if image.version == version)
    return wanted_intent(environment, next(pools(environment)), image)


def with_intent(environment: Environment, intent: NodeIntent) -> Environment:
    """Return ``environment`` with all nodes pinned to ``intent``."""
    pins = environment.image_pins
    named = changed(pins, intents={intent.name: intent}, groups=dict.fromkeys(pins.groups, intent.name))
    return with_pins(environment, named)


def with_pins(environment: Environment, lock: ImagesLock) -> Environment:
    """Return ``environment`` with this lock file."""
    return changed(environment, image_pins=sealed(lock))


def evidence(
    environment: Environment, pool: str, domains: Iterable[str], image: str = NEW, minutes: int = 60, **changes: Any
) -> Evidence:
    """Return evidence that whole racks of ``pool`` have run ``image`` for the given duration."""
    intent = pin(environment, image)
    group = {
        "total": 4,
        "images": {image: 4},
        "settled": True,
        "settled_since": (SEEN_AT - dt.timedelta(minutes=minutes)).isoformat(),
        "why": [],
    } | changes
    cluster, _, name = pool.partition("/")
    groups = [{"failure_domain": domain, "fingerprint": intent.fingerprint, **group} for domain in domains]
    body = {
        "environment": environment.name,
        "observed_at": SEEN_AT.isoformat(),
        "pools": [{"cluster": cluster, "name": name, "groups": groups}],
    }
    return read_evidence("evidence.json", json.dumps(body).encode())
