"""Volumes of VMs, asked for as their storage class can give them."""

from __future__ import annotations

from components.render.manifest import Json
from components.specs.base import Quantity
from components.specs.storage import StorageClassSpec


def storage(spec: StorageClassSpec, size: Quantity) -> Json:
    """Return what a DataVolume of ``size`` asks of the class ``spec``.

    Of a class of one node it asks for a block device: a file in a file system would be slower, and nobody shares it.
    Said outright, since CDI knows no drivers but those of its own list (CDI:pkg/storagecapabilities).
    """
    return {
        "storageClassName": spec.name,
        "accessModes": ["ReadWriteMany" if spec.SHARED else "ReadWriteOnce"],
        "volumeMode": "Filesystem" if spec.SHARED else "Block",
        "resources": {"requests": {"storage": size}},
    }
