"""Campaigns: one promotion over several regions, in order, with soak times and stop rules."""

from collections.abc import Iterator

from pydantic import AwareDatetime, Field

from components.specs.base import OCI_DIGEST, CheckedSpec, ConstraintViolation, DataFile, DnsLabel, Label, Spec, Text
from components.specs.base import VersionName as Version
from components.specs.keys import PoolKey, PromotedKey


class CampaignChartSpec(Spec):
    """Chart that a campaign promotes in all clusters with the chart."""

    name: Label
    """Name of the chart in ``catalog/versions.yaml``."""
    version: Version
    """Release of the chart in ``catalog/versions.yaml``."""


class StopRulesSpec(Spec):
    """Observations that stop a campaign."""

    failed_nodes: int = Field(default=0, ge=0, le=1000)
    """Largest number of nodes that may fail after all nodes of the region were settled; for a chart, of clusters.
    A larger number stops the campaign."""
    settle_hours: int = Field(default=168, ge=1, le=2160)
    """Longest time from the first promotion in a region until all its nodes are settled."""


class CampaignStepSpec(Spec):
    """Regions that are promoted at the same time."""

    regions: tuple[Label, ...] = Field(min_length=1, max_length=10)
    """Regions of the step. The first step is the canary and has one region."""
    soak_hours: int = Field(ge=1, le=2160)
    """Time for which all nodes must be settled in each region of the step before the next step starts."""
    pools: tuple[PoolKey, ...] = ()
    """Pools that the step promotes, as ``cluster/pool``. By default, all pools of its regions whose nodes run an image
    of the same line as an image of the campaign, except pools that name another image."""
    stop: StopRulesSpec = StopRulesSpec.defaults()
    """Observations that stop the campaign in a region of the step."""


class CampaignProgressSpec(Spec):
    """Progress of a campaign in one region, written by ``jacquard campaign``."""

    started: AwareDatetime | None = None
    """Time of the first promotion; omitted if all nodes had the version before the campaign."""
    promoted: tuple[PromotedKey, ...] = ()
    """Pools and charts that the campaign has promoted, at least in part."""
    settled: AwareDatetime | None = None
    """Time since which all nodes were settled when this was first observed."""
    soaked: AwareDatetime | None = None
    """Time of the observation that proves the soak."""
    evidence: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the evidence file with this observation."""


class CampaignStopSpec(Spec):
    """Reason why a campaign is stopped. Remove the entry to continue the campaign."""

    region: Label
    """Region in which the campaign was stopped."""
    at: AwareDatetime
    """Time of the stop."""
    reason: Text
    """Observation that stopped the campaign, or the reason of the person who wrote the entry."""
    evidence: str | None = Field(default=None, pattern=OCI_DIGEST)
    """Digest of the evidence file with the observation; omitted if no file was used."""


class CampaignSpec(CheckedSpec, DataFile):
    """``campaigns/<campaign>.yaml``: one promotion over several regions. ``jacquard campaign`` proposes its edits."""

    campaign: DnsLabel
    """Name of the campaign, equal to its file name."""
    title: Text
    """Change that the campaign makes, for reports."""
    images: tuple[Version, ...] = Field(default=(), max_length=20)
    """Golden images that the campaign promotes, entries of ``catalog/images.yaml``; at most one of each line, such as
    ``gpu``. By default the campaign promotes a chart."""
    chart: CampaignChartSpec | None = None
    """Chart that the campaign promotes. By default the campaign promotes images."""
    steps: tuple[CampaignStepSpec, ...] = Field(min_length=1, max_length=20)
    """Steps in order. Each step starts when all regions of the previous step have soaked."""
    skipped: dict[Label, Text] = Field(default_factory=dict)
    """Open regions of the fleet that the campaign does not change, each with the reason."""
    progress: dict[Label, CampaignProgressSpec] = Field(default_factory=dict)
    """Progress by region, written by ``jacquard campaign``."""
    stopped: CampaignStopSpec | None = None
    """Reason why the campaign is stopped, written by ``jacquard campaign`` or by hand. By default the campaign
    continues."""

    @property
    def regions(self) -> tuple[str, ...]:
        """Return the regions of all steps, in order."""
        return tuple(region for step in self.steps for region in step.regions)

    @property
    def is_complete(self) -> bool:
        """Return whether all regions have soaked."""
        return all(self.has_soaked(region) for region in self.regions)

    def has_soaked(self, region: str) -> bool:
        """Return whether the soak of ``region`` is recorded."""
        return region in self.progress and self.progress[region].soaked is not None

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a missing or double subject, duplicates, a canary of several regions, and progress of other regions."""
        if not self.images and self.chart is None:
            yield ConstraintViolation("promotes nothing; write images, or chart", ("campaign",))
        if self.images and self.chart:
            yield ConstraintViolation("images are promoted too; remove chart or images", ("chart",))
        for index, image in enumerate(self.images):
            if image in self.images[:index]:
                yield ConstraintViolation(f"'{image}' is listed twice; remove one", ("images", index))
        yield from self._repeated()
        if len(self.steps[0].regions) > 1:
            text = f"the first step is the canary and has {len(self.steps[0].regions)} regions; write one region"
            yield ConstraintViolation(text, ("steps", 0, "regions"))
        yield from self._strangers()

    def _repeated(self) -> Iterator[ConstraintViolation]:
        """Yield regions that are in two places, and pools of a campaign without images."""
        seen: set[str] = set()
        for index, step in enumerate(self.steps):
            for at, region in enumerate(step.regions):
                path = ("steps", index, "regions", at)
                if region in seen:
                    yield ConstraintViolation(f"'{region}' is in the campaign twice; remove one", path)
                if region in self.skipped:
                    yield ConstraintViolation(f"'{region}' is also in skipped; remove it from one of them", path)
                seen.add(region)
            if self.chart and step.pools and not self.images:
                text = "is only for campaigns with images; remove it, because a chart is promoted in all clusters"
                yield ConstraintViolation(text, ("steps", index, "pools"))

    def _strangers(self) -> Iterator[ConstraintViolation]:
        """Yield regions of the progress and of the stop that are in no step."""
        for region in self.progress:
            if region not in self.regions:
                text = f"'{region}' is in no step; remove the entry, or add the region to a step"
                yield ConstraintViolation(text, ("progress", region))
        if self.stopped and self.stopped.region not in self.regions:
            text = f"'{self.stopped.region}' is in no step; write a region of the campaign"
            yield ConstraintViolation(text, ("stopped", "region"))
