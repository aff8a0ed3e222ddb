"""Rows of an impact that are not about the nodes of pools: one row per part and affected subject."""

import math
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.lookups.effects.changes import Change, worst
from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.effects.table import DELETED, PROTECTED, RETAINED
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.natural import naturally
from jacquard.previews.attestations.digests import changes_digest
from jacquard.previews.impacts.causes import Causes
from jacquard.previews.impacts.impact import Forced, Lost, Release, Row
from jacquard.previews.impacts.machines import MACHINES, Machines
from jacquard.previews.snapshots import Part

_UNDECIDED = "effect unknown: the table of effects has no row for it"
_GONE = (DELETED, RETAINED, PROTECTED)


class Rows:
    """Creates rows from changes, with numbers from both sides and the causing edits."""

    def __init__(self, base: Environment, head: Environment, causes: Causes, machines: Machines) -> None:
        self._causes, self._machines = causes, machines
        self._releases = Releases(head, machines)
        self._tenants = {tenant.tenant for side in (base, head) for tenant in side.tenants}

    def of_part(self, part: Part, changes: Iterable[Change], tenant: str | None = None) -> Iterator[Row]:
        """Yield a row for each subject that ``changes`` of one component affect, and for each tenant of its hosts.

        Rejected changes have separate rows.

        Args:
            part: the component.
            changes: all its changes, or those that affect one cluster.
            tenant: tenant of this cluster; None for the tenant of the component.
        """
        alike: dict[tuple[Subject, bool, Effect | None], list[Change]] = defaultdict(list)
        for change in changes:
            subject = change.row.falls_on if change.row else Subject.PLATFORM
            of_hosts = subject in MACHINES or bool(self._machines.of(change))
            # A rejection fails the apply, so a worse effect on the same subject must not hide it.
            apart = of_hosts or change.effect is Effect.REFUSED
            alike[subject, of_hosts, change.effect if apart else None].append(change)
        for (subject, of_hosts, _), same in alike.items():
            if worst(same) is Effect.NONE:
                continue
            if of_hosts:
                yield from self._of_hosts(part, subject, same)
            else:
                row = self.row(part, subject, same, count=None, gpus=None)
                yield row.model_copy(update={"tenant": tenant or row.tenant})

    def _of_hosts(self, part: Part, subject: Subject, changes: Sequence[Change]) -> Iterator[Row]:
        """Yield a row for each tenant with a node on a host that ``changes`` affect, and one for all other hosts."""
        drained = subject is Subject.NODES and worst(changes) is Effect.REPLACED
        affected = [(change, self._machines.of(change)) for change in changes]
        by_tenant: dict[str | None, list[str]] = defaultdict(list)
        for host in naturally({host for _, hosts in affected for host in hosts}):
            if not drained or self._machines.counts_as_node(host):
                by_tenant[self._machines.tenant_of(host) or self.tenant_of(part)].append(host)
        if not by_tenant:
            yield self.row(part, subject, changes, count=0, gpus=None)
        for tenant, hosts in by_tenant.items():
            mine = [change for change, machines in affected if not set(hosts).isdisjoint(machines)]
            row = self.row(part, subject, mine, count=len(hosts), gpus=self._machines.gpus(hosts))
            release = self._releases.of(row.effect, row.when, hosts)
            yield row.model_copy(update={"hosts": tuple(hosts), "tenant": tenant, "release": release})

    def row(
        self, part: Part, subject: Subject, changes: Sequence[Change], *, count: int | None, gpus: int | None
    ) -> Row:
        """Return the row of one part."""
        effect = worst(changes)
        worst_ones = [change for change in changes if change.effect is effect]
        row = next((change.row for change in worst_ones if change.row), None)
        return Row(
            falls_on=subject,
            part=part.label,
            tenant=self.tenant_of(part),
            effect=effect,
            when=row.when if row else When.AT_ONCE,
            count=count,
            gpus=gpus,
            forced_by=forced_by(changes),
            causes=self._causes.of(part.about, part.key, worst_ones),
            digest=changes_digest(changes),
        )

    def tenant_of(self, part: Part) -> str | None:
        """Return the tenant of a part; None for a shared part."""
        return part.about[0] if part.about and part.about[0] in self._tenants else None

    def lost(self, part: Part, changes: Iterable[Change]) -> Iterator[Lost]:
        """Yield the objects of a part that are no longer declared."""
        for change in changes:
            if change.path in _GONE:
                name = name_of(change.manifest)
                yield Lost(kind=change.kind, name=name, outcome=change.path, tenant=self.tenant_of(part))


def forced_by(changes: Iterable[Change]) -> tuple[Forced, ...]:
    """Return the changes with an effect, equal changes of several objects combined, the worst first."""
    alike: dict[tuple[str, str, Effect], list[Change]] = defaultdict(list)
    for change in changes:
        alike[change.kind, change.path, change.effect].append(change)
    forced = [
        Forced(
            kind=kind,
            path=path,
            effect=effect,
            objects=len({change.manifest.key for change in same}),
            names=frozenset(name_of(change.manifest) for change in same),
            first=name_of(same[0].manifest),
            why=same[0].row.reason if same[0].row else _UNDECIDED,
            source=same[0].row.source if same[0].row else None,
        )
        for (kind, path, effect), same in alike.items()
        if effect is not Effect.NONE
    ]
    return tuple(sorted(forced, key=lambda item: -item.effect.severity))


def name_of(manifest: Manifest) -> str:
    """Return ``cluster/namespace/name`` of an object, or ``cluster/name`` of a cluster-scoped object."""
    return "/".join(filter(None, (manifest.cluster, manifest.namespace, manifest.name)))


class Releases:
    """Estimates how the release controller of a region (``dpus.release``) takes hosts away."""

    def __init__(self, environment: Environment, machines: Machines) -> None:
        self._limits = environment.region.dpus.release
        self._steps = environment.region.nodes.durations
        self._machines = machines

    def of(self, effect: Effect, when: When, hosts: Sequence[str]) -> Release | None:
        """Return the release of ``hosts``, which are in one VPC; None if no node runs there, or for manual releases.

        A node is replaced before its rollout group loses the next one. The duration assumes that the new node waits for
        the host of the old one.
        """
        used = [host for host in hosts if self._machines.counts_as_node(host)]
        if self._limits is None or when is not When.IN_TURN or not used:
            return None
        away = min(self._limits.max_away_per_vpc, self._limits.max_away, len(used), len(self._machines.groups(used)))
        if self._steps is None:
            return Release(out_at_once=away, minutes=None, gpu_hours=None)
        steps = self._steps
        flash = steps.dpu_minutes if effect is Effect.RE_FLASHED else 0
        turn = steps.drain_minutes + steps.deprovision_minutes + flash + steps.boot_minutes + steps.join_minutes
        return Release(
            out_at_once=away,
            minutes=math.ceil(len(used) / away) * turn,
            gpu_hours=round(self._machines.gpus(used) * turn / 60, 1),
        )
