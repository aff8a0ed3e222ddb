"""Data stores that clusters share: created ones, and referenced ones."""

from __future__ import annotations

from typing import Any

from components.inputs.region import of_region
from components.lookups.data_stores import made_etcd
from components.render.control_planes.etcd_defragmentation import RULE
from components.render.control_planes.kamaji_etcd import NAMESPACE, SharedDataStore, render_shared
from components.render.manifest import MANAGEMENT
from components.render.region.region import RegionInput
from components.specs.control_planes.data_stores import DedicatedDataStoreSpec
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.struct import replace
from tests.support.data.small_region import changed
from tests.support.objects.rendered_objects import objects_of
from tests.support.storage.restored_store import BACKUP

_CLASSES = ("here", "there")


def of_dpus(region: RegionInput) -> SharedDataStore:
    [store] = [one for one in region.data_stores if one.name == "default"]
    assert isinstance(store, SharedDataStore)
    return store


def test_a_data_store_is_rendered_with_monitoring_and_backups(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    made = [item for item in objects_of(region) if item.namespace == NAMESPACE and item.name.startswith("shared-a")]

    assert [(item.kind, item.name) for item in made] == [
        ("Issuer", "shared-a-etcd"),
        ("HelmRelease", "shared-a-etcd"),
        ("PodMonitor", "shared-a-etcd"),
        ("PodDisruptionBudget", "shared-a-etcd"),
        ("CronJob", "shared-a-etcd-defrag"),
    ]
    release = made[1]
    values = release.body["spec"]["values"]
    assert release.protect
    assert (values["replicas"], values["datastore"]) == (3, {"enabled": True, "name": "shared-a"})
    assert values["persistentVolumeClaim"] == {"size": "20Gi", "storageClassName": "local-nvme"}


def test_one_rule_has_the_alerts_of_all_shared_data_stores(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    [rule] = [item for item in objects_of(region) if item.kind == "PrometheusRule" and item.namespace == NAMESPACE]

    assert rule.name == "data-stores"
    assert [(alert["alert"], alert["labels"]["cluster"]) for alert in rule.body["spec"]["groups"][0]["rules"]] == [
        ("EtcdWithoutLeader", "shared-a"),
        ("EtcdNearlyFull", "shared-a"),
        ("EtcdWithoutLeader", "default"),
        ("EtcdNearlyFull", "default"),
    ]


def test_dpus_use_the_data_store_of_dpf_and_no_object_has_the_name_of_a_service_account(
    inputs_of: Any,
) -> None:
    [region] = inputs_of(RegionInput)
    releases = {item.name: item.body["spec"] for item in objects_of(region) if item.kind == "HelmRelease"}

    values = releases["default-etcd"]["values"]

    assert values["datastore"]["name"] == "default"
    assert values["fullnameOverride"] == "default-etcd"
    assert releases["kamaji"]["values"]["defaultDatastoreName"] == "default"


def test_members_are_sized_for_the_most_nodes_of_all_clusters(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    sizes = {}
    for nodes in (100, 6000):
        [release] = [one for one in render_shared(replace(of_dpus(region), nodes=nodes)) if one.kind == "HelmRelease"]
        sizes[nodes] = release.body["spec"]["values"]["resources"]["requests"]

    assert sizes == {100: {"cpu": "1000m", "memory": "3840Mi"}, 6000: {"cpu": "8000m", "memory": "30720Mi"}}


def test_snapshots_of_a_shared_data_store_have_a_separate_folder(laptop: Any, inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)
    saved = made_etcd(laptop, DedicatedDataStoreSpec(storage_class="fast", backup=BACKUP))

    [backup] = [one for one in render_shared(replace(of_dpus(region), etcd=saved)) if one.name == "default-etcd-backup"]

    pod = backup.body["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["containers"][0]["args"] == ["copy", "/snapshots", ":s3:etcd/data-stores/default"]
    reached = {entry["name"]: entry.get("value") for entry in pod["initContainers"][0]["env"]}
    assert reached["ETCDCTL_ENDPOINTS"] == "https://default-etcd-client.data-stores.svc.cluster.local:2379"


def test_the_management_cluster_has_its_storage_classes_once_and_before_data_stores(laptop: Any) -> None:
    fields = {"driver": "topolvm", "device_class": "nvme", "default": True}
    here, there = (TopolvmClassSpec.model_validate({**fields, "name": n, "management": n == "here"}) for n in _CLASSES)
    [made] = of_region(laptop, changed(laptop.region, storage=(*laptop.region.storage, here, there)))

    items = objects_of(made)
    names = [item.name for item in items if item.kind == "HelmRelease"]
    at = {(item.kind, item.name): place for place, item in enumerate(items)}
    [found] = [item for item in items if item.kind == "StorageClass"]

    assert [names.count(one) for one in ("snapshot-controller", "topolvm", "csi-driver-nfs", "vast-csi")] == [
        1,
        1,
        0,
        0,
    ]
    assert (found.cluster, found.name) == (MANAGEMENT, "here")
    assert "is-default-class" not in str(found.body["metadata"])
    assert at["HelmRelease", "topolvm"] < at["StorageClass", "here"] < at["HelmRelease", "shared-a-etcd"]
    assert {("Namespace", "topolvm-system"), ("Namespace", "snapshot-controller")} <= at.keys()


def test_members_are_defragmented_in_turn(inputs_of: Any) -> None:
    [region] = inputs_of(RegionInput)

    [job] = [one for one in render_shared(of_dpus(region)) if one.name == "default-etcd-defrag"]

    spec = job.body["spec"]
    [container] = spec["jobTemplate"]["spec"]["template"]["spec"]["containers"]
    assert (spec["schedule"], spec["concurrencyPolicy"]) == ("17 3 * * *", "Forbid")
    assert container["args"][0] == "--endpoints=https://default-etcd-client.data-stores.svc.cluster.local:2379"
    assert container["args"][-3:] == ["--cluster", "--defrag-rule", RULE]


def test_an_entry_without_settings_uses_those_of_dedicated_data_stores(laptop: Any) -> None:
    dedicated = DedicatedDataStoreSpec(members=5, size="200Gi", storage_class="fast", backup=BACKUP)
    [shared, _] = laptop.region.control_planes.data_stores

    plain = shared.model_copy(update={"size": None, "storage_class": None}).with_defaults(dedicated)

    assert plain == dedicated.model_copy(update={"members": 3})
    assert shared.with_defaults(dedicated) == dedicated.model_copy(
        update={"members": 3, "size": "20Gi", "storage_class": "local-nvme"}
    )
    assert shared.with_defaults(None).backup is None
