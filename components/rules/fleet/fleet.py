"""Rules about ``fleet.yaml``: it lists all regions, and regions that take no orders do not grow."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from components.lookups.pools import most_nodes, pools, problem, tenant_file
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.fleet.fleet import RegionStatus
from components.specs.reading.fleet import NAME, Fleet
from components.specs.reading.loader import FLEET, REGION
from components.specs.reading.problems import Problem, listed, nearest, suggestion
from components.specs.struct import replace as replace_fields

Found = tuple[str, Problem]
"""Problem, and the region that it concerns, or `components.specs.reading.fleet.NAME`."""
FleetRule = Callable[[Fleet, Sequence[Environment]], Iterable[Found]]
_MAX_NAMES = 3


def missing_regions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:  # noqa: ARG001 - a rule
    """Report regions of the fleet without a folder."""
    for name in fleet.regions:
        if name not in fleet.folders:
            near = suggestion(name, fleet.folders) or "; remove it, or create the region with jacquard new"
            text = f"there is no folder environments/{name} with a region.yaml{near}"
            yield NAME, fleet.problem(FLEET, ("regions", name), text)


def with_meant_names(fleet: Fleet) -> Fleet:
    """Return ``fleet`` with the names of folders instead of misspelt names of regions, which `missing_regions` reports.

    Other rules use it, because an unlisted region, and orders and campaigns in it, only follow from such a name.
    """
    unlisted = [name for name in fleet.folders if name not in fleet.regions]
    meant = {name: nearest(name, unlisted) or name for name in fleet.regions if name not in fleet.folders}
    if fleet.spec is None or not meant:
        return fleet
    regions = {meant.get(name, name): entry for name, entry in fleet.regions.items()}
    return replace_fields(fleet, spec=fleet.spec.model_copy(update={"regions": regions}))


def unlisted_regions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report regions that the fleet does not list, so that no order can be placed there. Rehearsals are exempt."""
    for environment in environments if fleet.spec else ():
        name = environment.name
        if name not in fleet.regions and environment.region.stage is not Stage.REHEARSAL:
            text = f"has no {name}; add {name}: {{status: {RegionStatus.BUILDING}}}"
            yield name, fleet.problem(FLEET, ("regions",), text)


def retired_regions(fleet: Fleet, environments: Sequence[Environment]) -> Iterator[Found]:
    """Report retired regions with tenants or hosts."""
    for environment in environments:
        entry, left = fleet.regions.get(environment.name), _left(environment)
        if entry and entry.status is RegionStatus.RETIRED and left:
            text = f"is retired, but {environment.name} has {left}; remove them, or write draining"
            yield environment.name, fleet.problem(FLEET, ("regions", environment.name, "status"), text)


def _left(environment: Environment) -> str:
    """Return the tenants and hosts of a region as text; empty if it has none."""
    tenants, hosts = [item.tenant for item in environment.tenants], [item.host for item in environment.hosts]
    kinds = (("tenant", tenants), ("host", hosts))
    return " and ".join(
        f"{kind}{'' if len(names) == 1 else 's'} {listed(names, _MAX_NAMES)}" for kind, names in kinds if names
    )


def removed_regions(before: Sequence[Environment], names: Collection[str]) -> Iterator[Problem]:
    """Report regions that a change removes while they have tenants or hosts. Rehearsals are exempt.

    No command reads the data of a removed region: its clusters would run on without updates and repairs.
    """
    for environment in before:
        left = _left(environment)
        if environment.name not in names and environment.region.stage is not Stage.REHEARSAL and left:
            text = f"is removed with {left}, which would run unmanaged; restore the folder, and retire the region first"
            found = problem(environment, REGION, ("region",), text)
            yield replace(found, file=f"../{environment.name}/{REGION}")


def grown_regions(fleet: Fleet, base: Environment, head: Environment) -> Iterator[Problem]:
    """Report tenants and nodes that a change adds to a region that takes no orders."""
    if not fleet.is_closed(head.name):
        return
    path = ("regions", head.name, "status")
    closed = f"{head.name} is {fleet.regions[head.name].status} ({fleet.place(FLEET, path)})"
    known = {tenant.tenant for tenant in base.tenants}
    nodes = {placed.key: most_nodes(base, placed.pool) for placed in pools(base)}
    for tenant in head.tenants:
        if tenant.tenant not in known:
            text = f"'{tenant.tenant}' is new, but {closed} and takes no tenants; choose another region, or write open"
            yield problem(head, tenant_file(tenant), ("tenant",), text)
    for placed in pools(head):
        before, after = nodes.get(placed.key, 0), most_nodes(head, placed.pool)
        if after > before and placed.tenant.tenant in known:
            was = f"from {before} to {after} nodes" if before else f"by {after} nodes"
            text = f"grows {was}, but {closed} and takes no more nodes; choose another region, or write open"
            yield problem(head, placed.file, placed.path, text)


RULES: tuple[FleetRule, ...] = (missing_regions, unlisted_regions, retired_regions)
"""Rules about the fleet and its regions."""
CHANGES = (grown_regions,)
"""Rules about the change of a region from a base to a head."""
