"""Storage of a tenant cluster."""

from __future__ import annotations

from typing import Any

from components.render.storage import StorageCatalogInput
from components.specs.storage import NfsClassSpec, TopolvmClassSpec, VastClassSpec

NFS = NfsClassSpec(
    name="shared", driver="nfs", server="10.2.0.10", share="/export", mount_options=("nfsvers=4.2", "nconnect=8")
)
VAST = VastClassSpec(
    name="fast",
    driver="vast",
    default=True,
    endpoint="vms.example",
    vip_pool="pool",
    view_policy="policy",
    root_export="/tenants",
    secret="vms",
)

SCRATCH = TopolvmClassSpec(name="scratch", driver="topolvm", device_class="nvme")


def rendered(*classes: Any) -> list[Any]:
    return list(StorageCatalogInput(name="c1", cluster="c1", classes=classes).render())


def test_an_nfs_class_has_the_drivers_parameters_and_no_others() -> None:
    [storage_class] = [item for item in rendered(NFS) if item.kind == "StorageClass"]

    assert storage_class.body["parameters"] == {
        "server": "10.2.0.10",
        "share": "/export",
        "subDir": "c1/${pvc.metadata.namespace}/${pvc.metadata.name}",
    }
    assert storage_class.body["provisioner"] == "nfs.csi.k8s.io"
    assert storage_class.body["mountOptions"] == ["nfsvers=4.2", "nconnect=8"]


def test_clusters_on_one_share_never_meet_in_a_directory() -> None:
    directories = {
        item.body["parameters"]["subDir"]
        for cluster in ("c1", "c2")
        for item in StorageCatalogInput(name=cluster, cluster=cluster, classes=(NFS,)).render()
        if item.kind == "StorageClass"
    }

    assert len(directories) == 2


def test_a_vast_class_names_a_secret_for_every_call() -> None:
    [storage_class] = [item for item in rendered(VAST) if item.kind == "StorageClass"]
    parameters = dict(storage_class.body["parameters"])

    for call in ("provisioner", "controller-publish", "node-publish", "controller-expand"):
        assert parameters.pop(f"csi.storage.k8s.io/{call}-secret-name") == "vms"
        assert parameters.pop(f"csi.storage.k8s.io/{call}-secret-namespace") == "vast-csi"
    assert parameters == {"root_export": "/tenants", "view_policy": "policy", "vip_pool_name": "pool"}


def test_only_the_default_class_says_so() -> None:
    key = "storageclass.kubernetes.io/is-default-class"
    classes = [item.body["metadata"] for item in rendered(NFS, VAST) if item.kind == "StorageClass"]

    assert [metadata.get("annotations", {}).get(key) for metadata in classes] == [None, "true"]


def test_classes_lie_in_the_tenant_cluster_and_releases_reach_it_by_its_kubeconfig() -> None:
    for item in rendered(NFS, VAST):
        if item.kind == "HelmRelease":
            assert (item.cluster, item.namespace) == ("management", "c1")
            assert item.body["spec"]["kubeConfig"] == {"secretRef": {"name": "c1-kubeconfig"}}
        else:
            assert item.cluster == "c1"


def test_a_cluster_gets_the_drivers_it_needs_and_one_owner_of_snapshots() -> None:
    def releases(*classes: Any) -> list[str]:
        return [item.name for item in rendered(*classes) if item.kind == "HelmRelease"]

    assert releases(NFS) == ["snapshot-controller", "csi-driver-nfs"]
    assert releases(VAST) == ["snapshot-controller", "vast-csi"]
    assert releases() == []


def test_nodes_are_not_awaited_only_the_kinds_that_follow() -> None:
    releases = [item for item in rendered(NFS, VAST) if item.kind == "HelmRelease"]

    assert all(item.body["spec"]["install"]["disableWait"] for item in releases)
    assert [item.name for item in releases if item.readiness] == ["snapshot-controller"]


def test_a_snapshot_of_nfs_mounts_with_the_options_of_its_class() -> None:
    [snapshots] = [item for item in rendered(NFS) if item.kind == "VolumeSnapshotClass"]

    assert snapshots.body["parameters"] == {
        "server": "10.2.0.10",
        "share": "/export",
        "mountOptions": "nfsvers=4.2,nconnect=8",
    }


def test_a_class_on_local_disks_waits_for_the_pod_and_says_that_it_does_not_last() -> None:
    [storage_class] = [item for item in rendered(SCRATCH) if item.kind.endswith("Class")]

    assert storage_class.body == {
        "apiVersion": "storage.k8s.io/v1",
        "kind": "StorageClass",
        "metadata": {
            "name": "scratch",
            "labels": {"app.kubernetes.io/managed-by": "jacquard", "jacquard.dev/durable": "false"},
        },
        "provisioner": "topolvm.io",
        "parameters": {"topolvm.io/device-class": "nvme", "csi.storage.k8s.io/fstype": "xfs"},
        "reclaimPolicy": "Delete",
        "volumeBindingMode": "WaitForFirstConsumer",
        "allowVolumeExpansion": True,
    }


def test_topolvm_knows_each_volume_group_once_and_brings_no_class_of_its_own() -> None:
    kept = SCRATCH.model_copy(update={"name": "kept", "durable": True})
    bulk = SCRATCH.model_copy(update={"name": "bulk", "device_class": "hdd"})

    [release] = [
        item for item in rendered(SCRATCH, kept, bulk) if item.name == "topolvm" and item.kind == "HelmRelease"
    ]

    assert release.body["spec"]["values"] == {
        "lvmd": {
            "deviceClasses": [
                {"name": "nvme", "volume-group": "nvme", "default": True},
                {"name": "hdd", "volume-group": "hdd", "default": False},
            ]
        },
        "storageClasses": [],
    }
