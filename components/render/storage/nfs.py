"""Driver csi-driver-nfs and parameters of its storage classes."""

from collections.abc import Sequence
from typing import Any

from components.render.objects import given
from components.render.storage.driver_placement import DriverPlacement
from components.specs.storage.nfs import NfsClassSpec


def values(_classes: Sequence[NfsClassSpec], placement: DriverPlacement) -> dict[str, Any]:
    """Return the values of the driver. Its agents tolerate every taint by default."""
    return given(controller=dict(placement.services))


def parameters(cluster: str, spec: NfsClassSpec) -> dict[str, str]:
    """Return the location of volumes, in a folder of the cluster."""
    # Clusters of a tenant share one NFS export: without separate folders they could delete each other's volumes.
    return {**_location(spec), "subDir": f"{cluster}/{spec.sub_directory}"}


def snapshot_parameters(_cluster: str, spec: NfsClassSpec) -> dict[str, str]:
    """Return the location of volumes and the mount options."""
    # The driver mounts the share again to create a snapshot, and reads the mount options only from these parameters.
    options = {"mountOptions": ",".join(spec.mount_options)} if spec.mount_options else {}
    return {**_location(spec), **options}


def _location(spec: NfsClassSpec) -> dict[str, str]:
    return {"server": str(spec.server), "share": spec.share}
