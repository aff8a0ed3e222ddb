"""Simulated snapshots of claims and of virtual machines."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators.vms import snapshots
from jacquard.lab.rehearsal.operators.vms.snapshots import OF_CLAIMS, OF_MACHINES
from tests.support.objects.live_objects import obj

VAST, TOPOLVM = "csi.vastdata.com", "topolvm.io"
DEFAULT = {"snapshot.storage.kubernetes.io/is-default-class": "true"}


def claim(name: str, storage: str, phase: str = "Bound") -> dict[str, Any]:
    return obj("v1", "PersistentVolumeClaim", name, {"storageClassName": storage}, status={"phase": phase})


def storage_class(name: str, driver: str) -> dict[str, Any]:
    return {**obj("storage.k8s.io/v1", "StorageClass", name, namespace=""), "provisioner": driver}


def snapshot_class(name: str, **annotations: str) -> dict[str, Any]:
    made = obj(OF_CLAIMS, "VolumeSnapshotClass", name, namespace="", metadata={"annotations": annotations})
    return {**made, "driver": VAST}


def machine() -> dict[str, Any]:
    volumes = [
        {"name": "root", "dataVolume": {"name": "vm-root"}},
        {"name": "fast", "dataVolume": {"name": "vm-fast"}},
        {"name": "base", "ephemeral": {"persistentVolumeClaim": {"claimName": "golden"}}},
    ]
    return obj("kubevirt.io/v1", "VirtualMachine", "vm", {"template": {"spec": {"volumes": volumes}}})


def snapshot() -> dict[str, Any]:
    spec = {"source": {"apiGroup": "kubevirt.io", "kind": "VirtualMachine", "name": "vm"}}
    return obj(OF_MACHINES, "VirtualMachineSnapshot", "vm-mon", spec, metadata={"uid": "u1"})


def region(objects: Any, *classes: dict[str, Any], phase: str = "Bound") -> Any:
    storage = [storage_class("vast", VAST), storage_class("local", TOPOLVM)]
    claims = [claim("vm-root", "vast", phase), claim("vm-fast", "local")]
    view = objects(*storage, *claims, *classes, machine(), snapshot())
    for _ in range(3):
        snapshots.reconcile(view)
    return view


def status(view: Any) -> dict[str, Any]:
    return dict(view.get("VirtualMachineSnapshot", "vm-mon", "ns")["status"])


def test_a_snapshot_of_a_machine_includes_all_claims_with_snapshot_support(objects: Any) -> None:
    view = region(objects, snapshot_class("vast"))

    [part] = view.all(OF_CLAIMS, "VolumeSnapshot")
    assert part["spec"] == {"source": {"persistentVolumeClaimName": "vm-root"}, "volumeSnapshotClassName": "vast"}
    assert status(view) == {
        "phase": "Succeeded",
        "readyToUse": True,
        "snapshotVolumes": {"includedVolumes": ["root"], "excludedVolumes": ["fast"]},
    }


@pytest.mark.parametrize(("second", "taken"), [({}, None), (DEFAULT, "other")])
def test_the_default_of_several_classes_of_a_driver_is_used(
    objects: Any, second: dict[str, str], taken: str | None
) -> None:
    view = region(objects, snapshot_class("vast"), snapshot_class("other", **second))

    assert [part["spec"]["volumeSnapshotClassName"] for part in view.all(OF_CLAIMS, "VolumeSnapshot")] == (
        [taken] if taken else []
    )


def test_the_class_in_the_profile_is_used(objects: Any) -> None:
    profile = obj("cdi.kubevirt.io/v1beta1", "StorageProfile", "vast", namespace="", status={"snapshotClass": "vast"})
    view = region(objects, snapshot_class("vast"), snapshot_class("other", **DEFAULT), profile)

    assert [part["spec"]["volumeSnapshotClassName"] for part in view.all(OF_CLAIMS, "VolumeSnapshot")] == ["vast"]


def test_a_claim_that_is_not_bound_keeps_the_snapshot_waiting(objects: Any) -> None:
    view = region(objects, snapshot_class("vast"), phase="Pending")

    assert status(view) == {"phase": "InProgress", "readyToUse": False}


def test_a_snapshot_of_a_claim_waits_for_a_class_of_its_driver(objects: Any) -> None:
    spec = {"source": {"persistentVolumeClaimName": "vm-fast"}, "volumeSnapshotClassName": "vast"}
    wrong = obj(OF_CLAIMS, "VolumeSnapshot", "wrong", spec)
    view = objects(storage_class("local", TOPOLVM), claim("vm-fast", "local"), snapshot_class("vast"), wrong)

    snapshots.reconcile(view)

    assert not view.get("VolumeSnapshot", "wrong", "ns").get("status")
