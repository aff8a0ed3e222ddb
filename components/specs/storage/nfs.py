"""Storage class of csi-driver-nfs."""

import re
from collections.abc import Iterator
from typing import ClassVar, Literal

from pydantic import Field

from components.specs.base import ABSOLUTE_PATH, RELATIVE_PATH, Address, ConstraintViolation, IpAddress, Text
from components.specs.reading.problems import listed, nearest
from components.specs.storage.snapshots import SnapshotMethod
from components.specs.storage.storage_class import NetworkClassSpec, host_violations

CLAIM, NAMESPACE, VOLUME = "${pvc.metadata.name}", "${pvc.metadata.namespace}", "${pv.metadata.name}"
"""Placeholders that csi-driver-nfs replaces in ``subDir`` (csi-driver-nfs:docs/driver-parameters.md)."""
_PLACEHOLDERS = (CLAIM, NAMESPACE, VOLUME)
UNIQUE = f"{NAMESPACE}/{CLAIM}-{VOLUME}"
"""Directory of exactly one volume."""


class NfsClassSpec(NetworkClassSpec):
    """Storage class of csi-driver-nfs. Sizes are labels and not quotas: the driver does not enforce capacity."""

    driver: Literal["nfs"]
    """The driver is csi-driver-nfs."""
    server: IpAddress | Text
    """Address or name of the NFS server, ``server`` of csi-driver-nfs."""
    share: str = Field(pattern=ABSOLUTE_PATH)
    """Directory that the server exports, ``share`` of csi-driver-nfs. ``<tenant>`` in it is replaced by the tenant's
    name, so that each tenant has its own export, open to its own hosts."""
    sub_directory: str = Field(default=UNIQUE, pattern=RELATIVE_PATH)
    """Directory of a volume below the cluster's own directory, which has the cluster's name; the end of ``subDir`` of
    csi-driver-nfs. It contains the name of the volume, so that no two volumes share one. Without the name of the
    volume, a recreated claim gets the directory of the former one; this requires ``reclaim: Retain``."""
    PER_TENANT = ("share",)
    ISOLATION = ("share",)
    """The export is the only isolation of tenants."""
    SERVERS = ("server",)
    NEGOTIATES_VERSION = True
    VOLUME_SNAPSHOTS = SnapshotMethod.ARCHIVE
    snapshots: ClassVar[None] = None
    """Snapshots of exports are not described by the data."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an invalid server, and a directory that several claims would share."""
        yield from super().incompatibilities()
        if not isinstance(self.server, Address):
            yield from host_violations("server", self.server, port=False)
        yield from _directory_violations(self.sub_directory)


def _directory_violations(directory: str) -> Iterator[ConstraintViolation]:
    """Yield unknown placeholders, and a directory that several claims would share."""
    path = ("sub_directory",)
    unknown = [name for name in re.findall(r"\$\{?[^/}]*\}?", directory) if name not in _PLACEHOLDERS]
    if unknown:
        near = nearest(unknown[0], _PLACEHOLDERS) or CLAIM
        yield ConstraintViolation(
            f"contains {unknown[0]}, which csi-driver-nfs does not replace; write {near}", path, directory
        )
        return
    if VOLUME in directory:
        return
    missing = [name for name in (NAMESPACE, CLAIM) if name not in directory]
    if missing:
        rule = f"is the same directory for claims that differ only in {listed(missing)}"
        yield ConstraintViolation(f"{rule}; write {UNIQUE}, or {VOLUME}", path, directory)
    elif any(NAMESPACE in part and CLAIM in part for part in directory.split("/")):
        rule = "is the same directory for claim b-c of namespace a and claim c of namespace a-b"
        yield ConstraintViolation(f"{rule}; write {UNIQUE}", path, directory)
