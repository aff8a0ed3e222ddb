"""Slices: ordered parts of an environment, each applied by one stack."""

from enum import StrEnum

from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.struct import Struct


class SliceKind(StrEnum):
    """Kind of a slice."""

    FOUNDATION = "foundation"
    INVENTORY = "inventory"
    TENANT = "tenant"
    CLUSTER = "cluster"
    FLEET = "fleet"
    ENGINE = "engine"


BY_COMMAND = frozenset({SliceKind.FOUNDATION, SliceKind.ENGINE})
"""Kinds of slices that commands apply even in a region with an operator: the operator itself, and its Stacks."""


class Slice(Struct):
    """Part of an environment. Slices share no outputs, so each can be previewed separately."""

    name: str
    """Suffix of the stack's name after the environment's, such as ``tenant-acme``."""
    kind: SliceKind

    @property
    def subject(self) -> str:
        """Return the hall, tenant or cluster of the slice; empty for the foundation, the fleet and the engine."""
        return self.name.removeprefix(self.kind).removeprefix("-")


def slices(environment: Environment) -> tuple[Slice, ...]:
    """Return the slices of ``environment`` in the order of application."""
    halls = [hall for site in environment.region.sites for hall in site.halls]
    return (
        _slice(SliceKind.FOUNDATION),
        *(_slice(SliceKind.INVENTORY, hall) for hall in halls),
        *(_slice(SliceKind.TENANT, tenant.tenant) for tenant in environment.tenants),
        *(_slice(SliceKind.CLUSTER, placed.cluster.name) for placed in clusters(environment)),
        *((_slice(SliceKind.FLEET),) if environment.fleet_dns else ()),
        *((_slice(SliceKind.ENGINE),) if environment.region.engine else ()),
    )


def needs(environment: Environment) -> dict[str, tuple[str, ...]]:
    """Return the dependencies of each slice of ``environment``, by name, all in the order of application.

    The foundation creates the namespaces, templates and chart sources that all other slices refer to. The machines of a
    tenant claim hosts, so the inventory of halls with hosts of the tenant is applied before the tenant's slice and
    deleted after it. The content of a cluster is applied to the API server that the tenant's slice creates. The objects
    about all regions, and the objects by which an operator applies slices, are in namespaces of the foundation. There
    are no other references between slices.
    """
    dependencies: dict[str, tuple[str, ...]] = {_slice(SliceKind.FOUNDATION).name: ()}
    foundation = tuple(dependencies)
    halls, owners = _halls(environment), dict[str, str]()
    for site in environment.region.sites:
        dependencies |= {_slice(SliceKind.INVENTORY, hall).name: foundation for hall in site.halls}
    for tenant in environment.tenants:
        name = _slice(SliceKind.TENANT, tenant.tenant).name
        owners |= dict.fromkeys((cluster.name for cluster in tenant.clusters), name)
        here = {hall for cluster in tenant.clusters for hall in halls.get(cluster.name, ())}
        inventory = (_slice(SliceKind.INVENTORY, hall).name for hall in here)
        dependencies[name] = (*foundation, *sorted(inventory, key=list(dependencies).index))
    dependencies |= {_slice(SliceKind.CLUSTER, cluster).name: (owner,) for cluster, owner in owners.items()}
    further = [
        *([SliceKind.FLEET] if environment.fleet_dns else []),
        *([SliceKind.ENGINE] if environment.region.engine else []),
    ]
    return dependencies | {_slice(kind).name: foundation for kind in further}


def _slice(kind: SliceKind, subject: str = "") -> Slice:
    return Slice(name=f"{kind}-{subject}" if subject else str(kind), kind=kind)


def _halls(environment: Environment) -> dict[str, set[str]]:
    """Return the halls where each cluster has hosts."""
    halls: dict[str, set[str]] = {}
    for host in environment.hosts:
        if pool := environment.allocations.hosts.get(host.host):
            halls.setdefault(pool.partition("/")[0], set()).add(host.hall)
    return halls
