"""Volumes of VMs: access and volume modes by storage class, and CDI's storage profiles with these modes."""

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
"""Seconds that `up` waits for profiles. CDI creates a profile when a class is created
(CDI:pkg/controller/storageprofile-controller.go)."""


def storage(spec: StorageClassSpec, size: Quantity) -> Json:
    """Return the storage request of a DataVolume of ``size`` in the class ``spec``.

    The modes are explicit, although they are also in the profile of the class, because cluster administrators can edit
    profiles and the request of a disk is immutable.
    """
    return {"storageClassName": spec.name, **_modes(spec)[0], "resources": {"requests": {"storage": size}}}


def storage_profiles(cluster: str, classes: Iterable[StorageClassSpec]) -> ManifestSet:
    """Return the patches of CDI's storage profiles for ``classes`` in ``cluster``, independent of CDI's defaults.

    CDI does not know the VAST driver, and rejects disks without explicit modes. For all classes of a driver, CDI uses
    the snapshot class of the default class, with the login or share of that class (CDI:pkg/controller/common,
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
                # A class with changed parameters is recreated, and CDI then creates a new profile.
                made_of=digest(spec.model_dump(mode="json"), 6),
            )
            for spec in classes
        },
    )


def _profile(spec: StorageClassSpec) -> dict[str, Any]:
    # With csi-clone, drivers that support snapshots clone a disk in one step: csi-driver-nfs copies it directly and
    # packs no snapshot, and VAST deletes its temporary snapshot of the source. CDI copies TopoLVM disks.
    return {
        "claimPropertySets": list(_modes(spec)),
        "cloneStrategy": "csi-clone" if spec.VOLUME_SNAPSHOTS else "copy",
        **given(snapshotClass=spec.name if spec.VOLUME_SNAPSHOTS else None),
    }


def _modes(spec: StorageClassSpec) -> tuple[dict[str, Any], ...]:
    """Return the access and volume modes of the class, in order of preference for VMs."""
    return tuple({"accessModes": [access], "volumeMode": volume} for access, volume in spec.MODES)
