"""Values of add-ons set in the data for a cluster: those of the region, overridden by those of the cluster."""

from __future__ import annotations

from collections.abc import Iterator

from components.render.overrides import Override
from components.specs.add_ons.add_on_values import AddOnValuesSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment


def overrides(environment: Environment, cluster: ClusterSpec) -> dict[str, tuple[Override, ...]]:
    """Return the values that are set for ``cluster`` by add-on, in the order of the data."""
    found: dict[str, dict[str, Override]] = {}
    for written in (environment.region.add_on_values, cluster.add_on_values):
        for name, spec in written.items():
            found.setdefault(name, {}).update({one.path: one for one in overrides_of(spec)})
    return {name: tuple(by_path.values()) for name, by_path in found.items()}


def overrides_of(spec: AddOnValuesSpec) -> Iterator[Override]:
    """Yield the values that ``spec`` sets."""
    for path, value in spec.values.items():
        yield Override(path=path, value=value, reason=spec.reason)
