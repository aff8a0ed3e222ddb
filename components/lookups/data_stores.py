"""Inputs of shared data stores and of data stores dedicated to a cluster."""

from collections.abc import Iterator

from components.lookups.control_planes import standing_pin, standing_pins
from components.lookups.pools import PlacedCluster, clusters
from components.render.control_planes.etcd_backup import SNAPSHOT_TOOL, UPLOAD_TOOL, Backup
from components.render.control_planes.etcd_defragmentation import DEFRAGMENTATION_TOOL, Defragmentation
from components.render.control_planes.etcd_upkeep import MadeEtcd, Upkeep
from components.render.control_planes.kamaji_etcd import NAMESPACE, SharedDataStore, etcd_name
from components.render.region.region import kamaji_data_stores
from components.specs.base import DEDICATED
from components.specs.control_planes.data_stores import (
    BackupSpec,
    DataStoreSpec,
    DedicatedDataStoreSpec,
    RestoreSpec,
)
from components.specs.environment import Environment


def made_etcd(environment: Environment, spec: DedicatedDataStoreSpec, restore: RestoreSpec | None = None) -> MadeEtcd:
    """Return the input of the etcd for ``spec`` and its ``restore``, with the images of its maintenance jobs."""
    image = str(environment.versions.tool(DEFRAGMENTATION_TOOL))
    defragmentation = Defragmentation(schedule=spec.defragmentation, image=image)
    backup = _backup(environment, spec.backup) if spec.backup else None
    upkeep = Upkeep(defragmentation=defragmentation, backup=backup)
    return MadeEtcd(spec=spec, upkeep=upkeep, hosts=environment.region.control_planes.hosts, restore=restore)


def _backup(environment: Environment, spec: BackupSpec) -> Backup:
    snapshot, upload = (environment.versions.tool(name) for name in (SNAPSHOT_TOOL, UPLOAD_TOOL))
    return Backup(spec=spec, snapshot_image=str(snapshot), upload_image=str(upload))


def region_stores(environment: Environment, *, dpf: bool) -> Iterator[DataStoreSpec | SharedDataStore]:
    """Yield the inputs of the region's data stores, both created and external, in the order of the data."""
    control_planes = environment.region.control_planes
    for store in kamaji_data_stores(control_planes, dpf=dpf):
        if store.is_existing:
            yield store
        else:
            etcd = made_etcd(environment, store.with_defaults(control_planes.dedicated), store.restore)
            yield SharedDataStore(name=store.name, etcd=etcd, nodes=store.max_nodes)


def restore_of(environment: Environment, placed: PlacedCluster) -> RestoreSpec | None:
    """Return the restore of the current data store of a cluster; None without one, or if the cluster is new."""
    pin = standing_pin(environment, placed)
    if pin is None:
        return None
    shared = {store.name: store.restore for store in environment.region.control_planes.data_stores}
    return placed.cluster.control_plane.restore if pin.data_store == DEDICATED else shared.get(pin.data_store)


def stopped_etcds(environment: Environment) -> dict[tuple[str, str], RestoreSpec]:
    """Return the restores for which members are stopped, by namespace and name of the etcd."""
    return {etcd: restore for etcd, restore in _restores(environment) if restore is not None and restore.stops}


def _restores(environment: Environment) -> Iterator[tuple[tuple[str, str], RestoreSpec | None]]:
    for store in environment.region.control_planes.data_stores:
        yield (NAMESPACE, etcd_name(store.name)), store.restore
    pins = standing_pins(environment)
    for placed in clusters(environment):
        name = placed.cluster.name
        if name in pins and pins[name].data_store == DEDICATED:
            yield (name, etcd_name(name)), placed.cluster.control_plane.restore
