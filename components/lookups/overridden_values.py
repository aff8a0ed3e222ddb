"""Values of add-ons that a cluster overrides, unlike the other clusters of its region."""

from __future__ import annotations

from components.lookups.add_on_values import overrides_of
from components.lookups.add_ons import add_ons
from components.lookups.pools import clusters
from components.render.overrides import reasons
from components.specs.environment import Environment


def own_values(environment: Environment) -> dict[tuple[str, str], str]:
    """Return the overridden values by cluster and add-on, with the reason."""
    return {
        (placed.cluster.name, entry.name): reasons(overrides_of(spec))
        for placed in clusters(environment)
        for entry in add_ons(environment, placed)
        if (spec := placed.cluster.add_on_values.get(entry.name))
    }
