"""Simulated CSI provisioners and CDI: a claim of a class gets a volume, a DataVolume gets a claim."""

import re

from jacquard.lab.rehearsal.operators.references import Reference, missing
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms import importers, storage_profiles
from jacquard.providers.kube.objects import dig

CDI = "cdi.kubevirt.io/v1beta1"
_STORAGE = ("storage.k8s.io/v1", "StorageClass")
_DEFAULT = "storageclass.kubernetes.io/is-default-class"
_PROVISIONED = "pv.kubernetes.io/provisioned-by"
_DATA_VOLUME = (
    Reference("spec.storage.storageClassName", *_STORAGE),
    Reference("spec.pvc.storageClassName", *_STORAGE),
    Reference("spec.sourceRef", CDI, "DataSource", ready="Ready"),
    Reference("spec.source.pvc", "v1", "PersistentVolumeClaim"),
    Reference("spec.source.snapshot", "snapshot.storage.k8s.io/v1", "VolumeSnapshot"),
    *(Reference(f"spec.source.{kind}.secretRef", "v1", "Secret") for kind in ("http", "registry", "s3", "gcs")),
    *(Reference(f"spec.source.{kind}.certConfigMap", "v1", "ConfigMap") for kind in ("http", "registry", "s3")),
)
_OF_ONE_NODE = ("topolvm.io",)
"""Drivers that reject volumes with ReadWriteMany."""
_SCHEDULED, _IN_PROGRESS, _SUCCEEDED = "ImportScheduled", "ImportInProgress", "Succeeded"


def reconcile(view: View) -> None:
    """Update all claims, volumes, DataVolumes and DataSources."""
    for claim in view.all("v1", "PersistentVolumeClaim"):
        if deleting(claim):
            importers.remove(view, claim)  # its pod would protect the claim from deletion
        elif dig(claim, "status", "phase") == "Pending" and not dig(claim, "spec", "volumeName"):
            _provision(view, claim)
    for volume in view.all("v1", "PersistentVolume"):
        _reclaim(view, volume)
    importer = next((item for item in view.all(CDI, "CDI") if dig(item, "status", "phase") == "Deployed"), None)
    if importer is None:
        return  # CDI is not installed
    storage_profiles.reconcile(view)
    for data in view.all(CDI, "DataVolume"):
        if not deleting(data):
            _import(view, importer, data)
    for source in view.all(CDI, "DataSource"):
        if not deleting(source):
            _resolve(view, source)


def _provision(view: View, claim: Object) -> None:
    storage = view.find(*_STORAGE, dig(claim, "spec", "storageClassName"))
    if storage is None or (
        storage["provisioner"] in _OF_ONE_NODE and "ReadWriteMany" in dig(claim, "spec", "accessModes")
    ):
        return
    if importers.waits(view, claim):
        return
    metadata = claim["metadata"]
    name = f"pvc-{metadata['uid']}"
    if view.find("v1", "PersistentVolume", name):
        return
    view.create(
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": name, "annotations": {_PROVISIONED: storage["provisioner"]}},
            "spec": {
                "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
                "accessModes": claim["spec"]["accessModes"],
                "volumeMode": claim["spec"].get("volumeMode", "Filesystem"),
                "persistentVolumeReclaimPolicy": storage.get("reclaimPolicy", "Delete"),
                "storageClassName": storage["metadata"]["name"],
                "mountOptions": storage.get("mountOptions") or [],
                "csi": {"driver": storage["provisioner"], "volumeHandle": name},
                "claimRef": {
                    "apiVersion": "v1",
                    "kind": "PersistentVolumeClaim",
                    "name": metadata["name"],
                    "namespace": metadata["namespace"],
                    "uid": metadata["uid"],
                },
            },
        }
    )


def _reclaim(view: View, volume: Object) -> None:
    is_simulated = _PROVISIONED in (volume["metadata"].get("annotations") or {})
    released = dig(volume, "status", "phase") == "Released"
    if is_simulated and released and dig(volume, "spec", "persistentVolumeReclaimPolicy") == "Delete":
        view.delete(volume)


def _import(view: View, importer: Object, data: Object) -> None:
    metadata, spec, phase = data["metadata"], data["spec"], dig(data, "status", "phase")
    if phase in {_SCHEDULED, _IN_PROGRESS, _SUCCEEDED}:
        claim = view.find("v1", "PersistentVolumeClaim", metadata["name"], metadata["namespace"])
        if claim and phase == _SUCCEEDED:
            importers.remove(view, claim)
        elif claim and phase == _SCHEDULED and (_by_driver(view, data, claim) or importers.runs(view, importer, claim)):
            view.status(data, {"phase": _IN_PROGRESS, "progress": "50.00%"})
        return
    wanted = spec.get("storage") or spec.get("pvc") or {}
    storage = str(wanted.get("storageClassName") or _default_class(view) or "")
    lacking = missing(view, data, _DATA_VOLUME) or _unfilled(view, data)
    problem = "; ".join(lacking) or storage_profiles.unsaid(view, storage, wanted)
    if problem:
        condition = {"type": "Bound", "status": "Unknown", "reason": "Pending", "message": problem}
        if dig(data, "status", "conditions") != [condition]:
            view.status(data, {"phase": "Pending", "conditions": [condition]})
        return
    claim = view.find("v1", "PersistentVolumeClaim", metadata["name"], metadata["namespace"])
    if claim is None:
        view.create(
            {
                "apiVersion": "v1",
                "kind": "PersistentVolumeClaim",
                "metadata": {
                    "name": metadata["name"],
                    "namespace": metadata["namespace"],
                    "annotations": importers.passed_on(data),
                    "ownerReferences": owned_by(data),
                },
                "spec": {
                    "storageClassName": storage,
                    **storage_profiles.modes(view, storage, wanted),
                    "resources": wanted["resources"],
                },
            }
        )
    elif dig(claim, "status", "phase") == "Bound":
        view.status(data, {"phase": _SCHEDULED, "claimName": metadata["name"], "progress": "N/A"})


def _by_driver(view: View, data: Object, claim: Object) -> bool:
    """Return whether the storage driver clones the source of a disk; otherwise, a pod of CDI fills the disk."""
    source = data["spec"].get("source") or {}
    is_clone = bool(data["spec"].get("sourceRef") or source.get("pvc") or source.get("snapshot"))
    return is_clone and not storage_profiles.is_copied(view, dig(claim, "spec", "storageClassName"))


def _unfilled(view: View, data: Object) -> list[str]:
    """Return a message if the source of a clone is not filled yet or larger than the disk."""
    source = dig(data, "spec", "source", "pvc")
    if ref := dig(data, "spec", "sourceRef"):
        data_source = view.find(CDI, "DataSource", ref["name"], ref.get("namespace") or data["metadata"]["namespace"])
        source = dig(data_source, "spec", "source", "pvc")
    if not source:
        return []
    place = source["name"], source.get("namespace") or data["metadata"]["namespace"]
    claim, filled = view.find("v1", "PersistentVolumeClaim", *place), view.find(CDI, "DataVolume", *place)
    if filled is not None and dig(filled, "status", "phase") != _SUCCEEDED:
        return [f"DataVolume '{place[0]}' is not filled yet"]
    wanted = dig(data, "spec", "storage") or dig(data, "spec", "pvc") or {}
    size, least = (
        dig(wanted, "resources", "requests", "storage"),
        dig(claim, "spec", "resources", "requests", "storage"),
    )
    if _amount(size) < _amount(least):
        return [f"target resources requests storage size is smaller than the source ({size} < {least})"]
    return []


def _amount(quantity: str | None) -> int:
    """Return a quantity with a binary suffix in bytes; 0 for other notations, which are not compared."""
    match = re.fullmatch(r"(\d+)([KMGTP])i", quantity or "")
    return int(match[1]) << 10 * (1 + "KMGTP".index(match[2])) if match else 0


def _resolve(view: View, source: Object) -> None:
    claim = dig(source, "spec", "source", "pvc") or {}
    name, namespace = claim.get("name"), claim.get("namespace") or source["metadata"]["namespace"]
    body = view.find("v1", "PersistentVolumeClaim", name, namespace)
    data = view.find(CDI, "DataVolume", name, namespace)
    ready = body is not None and (data is None or dig(data, "status", "phase") == _SUCCEEDED)
    reason = "Ready" if ready else "NotFound" if body is None else dig(data, "status", "phase") or "NotReady"
    condition = {"type": "Ready", "status": "True" if ready else "False", "reason": reason, "message": ""}
    if dig(source, "status", "conditions") != [condition]:
        view.patch(source, {"status": {"conditions": [condition], "source": dig(source, "spec", "source")}})


def _default_class(view: View) -> str | None:
    for storage in view.all(*_STORAGE):
        if (storage["metadata"].get("annotations") or {}).get(_DEFAULT) == "true":
            return str(storage["metadata"]["name"])
    return None
