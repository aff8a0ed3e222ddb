"""Releases of DPF, with the trains of DPU software and the build of Kamaji that each release supports.

DOCA, the BFB and the services on DPUs are released in trains such as ``3.2``. A service runs only on a BFB of its
train. Sources: DPF:docs/public/platform-support.md, DPF:docs/public/release-notes and the variables of DPF's guides.
"""

from dataclasses import dataclass

from components.specs.natural import natural


@dataclass(frozen=True, slots=True, kw_only=True)
class DpfRelease:
    """Supported versions from one release of DPF until the next release in the table."""

    since: str
    """First version of ``dpf-operator``."""
    trains: tuple[str, ...]
    """Trains of DPU images, the oldest first."""
    kamaji: str | None = None
    """Build of Kamaji by NVIDIA, with patches for the kubelets of DPUs; None if DPF accepts upstream's Kamaji."""


_KAMAJI = "v1.36.0-26.6.4"
RELEASES = (
    DpfRelease(since="v26.4.0", trains=("3.2", "3.3", "3.4")),
    DpfRelease(since="v26.4.1", trains=("3.2", "3.3", "3.4"), kamaji=_KAMAJI),
    DpfRelease(since="v26.7.0", trains=("3.2", "3.4", "3.5"), kamaji=_KAMAJI),
)
"""Known releases, the oldest first: the train of long-term support, the previous and the current train of each."""
_LAST = (26, 8)
"""Newest known minor release; nothing is known about later ones."""
HBN_CHARTS = {"1.0.5": "3.2.1", "3.4.0": "3.4.0"}
"""Release of HBN's image, by the version of its chart (DPF:docs/public/user-guides/zero-trust/use-cases/hbn)."""


def release_of(version: str) -> DpfRelease | None:
    """Return the supported versions of DPF ``version``; None if it is older or newer than all known releases."""
    numbers = tuple(int(part) for part in version.removeprefix("v").split(".")[:2] if part.isdecimal())
    older = [release for release in RELEASES if natural(release.since) <= natural(version)]
    return older[-1] if older and numbers <= _LAST else None


def train(version: str) -> str:
    """Return the train of a DOCA or HBN version: ``3.2`` for ``3.2.1-doca3.2.1``."""
    return ".".join(version.split(".")[:2])
