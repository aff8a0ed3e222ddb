"""Changed checks of nodes: nodes on which they act now, and would have acted, by facts of the region."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from components.lookups.add_ons import gives
from components.lookups.health.node_checks import checks_of
from components.lookups.pools import PlacedPool, pools
from components.render.add_ons.declared_hardware import UNLIKE
from components.reports.health import is_due, lasted
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.health.node_checks import Detector, HealthAction, NodeCheck
from components.specs.keys import pool_of
from components.specs.natural import natural
from components.specs.reading.problems import listed
from components.specs.struct import Struct
from jacquard.observe.facts import HISTORY_HOURS, Facts, Place
from jacquard.previews.impacts.checked_nodes import ChangedCheck, CheckAction, CheckedNodes
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.occupancy import CollectedFacts, missing_facts

_MOST_CLUSTERS = 3


class _Side(Struct):
    """A check of one pool, in base or head."""

    check: NodeCheck | None
    quarantines: bool
    """Whether an add-on of the cluster keeps new pods from quarantined nodes."""

    @property
    def action(self) -> CheckAction | None:
        if self.check is None:
            return None
        repairs = self.check.action is HealthAction.REPAIR
        hold = self.check.hold_seconds if repairs else None
        return CheckAction(action=self.check.action, when_idle=self.check.when_idle, hold_seconds=hold)

    def acts(self, duration: dt.timedelta | None) -> bool:
        """Return whether the check acts on a node with a fault of this duration; None for an unknown one."""
        if self.check is None or (self.check.action is HealthAction.QUARANTINE and not self.quarantines):
            return False
        return is_due(self.check, duration)


class _Changed(Struct):
    """A changed check of one pool."""

    pool: PlacedPool
    before: _Side
    after: _Side


def with_changed_checks(impact: Impact, base: Environment, head: Environment, given: CollectedFacts | None) -> Impact:
    """Return ``impact`` with the checks whose action or hold time differs between ``base`` and ``head``.

    Args:
        impact: effect of the change.
        base: environment before the change.
        head: environment after the change.
        given: facts of the region; None without facts, so that all numbers are unknown.
    """
    alike: dict[tuple[str, str], list[_Changed]] = defaultdict(list)
    for name, changed in _changes(base, head):
        alike[name, f"{changed.before.action} {changed.after.action}"].append(changed)
    missing = missing_facts(head.name, given)
    counted = _Counted(given.facts, missing) if given else None
    checks = tuple(
        ChangedCheck(
            check=name,
            before=same[0].before.action,
            after=same[0].after.action,
            nodes=tuple(counted.nodes(same) if counted else map(_of_pool, same)),
            history_until=given.facts.observed_at if given and given.facts.history else None,
            unknown=tuple(counted.unknown(same) if counted else (missing or "",)),
        )
        for (name, _), same in alike.items()
    )
    return impact.model_copy(update={"checks": checks})


def _changes(base: Environment, head: Environment) -> Iterator[tuple[str, _Changed]]:
    """Yield the changed checks of all pools that exist before and after the change."""
    earlier = {pool.key: pool for pool in pools(base)}
    for pool in pools(head):
        if pool.key not in earlier:
            continue
        before, after = _sides(base, earlier[pool.key]), _sides(head, pool)
        for name in dict.fromkeys((*after.checks, *before.checks)):
            changed = _Changed(pool=pool, before=before.of(name), after=after.of(name))
            if changed.before.action != changed.after.action:
                yield name, changed


class _Sides(Struct, kw_only=False):
    checks: Mapping[str, NodeCheck]
    quarantines: bool

    def of(self, name: str) -> _Side:
        return _Side(check=self.checks.get(name), quarantines=self.quarantines)


def _sides(environment: Environment, pool: PlacedPool) -> _Sides:
    kind = environment.instance_types.by_name[pool.pool.instance_type]
    quarantines = gives(environment, pool.placed_cluster, Capability.NODE_READINESS)
    return _Sides({check.name: check for check in checks_of(environment, kind)}, quarantines)


def _of_pool(changed: _Changed) -> CheckedNodes:
    return CheckedNodes(
        part=changed.pool.key, instance_type=changed.pool.pool.instance_type, tenant=changed.pool.tenant.tenant
    )


class _Counted:
    """Nodes with faults in facts.

    Args:
        facts: facts of the region.
        unfit: reason why faults of the observation are not those of now; the history can be used all the same.
    """

    def __init__(self, facts: Facts, unfit: str | None) -> None:
        self._facts, self._unfit = facts, unfit
        self._pools = {(node.cluster, node.node): pool_of(node.group) for node in facts.nodes}
        self._unread = {item.cluster: item.unreachable for item in facts.clusters if item.unreachable is not None}
        self._past: dict[tuple[str, str], dict[Place, int]] = defaultdict(dict)
        for fault in facts.history.faults if facts.history else ():
            place = (fault.cluster, fault.node)
            self._past[self._pools.get(place, fault.cluster), fault.condition][place] = fault.longest_seconds

    def nodes(self, same: Sequence[_Changed]) -> Iterator[CheckedNodes]:
        """Yield the nodes of each pool with an equally changed check, then nodes of clusters without a known pool."""
        for changed in sorted(same, key=lambda changed: natural(changed.pool.key)):
            known = not (self._unfit or changed.pool.cluster.name in self._unread or self._facts.faults is None)
            yield _of_pool(changed).model_copy(
                update={**(self._now(changed) if known else {}), **self._history(changed, changed.pool.key)}
            )
        for name, changed in {changed.pool.cluster.name: changed for changed in same}.items():
            others = self._history(changed, name)
            if others.get("past") or others.get("past_before"):
                yield CheckedNodes(part=name, instance_type=None, tenant=changed.pool.tenant.tenant, **others)

    def unknown(self, same: Sequence[_Changed]) -> Iterator[str]:
        """Yield the reasons why numbers about ``same`` are unknown or too low."""
        names = list(dict.fromkeys(changed.pool.cluster.name for changed in same))
        yield from [self._unfit] if self._unfit else ()
        yield from (f"cluster {name} could not be read: {self._unread[name]}" for name in names if name in self._unread)
        if self._facts.faults is None:
            yield "facts of an earlier version of Jacquard contain no faults; collect new ones"
        condition = _condition(same[0])
        if self._facts.history is None:
            yield f"no history; collect facts with 'jacquard facts {self._facts.environment} --metrics URL'"
        elif condition == UNLIKE:
            yield "the metrics store has no history of the devices of nodes"
        else:
            hours = {item.cluster: item.hours for item in self._facts.history.coverage if item.condition == condition}
            if none := [name for name in names if name not in hours]:
                yield f"the metrics store has no samples of {condition} of {listed(none, _MOST_CLUSTERS)}"
            some = [f"{name} ({hours[name]})" for name in names if 0 < hours.get(name, 0) < HISTORY_HOURS]
            if some:
                yield f"the metrics store does not have all {HISTORY_HOURS} hours of {listed(some, _MOST_CLUSTERS)}"

    def _now(self, changed: _Changed) -> dict[str, int]:
        condition = _condition(changed)
        those = [
            fault
            for fault in self._facts.faults or ()
            if fault.condition == condition and self._pools.get((fault.cluster, fault.node)) == changed.pool.key
        ]
        due = sum(changed.after.acts(lasted(fault.since, self._facts.observed_at)) for fault in those)
        return {"faulty": len(those), "due": due}

    def _history(self, changed: _Changed, part: str) -> dict[str, int]:
        """Return the numbers of nodes of the history; empty if the store has no samples of the cluster."""
        condition, history = _condition(changed), self._facts.history
        covered = {(item.cluster, item.condition) for item in history.coverage} if history else set()
        if (changed.pool.cluster.name, condition) not in covered:
            return {}
        longest = [dt.timedelta(seconds=seconds) for seconds in self._past[part, condition].values()]
        return {
            "past": sum(map(changed.after.acts, longest)),
            "past_before": sum(map(changed.before.acts, longest)),
        }


def _condition(changed: _Changed) -> str:
    """Return the condition of a changed check, or the taint of devices; checks without one can only notify."""
    check = changed.after.check or changed.before.check
    if check is None or check.detector is Detector.DEVICES:
        return UNLIKE
    return check.condition or ""
