"""Slices: the parts of an environment that one stack applies, in the order they are applied."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from components.plan.pools import clusters
from components.specs.environment import Environment


class SliceKind(StrEnum):
    """What a slice is about."""

    FOUNDATION = "foundation"
    INVENTORY = "inventory"
    TENANT = "tenant"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of an environment. Slices share no outputs: each can be previewed alone."""

    name: str
    """End of its stack's name after the environment's, such as ``tenant-acme``."""
    kind: SliceKind

    @property
    def subject(self) -> str:
        """Return the hall, tenant or cluster it is about; nothing for the foundation."""
        return self.name.removeprefix(self.kind).removeprefix("-")


def slices(environment: Environment) -> tuple[Slice, ...]:
    """Return the slices of ``environment`` in the order they are applied."""
    halls = [hall for site in environment.region.sites for hall in site.halls]
    return (
        Slice(name="foundation", kind=SliceKind.FOUNDATION),
        *(Slice(name=f"inventory-{hall}", kind=SliceKind.INVENTORY) for hall in halls),
        *(Slice(name=f"tenant-{tenant.tenant}", kind=SliceKind.TENANT) for tenant in environment.tenants),
        *(Slice(name=f"cluster-{placed.cluster.name}", kind=SliceKind.CLUSTER) for placed in clusters(environment)),
    )
