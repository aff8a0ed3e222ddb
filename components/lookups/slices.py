"""Slices: the parts of an environment, each applied by one stack, in order."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from components.lookups.pools import clusters
from components.specs.environment import Environment


class SliceKind(StrEnum):
    """Kind of a slice."""

    FOUNDATION = "foundation"
    INVENTORY = "inventory"
    TENANT = "tenant"
    CLUSTER = "cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Slice:
    """A part of an environment. Slices share no outputs: each can be previewed separately."""

    name: str
    """Suffix of the stack's name after the environment's, such as ``tenant-acme``."""
    kind: SliceKind

    @property
    def subject(self) -> str:
        """Return the hall, tenant or cluster of the slice; empty for the foundation."""
        return self.name.removeprefix(self.kind).removeprefix("-")


def slices(environment: Environment) -> tuple[Slice, ...]:
    """Return the slices of ``environment`` in the order they are applied."""
    halls = [hall for site in environment.region.sites for hall in site.halls]
    return (
        _slice(SliceKind.FOUNDATION),
        *(_slice(SliceKind.INVENTORY, hall) for hall in halls),
        *(_slice(SliceKind.TENANT, tenant.tenant) for tenant in environment.tenants),
        *(_slice(SliceKind.CLUSTER, placed.cluster.name) for placed in clusters(environment)),
    )


def needs(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the slices that each slice of ``environment`` needs, by name, both in the order they are applied.

    The foundation creates the namespaces, templates and chart sources that all others refer to. The machines of a
    tenant claim hosts: halls where the lock file assigns hosts to it are applied before it and deleted after it. The
    content of a cluster is applied to the API server that its tenant's slice creates. There are no other references
    between slices.
    """
    found: dict[str, tuple[str, ...]] = {_slice(SliceKind.FOUNDATION).name: ()}
    foundation = tuple(found)
    halls, owners = _halls(environment), dict[str, str]()
    for site in environment.region.sites:
        found |= {_slice(SliceKind.INVENTORY, hall).name: foundation for hall in site.halls}
    for tenant in environment.tenants:
        name = _slice(SliceKind.TENANT, tenant.tenant).name
        owners |= dict.fromkeys((cluster.name for cluster in tenant.clusters), name)
        here = {hall for cluster in tenant.clusters for hall in halls.get(cluster.name, ())}
        inventory = (_slice(SliceKind.INVENTORY, hall).name for hall in here)
        found[name] = (*foundation, *sorted(inventory, key=list(found).index))
    return found | {_slice(SliceKind.CLUSTER, cluster).name: (owner,) for cluster, owner in owners.items()}


def _slice(kind: SliceKind, subject: str = "") -> Slice:
    return Slice(name=f"{kind}-{subject}" if subject else kind, kind=kind)


def _halls(environment: Environment) -> dict[str, set[str]]:
    """Return the halls where each cluster has hosts."""
    found: dict[str, set[str]] = {}
    for host in environment.hosts:
        if pool := environment.allocations.hosts.get(host.host):
            found.setdefault(pool.partition("/")[0], set()).add(host.hall)
    return found
