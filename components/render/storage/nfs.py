"""Parameters of storage classes of csi-driver-nfs."""

from components.specs.storage.nfs import NfsClassSpec


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
