"""Regions with something to roll, and evidence that it has rolled."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterable
from typing import Any

from small_region import allocated, changed, rack, racks, small_region, tenant

from components.specs.environment import Environment
from components.specs.evidence import Evidence, read_evidence
from components.specs.lock_text import sealed
from components.specs.locks import ImagePin, ImagesLock
from components.specs.nodes import RolloutLimitsSpec
from components.specs.positions import Positions

OLD, NEW = "gpu-2026.10.2", "gpu-2026.11.1"
SEEN_AT = dt.datetime(2026, 11, 21, 9, tzinfo=dt.UTC)


def rollable(
    counts: dict[str, int], rollout: dict[str, Any] | None = None, limits: dict[str, Any] | None = None
) -> Environment:
    """Return a region in which each tenant of ``counts`` runs so many whole racks of 4 nodes, all on the old image."""
    base = small_region()
    more = [host for number in range(4, sum(counts.values()) + 1) for host in rack(f"n{number}")]
    nodes = changed(base.region.nodes, rollouts=RolloutLimitsSpec(**(limits or {})))
    tenants = tuple(
        tenant(name, racks(count, spares=0, rollout=rollout or {}), fabrics=("ib",)) for name, count in counts.items()
    )
    limited = changed(base, region=changed(base.region, nodes=nodes), hosts=(*base.hosts, *more))
    made = allocated(limited, tenants=tenants, positions=Positions())
    return with_pins(made, changed(made.image_pins, groups=dict.fromkeys(made.image_pins.groups, pin(made, OLD))))


def pin(environment: Environment, version: str, revision: int = 1) -> ImagePin:
    """Return the pin of an image of the catalogue."""
    [image] = (image for image in environment.images.images if image.version == version)
    return ImagePin(image=version, sha256=image.sha256, revision=revision)


def with_pins(environment: Environment, lock: ImagesLock) -> Environment:
    """Return ``environment`` with this lock file."""
    return changed(environment, image_pins=sealed(lock))


def evidence(
    environment: Environment, pool: str, domains: Iterable[str], image: str = NEW, minutes: int = 60, **changes: Any
) -> Evidence:
    """Return evidence that whole racks of ``pool`` have run ``image`` for so long."""
    group = {
        "total": 4,
        "images": {image: 4},
        "settled": True,
        "settled_since": (SEEN_AT - dt.timedelta(minutes=minutes)).isoformat(),
        "why": [],
    } | changes
    cluster, _, name = pool.partition("/")
    groups = [{"failure_domain": domain, **group} for domain in domains]
    body = {
        "environment": environment.name,
        "observed_at": SEEN_AT.isoformat(),
        "pools": [{"cluster": cluster, "name": name, "groups": groups}],
    }
    return read_evidence("evidence.json", json.dumps(body).encode())
