"""Evidence that a wave of a rollout is settled: the output of ``jacquard status ENV --format json``, kept in a file.

A promotion does not read the clock. The time for which nodes have been healthy is the difference of two moments in the
file: when the groups became ready, and when the region was observed.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from components.specs.reading.problems import dotted


class EvidenceError(ValueError):
    """Invalid evidence file. The message contains the place and the problem."""


class _Seen(BaseModel):
    """Model of the relevant part of an output; other fields are ignored."""

    model_config = ConfigDict(frozen=True)


class GroupEvidence(_Seen):
    """Observed state of one rollout group."""

    failure_domain: str
    """Failure domain of the group, the last part of its name."""
    total: int = Field(ge=0)
    """Desired number of nodes."""
    images: dict[str, int]
    """Number of machines created with each image, by image."""
    fingerprint: str | None = None
    """Fingerprint of the intent with which the group's MachineDeployment was applied; None if there is none yet."""
    settled: bool
    """Whether all nodes of the group were in their desired state at the time of observation."""
    settled_since: AwareDatetime | None
    """Moment at which the last node of the group became ready; None if the group is not settled or has no nodes."""
    why: list[str] = []
    """Reasons why the group was not settled; empty if it was."""


class PoolEvidence(_Seen):
    """Observed state of one pool."""

    cluster: str
    """Name of the cluster that the pool belongs to."""
    name: str
    """Name of the pool within its cluster."""
    groups: list[GroupEvidence]
    """Rollout groups of the pool."""


class DpuEvidence(_Seen):
    """Observed state of the DPUs of one DPUDeployment."""

    deployment: str
    """Name of the DPUDeployment."""
    total: int = Field(ge=0)
    """Number of DPUs that the data assign to the DPUDeployment."""
    images: dict[str, int]
    """Number of DPUs flashed with each image, by the name of its BFB."""
    flavors: dict[str, int]
    """Number of DPUs flashed with each flavor, by its name."""
    settled: bool
    """Whether all DPUs are ready and match their pinned intent."""
    why: list[str] = []
    """Reasons why the DPUs were not settled."""


class ChartEvidence(_Seen):
    """Observed state of a pinned chart in a cluster."""

    chart: str
    """Name of the chart."""
    cluster: str
    """Cluster in which the chart is installed."""
    applied: str | None
    """Digest with which its source was applied; None if there is none yet."""
    installed: str | None
    """Digest that Flux installed last; None if Flux has not installed the chart."""
    settled: bool
    """Whether Flux had installed the digest of the source, and all nodes of the cluster were healthy at the time of
    observation."""
    settled_since: AwareDatetime | None
    """Moment since which the chart is settled; None if it is not settled."""
    why: list[str] = []
    """Reasons why the chart was not settled; empty if it was."""


class RegionEvidence(_Seen):
    """Observed state of a region."""

    environment: str
    """Name of the observed environment."""
    observed_at: AwareDatetime
    """Moment of the observation, with its offset from UTC."""
    pools: list[PoolEvidence]
    """Pools of the region."""
    dpu_deployments: list[DpuEvidence] = []
    """DPUs of the region by DPUDeployment; empty where DPF runs none."""
    charts: list[ChartEvidence] = []
    """Charts pinned for clusters; empty where there are none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """Evidence file."""

    name: str
    """Name of the file, for messages."""
    digest: str
    """Digest of the file in the form of the lock file, ``sha256:`` and 64 hex digits."""
    seen: RegionEvidence
    """Content of the file."""


def read_evidence(name: str, raw: bytes) -> Evidence:
    """Return the evidence in the file ``name`` with content ``raw``.

    Raises:
        EvidenceError: The file is not the JSON output of ``jacquard status``.
    """
    try:
        seen = RegionEvidence.model_validate_json(raw)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = f" at {dotted(first['loc'])}" if first["loc"] else ""
        text = f"{name} is not an output of 'jacquard status ENV --format json'{where}: {first['msg'].lower()}"
        raise EvidenceError(text) from None
    return Evidence(name=name, digest=f"sha256:{hashlib.sha256(raw).hexdigest()}", seen=seen)
