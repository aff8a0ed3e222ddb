"""Versions of the catalogue: compatible versions of Kubernetes, operators, drivers and tools for a region."""

from collections.abc import Iterator

from pydantic import Field

from components.specs.add_ons.add_on_values import Tunable, ValuePath
from components.specs.base import (
    OCI_DIGEST,
    CheckedSpec,
    ConstraintViolation,
    DataFile,
    KubernetesMinor,
    KubernetesVersion,
    Label,
    OciUrl,
    Registry,
    Spec,
    Text,
    VersionName,
)
from components.specs.hosts.ironic import IronicSpec
from components.specs.region.catalog import Channel
from components.specs.region.cluster_api import ClusterApiSpec


class MissingPartsSpec(Spec):
    """Reasons why a chart or manifest artefact lacks parts of its observation, or contains them itself."""

    monitor: Text | None = None
    """Reason for a missing ServiceMonitor or PodMonitor, such as that its pods have no metrics."""
    alerts: Text | None = None
    """Reason for missing alerts, such as that they are part of the chart."""
    dashboards: Text | None = None
    """Reason for missing dashboards, such as that they are part of the chart."""


class ObservedSpec(CheckedSpec):
    """Observation of a chart or manifest artefact that the library does not know (policy ``unobserved-component``)."""

    alerts: tuple[Text, ...] = ()
    """Names of rendered alerts about it, such as those of an extension component."""
    dashboards: tuple[Text, ...] = ()
    """Titles of rendered dashboards with its metrics, in ConfigMaps with the label ``grafana_dashboard``."""
    without: MissingPartsSpec = MissingPartsSpec.defaults()
    """Reasons for missing parts; by default it has all of them."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield reasons for parts that are listed."""
        for part, listed in (("alerts", self.alerts), ("dashboards", self.dashboards)):
            if listed and (reason := getattr(self.without, part)):
                text = f"is a reason for missing {part}; {part} are listed, so remove one of the two"
                yield ConstraintViolation(text, ("without", part), reason)


class Chart(Spec):
    """Release of a Helm chart in an OCI registry, pinned by version and digest.

    If a chart has several rows, regions install the first one. The others are newer, and clusters of tenants can be
    promoted to them (``docs/pools/rollouts.md``).
    """

    name: Label
    """Name of the chart, referenced by operators and add-ons; also the name of Flux's OCIRepository."""
    url: OciUrl
    """URL of the chart without a tag, ``url`` of Flux's OCIRepository."""
    version: Text
    """Version of the chart, informational; ``ref.tag`` of Flux's OCIRepository."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest by which the chart is installed; ``ref.digest`` of Flux's OCIRepository."""
    kubernetes: KubernetesMinor | None = None
    """Newest minor version of Kubernetes that the release supports, for a chart that hosts control planes. None if the
    version has not been determined."""
    made_from: Text | None = None
    """Source from which the platform builds the chart, if upstream publishes only manifests. None for a chart of
    upstream."""
    registries: tuple[Registry, ...] = ()
    """Registries of the images in the release, for charts in tenants' clusters. Empty if they have not been
    determined; no rule then checks whether nodes reach them."""
    channel: tuple[Channel, ...] = ()
    """Channels that offer the release; all channels when the list is empty."""
    revoked: Text | None = None
    """Reason why clusters must not use the release any longer. None for an allowed release."""
    tunable: dict[ValuePath, Tunable] = Field(default_factory=dict)
    """Values of the release that ``add_on_values`` may set, by path, each with its type or list of allowed strings.
    Values that the library sets cannot be listed."""
    observed: ObservedSpec | None = None
    """Alerts and dashboards of the chart, or the reasons why it has none. None for a chart that the library knows."""

    def offered_by(self, channel: Channel) -> bool:
        """Return whether ``channel`` offers the release."""
        return not self.channel or channel in self.channel


class ManifestArtefact(Spec):
    """Upstream manifests in an OCI artefact of the platform's mirror, pinned by digest."""

    name: Label
    """Name of the artefact, referenced by operators; also the name of Flux's OCIRepository."""
    url: OciUrl
    """URL of the artefact without a tag, ``url`` of Flux's OCIRepository."""
    version: Text
    """Version of the content, informational; ``ref.tag`` of Flux's OCIRepository."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest by which the artefact is applied; ``ref.digest`` of Flux's OCIRepository."""
    made_from: Text
    """Upstream files in the artefact."""
    registries: tuple[Registry, ...] = ()
    """Registries of the images in the manifests, as in ``charts``."""
    contents: dict[Label, Text] = Field(default_factory=dict)
    """Version of each project in the artefact, if it contains several. A commit without a release has a pseudo-version
    of Go, such as ``v0.2.1-0.20260804075712-7ead83ed2a74``. By default ``version`` is that of the only project."""
    observed: ObservedSpec | None = None
    """Alerts and dashboards of the artefact, as in ``charts``."""


class Tool(Spec):
    """Container image for jobs of the platform, pinned by digest."""

    name: Label
    """Name of the image, referenced by the platform's jobs."""
    image: Registry
    """Repository of the image, without a tag."""
    digest: str = Field(pattern=OCI_DIGEST)
    """Digest by which the image is run."""
    tag: Text | None = None
    """Tag of the image, used only by consumers that do not support digests, such as the HBN chart. Configure the
    registry to reject changes of the tag. For other consumers the tag is informational."""

    def __str__(self) -> str:
        """Return the value of a container's ``image`` field."""
        return f"{self.image}@{self.digest}"


class VersionVector(DataFile):
    """``catalog/versions.yaml``: compatible versions (one vector per region)."""

    release: VersionName
    """Name of the version vector. A region uses one version vector."""
    kubernetes: tuple[KubernetesVersion, ...] = Field(min_length=1)
    """Control-plane versions that clusters may request."""
    charts: tuple[Chart, ...]
    """Charts of operators and drivers, installed by Flux."""
    manifests: tuple[ManifestArtefact, ...] = ()
    """Operators that upstream publishes as manifests, applied by Flux without changes. A name that is also in
    ``charts`` is being migrated: the release of its chart is suspended, so that removal of the chart uninstalls
    nothing."""
    cluster_api: ClusterApiSpec
    """Releases of Cluster API and its providers, installed by the Cluster API operator."""
    ironic: IronicSpec | None = None
    """Ironic of regions with Metal3. By default the operator installs its own release of Ironic by tag, and each Ironic
    downloads a ramdisk from the internet at its start, which boots only hosts of one architecture."""
    tools: tuple[Tool, ...] = ()
    """Container images for jobs of the platform."""

    @property
    def observed(self) -> dict[str, ObservedSpec]:
        """Return the declared observation of charts and artefacts, by name; the first row of a chart declares it."""
        declared: dict[str, ObservedSpec] = {}
        rows: tuple[Chart | ManifestArtefact, ...] = (*self.charts, *self.manifests)
        for row in rows:
            if row.observed is not None:
                declared.setdefault(row.name, row.observed)
        return declared

    def installed(self, channel: Channel) -> dict[str, Chart]:
        """Return the releases, by chart, that a region on ``channel`` installs without pins."""
        installed: dict[str, Chart] = {}
        for chart in self.charts:
            if chart.offered_by(channel):
                installed.setdefault(chart.name, chart)
        return installed

    def newest(self, name: str, channel: Channel) -> Chart | None:
        """Return the newest release of chart ``name`` that is offered by ``channel`` and not revoked."""
        rows = (chart for chart in reversed(self.charts) if chart.name == name and not chart.revoked)
        return next((chart for chart in rows if chart.offered_by(channel)), None)

    def release_of(self, name: str, version: str) -> Chart | None:
        """Return the release ``version`` of chart ``name``."""
        return next((chart for chart in self.releases(name) if chart.version == version), None)

    def releases(self, name: str) -> tuple[Chart, ...]:
        """Return all releases of chart ``name``, from the oldest to the newest."""
        return tuple(chart for chart in self.charts if chart.name == name)

    def tool(self, name: str) -> Tool:
        """Return the image ``name``.

        Raises:
            KeyError: The vector has no such image.
        """
        return {tool.name: tool for tool in self.tools}[name]

    @property
    def tool_names(self) -> list[str]:
        """Return the names of all images, in the order of the file."""
        return [tool.name for tool in self.tools]

    def optional_tool(self, name: str) -> Tool | None:
        """Return the image ``name``; None if the vector has no such image."""
        return next((tool for tool in self.tools if tool.name == name), None)
