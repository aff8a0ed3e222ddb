"""The versions of the catalogue: what Kubernetes, operators, drivers and tools a region runs together."""

from __future__ import annotations

from pydantic import Field

from components.specs.add_ons.add_on_values import Tunable, ValuePath
from components.specs.base import (
    OCI_DIGEST,
    OCI_URL,
    DataFile,
    KubernetesMinor,
    KubernetesVersion,
    Label,
    Registry,
    Spec,
    Text,
    VersionName,
)
from components.specs.region.catalog import Channel
from components.specs.region.cluster_api import ClusterApiSpec


class Chart(Spec):
    """A release of a Helm chart in an OCI registry, pinned by version and digest.

    Of several rows of a chart the first one is what regions install; the others, which are newer, are what clusters of
    tenants can be promoted to (``docs/pools/rollouts.md``).
    """

    name: Label
    """Name that operators and add-ons refer to, which also names Flux's OCIRepository."""
    url: str = Field(pattern=OCI_URL, max_length=253)
    """URL of the chart without a tag, ``url`` of Flux's OCIRepository."""
    version: Text
    """Version of the chart, which people read; ``ref.tag`` of Flux's OCIRepository."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest of the chart, which decides what is installed; ``ref.digest`` of Flux's OCIRepository."""
    kubernetes: KubernetesMinor | None = None
    """Newest minor version of Kubernetes that the release knows, for a chart that hosts control planes; None where
    nobody looked it up."""
    made_from: Text | None = None
    """What the platform makes the chart from, where upstream publishes manifests only; None for upstream's own."""
    channel: tuple[Channel, ...] = ()
    """Channels that offer the release; all do when none is listed."""
    revoked: Text | None = None
    """Why no cluster may have the release any more; None as long as it may."""
    tunable: dict[ValuePath, Tunable] = Field(default_factory=dict)
    """Values of the release that ``add_on_values`` may set, by path: of which type each is, or one of which words. None
    of those that the library sets itself."""

    def offered_by(self, channel: Channel) -> bool:
        """Tell whether ``channel`` offers the release."""
        return not self.channel or channel in self.channel


class ManifestArtefact(Spec):
    """Manifests as upstream publishes them, in an OCI artefact of the platform's mirror, pinned by digest."""

    name: Label
    """Name that operators refer to, which also names Flux's OCIRepository."""
    url: str = Field(pattern=OCI_URL, max_length=253)
    """URL of the artefact without a tag, ``url`` of Flux's OCIRepository."""
    version: Text
    """Version of what is in it, which people read; ``ref.tag`` of Flux's OCIRepository."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest of the artefact, which decides what is applied; ``ref.digest`` of Flux's OCIRepository."""
    made_from: Text
    """Which files of upstream's are in it."""


class Tool(Spec):
    """A container image that a job of the platform runs, pinned by digest."""

    name: Label
    """Name that the platform's own jobs refer to."""
    image: Registry
    """Repository of the image, without a tag."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest of the image, which decides what runs."""
    tag: Text | None = None
    """Tag of the image, for what takes a tag alone, such as the chart of HBN; let the registry refuse to overwrite it.
    People read it elsewhere."""

    def __str__(self) -> str:
        """Return what a container's ``image`` says."""
        return f"{self.image}@{self.digest}"


class VersionVector(DataFile):
    """``catalog/versions.yaml``: the versions that belong together (one vector a region)."""

    release: VersionName
    """Name of the vector, of which a region runs one."""
    kubernetes: tuple[KubernetesVersion, ...] = Field(min_length=1)
    """Control-plane versions that clusters may ask for."""
    charts: tuple[Chart, ...]
    """Charts of operators and drivers, which Flux installs."""
    manifests: tuple[ManifestArtefact, ...] = ()
    """Operators that upstream publishes as manifests, which Flux applies as they are. One that stands among the charts
    as well is being handed over: its release is suspended, so that nothing is uninstalled once the chart leaves."""
    cluster_api: ClusterApiSpec
    """Releases of Cluster API and its providers, which the Cluster API operator installs."""
    tools: tuple[Tool, ...] = ()
    """Container images of the platform's own jobs."""

    def installed(self, channel: Channel) -> dict[str, Chart]:
        """Return by name the release of each chart that a region of ``channel`` installs where nothing is pinned."""
        found: dict[str, Chart] = {}
        for chart in self.charts:
            if chart.offered_by(channel):
                found.setdefault(chart.name, chart)
        return found

    def newest(self, name: str, channel: Channel) -> Chart | None:
        """Return the newest release of chart ``name`` that ``channel`` offers and nobody revoked."""
        rows = (one for one in reversed(self.charts) if one.name == name and not one.revoked)
        return next((one for one in rows if one.offered_by(channel)), None)

    def release_of(self, name: str, version: str) -> Chart | None:
        """Return the release ``version`` of chart ``name``."""
        return next((one for one in self.releases(name) if one.version == version), None)

    def releases(self, name: str) -> tuple[Chart, ...]:
        """Return all releases of chart ``name``, the oldest first."""
        return tuple(one for one in self.charts if one.name == name)

    def tool(self, name: str) -> Tool:
        """Return the image called ``name``.

        Raises:
            KeyError: no such image in the vector.
        """
        return {tool.name: tool for tool in self.tools}[name]
