"""Simulated snapshots of external-snapshotter (claims) and KubeVirt (virtual machines with all their claims).

Nothing is copied: a snapshot becomes ready if its source and its snapshot class exist.
"""

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, owned_by
from jacquard.lab.rehearsal.operators.vms.storage_profiles import snapshot_classes
from jacquard.lab.rehearsal.operators.vms.virtual_machines import API
from jacquard.lab.rehearsal.operators.vms.volumes import CDI
from jacquard.providers.kube.objects import dig

OF_CLAIMS = "snapshot.storage.k8s.io/v1"
OF_MACHINES = "snapshot.kubevirt.io/v1beta1"


def reconcile(view: View) -> None:
    """Update all snapshots."""
    for snapshot in view.all(OF_MACHINES, "VirtualMachineSnapshot"):
        if not deleting(snapshot) and not dig(snapshot, "status", "readyToUse"):
            _of_machine(view, snapshot)
    for snapshot in view.all(OF_CLAIMS, "VolumeSnapshot"):
        if not deleting(snapshot) and not dig(snapshot, "status", "readyToUse"):
            _of_claim(view, snapshot)


def _of_claim(view: View, snapshot: Object) -> None:
    claim_name = dig(snapshot, "spec", "source", "persistentVolumeClaimName")
    claim = view.find("v1", "PersistentVolumeClaim", claim_name, snapshot["metadata"]["namespace"])
    snapshot_class = view.find(OF_CLAIMS, "VolumeSnapshotClass", dig(snapshot, "spec", "volumeSnapshotClassName"))
    if claim is None or snapshot_class is None or dig(claim, "status", "phase") != "Bound":
        return
    if snapshot_class["driver"] == _driver(view, claim):
        view.status(snapshot, {"readyToUse": True})


def _of_machine(view: View, snapshot: Object) -> None:
    namespace = snapshot["metadata"]["namespace"]
    machine = view.find(API, "VirtualMachine", dig(snapshot, "spec", "source", "name"), namespace)
    claims = dict(_claims(view, machine)) if machine else {}
    if machine is None or any(dig(claim, "status", "phase") != "Bound" for claim in claims.values()):
        _update_status(view, snapshot, {"phase": "InProgress", "readyToUse": False})
        return
    classes = {volume: _class_of(view, claim) for volume, claim in claims.items() if claim}
    ready = True
    for volume, snapshot_class in classes.items():
        if snapshot_class is not None:
            name = f"vmsnapshot-{snapshot['metadata']['uid']}-volume-{volume}"
            existing = view.find(OF_CLAIMS, "VolumeSnapshot", name, namespace)
            ready = ready and dig(existing, "status", "readyToUse") is True
            if existing is None:
                view.create(_part(snapshot, name, claims[volume], snapshot_class))
    taken = {
        "includedVolumes": sorted(volume for volume, snapshot_class in classes.items() if snapshot_class),
        "excludedVolumes": sorted(volume for volume, snapshot_class in classes.items() if not snapshot_class),
    }
    phase = "Succeeded" if ready else "InProgress"
    _update_status(view, snapshot, {"phase": phase, "readyToUse": ready, "snapshotVolumes": taken})


def _claims(view: View, machine: Object) -> Iterator[tuple[str, Object | None]]:
    """Yield the claims of a machine's volumes by volume; ephemeral volumes have no claim."""
    for volume in dig(machine, "spec", "template", "spec", "volumes") or ():
        name = dig(volume, "dataVolume", "name") or dig(volume, "persistentVolumeClaim", "claimName")
        if name:
            yield volume["name"], view.find("v1", "PersistentVolumeClaim", name, machine["metadata"]["namespace"])


def _class_of(view: View, claim: Object) -> str | None:
    """Return the snapshot class from the claim's StorageProfile, or the only or default class of the driver."""
    profile = view.find(CDI, "StorageProfile", dig(claim, "spec", "storageClassName"))
    if from_profile := dig(profile, "status", "snapshotClass"):
        return str(from_profile)
    classes = snapshot_classes(view, _driver(view, claim))
    candidates = classes if len(classes) == 1 else [name for name, is_default in classes.items() if is_default]
    return next(iter(candidates), None)


def _driver(view: View, claim: Object) -> str | None:
    storage = view.find("storage.k8s.io/v1", "StorageClass", dig(claim, "spec", "storageClassName"))
    return storage["provisioner"] if storage else None


def _part(snapshot: Object, name: str, claim: Object | None, snapshot_class: str) -> Object:
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
            "volumeSnapshotClassName": snapshot_class,
        },
    }


def _update_status(view: View, snapshot: Object, status: Object) -> None:
    if {key: dig(snapshot, "status", key) for key in status} != status:
        view.status(snapshot, status)
