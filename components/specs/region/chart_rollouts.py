"""Rollout of charts over the clusters of a region: canary tenants, size of waves, soak time."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import PercentOrCount, ShortName, Spec


class ChartRolloutsSpec(Spec):
    """Waves in which clusters of tenants get a new release of a chart (``docs/pools/rollouts.md``)."""

    canary_tenants: tuple[ShortName, ...] = ()
    """Tenants whose clusters get a release first, in a wave of their own. Without canary tenants, a chart can be rolled
    out to all clusters in one wave."""
    max_clusters: PercentOrCount | None = None
    """Maximum number of clusters in a wave; no limit by default."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """Minutes that the clusters of a wave must have been healthy before the next wave starts."""
