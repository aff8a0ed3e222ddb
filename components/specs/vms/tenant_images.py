"""Images of VMs that a tenant brings itself: from where CDI gets them, and what it holds them to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import ClassVar

from components.specs.base import CheckedSpec, DnsLabel, HttpsUrl, Label, Misfit, Quantity, Sha256, Spec, VersionName
from components.specs.pools.nodes import PinnedImage
from components.specs.reading.problems import one_of
from components.specs.vms.guests import GuestSystem

_UNVERIFIED = "is a source of which CDI verifies no checksum; write the object's https URL as http, with its sha256"
_UNNAMED = "says nowhere which disk it is; bring it into a claim of the cluster first, and name that as claim"


class HttpImageSpec(Spec):
    """A disk image that a web server has, a bucket's too."""

    url: HttpsUrl
    """URL of the disk image, which CDI imports."""
    sha256: Sha256
    """SHA-256 of the file at ``url``, as 64 hex digits, which CDI verifies."""
    secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the login, as ``accessKeyId`` and ``secretKey``;
    nobody logs in when it is left out."""


class RegistryImageSpec(Spec):
    """A container disk that a registry has."""

    image: PinnedImage
    """Container image by its digest, ``registry.example/images/os@sha256:...``, with the disk below ``/disk``."""
    secret: DnsLabel | None = None
    """Secret in namespace ``virtual-machines`` of the cluster with the login, as ``accessKeyId`` and ``secretKey``;
    nobody logs in when it is left out."""


class DiskInClusterSpec(Spec):
    """A disk that is in the cluster already. Nothing verifies what it holds."""

    namespace: Label
    """Namespace of the disk."""
    name: Label
    """Name of the disk."""


class OwnImageSpec(CheckedSpec):
    """An image of a tenant's own, from exactly one of the sources that CDI knows and can be held to."""

    REFUSED_KEYS: ClassVar[Mapping[str, str]] = {
        "s3": _UNVERIFIED,
        "gcs": _UNVERIFIED,
        "upload": _UNNAMED,
        "imageio": _UNNAMED,
        "vddk": _UNNAMED,
    }
    """Sources of CDI that nobody may write, each with the reason and what to do instead."""

    name: Label
    """Name that VMs refer to, and that CDI's DataSource has."""
    version: VersionName
    """Unique name of this build, which its golden volumes are called after; another build is another version."""
    size: Quantity
    """Size of the disk in the image, unpacked, such as ``10Gi``."""
    os: GuestSystem = GuestSystem.LINUX
    """Family of the operating system in the image, which decides the hardware of VMs and who sets them up."""
    http: HttpImageSpec | None = None
    """Where a web server has the image."""
    registry: RegistryImageSpec | None = None
    """Where a registry has the image."""
    claim: DiskInClusterSpec | None = None
    """PersistentVolumeClaim of the cluster that the image is cloned from, such as one that ``virtctl`` uploaded to."""
    snapshot: DiskInClusterSpec | None = None
    """VolumeSnapshot of the cluster that the image is cloned from."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield that the image comes from nowhere, or from more than one place."""
        sources = {"http": self.http, "registry": self.registry, "claim": self.claim, "snapshot": self.snapshot}
        given = [name for name, source in sources.items() if source is not None]
        if not given:
            yield Misfit(f"comes from nowhere; add {one_of(sources)}", ("name",), self.name)
        for other in given[1:]:
            yield Misfit(f"is a second source beside {given[0]}; remove one of the two", (other,))
