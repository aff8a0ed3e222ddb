"""Storage profiles that CDI creates for classes, and defaults of disks without volume settings."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.vms import volumes
from jacquard.lab.rehearsal.operators.vms.snapshots import OF_CLAIMS
from tests.support.objects.live_objects import obj

CDI = obj(volumes.CDI, "CDI", "cdi", namespace="", status={"phase": "Deployed"})
FILE = {"accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}
BLOCK = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Block"}
LOCAL_FILE = {"accessModes": ["ReadWriteOnce"], "volumeMode": "Filesystem"}


def storage_class(name: str, driver: str) -> dict[str, Any]:
    return {**obj("storage.k8s.io/v1", "StorageClass", name, namespace=""), "provisioner": driver}


def snapshot_class(name: str, driver: str, **annotations: str) -> dict[str, Any]:
    made = obj(OF_CLAIMS, "VolumeSnapshotClass", name, namespace="", metadata={"annotations": annotations})
    return {**made, "driver": driver}


def profile(name: str, **spec: Any) -> dict[str, Any]:
    return obj(volumes.CDI, "StorageProfile", name, spec, namespace="")


def disk(**wanted: Any) -> dict[str, Any]:
    storage = {"storageClassName": "class", "resources": {"requests": {"storage": "1Gi"}}, **wanted}
    return obj(volumes.CDI, "DataVolume", "data", {"source": {"blank": {}}, "storage": storage})


def settled(view: Any) -> Any:
    for _ in range(3):
        volumes.reconcile(view)
    return view


@pytest.mark.parametrize(
    ("driver", "sets", "strategy"),
    [
        ("nfs.csi.k8s.io", [FILE], "snapshot"),
        ("csi.vastdata.com", [], "snapshot"),
        ("topolvm.io", [BLOCK, LOCAL_FILE], "copy"),
    ],
)
def test_a_profile_is_created_and_deleted_with_its_class(objects: Any, driver: str, sets: Any, strategy: str) -> None:
    view = settled(objects(CDI, storage_class("class", driver), snapshot_class("class", driver), profile("gone")))

    assert [one["metadata"]["name"] for one in view.all(volumes.CDI, "StorageProfile")] == ["class"]
    assert view.get("StorageProfile", "class")["status"] == {
        "storageClass": "class",
        "provisioner": driver,
        "claimPropertySets": sets,
        "cloneStrategy": strategy,
        "snapshotClass": "class",
    }


def test_without_cdi_there_is_none(objects: Any) -> None:
    assert list(settled(objects(storage_class("class", "topolvm.io"))).all(volumes.CDI, "StorageProfile")) == []


@pytest.mark.parametrize(
    ("named", "taken"), [(None, "theirs"), ("class", "class"), ("of-another", None), ("nowhere", None)]
)
def test_the_snapshot_class_is_the_one_that_is_named_or_else_the_default(objects: Any, named: Any, taken: Any) -> None:
    driver, default = "csi.vastdata.com", {"snapshot.storage.kubernetes.io/is-default-class": "true"}
    classes = [snapshot_class("class", driver), snapshot_class("theirs", driver, **default)]
    spec = {"snapshotClass": named} if named else {}
    view = objects(
        CDI, storage_class("class", driver), *classes, snapshot_class("of-another", "x"), profile("class", **spec)
    )

    assert settled(view).get("StorageProfile", "class")["status"].get("snapshotClass") == taken


@pytest.mark.parametrize(
    ("sets", "wanted", "got"),
    [
        ([FILE], {}, FILE),
        ([BLOCK, LOCAL_FILE], {}, BLOCK),
        ([BLOCK, LOCAL_FILE], {"volumeMode": "Filesystem"}, LOCAL_FILE),
        ([BLOCK, LOCAL_FILE], {"accessModes": ["ReadWriteOnce"]}, BLOCK),
        ([BLOCK], {"accessModes": ["ReadOnlyMany"]}, {"accessModes": ["ReadOnlyMany"], "volumeMode": "Filesystem"}),
        ([], {"accessModes": ["ReadWriteMany"], "volumeMode": "Block"}, {**FILE, "volumeMode": "Block"}),
        ([], {}, "accessMode and volumeMode"),
        ([BLOCK], {"volumeMode": "Filesystem"}, "accessMode"),
    ],
)
def test_a_disk_uses_its_settings_and_the_defaults_of_its_class(objects: Any, sets: Any, wanted: Any, got: Any) -> None:
    spec = {"claimPropertySets": sets} if sets else {}
    view = settled(objects(CDI, storage_class("class", "csi.vastdata.com"), profile("class", **spec), disk(**wanted)))

    claim = view.store.get(("PersistentVolumeClaim", "ns", "data"))
    if isinstance(got, str):
        [condition] = view.get("DataVolume", "data", "ns")["status"]["conditions"]
        text = f"Spec is missing {got}, cannot get access mode from StorageProfile class"
        assert (claim, condition["message"]) == (None, text)
    else:
        assert {key: claim["spec"][key] for key in ("accessModes", "volumeMode")} == got
