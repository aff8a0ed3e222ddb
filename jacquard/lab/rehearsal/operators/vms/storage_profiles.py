"""Simulated StorageProfiles of CDI: one for each storage class, with the default modes of its disks."""

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
"""Rendered drivers that CDI knows, with their modes (CDI:pkg/storagecapabilities/storagecapabilities.go)."""
_COPIED = ("topolvm.io",)
"""Drivers for which CDI clones by copying."""


def reconcile(view: View) -> None:
    """Create and update the profile of each class, and delete profiles without a class."""
    left = {profile["metadata"]["name"]: profile for profile in view.all(_API, _KIND)}
    for storage in view.all("storage.k8s.io/v1", "StorageClass"):
        profile = left.pop(storage["metadata"]["name"], None)
        if profile is None:
            view.create(
                {"apiVersion": _API, "kind": _KIND, "metadata": {"name": storage["metadata"]["name"]}, "spec": {}}
            )
        else:
            _update_status(view, profile, storage)
    for profile in left.values():
        view.delete(profile)


def unsaid(view: View, storage: str, wanted: Object) -> str:
    """Return CDI's message if neither a disk nor the profile of its class sets the modes; otherwise empty."""
    if not storage:
        return "no storage class given and none is the default"
    if wanted.get("accessModes") or modes(view, storage, wanted):
        return ""
    lacking = "accessMode" if wanted.get("volumeMode") else "accessMode and volumeMode"
    return f"Spec is missing {lacking}, cannot get access mode from StorageProfile {storage}"


def modes(view: View, storage: str, wanted: Object) -> Object:
    """Return the known access and volume modes of a disk, from its spec and the profile of its class."""
    sets = dig(view.find(_API, _KIND, storage), "status", "claimPropertySets") or ()
    explicit = {key: wanted[key] for key in ("accessModes", "volumeMode") if wanted.get(key)}
    for entry in sets:
        matches = "volumeMode" not in explicit or entry["volumeMode"] == explicit["volumeMode"]
        if matches and ("accessModes" not in explicit or set(entry["accessModes"]) & set(explicit["accessModes"])):
            return {**entry, **explicit}
    return {"volumeMode": "Filesystem", **explicit} if "accessModes" in explicit else {}


def is_copied(view: View, storage: str | None) -> bool:
    """Return whether CDI copies clones of class ``storage`` itself."""
    return bool(dig(view.find(_API, _KIND, storage), "status", "cloneStrategy") == "copy")


def snapshot_classes(view: View, driver: str | None) -> dict[str, bool]:
    """Return the snapshot classes of ``driver`` by name; the value is True for the default class."""
    classes = (body["metadata"] for body in view.all(*_SNAPSHOT_CLASS) if body["driver"] == driver)
    return {metadata["name"]: _DEFAULT in (metadata.get("annotations") or {}) for metadata in classes}


def _update_status(view: View, profile: Object, storage: Object) -> None:
    spec, driver = profile.get("spec") or {}, storage["provisioner"]
    snapshot_class = _snapshot_class(view, spec.get("snapshotClass"), driver)
    strategy = "copy" if driver in _COPIED or snapshot_class is None else "snapshot"
    status = {
        "storageClass": storage["metadata"]["name"],
        "provisioner": driver,
        "claimPropertySets": spec.get("claimPropertySets") or _KNOWN.get(driver, []),
        "cloneStrategy": spec.get("cloneStrategy") or strategy,
        "snapshotClass": snapshot_class,
    }
    if {key: dig(profile, "status", key) for key in status} != status:
        view.status(profile, status)


def _snapshot_class(view: View, named: str | None, driver: str) -> str | None:
    """Return ``named`` if it is a snapshot class of the driver; if None, the default or first class of the driver."""
    classes = snapshot_classes(view, driver)
    if named is not None:
        return named if named in classes else None
    defaults = [name for name, is_default in classes.items() if is_default]
    return min(defaults or classes, default=None)
