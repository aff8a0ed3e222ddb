"""Pinned versions and data stores of control planes, and the choice of a data store for a new cluster.

The data declare the wanted version of a cluster; its pin in ``images.lock.yaml`` has the running version. ``jacquard
allocate`` creates the pin of a new cluster, and only ``jacquard promote`` changes it.
"""

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import PlacedCluster, clusters, most_nodes, place, problem
from components.specs.base import DEDICATED, PLACED, KubernetesVersion
from components.specs.control_planes.data_stores import DPU_STORE
from components.specs.control_planes.hosted_control_plane import ClusterSpec, Events
from components.specs.environment import Environment
from components.specs.locks import ControlPlanePin
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem

_CONTROL_PLANES = ("control_planes",)


def most_nodes_of(environment: Environment, cluster: ClusterSpec) -> int:
    """Return the maximum number of nodes of ``cluster``."""
    return sum(most_nodes(environment, pool) for pool in cluster.pools)


def standing_pins(environment: Environment) -> dict[str, ControlPlanePin]:
    """Return the pins of existing clusters by name."""
    pins = ((placed.cluster.name, standing_pin(environment, placed)) for placed in clusters(environment))
    return {name: pin for name, pin in pins if pin is not None}


def standing_pin(environment: Environment, placed: PlacedCluster) -> ControlPlanePin | None:
    """Return the pin of a cluster; None if it is new. With another tenant, the same name is a different cluster."""
    had = environment.allocations.clusters.get(placed.cluster.name)
    if had is not None and had.tenant != placed.tenant.tenant:
        return None
    return environment.image_pins.control_planes.get(placed.cluster.name)


def running_version(environment: Environment, cluster: ClusterSpec) -> KubernetesVersion:
    """Return the version that the control plane of ``cluster`` runs, or its initial one if it is new."""
    pin = environment.image_pins.control_planes.get(cluster.name)
    return cluster.version if pin is None else pin.version


def control_plane_pins(environment: Environment) -> tuple[dict[str, ControlPlanePin], list[Problem]]:
    """Return the pin of each cluster, and a problem for each cluster without a suitable data store."""
    pins, problems = standing_pins(environment), []
    used = Counter(store for stores in taken_stores(environment).values() for store in stores)
    for placed in clusters(environment):
        name = placed.cluster.name
        if name in pins:
            continue
        store = _data_store(environment, placed, used)
        if store is None:
            problems.append(_no_data_store(environment, placed))
            continue
        used[store] += placed.cluster.control_plane.data_store == PLACED
        pins[name] = ControlPlanePin(version=placed.cluster.version, data_store=store)
    return {
        placed.cluster.name: pins[placed.cluster.name]
        for placed in clusters(environment)
        if placed.cluster.name in pins
    }, problems


def taken_stores(environment: Environment) -> dict[str, set[str]]:
    """Return the data stores whose capacity each cluster uses: the current store and the store declared in the data."""
    pins = standing_pins(environment)
    return {placed.cluster.name: set(_stores(placed.cluster, pins)) for placed in clusters(environment)}


def _stores(cluster: ClusterSpec, pins: dict[str, ControlPlanePin]) -> Iterator[str]:
    if cluster.name in pins:
        yield pins[cluster.name].data_store
    if cluster.control_plane.data_store != PLACED:
        yield cluster.control_plane.data_store


def _data_store(environment: Environment, placed: PlacedCluster, used: Counter[str]) -> str | None:
    """Return the data store of a new cluster: dedicated if it is large, else the least used shared one."""
    spec, region = placed.cluster.control_plane, environment.region.control_planes
    if spec.data_store != PLACED:
        return spec.data_store
    dedicated = DEDICATED if region.dedicated else None
    large = most_nodes_of(environment, placed.cluster) > region.dedicated_above_nodes
    if large or spec.events is Events.APART:
        return dedicated
    of_dpus = DPU_STORE if uses_dpf(environment) else None
    roomy = [store for store in region.data_stores if used[store.name] < store.max_clusters and store.name != of_dpus]
    if not roomy:
        return dedicated
    return min(roomy, key=lambda store: Fraction(used[store.name], store.max_clusters)).name


def _no_data_store(environment: Environment, placed: PlacedCluster) -> Problem:
    there = place(environment, REGION, _CONTROL_PLANES)
    text = (
        f"no data store of {there} has capacity for the {most_nodes_of(environment, placed.cluster)} nodes of the"
        " cluster; add dedicated: {storage_class: ...} there, or a shared data store for a small cluster"
    )
    return problem(environment, placed.file, (*placed.path, "control_plane", "data_store"), text)
