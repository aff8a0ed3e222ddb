"""What external-snapshotter and KubeVirt do with snapshots: of a claim by its class, of a virtual machine by all of it.

Nothing is copied: a snapshot says that it is ready once what it is of, and the class that it is taken by, are there.
"""

from __future__ import annotations

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.storage_profiles import snapshot_classes
from jacquard.lab.rehearsal.operators.vms.virtual_machines import API
from jacquard.lab.rehearsal.operators.vms.volumes import CDI
from jacquard.providers.kube.objects import dig

OF_CLAIMS = "snapshot.storage.k8s.io/v1"
OF_MACHINES = "snapshot.kubevirt.io/v1beta1"


def reconcile(view: View) -> None:
    """Move every snapshot one step on."""
    for snapshot in view.all(OF_MACHINES, "VirtualMachineSnapshot"):
        if not deleting(snapshot) and not dig(snapshot, "status", "readyToUse"):
            _of_machine(view, snapshot)
    for snapshot in view.all(OF_CLAIMS, "VolumeSnapshot"):
        if not deleting(snapshot) and not dig(snapshot, "status", "readyToUse"):
            _of_claim(view, snapshot)


def _of_claim(view: View, snapshot: Object) -> None:
    claim_name = dig(snapshot, "spec", "source", "persistentVolumeClaimName")
    claim = view.find("v1", "PersistentVolumeClaim", claim_name, snapshot["metadata"]["namespace"])
    made_by = view.find(OF_CLAIMS, "VolumeSnapshotClass", dig(snapshot, "spec", "volumeSnapshotClassName"))
    if claim is None or made_by is None or dig(claim, "status", "phase") != "Bound":
        return
    if made_by["driver"] == _driver(view, claim):
        view.status(snapshot, {"readyToUse": True})


def _of_machine(view: View, snapshot: Object) -> None:
    namespace = snapshot["metadata"]["namespace"]
    machine = view.find(API, "VirtualMachine", dig(snapshot, "spec", "source", "name"), namespace)
    claims = dict(_claims(view, machine)) if machine else {}
    if machine is None or any(dig(claim, "status", "phase") != "Bound" for claim in claims.values()):
        _said(view, snapshot, {"phase": "InProgress", "readyToUse": False})
        return
    found = {volume: _class_of(view, claim) for volume, claim in claims.items() if claim}
    ready = True
    for volume, made_by in found.items():
        if made_by is not None:
            name = f"vmsnapshot-{snapshot['metadata']['uid']}-volume-{volume}"
            there = view.find(OF_CLAIMS, "VolumeSnapshot", name, namespace)
            ready = ready and dig(there, "status", "readyToUse") is True
            if there is None:
                view.create(_part(snapshot, name, claims[volume], made_by))
    taken = {
        "includedVolumes": sorted(volume for volume, made_by in found.items() if made_by),
        "excludedVolumes": sorted(volume for volume, made_by in found.items() if not made_by),
    }
    phase = "Succeeded" if ready else "InProgress"
    _said(view, snapshot, {"phase": phase, "readyToUse": ready, "snapshotVolumes": taken})


def _claims(view: View, machine: Object) -> Iterator[tuple[str, Object | None]]:
    """Yield the claim of each volume that is one; what is ephemeral has none of its own."""
    for volume in dig(machine, "spec", "template", "spec", "volumes") or ():
        name = dig(volume, "dataVolume", "name") or dig(volume, "persistentVolumeClaim", "claimName")
        if name:
            yield volume["name"], view.find("v1", "PersistentVolumeClaim", name, machine["metadata"]["namespace"])


def _class_of(view: View, claim: Object) -> str | None:
    """Return the snapshot class that the profile of a claim's class says, or the driver's only one, or its default."""
    profile = view.find(CDI, "StorageProfile", dig(claim, "spec", "storageClassName"))
    if said := dig(profile, "status", "snapshotClass"):
        return str(said)
    found = snapshot_classes(view, _driver(view, claim))
    asked = found if len(found) == 1 else [name for name, marked in found.items() if marked]
    return next(iter(asked), None)


def _driver(view: View, claim: Object) -> str | None:
    storage = view.find("storage.k8s.io/v1", "StorageClass", dig(claim, "spec", "storageClassName"))
    return storage["provisioner"] if storage else None


def _part(snapshot: Object, name: str, claim: Object | None, made_by: str) -> Object:
    return {
        "apiVersion": OF_CLAIMS,
        "kind": "VolumeSnapshot",
        "metadata": {
            "name": name,
            "namespace": snapshot["metadata"]["namespace"],
            "ownerReferences": owned_by(snapshot),
        },
        "spec": {
            "source": {"persistentVolumeClaimName": dig(claim, "metadata", "name")},
            "volumeSnapshotClassName": made_by,
        },
    }


def _said(view: View, snapshot: Object, status: Object) -> None:
    if {key: dig(snapshot, "status", key) for key in status} != status:
        view.status(snapshot, status)
