"""What a change does, as data: a line for each part of a region that it touches, with its numbers and its cause."""

from __future__ import annotations

import datetime as dt

from components.lookups.effects.effect import Effect, Subject, When
from components.specs.base import Spec

FORMAT = 1


class Cause(Spec):
    """An edit that made a part of a region another one."""

    file: str
    """File relative to the environment's folder."""
    line: int
    """Line in the head, or in the base where the value is gone; 0 for a whole file."""
    path: str
    """Key in the file, with dots; an entry of a list by its name."""
    old: str | None = None
    """Value in the base; None if there was none."""
    new: str | None = None
    """Value in the head; None if there is none."""


class Forced(Spec):
    """A field of an object, or a whole object, whose change has the effect."""

    kind: str
    """Kind of the object as the table of effects spells it, ``<API group>/<Kind>``."""
    path: str
    """The field, or ``created``, ``deleted``, ``retained`` or ``protected`` for a whole object."""
    effect: Effect
    """What the change does."""
    objects: int
    """How many objects change in this way."""
    first: str
    """The first of these objects, as ``cluster/namespace/name``."""
    why: str
    """What happens, or why nobody can tell."""
    source: str | None
    """Where that was read; None where nobody has decided it."""


class Roll(Spec):
    """How the nodes of a rollout group are replaced."""

    out_at_once: int
    """Most nodes that are away at the same time because of the change; 0 where spares come first."""
    surge: int
    """Nodes that are made on spares before old ones go."""
    spares_left: int
    """Free hosts of the failure domain at the lowest point of the roll."""
    spares_floor: int
    """Spares that the data ask for in the failure domain."""
    minutes: int | None
    """How long the roll takes once it has begun, by ``nodes.durations`` of ``region.yaml``; None where that is not
    given."""
    minutes_most: int | None
    """The same if each drain takes as long as ``rollout.drain_timeout_seconds`` lets it; None where nodes wait for
    their jobs, or durations are not given."""
    gpu_hours: float | None
    """GPUs that are away times the hours they are; None where durations are not given."""
    paused: bool
    """Whether the pool's rolls stand still until somebody says otherwise."""


class Occupied(Spec):
    """Nodes of one tenant on which jobs run."""

    tenant: str
    """Name of the tenant."""
    nodes: int
    """Nodes with at least one pod that holds GPUs and ends with its node."""
    pods: int
    """These pods."""
    gpus: int
    """GPUs that they hold, or slices of GPUs."""


class Occupancy(Spec):
    """On which nodes jobs run, by facts that were taken of the clusters: an estimate, since jobs come and go."""

    tenants: tuple[Occupied, ...]
    """Tenants that have jobs there, as far as that is known."""
    unknown: str | None = None
    """Why there may be more; None where it is known of all nodes."""


class Row(Spec):
    """One part of a region that the change touches."""

    falls_on: Subject
    """What the effect falls on."""
    part: str
    """The part, as lock files and data call it: ``cluster/pool/failure-domain``, a cluster, a VPC, a hall."""
    tenant: str | None
    """Tenant whose part it is; None for what all share."""
    effect: Effect
    """The worst that happens to it; unknown if any of it is."""
    when: When
    """Moment from which on the worst happens."""
    count: int | None
    """How many nodes, hosts or DPUs it happens to; None where something else is touched, or nobody can tell."""
    change: int | None = None
    """How many nodes come, or with a minus go."""
    gpus: int | None
    """GPUs in these nodes or hosts; None where ``count`` is."""
    hosts: tuple[str, ...] = ()
    """Hosts that it falls on, where it falls on hosts or DPUs; the nodes of a group are on those of its pool."""
    roll: Roll | None = None
    """How nodes are replaced; None where none are."""
    occupancy: Occupancy | None = None
    """Jobs on its nodes, or on those of its hosts; None where none of them is disturbed. Where only some of its nodes
    go, nobody knows which: then of all."""
    forced_by: tuple[Forced, ...]
    """What changes in objects, the worst first."""
    causes: tuple[Cause, ...]
    """Edits that did it, the nearest ones; nothing where the code did."""
    digest: str = ""
    """Digest of what changes in objects, with all values before and after."""


class Lost(Spec):
    """An object that is declared no more."""

    kind: str
    """Kind of the object as the table of effects spells it."""
    name: str
    """The object, as ``cluster/namespace/name``."""
    outcome: str
    """What becomes of it: ``deleted``, ``retained`` in the cluster, or ``protected``, which refuses the change."""
    tenant: str | None = None
    """Tenant whose part had it; None for what all share."""


class StillBehind(Spec):
    """A pool, or all DPUs, that data want otherwise than lock files pin: nothing moves before it is promoted."""

    pool: str
    """Pool as ``cluster/pool``, or ``dpus``."""
    fields: tuple[str, ...]
    """What data want otherwise."""
    new: bool
    """Whether that is so since this change."""
    command: str
    """What would move it."""


class Upgraded(Spec):
    """A chart of which a cluster gets another release."""

    cluster: str
    """Cluster that the chart is installed in."""
    chart: str
    """Name of the chart."""
    before: str
    """Version that the cluster had."""
    after: str
    """Version that it gets."""
    told: str
    """What restarts there, in a sentence."""


class Freeze(Spec):
    """A time in which nothing of a tenant may be applied."""

    name: str
    """Name of the freeze."""
    begins: dt.datetime
    """Moment at which it begins."""
    ends: dt.datetime
    """Moment at which it ends, not included."""


class TenantWindow(Spec):
    """When a tenant lets its nodes be drained."""

    text: str
    """Days, hours and time zone."""
    held: bool
    """Whether the region holds rolls outside of it (``nodes.windows: enforce``), or only writes it down."""
    openings: int | None
    """How often it opens until the longest roll has ended; None where rolls are not held, or take an unknown time."""


class Contracted(Spec):
    """Nodes that a tenant paid for, and those it has at the lowest point."""

    instance_type: str
    """Hardware class that was paid for."""
    contracted: int
    """Nodes that were paid for."""
    lowest: int
    """Nodes that the tenant's pools have while most of them are away."""


class Agreement(Spec):
    """The word of a tenant on exactly this change."""

    by: str
    """Who agreed, for the tenant."""
    day: dt.date
    """Day on which that was."""
    expires: dt.date | None
    """First day on which the word is void; None where it holds until the change is made."""
    void: bool
    """Whether that day has come."""


class TenantImpact(Spec):
    """What the change means to one tenant."""

    tenant: str
    """Name of the tenant."""
    effect: Effect
    """The worst that happens to any part of it."""
    nodes: int
    """How many nodes, hosts and DPUs are replaced, rebooted, re-flashed or deleted."""
    asks: str | None
    """Who has to agree, where the tenant's data ask for that and something disruptive or unknown happens; else None."""
    window: TenantWindow | None
    """When its nodes may be drained; None where it says nothing, or none is."""
    freezes: tuple[Freeze, ...]
    """Freezes that protect it and are not over."""
    capacity: tuple[Contracted, ...]
    """What it has left of each instance type that it paid for and that is touched."""
    digest: str | None = None
    """Digest of the tenant's part of the change, which its word has to name; None where nobody is asked."""
    agreement: Agreement | None = None
    """The tenant's word on this change; None where there is none, or nobody is asked."""

    @property
    def missing(self) -> bool:
        """Tell whether the tenant is asked, and its word is missing or void."""
        return self.asks is not None and (self.agreement is None or self.agreement.void)


class Shared(Spec):
    """Another environment that the change touches as well, since the catalogue is everybody's."""

    environment: str
    """Name of the environment."""
    effect: Effect
    """The worst that happens to any part of it."""
    nodes: int | None
    """Machines that are replaced, rebooted, re-flashed or deleted there; None where its data cannot be compared."""


class Impact(Spec):
    """What the change between a base and a head does to one environment."""

    schema_version: int = FORMAT
    """Version of this form."""
    environment: str
    """Name of the environment."""
    base: str
    """Commit that is compared with."""
    head: str
    """Commit, or ``work tree`` where something is not committed."""
    effect: Effect
    """The worst that happens to any part; unknown if that of any part is."""
    edits: int
    """How many values of data files are others."""
    code: bool
    """Whether what renders objects is another than in the base: Jacquard itself, or what a repository adds to it."""
    rows: tuple[Row, ...]
    """Parts that are touched, the worst first."""
    lost: tuple[Lost, ...]
    """Objects that go, by name."""
    behind: tuple[StillBehind, ...]
    """What waits for a promotion once this is merged."""
    tenants: tuple[TenantImpact, ...]
    """Tenants whose parts are touched."""
    charts: tuple[Upgraded, ...] = ()
    """Charts of which clusters get another release."""
    shared: tuple[Shared, ...] = ()
    """Other environments that the change touches."""
    occupancy: Occupancy | None = None
    """Jobs on all nodes that are disturbed, each node once; None where none is."""
    facts_at: dt.datetime | None = None
    """Moment of the facts by which occupancy is told; None where there are none, or they are too old."""

    @property
    def gone(self) -> int:
        """Return how many nodes are replaced, rebooted, re-flashed or deleted."""
        return sum(row.count or 0 for row in self.rows if row.effect in DISRUPTIVE)


DISRUPTIVE = (Effect.REBOOTED, Effect.RE_FLASHED, Effect.REPLACED, Effect.DELETED)
"""Effects after which a job that ran there does so no more."""
