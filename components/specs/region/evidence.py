"""Evidence that a wave of a rollout is settled: what ``jacquard status ENV --format json`` answers, kept in a file.

A promotion reads no clock. How long nodes have been well is the time between two moments that the file itself names:
when its groups became ready, and when they were looked at.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from components.specs.reading.problems import dotted


class EvidenceError(ValueError):
    """A file is no evidence. The message names the place and what is wrong there."""


class _Seen(BaseModel):
    """The part of an answer that counts; an answer says more."""

    model_config = ConfigDict(frozen=True)


class GroupEvidence(_Seen):
    """One rollout group as it was seen."""

    failure_domain: str
    """Failure domain of the group, the last part of its name."""
    total: int = Field(ge=0)
    """Number of nodes that are ordered."""
    images: dict[str, int]
    """Number of machines that were made with each image, by image."""
    fingerprint: str | None = None
    """Fingerprint of the intent that the group's MachineDeployment was applied with; None when there is none yet."""
    settled: bool
    """Whether all nodes of the group ran what they should when it was looked at."""
    settled_since: AwareDatetime | None
    """Moment at which the last of the group's nodes became ready; None when it is not settled or has no node."""
    why: list[str] = []
    """What was missing for the group to be settled; empty when it is."""


class PoolEvidence(_Seen):
    """One pool as it was seen."""

    cluster: str
    """Name of the cluster that the pool belongs to."""
    name: str
    """Name of the pool within its cluster."""
    groups: list[GroupEvidence]
    """Rollout groups of the pool."""


class DpuEvidence(_Seen):
    """The DPUs of one DPUDeployment as they were seen."""

    deployment: str
    """Name of the DPUDeployment."""
    total: int = Field(ge=0)
    """DPUs that the data put into it."""
    images: dict[str, int]
    """Number of DPUs that were flashed from each image, by the name of its BFB."""
    flavors: dict[str, int]
    """Number of DPUs that were flashed with each flavor, by its name."""
    settled: bool
    """Whether all of them are up and as their pinned intent says."""
    why: list[str] = []
    """What was missing."""


class ChartEvidence(_Seen):
    """A chart that is pinned for a cluster, as it was seen there."""

    chart: str
    """Name of the chart."""
    cluster: str
    """Cluster that it is installed in."""
    applied: str | None
    """Digest that its source was applied with; None when there is none yet."""
    installed: str | None
    """Digest that Flux installed last; None when it installed none."""
    settled: bool
    """Whether Flux installed what its source says, and all nodes of the cluster were well when it was looked at."""
    settled_since: AwareDatetime | None
    """Moment at which that began; None when it is not settled."""
    why: list[str] = []
    """What was missing for it to be settled; empty when it is."""


class RegionEvidence(_Seen):
    """A region as it was seen."""

    environment: str
    """Name of the environment that was looked at."""
    observed_at: AwareDatetime
    """Moment at which the region was looked at, with its offset from UTC."""
    pools: list[PoolEvidence]
    """Pools of the region."""
    dpu_deployments: list[DpuEvidence] = []
    """DPUs of the region by DPUDeployment; empty where DPF runs none."""
    charts: list[ChartEvidence] = []
    """Charts that are pinned for clusters; empty where none is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A file with evidence."""

    name: str
    """Name of the file, for messages."""
    digest: str
    """Digest of the file as the lock file keeps it, ``sha256:`` and 64 hex digits."""
    seen: RegionEvidence
    """What the file says."""


def read_evidence(name: str, raw: bytes) -> Evidence:
    """Return the evidence that the file ``name`` with content ``raw`` gives.

    Raises:
        EvidenceError: it is not the JSON that ``jacquard status`` writes.
    """
    try:
        seen = RegionEvidence.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f" at {dotted(first['loc'])}" if first["loc"] else ""
        text = f"{name} is not what 'jacquard status ENV --format json' writes{where}: {first['msg'].lower()}"
        raise EvidenceError(text) from None
    return Evidence(name=name, digest=f"sha256:{hashlib.sha256(raw).hexdigest()}", seen=seen)
