"""What CDI makes of storage classes: a profile of each, by which disks are had that do not say how."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.providers.kube.objects import dig

_API, _KIND = "cdi.kubevirt.io/v1beta1", "StorageProfile"
_SNAPSHOT_CLASS = "snapshot.storage.k8s.io/v1", "VolumeSnapshotClass"
_DEFAULT = "snapshot.storage.kubernetes.io/is-default-class"
_FILE_OF_ALL = {"accessModes": ["ReadWriteMany"], "volumeMode": "Filesystem"}
_OF_ONE_NODE = {"accessModes": ["ReadWriteOnce"]}
_KNOWN: dict[str, list[Any]] = {
    "nfs.csi.k8s.io": [_FILE_OF_ALL],
    "topolvm.io": [{**_OF_ONE_NODE, "volumeMode": mode} for mode in ("Block", "Filesystem")],
}
"""Drivers that CDI knows (CDI:pkg/storagecapabilities/storagecapabilities.go), of those that are rendered."""
_COPIED = ("topolvm.io",)
"""Drivers of which CDI knows that it must copy by itself."""


def reconcile(view: View) -> None:
    """Make a profile of each class, say what holds of it, and delete profiles of classes that are gone."""
    left = {one["metadata"]["name"]: one for one in view.all(_API, _KIND)}
    for storage in view.all("storage.k8s.io/v1", "StorageClass"):
        profile = left.pop(storage["metadata"]["name"], None)
        if profile is None:
            view.create(
                {"apiVersion": _API, "kind": _KIND, "metadata": {"name": storage["metadata"]["name"]}, "spec": {}}
            )
        else:
            _say(view, profile, storage)
    for profile in left.values():
        view.delete(profile)


def unsaid(view: View, storage: str, wanted: Object) -> str:
    """Return in words that neither a disk nor the profile of its class says how it is had, or nothing."""
    if not storage:
        return "no storage class given and none is the default"
    if wanted.get("accessModes") or modes(view, storage, wanted):
        return ""
    lacking = "accessMode" if wanted.get("volumeMode") else "accessMode and volumeMode"
    return f"Spec is missing {lacking}, cannot get access mode from StorageProfile {storage}"


def modes(view: View, storage: str, wanted: Object) -> Object:
    """Return access and volume mode of a disk, as far as they are known, by what it says and by its class's profile."""
    sets = dig(view.find(_API, _KIND, storage), "status", "claimPropertySets") or ()
    given = {key: wanted[key] for key in ("accessModes", "volumeMode") if wanted.get(key)}
    for one in sets:
        alike = "volumeMode" not in given or one["volumeMode"] == given["volumeMode"]
        if alike and ("accessModes" not in given or set(one["accessModes"]) & set(given["accessModes"])):
            return {**one, **given}
    return {"volumeMode": "Filesystem", **given} if "accessModes" in given else {}


def snapshot_classes(view: View, driver: str | None) -> dict[str, bool]:
    """Return the snapshot classes of ``driver`` by name, each with whether it is marked as the default."""
    found = (one["metadata"] for one in view.all(*_SNAPSHOT_CLASS) if one["driver"] == driver)
    return {metadata["name"]: _DEFAULT in (metadata.get("annotations") or {}) for metadata in found}


def _say(view: View, profile: Object, storage: Object) -> None:
    spec, driver = profile.get("spec") or {}, storage["provisioner"]
    by = _snapshot_class(view, spec.get("snapshotClass"), driver)
    strategy = "copy" if driver in _COPIED or by is None else "snapshot"
    said = {
        "storageClass": storage["metadata"]["name"],
        "provisioner": driver,
        "claimPropertySets": spec.get("claimPropertySets") or _KNOWN.get(driver, []),
        "cloneStrategy": spec.get("cloneStrategy") or strategy,
        "snapshotClass": by,
    }
    if {key: dig(profile, "status", key) for key in said} != said:
        view.status(profile, said)


def _snapshot_class(view: View, named: str | None, driver: str) -> str | None:
    """Return the snapshot class that is named if it is the driver's; else the default of the driver's, or the first."""
    found = snapshot_classes(view, driver)
    if named is not None:
        return named if named in found else None
    default = [name for name, marked in found.items() if marked]
    return min(default or found, default=None)
