"""Rules about data stores: the required store for DPUs, support by the backend, names, images and storage classes."""

from collections.abc import Iterator

from components.lookups.control_planes import standing_pins
from components.lookups.network.dpus import uses_dpf
from components.lookups.pools import DataPath, clusters, place, problem
from components.render.control_planes.etcd_backup import SNAPSHOT_TOOL, UPLOAD_TOOL, backup_name, saved_at
from components.render.control_planes.etcd_defragmentation import DEFRAGMENTATION_TOOL
from components.render.control_planes.kamaji_etcd import etcd_name
from components.render.region.region import kamaji_data_stores
from components.render.storage.storage import of_management
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.base import DEDICATED
from components.specs.control_planes.data_stores import (
    DPU_STORE,
    BackupSpec,
    DataStoreSpec,
    DedicatedDataStoreSpec,
    RestoreSpec,
)
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, Undeclared, one_of, undeclared
from components.specs.region.region import ControlPlaneBackend

MAX_NAME_CHARACTERS = 40
"""Maximum length of a created data store's name. Its CronJobs append ``-etcd-defrag`` and are limited to 52."""
_STORES = ("control_planes", "data_stores")


def of_dpus(environment: Environment) -> Iterator[Problem]:
    """Report regions with DPUs but without DPF's data store, and tenants' clusters that use this data store."""
    if not uses_dpf(environment):
        return
    region = environment.region.control_planes
    if all(store.name != DPU_STORE for store in region.data_stores):
        count = len(environment.region.dpus.every(environment.region.networks.dpu_loopbacks))
        example = f"{{name: {DPU_STORE}, max_clusters: {count}}}"
        if region.dedicated is None:
            example = f"{{name: {DPU_STORE}, storage_class: ..., max_clusters: {count}}}"
        text = (
            f"{DPU_STORE} is missing, which DPF requires for the control planes of DPUs; without it no DPU joins; add a"
            f" data store {example}"
        )
        yield problem(environment, REGION, _STORES if region.data_stores else _STORES[:1], text)
    pins = standing_pins(environment)
    for placed in clusters(environment):
        pin = pins.get(placed.cluster.name)
        if placed.cluster.control_plane.data_store == DPU_STORE and (pin is None or pin.data_store != DPU_STORE):
            text = f"'{DPU_STORE}' is reserved for the control planes of DPUs; write another data store, or omit it"
            yield problem(environment, placed.file, (*placed.path, "control_plane", "data_store"), text)


def makers(environment: Environment) -> Iterator[Problem]:
    """Report data stores that the region's backend cannot create, and names that are too long for derived objects."""
    region = environment.region.control_planes
    kept = kamaji_data_stores(region, dpf=uses_dpf(environment))
    there = place(environment, REGION, ("control_planes", "backend"))
    for index, store in enumerate(region.data_stores):
        if store.is_existing:
            continue
        if store not in kept:
            text = (
                f"'{store.name}' has no endpoints, and {region.backend} ({there}) creates no shared data stores; write"
                " endpoints and secret of a database behind kine, or remove it and use data_store: dedicated"
            )
            yield problem(environment, REGION, (*_STORES, index), text)
        elif len(store.name) > MAX_NAME_CHARACTERS:
            text = (
                f"'{store.name}' has {len(store.name)} characters, {MAX_NAME_CHARACTERS} are allowed, because its jobs"
                " append to it; shorten it"
            )
            yield problem(environment, REGION, (*_STORES, index, "name"), text)


def tools(environment: Environment) -> Iterator[Problem]:
    """Report data stores whose images for defragmentation and backups are not declared."""
    for path, spec in _made(environment):
        backup = spec.backup
        needed: list[tuple[DataPath, str]] = [(path, DEFRAGMENTATION_TOOL)]
        if backup is not None:
            needed += [((*path, "backup"), name) for name in (SNAPSHOT_TOOL, UPLOAD_TOOL)]
        for there, name in needed:
            if text := missing_tool(environment, name):
                yield problem(environment, REGION, there, f"requires {text}")


def _made(environment: Environment) -> Iterator[tuple[DataPath, DataStoreSpec | DedicatedDataStoreSpec]]:
    """Yield the specs of all created etcd clusters, with their paths."""
    region = environment.region.control_planes
    if region.dedicated is not None:
        yield ("control_planes", "dedicated"), region.dedicated
    kept = kamaji_data_stores(region, dpf=uses_dpf(environment))
    for index, store in enumerate(region.data_stores):
        if store in kept and not store.is_existing:
            yield (*_STORES, index), store


def storage_classes(environment: Environment) -> Iterator[Problem]:
    """Report data stores with a storage class that the management cluster does not have.

    Checked only in regions that create storage classes of the management cluster.
    """
    classes = environment.region.storage
    made = [entry.name for entry in of_management(classes)]
    for path, name in _storage_classes(environment) if made else ():
        if name in made:
            continue
        places = {entry.name: index for index, entry in enumerate(classes)}
        text: str | Undeclared = undeclared(name, made, "the classes of the management cluster")
        if name in places:
            there = place(environment, REGION, ("storage", places[name]))
            text = f"'{name}' is a storage class for tenants' clusters only ({there}); pick {one_of(made)}"
        yield problem(environment, REGION, (*path, "storage_class"), text)


def _storage_classes(environment: Environment) -> Iterator[tuple[DataPath, str]]:
    """Yield the storage classes of the management cluster that data stores use, with their paths."""
    for path, spec in _made(environment):
        if spec.storage_class is not None:
            yield path, spec.storage_class


def restores(environment: Environment) -> Iterator[Problem]:
    """Report restores of data stores without a backup, to other snapshots, and of clusters in shared data stores."""
    region = environment.region.control_planes
    kept = kamaji_data_stores(region, dpf=uses_dpf(environment))
    for index, store in enumerate(region.data_stores):
        if store.restore is not None and store in kept and not store.is_existing:
            backup = store.with_defaults(region.dedicated).backup
            yield from _restore(environment, REGION, (*_STORES, index, "restore"), store.name, store.restore, backup)
    for placed in clusters(environment):
        restore, path = placed.cluster.control_plane.restore, (*placed.path, "control_plane", "restore")
        if restore is None:
            continue
        if text := _unrestorable(environment, placed.cluster.name):
            yield problem(environment, placed.file, path, text)
        else:
            backup = region.dedicated.backup if region.dedicated else None
            yield from _restore(environment, placed.file, path, placed.cluster.name, restore, backup)


def _unrestorable(environment: Environment, cluster: str) -> str | None:
    """Return why the data store of ``cluster`` cannot be restored by itself; None if it can."""
    region, pin = environment.region.control_planes, standing_pins(environment).get(cluster)
    if region.backend is not ControlPlaneBackend.KAMAJI:
        there = place(environment, REGION, ("control_planes", "backend"))
        return f"{region.backend} ({there}) manages the etcd of the cluster; remove it, and restore the etcd manually"
    if pin is None:
        return "the cluster is new and has no snapshot; remove it"
    if pin.data_store == DEDICATED:
        return None
    there = place(environment, REGION, _STORES)
    text = f"its data are in data store '{pin.data_store}' ({there}), which is restored with all its clusters"
    return f"{text}; move restore to the entry of this data store, or remove it"


def _restore(
    environment: Environment, file: str, path: DataPath, owner: str, restore: RestoreSpec, backup: BackupSpec | None
) -> Iterator[Problem]:
    etcd = etcd_name(owner)
    if backup is None:
        text = f"'{owner}' has no backup, so no Job can find its snapshots; add backup, or remove restore"
        yield problem(environment, file, path, text)
    elif restore.from_second_bucket and backup.second_bucket is None:
        text = f"the backup of '{owner}' has no second_bucket; remove it, or add second_bucket to the backup"
        yield problem(environment, file, (*path, "from_second_bucket"), text)
    elif saved_at(restore.snapshot, etcd) is None:
        text = (
            f"'{restore.snapshot}' is no snapshot of '{owner}'; write the name of a file in its folder of bucket"
            f" {backup.bucket}, such as {backup_name(etcd)}-29384756-x2x4q.db"
        )
        yield problem(environment, file, (*path, "snapshot"), text)


RULES = Rules(data=(of_dpus, makers, tools, storage_classes, restores))
