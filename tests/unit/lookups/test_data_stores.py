"""Restore of the data store of a cluster."""

from __future__ import annotations

from components.lookups.data_stores import restore_of
from components.lookups.pools import clusters
from components.specs.control_planes.data_stores import RestoreSpec, RestoreStep
from tests.support.data.workbench import Workbench

RESTORE = RestoreSpec(snapshot="shared-a-etcd-backup-29384756-x2x4q.db", step=RestoreStep.STOP)


def test_a_cluster_of_another_tenant_is_new_and_has_no_restore(laptop: Workbench) -> None:
    """Such a cluster has the pin of the former one until ``jacquard allocate`` assigns a data store to it."""
    region = laptop.load()
    stores = tuple(store.model_copy(update={"restore": RESTORE}) for store in region.region.control_planes.data_stores)
    control_planes = region.region.control_planes.model_copy(update={"data_stores": stores})
    changed = region.region.model_copy(update={"control_planes": control_planes})
    restored = region.model_copy(update={"region": changed})
    placed = next(clusters(restored))
    name, allocations = placed.cluster.name, restored.allocations
    former = allocations.clusters[name].model_copy(update={"tenant": "former"})
    taken = allocations.model_copy(update={"clusters": {**allocations.clusters, name: former}})

    assert restore_of(restored, placed) == RESTORE
    assert restore_of(restored.model_copy(update={"allocations": taken}), placed) is None
