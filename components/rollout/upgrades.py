"""Upgrades and data store moves of control planes; nothing else changes their pinned version or data store."""

from collections.abc import Iterable, Iterator
from typing import Any

from components.intents.images import choose_image, minor, objections, patch
from components.lookups.control_planes import running_version
from components.lookups.pools import PlacedCluster, clusters, most_nodes, place, pools, problem
from components.render.backends import CONTROL_PLANES
from components.specs.base import DEDICATED, KubernetesVersion
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.locks import ImagesLock
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import IMAGE_PINS, IMAGES, VERSIONS
from components.specs.reading.lock_text import sealed
from components.specs.reading.problems import ArgumentError, Problem, SpecError, listed, suggestion
from components.specs.region.catalog import GoldenImage


def promote_control_plane(environment: Environment, cluster: str, version: KubernetesVersion) -> ImagesLock:
    """Return the pins of ``environment`` with the control plane of ``cluster`` at ``version``.

    Control planes are upgraded one minor version at a time, before their nodes, and are never downgraded. All nodes
    must run the current minor version first, because Cluster API neither creates nor repairs nodes of another minor
    version. For the same reason, each pool must have an image for the new minor version.

    Raises:
        SpecError: cluster or version is unknown, or the version is not the next step; all reasons are reported.
    """
    placed = _placed(environment, cluster)
    reasons = [*_steps(environment, placed, version), *step_objections(environment, placed, version)]
    return _moved(environment, placed, reasons, version=version)


def move_data_store(environment: Environment, cluster: str, data_store: str) -> ImagesLock:
    """Return the pins of ``environment`` with the state of ``cluster`` moved to ``data_store``.

    Raises:
        SpecError: cluster or data store is unknown, or the state cannot be moved there; all reasons are reported.
    """
    placed = _placed(environment, cluster)
    path = (*placed.path, "control_plane", "data_store")
    declared = placed.cluster.control_plane.data_store
    reasons = [
        problem(environment, placed.file, path, text) for text in move_objections(environment, placed, data_store)
    ]
    if declared != data_store:
        text = f"this cluster declares {declared}; write {data_store} here first"
        reasons.append(problem(environment, placed.file, path, text))
    return _moved(environment, placed, reasons, data_store=data_store)


def step_objections(environment: Environment, placed: PlacedCluster, version: KubernetesVersion) -> Iterator[Problem]:
    """Yield why the control plane of ``placed``, or nodes of its pools, would not work at ``version``."""
    unsupported = backend_objection(environment, version)
    if unsupported is not None:
        yield problem(environment, placed.file, (*placed.path, "version"), unsupported)
    yield from _outdated_pools(environment, placed, version)
    yield from _pools_without_image(environment, placed, version)


def backend_objection(environment: Environment, version: KubernetesVersion) -> str | None:
    """Return why the region's backend cannot host a control plane of ``version``; None if supported or unknown."""
    backend = environment.region.control_planes.backend
    installed = environment.versions.installed(environment.region.image_channel)
    chart = installed.get(CONTROL_PLANES[backend].versions_by or "")
    if chart is None or chart.kubernetes is None or minor(version) <= minor(chart.kubernetes):
        return None
    where = place(environment, VERSIONS, ("charts", environment.versions.charts.index(chart), "kubernetes"))
    return (
        f"{backend} {chart.version} supports Kubernetes up to {chart.kubernetes} ({where}), and rejects {version};"
        " upgrade it to a newer release first, or write a supported version"
    )


def newest_step(environment: Environment, running: KubernetesVersion) -> KubernetesVersion | None:
    """Return the newest version of the catalogue that a control plane at ``running`` can reach in one step."""
    known = environment.versions.kubernetes
    steps = [version for version in known if version != running and version_objection(running, version) is None]
    return max(steps, key=lambda version: (minor(version), patch(version)), default=None)


def with_version(environment: Environment, cluster: str, version: KubernetesVersion) -> Environment:
    """Return ``environment`` as if the control plane of ``cluster`` ran ``version``."""
    pins = environment.image_pins.control_planes
    if cluster not in pins:
        return environment
    moved = pins | {cluster: pins[cluster].model_copy(update={"version": version})}
    lock = environment.image_pins.model_copy(update={"control_planes": moved})
    return environment.model_copy(update={"image_pins": lock})


def image_for(environment: Environment, cluster: ClusterSpec, pool: NodePoolSpec) -> GoldenImage | None:
    """Return the newest image with which new nodes of ``pool`` could join, regardless of the pool's ``image``."""
    fitting = [image for image in environment.images.images if not objections(environment, image, cluster, pool)]
    return max(fitting, key=lambda image: (image.released, image.version), default=None)


def version_objection(
    running: KubernetesVersion, version: KubernetesVersion, known: Iterable[KubernetesVersion] = ()
) -> str | None:
    """Return why a control plane cannot be upgraded from ``running`` to ``version`` in one step; None if possible.

    The remedy in the text names the version for the next step, selected from ``known``.
    """
    if (minor(version), patch(version)) < (minor(running), patch(running)):
        return f"{version} is older than {running}, and control planes cannot be downgraded; write {running}"
    ahead = minor(version) - minor(running)
    if ahead > 1:
        steps = [item for item in known if minor(item) == minor(running) + 1]
        missing = f"add a v1.{minor(running) + 1} to {VERSIONS}, and write it first"
        remedy = f"write {max(steps, key=patch)} first" if steps else missing
        return (
            f"{version} is {ahead} minor versions above {running}, and control planes are upgraded one minor version"
            f" at a time; {remedy}"
        )
    return None


def move_objections(environment: Environment, placed: PlacedCluster, data_store: str) -> Iterator[str]:
    """Yield why the state of ``placed`` cannot be moved from its current data store to ``data_store``."""
    pin = environment.image_pins.control_planes.get(placed.cluster.name)
    if pin is None or pin.data_store == data_store:
        return
    backend, keep = environment.region.control_planes.backend, f"write {pin.data_store}, its current data store"
    if not CONTROL_PLANES[backend].moves_data_stores:
        yield f"{backend} cannot move a cluster to another data store; {keep}, or create a new cluster"
    elif pin.data_store == DEDICATED:
        yield f"its dedicated etcd would be deleted while in use; {keep}, or create a new cluster"


def _placed(environment: Environment, cluster: str) -> PlacedCluster:
    known = {placed.cluster.name: placed for placed in clusters(environment)}
    if cluster not in known:
        keys = [placed.key for placed in pools(environment)]
        same = [key for key in keys if key.endswith(f"/{cluster}")]
        near = f"; did you mean '{same[0]}'?" if same else suggestion(cluster, [*known, *keys])
        text = f"there is no cluster '{cluster}' (clusters: {listed(known)}){near}"
        raise ArgumentError(environment.name, "CLUSTER", text)
    return known[cluster]


def _moved(environment: Environment, placed: PlacedCluster, reasons: list[Problem], **changes: Any) -> ImagesLock:
    if reasons:
        raise SpecError(environment.name, reasons)
    pins = environment.image_pins.control_planes
    moved = pins[placed.cluster.name].model_copy(update=changes)
    return sealed(environment.image_pins.model_copy(update={"control_planes": pins | {placed.cluster.name: moved}}))


def _steps(environment: Environment, placed: PlacedCluster, version: KubernetesVersion) -> Iterator[Problem]:
    path, known = (*placed.path, "version"), environment.versions.kubernetes
    if version not in known:
        text = f"is not in {VERSIONS} ({listed(known)}); add it there{suggestion(version, known)}"
        raise ArgumentError(environment.name, f"--to {version}", text)
    objection = version_objection(running_version(environment, placed.cluster), version, known)
    if objection is not None:
        yield problem(environment, placed.file, path, objection)
    elif placed.cluster.version != version:
        text = f"this cluster declares version {placed.cluster.version}; write {version} here first"
        yield problem(environment, placed.file, path, text)


def _pools_without_image(
    environment: Environment, placed: PlacedCluster, version: KubernetesVersion
) -> Iterator[Problem]:
    if minor(version) <= minor(running_version(environment, placed.cluster)):
        return
    moved, channel = with_version(environment, placed.cluster.name, version), environment.region.image_channel
    for index, pool in enumerate(placed.cluster.pools):
        if most_nodes(environment, pool) and image_for(moved, placed.cluster, pool) is None:
            text = (
                f"no image of channel {channel} for {pool.instance_type} has kubelet {version} or an older patch of it,"
                f" so nodes of {pool.name} could not be created or repaired; add one to {IMAGES} first"
            )
            yield problem(environment, placed.file, (*placed.path, "pools", index, "image"), text)


def _outdated_pools(environment: Environment, placed: PlacedCluster, version: KubernetesVersion) -> Iterator[Problem]:
    running = running_version(environment, placed.cluster)
    if minor(version) <= minor(running):
        return
    cluster_pools = {item.key: item for item in pools(environment) if item.cluster.name == placed.cluster.name}
    pins = environment.image_pins
    for group, name in pins.groups.items():
        pool, kubelet = cluster_pools.get(pool_of(group)), pins.intents[name].kubelet
        if pool is None or minor(kubelet) >= minor(running):
            continue
        better = choose_image(environment, placed.cluster, pool.pool)
        remedy = f"jacquard promote {environment.name} {pool.key} --to {better.version if better else '<image>'}"
        text = (
            f"runs kubelet {kubelet}, an older minor version than control plane {running}, so its nodes"
            f" cannot be created or repaired; promote it first: {remedy}"
        )
        yield problem(environment, IMAGE_PINS, ("groups", group), text)
