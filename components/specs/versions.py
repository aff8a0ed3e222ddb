"""The versions of the catalogue: what Kubernetes, operators, drivers and tools a region runs together."""

from __future__ import annotations

from pydantic import Field

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
from components.specs.cluster_api import ClusterApiSpec


class Chart(Spec):
    """A Helm chart in an OCI registry, pinned by version and digest."""

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

    def chart(self, name: str) -> Chart:
        """Return the chart called ``name``.

        Raises:
            KeyError: no such chart in the vector.
        """
        for chart in self.charts:
            if chart.name == name:
                return chart
        raise KeyError(name)

    def tool(self, name: str) -> Tool:
        """Return the image called ``name``.

        Raises:
            KeyError: no such image in the vector.
        """
        return {tool.name: tool for tool in self.tools}[name]
