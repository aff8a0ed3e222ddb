"""Impact of a change as data: a row for each affected part of a region, with numbers and causes."""

import datetime as dt

from pydantic import Field

from components.lookups.effects.effect import Effect, Subject, When
from components.reports.pull_paths import MovedPulls
from components.specs.base import Spec
from jacquard.previews.impacts.checked_nodes import ChangedCheck, ChangedThreshold
from jacquard.previews.impacts.gpus import WithoutGpus
from jacquard.previews.impacts.tenant_impact import TenantImpact

FORMAT = 1


class Cause(Spec):
    """An edit that affects a part of a region."""

    file: str
    """File relative to the environment's folder."""
    line: int
    """Line in the head, or in the base for a removed value; 0 for a whole file."""
    path: str
    """Dotted path of the value in the file; list entries are identified by name."""
    old: str | None = None
    """Value in the base; None for an added value."""
    new: str | None = None
    """Value in the head; None for a removed value."""
    alone: bool = True
    """Whether the edit has this effect without the other edits; False if it has the effect only together with the
    other causes."""


class Forced(Spec):
    """A change of a field, or of a whole object, that has an effect."""

    kind: str
    """Kind of the object as in the table of effects, ``<API group>/<Kind>``."""
    path: str
    """Changed field, or ``created``, ``deleted``, ``retained`` or ``protected`` for a whole object."""
    effect: Effect
    """Effect of the change."""
    objects: int
    """Number of objects with this change."""
    names: frozenset[str] = Field(default=frozenset(), exclude=True, repr=False)
    """Names of the changed objects. Rows of several clusters or tenants can share an object; totals count it once."""
    first: str
    """First of these objects, as ``cluster/namespace/name``."""
    why: str
    """Description of the effect, or the reason why it is unknown."""
    source: str | None
    """Source of the effect; None if the table of effects does not contain it."""


class Roll(Spec):
    """Rollout of a rollout group: strategy, spares and duration of the node replacements."""

    out_at_once: int
    """Maximum number of simultaneously unavailable nodes because of the change; 0 if spares replace nodes first."""
    surge: int
    """Nodes that are created on spares before old nodes are deleted."""
    spares_left: int
    """Minimum number of free hosts of the failure domain during the rollout."""
    spares_floor: int
    """Number of spares required by the data in the failure domain."""
    minutes: int | None
    """Duration of the rollout in minutes, from ``nodes.durations`` of ``region.yaml``; None if ``nodes.durations`` is
    not set."""
    minutes_most: int | None
    """Duration in minutes if each drain takes ``rollout.drain_timeout_seconds``; None if nodes wait for their jobs, or
    ``nodes.durations`` is not set."""
    gpu_hours: float | None
    """GPU-hours lost: unavailable GPUs, each multiplied by its downtime in hours; None if ``nodes.durations`` is not
    set."""
    paused: bool
    """Whether rollouts of the pool are paused (``rollout.paused``)."""


class Release(Spec):
    """Release of DPUs by the platform (``dpus.release``): hosts are drained and returned one after the other."""

    out_at_once: int
    """Maximum number of simultaneously unavailable hosts, by the limits of the region and one host per rollout group.
    """
    minutes: int | None
    """Duration in minutes, from ``nodes.durations`` of ``region.yaml``; None if ``nodes.durations`` is not set."""
    gpu_hours: float | None
    """GPU-hours lost; None if ``nodes.durations`` is not set."""


class Occupied(Spec):
    """Nodes of one tenant that run jobs."""

    tenant: str
    """Name of the tenant."""
    nodes: int
    """Nodes with at least one GPU pod that ends with its node."""
    pods: int
    """Number of these pods."""
    gpus: int
    """GPUs, or slices of GPUs, that these pods use."""


class Occupancy(Spec):
    """Nodes that run jobs, according to facts collected from the clusters; an estimate, because jobs start and end."""

    tenants: tuple[Occupied, ...]
    """Known occupied nodes by tenant."""
    unknown: str | None = None
    """Reason why more nodes may be occupied; None if the occupancy of all nodes is known."""


class Row(Spec):
    """One affected part of a region."""

    falls_on: Subject
    """Kind of the affected resource."""
    part: str
    """Name of the part in lock files and data: ``cluster/pool/failure-domain``, a cluster, a VPC, a hall."""
    tenant: str | None
    """Tenant of the part; None for a shared part."""
    effect: Effect
    """Worst effect on the part; unknown if any effect is unknown."""
    when: When
    """Time of the worst effect."""
    count: int | None
    """Number of affected nodes, hosts or DPUs; None for other subjects, or if the number is unknown."""
    change: int | None = None
    """Number of added nodes; negative for removed nodes."""
    gpus: int | None
    """GPUs in these nodes or hosts; None if ``count`` is None."""
    hosts: tuple[str, ...] = ()
    """Affected hosts, if the subject is hosts or DPUs, or nodes whose hosts are drained for their DPUs; nodes of a
    rollout group run on the hosts of the group's pool."""
    roll: Roll | None = None
    """Rollout that replaces nodes; None if no node is replaced."""
    release: Release | None = None
    """Release of DPUs whose hosts are drained; None if the platform releases no DPU of a host with a node."""
    occupancy: Occupancy | None = None
    """Jobs on the nodes of the part, or on the nodes of its hosts; None if no node is disrupted. If only some nodes are
    removed, the jobs on all nodes of the part, because the choice of nodes is unknown."""
    forced_by: tuple[Forced, ...]
    """Changes of objects, the worst first."""
    causes: tuple[Cause, ...]
    """Edits that caused the changes of the row, hand-written files first; empty if changed code caused the row."""
    digest: str = ""
    """Digest of the changes of objects, with all values before and after."""


class Lost(Spec):
    """An object that is no longer declared."""

    kind: str
    """Kind of the object as in the table of effects."""
    name: str
    """Object as ``cluster/namespace/name``."""
    outcome: str
    """Outcome for the object: ``deleted``, ``retained`` in the cluster, or ``protected``, which blocks the change."""
    tenant: str | None = None
    """Tenant of the object's part; None for a shared part."""


class StillBehind(Spec):
    """A pool, a control plane, or all DPUs, out of date: the pins differ from the data until they are promoted."""

    pool: str
    """Pool as ``cluster/pool``, cluster of a control plane, or ``dpus``."""
    fields: tuple[str, ...]
    """Fields that differ between pins and data."""
    new: bool
    """Whether a field differs only since this change."""
    command: str
    """Command that promotes the pool, the control plane or the DPUs."""


class NewTemplates(Spec):
    """Pool, or DPUs, whose rollout groups get another template revision."""

    pool: str
    """Pool as ``cluster/pool``, or ``dpus``."""
    before: int
    """Template revision before the change, the oldest of these groups."""
    after: int
    """Template revision after the change."""
    groups: int
    """Number of these rollout groups."""
    improvements: tuple[str, ...]
    """Improvement of each revision that is newer than ``before``, up to ``after``, as one line."""


class Upgraded(Spec):
    """A chart whose release in a cluster changes."""

    cluster: str
    """Cluster in which the chart is installed."""
    chart: str
    """Name of the chart."""
    before: str
    """Version before the change."""
    after: str
    """Version after the change."""
    told: str
    """Sentence about the workloads that restart."""


class Shared(Spec):
    """Another environment that the change affects through a file that both read, such as one of the catalogue."""

    environment: str
    """Name of the environment."""
    effect: Effect
    """Worst effect on any part of the environment."""
    nodes: int | None
    """Disrupted nodes of that environment, each counted once; None if its data cannot be compared."""


class Totals(Spec):
    """Totals of all rows with a known disruptive effect."""

    nodes: int = 0
    """Number of disrupted nodes, each counted once."""
    gpus: int = 0
    """GPUs of these nodes."""
    tenants: tuple[str, ...] = ()
    """Tenants of these nodes, by name."""
    out_at_once: int = 0
    """Maximum number of simultaneously unavailable nodes, by the limits of pools and of ``dpus.release``."""
    minutes: int | None = None
    """Duration of the longest rollout or release in minutes; None without a known duration."""
    timed: bool = True
    """Whether the durations of all rollouts and releases are known."""
    by_hand: bool = False
    """Whether an operator performs the disruptive step of any row."""


class Impact(Spec):
    """Impact of the change between a base and a head on one environment."""

    schema_version: int = FORMAT
    """Version of this format."""
    environment: str
    """Name of the environment."""
    base: str
    """Base commit."""
    head: str
    """Head commit, or ``work tree`` with uncommitted changes."""
    effect: Effect
    """Worst effect on any part; unknown if the effect on any part is unknown."""
    edits: int
    """Number of changed values in data files."""
    code: bool
    """Whether base and head have different rendering code: Jacquard itself, or extensions of a repository."""
    rows: tuple[Row, ...]
    """Affected parts, the worst first."""
    totals: Totals = Totals()
    """Totals of the rows."""
    lost: tuple[Lost, ...]
    """Objects that are no longer declared, by name."""
    behind: tuple[StillBehind, ...]
    """Pools, control planes and DPUs that need a promotion after the change is merged."""
    tenants: tuple[TenantImpact, ...]
    """Affected tenants."""
    charts: tuple[Upgraded, ...] = ()
    """Charts whose releases in clusters change."""
    thresholds: tuple[ChangedThreshold, ...] = ()
    """Alerts whose thresholds change."""
    templates: tuple[NewTemplates, ...] = ()
    """Pools, and DPUs, whose template revision changes."""
    pulls: tuple[MovedPulls, ...] = ()
    """Nodes that pull images from other registries."""
    warnings: tuple[str, ...] = ()
    """Violations of new rules by the change or its head, which are errors from a later day, one line each: place,
    problem, remedy, rule and first day."""
    without_gpus: tuple[WithoutGpus, ...] = ()
    """Clusters that lose their add-on for GPUs."""
    shared: tuple[Shared, ...] = ()
    """Other environments that the change affects."""
    occupancy: Occupancy | None = None
    """Jobs on all disrupted nodes, each node counted once; None if no node is disrupted."""
    checks: tuple[ChangedCheck, ...] = ()
    """Changed checks of nodes, with the nodes on which they act now and would have acted in the last 7 days; empty if
    no facts were requested."""
    facts_at: dt.datetime | None = None
    """Time of the facts used for occupancy and checks; None without facts, or if the facts are too old."""


DISRUPTIVE = (Effect.REBOOTED, Effect.RE_FLASHED, Effect.REPLACED, Effect.DELETED)
"""Effects that terminate running jobs."""
