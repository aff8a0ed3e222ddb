"""Rows of an impact that are not about the nodes of pools: one row per part and affected subject."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.intents.dpus import deployments, dpu_hosts
from components.lookups.effects.changes import Change, worst
from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.effects.table import DELETED, PROTECTED, RETAINED
from components.render.hosts.inventory import names_of
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.natural import naturally
from jacquard.previews.attestations.digests import changes_digest
from jacquard.previews.impacts.causes import Causes
from jacquard.previews.impacts.impact import Forced, Lost, Row
from jacquard.previews.impacts.scopes import Scope, is_hall, vpc_scope
from jacquard.previews.snapshots import Part

_MACHINES = (Subject.HOSTS, Subject.DPUS)
_UNDECIDED = "effect unknown: the table of effects has no row for it"
_GONE = (DELETED, RETAINED, PROTECTED)


class Rows:
    """Creates rows from changes, with numbers from both sides and the causing edits."""

    def __init__(self, base: Environment, head: Environment, causes: Causes) -> None:
        self._causes = causes
        self._tenants = {tenant.tenant for side in (base, head) for tenant in side.tenants}
        hosts = {host.host: host for side in (base, head) for host in side.hosts}
        self._gpus = {name: _gpus(head, host) for name, host in hosts.items()}
        self._host_of = {name: host.host for host in hosts.values() for name in names_of(host)}
        self._releases_dpus = head.region.dpus.release is not None
        self._vpc_of = {deployment.key: deployment.vpc for deployment in deployments(head, head.allocations.vpcs)}
        self._dpus: dict[str, list[str]] = defaultdict(list)
        for host, deployment in dpu_hosts(head).items():
            self._dpus[deployment].append(host)

    def of_part(self, part: Part, changes: Iterable[Change]) -> Iterator[Row]:
        """Yield a row for each subject that ``changes`` of one component affect."""
        alike: dict[tuple[Subject, Effect | None], list[Change]] = defaultdict(list)
        for change in changes:
            subject = change.row.falls_on if change.row else Subject.PLATFORM
            alike[subject, change.effect if subject in _MACHINES else None].append(change)
        for (subject, _), same in alike.items():
            if worst(same) is not Effect.NONE:
                row = self.row(part, subject, same, count=None, gpus=None)
                yield row.model_copy(update=self._counted(part.about, subject, same))

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
            when=self._when(subject, row.when if row else When.AT_ONCE),
            count=count,
            gpus=gpus,
            forced_by=forced_by(changes),
            causes=self._causes.of(part.about, part.key, worst_ones),
            digest=changes_digest(changes),
        )

    def _when(self, subject: Subject, when: When) -> When:
        """Return the time of an effect: with ``dpus.release``, the platform releases DPUs instead of an operator."""
        in_turn = when is When.BY_HAND and subject is Subject.DPUS and self._releases_dpus
        return When.IN_TURN if in_turn else when

    def tenant_of(self, part: Part) -> str | None:
        """Return the tenant of a part; None for a shared part."""
        return part.about[0] if part.about and part.about[0] in self._tenants else None

    def lost(self, part: Part, changes: Iterable[Change]) -> Iterator[Lost]:
        """Yield the objects of a part that are no longer declared."""
        for change in changes:
            if change.path in _GONE:
                name = name_of(change.manifest)
                yield Lost(kind=change.kind, name=name, outcome=change.path, tenant=self.tenant_of(part))

    def _counted(self, about: Scope, subject: Subject, changes: Sequence[Change]) -> dict[str, object]:
        """Return the affected machines, their number and their GPUs as fields of a row; empty for other subjects."""
        if subject not in _MACHINES:
            return {}
        names = {change.manifest.name for change in changes}
        if hosts := naturally({self._host_of[name] for name in names & self._host_of.keys()}):
            return {"hosts": tuple(hosts), "count": len(hosts), "gpus": sum(self._gpus[host] for host in hosts)}
        if is_hall(about):
            return {"count": len(names)}
        mine = [host for key, hosts in self._dpus.items() if self._is_of(key, about) for host in hosts]
        return {"hosts": tuple(mine), "count": len(mine)}

    def _is_of(self, deployment: str, about: Scope) -> bool:
        """Return whether a DPUDeployment belongs to the scope of a VPC; DPUs of free hosts belong to the region."""
        vpc = self._vpc_of[deployment]
        return about == () if vpc is None else about[1:] == vpc_scope("", vpc)[1:]


def _gpus(environment: Environment, host: HostSpec) -> int:
    kind = environment.instance_types.by_name.get(host.instance_type)
    return kind.gpu.count if kind and kind.gpu else 0


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
            objects=len(same),
            first=name_of(same[0].manifest),
            why=same[0].row.why if same[0].row else _UNDECIDED,
            source=same[0].row.source if same[0].row else None,
        )
        for (kind, path, effect), same in alike.items()
        if effect is not Effect.NONE
    ]
    return tuple(sorted(forced, key=lambda item: -item.effect.severity))


def name_of(manifest: Manifest) -> str:
    """Return ``cluster/namespace/name`` of an object, or ``cluster/name`` of a cluster-scoped object."""
    return "/".join(filter(None, (manifest.cluster, manifest.namespace, manifest.name)))
