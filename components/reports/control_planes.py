"""Report on control planes whose pins differ from the data; only a promotion changes a control plane."""

from collections.abc import Iterator

from components.intents.differences import Difference
from components.lookups.control_planes import standing_pins
from components.lookups.pools import PlacedCluster, clusters, place
from components.specs.base import PLACED
from components.specs.environment import Environment
from components.specs.locks import ControlPlanePin
from components.specs.struct import Struct

_OPTIONS = {"version": "--to", "data_store": "--data-store"}
"""Option of ``jacquard promote`` for each pinned field."""


class OutdatedControlPlane(Struct):
    """Control plane of a cluster whose pin differs from the data."""

    cluster: str
    """Name of the cluster."""
    differences: tuple[Difference, ...]
    """Differing fields, each with both values and the place in the data."""

    @property
    def promotion(self) -> str:
        """Return the arguments of ``jacquard promote`` after the environment, for the first difference."""
        return self.promotion_of(self.differences[0])

    def promotion_of(self, difference: Difference) -> str:
        """Return the arguments of ``jacquard promote`` after the environment; each difference needs one command."""
        return f"{self.cluster} {_OPTIONS[difference.field]} {difference.data}"


def outdated_control_planes(environment: Environment) -> tuple[OutdatedControlPlane, ...]:
    """Return the control planes of ``environment`` whose pins differ from the data."""
    pins = standing_pins(environment)
    found = (
        OutdatedControlPlane(cluster=name, differences=differences)
        for placed in clusters(environment)
        if (name := placed.cluster.name) in pins
        and (differences := tuple(_differences(environment, placed, pins[name])))
    )
    return tuple(found)


def _differences(environment: Environment, placed: PlacedCluster, pin: ControlPlanePin) -> Iterator[Difference]:
    cluster, store = placed.cluster, placed.cluster.control_plane.data_store
    wanted = (
        ("version", cluster.version, ("version",)),
        ("data_store", pin.data_store if store == PLACED else store, ("control_plane", "data_store")),
    )
    for field, data, path in wanted:
        if (pinned := getattr(pin, field)) != data:
            where = place(environment, placed.file, (*placed.path, *path))
            yield Difference(field=field, pinned=pinned, data=data, where=where)
