"""Storage of a tenant cluster."""

from __future__ import annotations

import json
from typing import Any

from components.render.storage.driver_placement import ANYWHERE, DriverPlacement
from components.render.storage.storage import StorageCatalogInput
from components.specs.storage.nfs import NfsClassSpec
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.storage.vast import VastClassSpec

NFS = NfsClassSpec(
    name="shared", driver="nfs", server="10.2.0.10", share="/export", mount_options=("nfsvers=4.2", "nconnect=8")
)
VAST = VastClassSpec(
    name="fast",
    driver="vast",
    default=True,
    endpoint="vms.example",
    vip_pool_fqdn="pool.example",
    view_policy="policy",
    root_export="/tenants",
    secret="vms",
)

AGENTS = {"tolerations": [{"operator": "Exists"}], "priorityClassName": "system-node-critical"}
SYSTEM_POOL = {
    "nodeSelector": {"node-restriction.kubernetes.io/role": "system"},
    "tolerations": [{"key": "CriticalAddonsOnly", "operator": "Exists"}],
}
SCRATCH = TopolvmClassSpec(name="scratch", driver="topolvm", device_class="nvme")


def rendered(*classes: Any, placement: DriverPlacement = ANYWHERE) -> list[Any]:
    return list(StorageCatalogInput(name="c1", cluster="c1", classes=classes, placement=placement).render())


def values(*classes: Any, placement: DriverPlacement = ANYWHERE) -> dict[str, Any]:
    """Return the values of each release."""
    releases = [item for item in rendered(*classes, placement=placement) if item.kind == "HelmRelease"]
    return {item.name: item.body["spec"].get("values", {}) for item in releases}


def test_clusters_on_one_share_never_meet_in_a_directory() -> None:
    directories = {
        item.body["parameters"]["subDir"]
        for cluster in ("c1", "c2")
        for item in StorageCatalogInput(name=cluster, cluster=cluster, classes=(NFS,)).render()
        if item.kind == "StorageClass"
    }

    assert len(directories) == 2
    assert all("${pv.metadata.name}" in directory for directory in directories), "a claim can be made anew"


def test_a_cluster_gets_the_drivers_it_needs_and_one_owner_of_snapshots() -> None:
    def releases(*classes: Any) -> list[str]:
        return [item.name for item in rendered(*classes) if item.kind == "HelmRelease"]

    assert releases(NFS) == ["snapshot-controller", "csi-driver-nfs"]
    assert releases(VAST) == ["snapshot-controller", "vast-csi"]
    assert releases() == []


def test_vasts_driver_has_no_credentials_and_creates_no_class() -> None:
    [release] = [item for item in rendered(VAST) if item.kind == "HelmRelease" and item.name == "vast-csi"]
    spec = release.body["spec"]
    patch, groups = [patch for each in spec["postRenderers"] for patch in each["kustomize"]["patches"]]

    assert spec["values"] == {
        "endpoint": "vms.example",
        "verifySsl": True,
        "controller": {"extraArgs": {"csiAttacher": ["kube-api-qps=100", "kube-api-burst=200"]}},
        "node": {"tolerations": [{"operator": "Exists"}]},
        "storageClasses": {"none": {"storagePath": "/", "viewPolicy": "none"}},
    }
    assert patch["target"] == {"group": "storage.k8s.io", "kind": "StorageClass"}
    assert json.loads(patch["patch"])["$patch"] == "delete"
    assert groups["target"] == {"group": "storage.k8s.io", "kind": "CSIDriver"}
    assert json.loads(groups["patch"])["spec"] == {"fsGroupPolicy": "File"}


def test_vasts_driver_empties_volumes_at_a_pool_that_its_account_can_look_up() -> None:
    known = VAST.model_copy(update={"vip_pool": "pool", "vip_pool_fqdn": None})
    [release] = [item for item in rendered(known) if item.kind == "HelmRelease" and item.name == "vast-csi"]

    values = release.body["spec"]["values"]
    assert (values["deletionVipPool"], values["deletionViewPolicy"]) == ("pool", "policy")


def test_a_vast_class_has_the_mount_settings_of_its_driver() -> None:
    def parameters(**changes: Any) -> dict[str, str]:
        [item] = [item for item in rendered(VAST.model_copy(update=changes)) if item.kind == "StorageClass"]
        return {key: value for key, value in item.body["parameters"].items() if not key.startswith("csi.")}

    rest = {"root_export": "/tenants", "view_policy": "policy"}
    assert parameters() == {"vip_pool_fqdn": "pool.example", **rest}
    assert parameters(vip_pool="pool", vip_pool_fqdn=None) == {"vip_pool_name": "pool", **rest}
    assert parameters(qos_policy="gold") == {"vip_pool_fqdn": "pool.example", "qos_policy": "gold", **rest}


def test_helm_keeps_its_state_in_a_namespace_that_is_in_the_cluster_before_the_release() -> None:
    items = rendered(NFS, VAST, SCRATCH)
    spaces = [item.name for item in items if item.kind == "Namespace" and item.cluster == "c1"]
    releases = [item for item in items if item.kind == "HelmRelease"]

    assert [item.body["spec"]["storageNamespace"] for item in releases] == spaces
    assert items[: len(spaces)] == [item for item in items if item.kind == "Namespace"]


def test_topolvm_has_each_volume_group_once_and_creates_no_class() -> None:
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
            ],
            **AGENTS,
        },
        "node": AGENTS,
        "controller": {
            "priorityClassName": "system-cluster-critical",
            "updateStrategy": {"rollingUpdate": {"maxUnavailable": 1}},
        },
        "storageClasses": [],
    }


def test_lvmd_reserves_the_declared_space_and_classes_state_their_encryption() -> None:
    spare = SCRATCH.model_copy(update={"name": "kept", "spare": "2Ti", "encrypted": True})
    bulk = SCRATCH.model_copy(update={"name": "bulk", "device_class": "hdd"})

    items = rendered(spare, bulk)
    [release] = [item for item in items if item.name == "topolvm" and item.kind == "HelmRelease"]
    classes = {item.name: item.body["metadata"]["labels"] for item in items if item.kind == "StorageClass"}

    assert release.body["spec"]["values"]["lvmd"]["deviceClasses"] == [
        {"name": "nvme", "volume-group": "nvme", "default": True, "spare-gb": 2048},
        {"name": "hdd", "volume-group": "hdd", "default": False},
    ]
    assert {name: found.get("jacquard.dev/encrypted") for name, found in classes.items()} == {
        "kept": "true",
        "bulk": None,
    }


def test_controllers_of_all_drivers_are_placed_like_services_of_add_ons() -> None:
    found = values(NFS, VAST, SCRATCH, placement=DriverPlacement(services=SYSTEM_POOL))

    assert found.keys() == {"snapshot-controller", "csi-driver-nfs", "vast-csi", "topolvm"}
    for name, chart in found.items():
        assert chart["controller"].items() >= SYSTEM_POOL.items(), name
    assert {name for name, chart in found.items() if "priorityClassName" in chart["controller"]} == {
        "snapshot-controller",
        "topolvm",
    }


def test_a_second_controller_of_topolvm_can_be_replaced_on_two_nodes() -> None:
    assert values(SCRATCH)["topolvm"]["controller"]["updateStrategy"] == {"rollingUpdate": {"maxUnavailable": 1}}


def test_topolvms_sidecar_reports_the_capacity_of_many_nodes_at_once() -> None:
    [release] = [item for item in rendered(SCRATCH) if item.name == "topolvm" and item.kind == "HelmRelease"]

    [patch] = [patch for each in release.body["spec"]["postRenderers"] for patch in each["kustomize"]["patches"]]

    assert patch["target"] == {"group": "apps", "kind": "Deployment"}
    assert json.loads(patch["patch"])["spec"]["template"]["spec"]["containers"] == [
        {
            "name": "csi-provisioner",
            "args": [
                "--kube-api-qps=100",
                "--kube-api-burst=200",
                "--kube-api-capacity-qps=100",
                "--kube-api-capacity-burst=200",
            ],
        }
    ]


def test_agents_of_local_disks_run_on_instance_types_with_disks_only() -> None:
    placed = values(SCRATCH, placement=DriverPlacement(with_disks=("h100-ib-8", "l40s-8")))["topolvm"]
    anywhere = values(SCRATCH)["topolvm"]

    for agent in ("lvmd", "node"):
        [term] = placed[agent]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"][
            "nodeSelectorTerms"
        ]
        assert term["matchExpressions"] == [
            {
                "key": "node-restriction.kubernetes.io/instance-type",
                "operator": "In",
                "values": ["h100-ib-8", "l40s-8"],
            }
        ]
        assert "affinity" not in anywhere[agent]
