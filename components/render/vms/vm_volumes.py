"""Volumes of VMs: what is asked of a storage class, and what CDI asks of it for claims that leave it out."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from components.render.manifest import Json, ManifestSet, Patch
from components.render.objects import digest, given
from components.render.vms.vm_images import CDI, NAMESPACE
from components.specs.base import Quantity
from components.specs.storage.storage import StorageClassSpec

PROFILES = "storage-profiles"
"""Name of the set that patches the profiles of a cluster."""
_SECONDS = 60
"""How long `up` waits for profiles: CDI makes one as soon as it sees a class
(CDI:pkg/controller/storageprofile-controller.go)."""


def storage(spec: StorageClassSpec, size: Quantity) -> Json:
    """Return what a DataVolume of ``size`` asks of the class ``spec``.

    Said outright although the class's profile says it too: a disk never changes what it asks for, and a profile is
    whoever administers the cluster's to edit.
    """
    return {"storageClassName": spec.name, **_ways(spec)[0], "resources": {"requests": {"storage": size}}}


def storage_profiles(cluster: str, classes: Iterable[StorageClassSpec]) -> ManifestSet:
    """Return what the profiles say that CDI makes of ``classes`` in ``cluster``, whatever CDI knows of their drivers.

    Of VAST's it knows nothing, and refuses disks that do not say how they want their volume. Of several classes of a
    driver it takes the default's snapshot class for all, with that one's login or share (CDI:pkg/controller/common,
    GetVolumeSnapshotClass).
    """
    return ManifestSet(
        name=PROFILES,
        namespace=NAMESPACE,
        members={},
        cluster=cluster,
        patches={
            spec.name: Patch(
                api_version=CDI,
                kind="StorageProfile",
                names=(spec.name,),
                fields={"spec": _profile(spec)},
                wait_seconds=_SECONDS,
                # A class whose parameters change is made anew, and CDI makes another profile with it.
                made_of=digest(spec.model_dump(mode="json"), 6),
            )
            for spec in classes
        },
    )


def _profile(spec: StorageClassSpec) -> dict[str, Any]:
    # A driver that takes snapshots clones, too, in one step: csi-driver-nfs copies where a snapshot would be packed and
    # unpacked, VAST's snapshot of the source goes by itself. TopoLVM's disks are copied by CDI.
    return {
        "claimPropertySets": list(_ways(spec)),
        "cloneStrategy": "csi-clone" if spec.SNAPSHOTS else "copy",
        **given(snapshotClass=spec.name if spec.SNAPSHOTS else None),
    }


def _ways(spec: StorageClassSpec) -> tuple[dict[str, Any], ...]:
    """Return how a volume of the class can be had, the best way for a VM first.

    Of a class of one node that is a block device: a file in a file system would be slower, and nobody shares it.
    """
    modes = [("ReadWriteMany", "Filesystem")]
    if not spec.SHARED:
        modes = [("ReadWriteOnce", "Block"), ("ReadWriteOnce", "Filesystem")]
    return tuple({"accessModes": [access], "volumeMode": volume} for access, volume in modes)
