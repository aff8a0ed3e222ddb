"""How a chart is promoted over the clusters of a region: who goes first, how many go together, how long they soak."""

from __future__ import annotations

from pydantic import Field

from components.specs.base import PercentOrCount, ShortName, Spec


class ChartRolloutsSpec(Spec):
    """Waves in which clusters of tenants get another release of a chart (``docs/pools/rollouts.md``)."""

    canary_tenants: tuple[ShortName, ...] = ()
    """Tenants whose clusters get a release first, alone. Nobody goes first when none is listed, and a chart may move
    everywhere at once."""
    max_clusters: PercentOrCount | None = None
    """Most clusters of a wave; any number when it is left out."""
    soak_minutes: int = Field(default=0, ge=0, le=10_080)
    """How many minutes the clusters of a wave must have been well before the next wave follows."""
