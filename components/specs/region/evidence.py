"""Evidence that a rollout wave is settled: a file with the output of ``jacquard status ENV --format json``.

A promotion does not read the clock. The time for which nodes have been healthy is the difference of two times in the
file: the time at which the groups became ready, and the time of the observation.
"""

import hashlib

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from components.specs.reading.problems import first_violation
from components.specs.struct import Struct


class EvidenceError(ValueError):
    """Invalid evidence file. The message contains the position and the problem."""


class _StatusModel(BaseModel):
    """Base of models for parts of the output; fields that are not listed are ignored."""

    model_config = ConfigDict(defer_build=True, frozen=True)


class GroupEvidence(_StatusModel):
    """Observed state of one rollout group."""

    failure_domain: str
    """Failure domain of the group, the last part of its name."""
    total: int = Field(ge=0)
    """Desired number of nodes."""
    ready: int | None = Field(default=None, ge=0)
    """Number of ready nodes; None in files that do not contain it."""
    images: dict[str, int]
    """Number of machines by the image with which they were created."""
    fingerprint: str | None = None
    """Fingerprint of the intent in the applied MachineDeployment of the group; None if it does not exist yet."""
    settled: bool
    """Whether all nodes of the group were in their desired state at the time of observation."""
    settled_since: AwareDatetime | None
    """Time at which the last node of the group became ready; None if the group is not settled or has no nodes."""
    why: list[str] = []
    """Reasons why the group was not settled; empty for a settled group."""


class PoolEvidence(_StatusModel):
    """Observed state of one pool."""

    cluster: str
    """Name of the cluster that the pool belongs to."""
    name: str
    """Name of the pool within its cluster."""
    groups: list[GroupEvidence]
    """Rollout groups of the pool."""


class DpuEvidence(_StatusModel):
    """Observed state of the DPUs of one DPUDeployment."""

    deployment: str
    """Name of the DPUDeployment."""
    total: int = Field(ge=0)
    """Declared number of DPUs of the DPUDeployment."""
    images: dict[str, int]
    """Number of flashed DPUs by image (name of the BFB)."""
    flavors: dict[str, int]
    """Number of flashed DPUs by name of the flavor."""
    settled: bool
    """Whether all DPUs are ready and match their pinned intent."""
    why: list[str] = []
    """Reasons why the DPUs were not settled."""


class ChartEvidence(_StatusModel):
    """Observed state of a pinned chart in a cluster."""

    chart: str
    """Name of the chart."""
    cluster: str
    """Cluster in which the chart is installed."""
    applied: str | None
    """Digest in the applied source of the chart; None if the source does not exist yet."""
    installed: str | None
    """Digest of the last release that Flux installed; None if Flux has not installed the chart."""
    settled: bool
    """Whether Flux had installed the digest of the source, and all nodes of the cluster were healthy at the time of
    observation."""
    settled_since: AwareDatetime | None
    """Time since which the chart is settled; None if the chart is not settled."""
    why: list[str] = []
    """Reasons why the chart was not settled; empty for a settled chart."""


class RegionEvidence(_StatusModel):
    """Observed state of a region."""

    environment: str
    """Name of the observed environment."""
    observed_at: AwareDatetime
    """Time of the observation, with its offset from UTC."""
    pools: list[PoolEvidence]
    """Pools of the region."""
    dpu_deployments: list[DpuEvidence] = []
    """DPUs of the region by DPUDeployment; empty if DPF manages no DPUs."""
    charts: list[ChartEvidence] = []
    """Charts pinned for clusters; empty if no charts are pinned."""


class Evidence(Struct):
    """Evidence file."""

    name: str
    """Name of the file, for messages."""
    digest: str
    """Digest of the file in the notation of lock files, ``sha256:`` and 64 hex digits."""
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
        text = f"{name} is not an output of 'jacquard status ENV --format json'{first_violation(error)}"
        raise EvidenceError(text) from None
    return Evidence(name=name, digest=f"sha256:{hashlib.sha256(raw).hexdigest()}", seen=seen)
