"""VM images of tenants: sources for the import by CDI, and their verification."""

from collections.abc import Iterator, Mapping
from typing import ClassVar

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    HttpsUrl,
    Label,
    Quantity,
    Sha256,
    Spec,
    VersionName,
)
from components.specs.pools.nodes import PinnedImage
from components.specs.reading.problems import one_of
from components.specs.vms.guests import GuestSystem

_UNVERIFIED = "is a source whose checksum CDI does not verify; write the object's https URL as http, with its sha256"
_UNNAMED = "does not identify the disk; import it into a claim of the cluster first, and write that as claim"


class HttpImageSpec(Spec):
    """Disk image on a web server or in a bucket."""

    url: HttpsUrl
    """URL of the disk image, which CDI imports."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits, which CDI verifies."""
    secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the login, as ``accessKeyId`` and ``secretKey``; no
    login by default."""


class RegistryImageSpec(Spec):
    """Container disk in a registry."""

    image: PinnedImage
    """Container image with its digest, ``registry.example/images/os@sha256:...``, with the disk below ``/disk``."""
    secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the login, as ``accessKeyId`` and ``secretKey``; no
    login by default."""


class DiskInClusterSpec(Spec):
    """Disk that already exists in the cluster. Its content is not verified."""

    namespace: Label
    """Namespace of the disk."""
    name: Label
    """Name of the disk."""


class OwnImageSpec(CheckedSpec):
    """Image of a tenant, from exactly one verifiable source of CDI."""

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = {
        "s3": _UNVERIFIED,
        "gcs": _UNVERIFIED,
        "upload": _UNNAMED,
        "imageio": _UNNAMED,
        "vddk": _UNNAMED,
    }
    """Forbidden sources of CDI, each with the reason and the alternative."""

    name: Label
    """Name of the image, referenced by VMs; also the name of CDI's DataSource."""
    version: VersionName
    """Unique version of this build, which is part of the names of its golden volumes. Another build needs another
    version."""
    size: Quantity
    """Size of the unpacked disk in the image, such as ``10Gi``."""
    os: GuestSystem = GuestSystem.LINUX
    """Family of the operating system in the image, which determines the virtual hardware and first-boot setup of
    VMs."""
    http: HttpImageSpec | None = None
    """Image on a web server."""
    registry: RegistryImageSpec | None = None
    """Image in a registry."""
    claim: DiskInClusterSpec | None = None
    """PersistentVolumeClaim of the cluster from which the image is cloned, for example one uploaded with
    ``virtctl``."""
    snapshot: DiskInClusterSpec | None = None
    """VolumeSnapshot of the cluster from which the image is cloned."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield an image with no source or with several sources."""
        sources = {"http": self.http, "registry": self.registry, "claim": self.claim, "snapshot": self.snapshot}
        names = [name for name, source in sources.items() if source is not None]
        if not names:
            yield ConstraintViolation(f"has no source; add {one_of(sources)}", ("name",), self.name)
        for other in names[1:]:
            yield ConstraintViolation(f"cannot be combined with the source {names[0]}; remove one of the two", (other,))
