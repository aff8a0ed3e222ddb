"""Rules about control planes and clusters: version steps, backend features, immutable fields, removal in two steps."""

from collections import Counter
from collections.abc import Iterator

from components.lookups.control_planes import standing_pins
from components.lookups.pools import PlacedCluster, clusters, place, problem
from components.render.backends import CONTROL_PLANES
from components.rollout.upgrades import backend_objection, move_objections, version_objection
from components.rules.rule import Rules
from components.specs.base import DEDICATED, PLACED
from components.specs.control_planes.hosted_control_plane import Events
from components.specs.environment import Environment
from components.specs.keys import cluster_of, pool_key, pool_of
from components.specs.locks import ClusterAllocation
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS, REGION
from components.specs.reading.problems import Problem, listed

_DEDICATED = f"control_planes.{DEDICATED}"
_KEPT = {
    "vpc": "pods and services of a cluster keep the prefixes they were created with",
    "service_domain": "backends reject another, and pods address each other by it",
}
"""Immutable fields of a cluster, each with the reason."""


def steps(environment: Environment) -> Iterator[Problem]:
    """Report versions to which a control plane cannot be upgraded from its running version."""
    pins, known = standing_pins(environment), environment.versions.kubernetes
    for placed in clusters(environment):
        pin, version = pins.get(placed.cluster.name), placed.cluster.version
        objection = version_objection(pin.version, version, known) if pin and version in known else None
        if objection is not None:
            text = f"{objection} (running version: {_pinned(environment, placed)})"
            yield problem(environment, placed.file, (*placed.path, "version"), text)


def backend_versions(environment: Environment) -> Iterator[Problem]:
    """Report versions that the region's backend does not support, because it would reject the control plane."""
    for placed in clusters(environment):
        objection = backend_objection(environment, placed.cluster.version)
        if objection is not None:
            yield problem(environment, placed.file, (*placed.path, "version"), objection)


def migrations(environment: Environment) -> Iterator[Problem]:
    """Report data stores to which the state of a cluster cannot be migrated."""
    for placed in clusters(environment):
        declared = placed.cluster.control_plane.data_store
        for objection in move_objections(environment, placed, declared) if declared != PLACED else ():
            text = f"{objection} ({_pinned(environment, placed)})"
            yield problem(environment, placed.file, (*placed.path, "control_plane", "data_store"), text)


def data_stores_in_use(environment: Environment) -> Iterator[Problem]:
    """Report data stores removed from the data that still store a cluster's state."""
    region = environment.region.control_planes
    there = {store.name for store in region.data_stores} | ({DEDICATED} if region.dedicated else set())
    for name, pin in standing_pins(environment).items():
        if pin.data_store not in there:
            key = DEDICATED if pin.data_store == DEDICATED else "data_stores"
            text = (
                f"'{pin.data_store}' has the state of {name} but was removed from {REGION}; restore it in"
                f" control_planes.{key}, and migrate the cluster first"
            )
            yield problem(environment, IMAGE_PINS, ("control_planes", name, "data_store"), text)


def options(environment: Environment) -> Iterator[Problem]:
    """Report control plane options that the region's backend does not support."""
    backend = environment.region.control_planes.backend
    there = place(environment, REGION, ("control_planes", "backend"))
    pins = standing_pins(environment)
    for placed in clusters(environment):
        declared, path = placed.cluster.control_plane, (*placed.path, "control_plane")
        pin = pins.get(placed.cluster.name)
        store = pin.data_store if pin and declared.data_store == PLACED else declared.data_store
        if declared.events is Events.APART:
            if not CONTROL_PLANES[backend].keeps_events_apart:
                text = f"{backend} ({there}) stores events with everything else; write {Events.TOGETHER}"
                yield problem(environment, placed.file, (*path, "events"), text)
            elif store not in {DEDICATED, PLACED}:
                apart = "" if environment.region.control_planes.dedicated else f" once {REGION} has {_DEDICATED}"
                text = (
                    f"'{store}' is shared, but separate events require a dedicated data store; write events:"
                    f" {Events.TOGETHER}, or data_store: {DEDICATED}{apart}"
                )
                yield problem(environment, placed.file, (*path, "events"), text)
        if declared.konnectivity_agents is not None and not CONTROL_PLANES[backend].counts_konnectivity_agents:
            text = f"{backend} ({there}) runs an agent on every node; remove it"
            yield problem(environment, placed.file, (*path, "konnectivity_agents"), text)


def node_ports(environment: Environment) -> Iterator[Problem]:
    """Report node port ranges that were reduced, because Services may use the removed ports."""
    for placed, old in _allocated(environment):
        new = placed.cluster.api_server.node_ports
        first, last = old.node_ports.first, old.node_ports.last
        if first < new.first or last > new.last:
            there = place(environment, ALLOCATIONS, ("clusters", placed.cluster.name))
            text = (
                f"{new} lacks ports of {old.node_ports}, which Services may use ({there}); the range may only grow,"
                f" write {min(first, new.first)}-{max(last, new.last)}"
            )
            yield problem(environment, placed.file, (*placed.path, "api_server", "node_ports"), text)


def kept(environment: Environment) -> Iterator[Problem]:
    """Report changes of immutable fields of a cluster: VPC, service domain and backends."""
    yield from _backends_kept(environment)
    for placed, old in _allocated(environment):
        if placed.cluster.vpc not in {vpc.name for vpc in placed.tenant.vpcs}:
            continue  # Another rule reports the undeclared VPC.
        there = place(environment, ALLOCATIONS, ("clusters", placed.cluster.name))
        for key, why in _KEPT.items():
            before, now = getattr(old, key), getattr(placed.cluster, key)
            if before != now:
                text = f"'{now}' instead of {before} ({there}): {why}; write {before}, or create a new cluster"
                yield problem(environment, placed.file, (*placed.path, key), text)


def _backends_kept(environment: Environment) -> Iterator[Problem]:
    region, reported = environment.region, set()
    for placed, old in _allocated(environment):
        name = placed.cluster.name
        there = place(environment, ALLOCATIONS, ("clusters", name))
        for concept, before, now in (
            ("control_planes", old.control_planes, region.control_planes.backend),
            ("bare_metal", old.bare_metal, region.bare_metal.backend),
        ):
            if before == now or concept in reported:
                continue
            reported.add(concept)
            text = (
                f"'{now}' instead of {before}, which created {name} ({there}): clusters cannot move to another backend;"
                f" write {before}, and {now} in a new region"
            )
            yield problem(environment, REGION, (concept, "backend"), text)


def endings(environment: Environment) -> Iterator[Problem]:
    """Report clusters removed from the data while they have running nodes: removal takes two steps."""
    there = {(placed.tenant.tenant, placed.cluster.name) for placed in clusters(environment)}
    lock = environment.allocations
    nodes = Counter[str]()
    for key, group in lock.groups.items():
        nodes[cluster_of(key)] += group.nodes
    running = [name for name in lock.clusters if nodes[name]]
    if running and not environment.tenants:
        text = (
            f"has no file, but {nodes.total()} nodes run in {listed(running)}"
            f" ({place(environment, ALLOCATIONS, ('clusters',))}); restore the folder (git checkout)"
        )
        yield Problem("tenants", 0, "", text)
        return
    for name, allocation in lock.clusters.items():
        if nodes[name] and (allocation.tenant, name) not in there:
            yield _gone(environment, name, allocation, nodes[name])


def _gone(environment: Environment, name: str, allocation: ClusterAllocation, nodes: int) -> Problem:
    renamed = _renamed(environment, name, allocation)
    if renamed:
        text = (
            f"{nodes} nodes run in {name} ({place(environment, ALLOCATIONS, ('clusters', name))}), and clusters cannot"
            f" be renamed; write {name}, or add {renamed.cluster.name} as a separate cluster"
        )
        return problem(environment, renamed.file, (*renamed.path, "name"), text)
    file = f"tenants/{allocation.tenant}.yaml"
    steps = f"run jacquard allocate {environment.name} and jacquard up {environment.name}, and only then remove it"
    remedy = f"restore it with retire: true, then {steps}"
    if allocation.tenant not in {tenant.tenant for tenant in environment.tenants}:
        remedy = f"restore the file with git checkout; to delete the cluster write retire: true there, then {steps}"
    text = f"{nodes} nodes run in {name}, which was removed from {file}; {remedy}"
    return problem(environment, ALLOCATIONS, ("clusters", name), text)


def _renamed(environment: Environment, name: str, allocation: ClusterAllocation) -> PlacedCluster | None:
    """Return the cluster renamed from ``name``: new in the data, in the same VPC, and with a pool of the same name."""
    lock = environment.allocations
    ran = {pool_of(group) for group in lock.groups if cluster_of(group) == name}
    for placed in clusters(environment):
        cluster = placed.cluster
        new = placed.tenant.tenant == allocation.tenant and cluster.name not in lock.clusters
        if new and cluster.vpc == allocation.vpc and any(pool_key(name, pool.name) in ran for pool in cluster.pools):
            return placed
    return None


def _allocated(environment: Environment) -> Iterator[tuple[PlacedCluster, ClusterAllocation]]:
    """Yield allocated clusters. A cluster with the same name but another tenant is a different cluster."""
    for placed in clusters(environment):
        old = environment.allocations.clusters.get(placed.cluster.name)
        if old is not None and old.tenant == placed.tenant.tenant:
            yield placed, old


def _pinned(environment: Environment, placed: PlacedCluster) -> str:
    return place(environment, IMAGE_PINS, ("control_planes", placed.cluster.name))


RULES = Rules(data=(steps, backend_versions, migrations, data_stores_in_use, options, node_ports, kept, endings))
