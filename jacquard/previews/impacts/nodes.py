"""Rows of an impact about the nodes of pools: one row for each affected rollout group."""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from components.lookups.effects.changes import ROLLOUT_GROUP, Change, worst
from components.lookups.effects.effect import Effect, Subject
from components.lookups.health.node_tests import burn_in_minutes
from components.lookups.pools import PlacedPool, declared_spares, pools
from components.lookups.spares import spares_for
from components.render import labels
from components.render.pools.pool_rollout import drain_limit_seconds
from components.rollout.repair import provisioning_turns
from components.rollout.replacement import Replacement, replacements, spare_hosts
from components.specs.environment import Environment
from components.specs.keys import domain_of, group_key, pool_key, pool_of
from components.specs.pools.nodes import StepDurationsSpec
from components.specs.struct import replace
from jacquard.previews.impacts.impact import Roll, Row
from jacquard.previews.impacts.rows import Rows
from jacquard.previews.snapshots import Part

_SIZES = {Effect.SCALES, Effect.DELETED}
"""Effects reported as a change of the node count; deleting the object of a group deletes its nodes."""


class Nodes:
    """Creates rows from changes of pools."""

    def __init__(self, base: Environment, head: Environment, rows: Rows) -> None:
        self._base, self._head, self._rows = base, head, rows
        self._pools: dict[str, PlacedPool] = {placed.key: placed for side in (base, head) for placed in pools(side)}
        self._plans = replacements(head)
        self._spares = spare_hosts(head)

    def of_pool(self, part: Part, changes: Iterable[Change]) -> Iterator[Row]:
        """Yield a row for each affected rollout group of a pool, then rows for other changes of the pool."""
        groups: dict[str, list[Change]] = defaultdict(list)
        others: list[Change] = []
        for change in changes:
            if change.kind == ROLLOUT_GROUP:
                groups[_key(change)].append(change)
            else:
                others.append(change)
        for key, group_changes in groups.items():
            yield from self._of_group(replace(part, about=(*part.about, domain_of(key)), label=key), group_changes)
        yield from self._rows.of_part(part, others)

    def _of_group(self, group: Part, changes: Sequence[Change]) -> Iterator[Row]:
        was, will = _nodes(self._base, group.label), _nodes(self._head, group.label)
        sized = [change for change in changes if change.effect in _SIZES]
        others = [change for change in changes if change.effect not in _SIZES]
        if sized:
            row = self._row(group, sized, abs(will - was))
            yield row.model_copy(update={"change": will - was})
        effect = worst(others)
        if effect is not Effect.NONE:
            rolls = effect in {Effect.REPLACED, Effect.UNKNOWN}
            nodes = min(was, will) if rolls else was  # if the group also shrinks, some nodes are deleted instead
            row = self._row(group, others, nodes)
            roll = self._roll(group.label, nodes) if rolls else None
            yield row.model_copy(update={"roll": roll})

    def _row(self, group: Part, changes: Sequence[Change], nodes: int) -> Row:
        unknown = worst(changes) is Effect.UNKNOWN
        count, gpus = (None, None) if unknown else (nodes, nodes * self._gpus_a_node(group.label))
        return self._rows.row(group, Subject.NODES, changes, count=count, gpus=gpus)

    def _gpus_a_node(self, key: str) -> int:
        kind = self._head.instance_types.by_name.get(self._pools[pool_of(key)].pool.instance_type)
        return kind.gpu.count if kind and kind.gpu else 0

    def _roll(self, key: str, nodes: int) -> Roll | None:
        plan = self._plans.get(key)
        if plan is None:
            return None
        placed, spares = self._pools[pool_of(key)], self._spares[key]
        minutes, most, hours = self._times(key, plan, nodes, self._gpus_a_node(key))
        return Roll(
            out_at_once=min(plan.max_unavailable, nodes),
            surge=min(plan.max_surge, nodes),
            spares_left=spares - min(plan.max_surge, nodes),
            spares_floor=spares_for(nodes, declared_spares(self._head, placed.pool)),
            minutes=minutes,
            minutes_most=most,
            gpu_hours=hours,
            paused=placed.pool.rollout.paused,
        )

    def _times(self, key: str, plan: Replacement, nodes: int, gpus: int) -> tuple[int | None, int | None, float | None]:
        """Return the expected and the maximum minutes of a rollout, and the lost GPU-hours."""
        steps = self._head.region.nodes.durations
        if steps is None:
            return None, None, None
        placed = self._pools[pool_of(key)]
        batch = max(1, min(nodes, plan.max_surge or plan.max_unavailable))
        batches = math.ceil(nodes / batch)
        after = (
            _reprovision_minutes(steps, batch, self._flash_minutes(key, steps))
            + burn_in_minutes(self._head, placed.pool)
            + math.ceil(placed.pool.health.min_ready_seconds / 60)
        )
        away = steps.drain_minutes + (0 if plan.max_surge else after)
        seconds = drain_limit_seconds(placed.pool)
        return (
            batches * (steps.drain_minutes + after),
            None if seconds is None else batches * (max(math.ceil(seconds / 60), steps.drain_minutes) + after),
            round(nodes * gpus * away / 60, 1),
        )

    def _flash_minutes(self, key: str, steps: StepDurationsSpec) -> int:
        """Return the minutes for other firmware on each host of a group; 0 if the updates stay the same."""
        before, after = _updates(self._base, key), _updates(self._head, key)
        return steps.firmware_minutes if after and after != before else 0


def out_at_once(rows: Iterable[Row]) -> Counter[str]:
    """Return the maximum number of simultaneously unavailable nodes by pool, if all its groups roll in parallel."""
    by_pool = Counter[str]()
    for row in rows:
        if row.roll:
            by_pool[pool_of(row.part)] += row.roll.out_at_once
    return by_pool


def _key(change: Change) -> str:
    values = change.manifest.body["metadata"]["labels"]
    return group_key(pool_key(values[labels.CLUSTER], values[labels.POOL]), values[labels.FAILURE_DOMAIN])


def _reprovision_minutes(steps: StepDurationsSpec, hosts: int, flash_minutes: int) -> int:
    """Return the minutes until all ``hosts`` are nodes again after a simultaneous release."""
    turn = steps.deprovision_minutes + flash_minutes + steps.boot_minutes
    return provisioning_turns(hosts) * turn + steps.join_minutes


def _updates(environment: Environment, key: str) -> dict[str, str]:
    """Return the firmware updates of the intent of a rollout group."""
    pins = environment.image_pins
    firmware = pins.intents[pins.groups[key]].firmware if key in pins.groups else None
    return firmware.updates if firmware else {}


def _nodes(environment: Environment, key: str) -> int:
    group = environment.allocations.groups.get(key)
    return group.nodes if group else 0
