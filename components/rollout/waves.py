"""How a rollout is divided into waves: the canary first, then as many rollout groups as the limits allow, in order.

The division depends on nothing but the data and the groups that are left, so the waves that are left stay the same
while others move.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from components.intents.pins import in_use
from components.rollout.limits import Excess, RolloutLimits
from components.specs.environment import Environment
from components.specs.keys import group_key, number_of, pool_of
from components.specs.locks import ImagesLock, Wave
from components.specs.natural import naturally
from components.specs.pools.intents import Intent, IntentName

_NONE: Mapping[str, Intent] = MappingProxyType({})
MAX_GROUPS = 50
"""Rollout groups of one wave: one line of the lock file, of at most 4,000 characters, names them all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGroup:
    """A rollout group that is to move."""

    key: str
    """Key of the group in the lock file."""
    nodes: int
    """Nodes of the group."""
    spares: int
    """Hosts in service beyond its nodes."""
    replacement: str
    """How its nodes are replaced, and why so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWave:
    """Rollout groups that move together."""

    number: int
    """Number of the wave, from 1."""
    groups: tuple[PlannedGroup, ...]


def waves(environment: Environment, limits: RolloutLimits, groups: Collection[str], canary: int) -> list[list[str]]:
    """Return ``groups`` of one pool (keys of the lock file) in waves.

    Args:
        environment: whose lock file sizes the groups.
        limits: what no wave may break.
        groups: those that are to move.
        canary: how many nodes the first wave has at least; 0: there is no canary, the first wave is like the others.
    """
    ordered = naturally(groups)
    first = _canary(environment, ordered, canary) if canary else []
    rest = [group for group in ordered if group not in set(first)]
    return [*_packed(limits, first), *_packed(limits, rest)]


def backwards(limits: RolloutLimits, groups: Collection[str], moved: Sequence[str]) -> list[list[str]]:
    """Return ``groups`` of one pool in the waves of a way back: the last of those that ``moved`` goes first.

    There is no canary.
    """
    last_first = [group for group in reversed(moved) if group in set(groups)]
    return _packed(limits, [*last_first, *naturally(set(groups) - set(last_first))])


def moved_waves(pins: ImagesLock, pool: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return the waves of the open rollout of ``pool`` that have moved: number and failure domains, in order."""
    found = {number_of(key): wave.groups for key, wave in pins.waves.items() if pool_of(key) == pool}
    return sorted(found.items())


def last_wave(pins: ImagesLock, pool: str) -> int:
    """Return the number of the last wave that moved in the open rollout of ``pool``; 0 when none did."""
    return max((number for number, _ in moved_waves(pins, pool)), default=0)


def without_rollout(pins: ImagesLock, pool: str) -> ImagesLock:
    """Return ``pins`` without the open rollout of ``pool``; nothing else changes."""
    rollouts = {key: rollout for key, rollout in pins.rollouts.items() if key != pool}
    left = {key: wave for key, wave in pins.waves.items() if pool_of(key) != pool}
    return pins.model_copy(update={"rollouts": rollouts, "waves": left})


def carried(before: ImagesLock, after: ImagesLock, unpinned: Mapping[str, Intent] = _NONE) -> ImagesLock:
    """Return ``after`` with what still holds of the rollouts of ``before``.

    Those end whose pool became uniform, or is gone.

    Args:
        before: whose rollouts there are.
        after: the same with other groups.
        unpinned: what groups are that have no pin yet, by key: charts of clusters that no wave has reached.
    """
    here: dict[str, set[IntentName]] = defaultdict(set)
    for key, name in {**{key: intent.name for key, intent in unpinned.items()}, **after.moved}.items():
        here[pool_of(key)].add(name)
    previous = {pool: name for pool, name in before.previous.items() if pool in here}
    left = after
    for pool, rollout in before.rollouts.items():
        if len(here[pool]) > 1:
            continue
        left = without_rollout(left, pool)
        if here[pool] == {rollout.to} and not rollout.rollback:
            previous[pool] = rollout.before
    waves_left = {key: _with_groups(wave, pool_of(key), after.moved) for key, wave in left.waves.items()}
    return in_use(left.model_copy(update={"waves": waves_left, "previous": previous}))


def in_motion(pins: ImagesLock, *, without: str = "") -> list[str]:
    """Return the rollout groups of open rollouts that nothing shows to be settled, those of pool ``without`` aside."""
    return [
        group_key(pool_of(key), domain)
        for key, wave in pins.waves.items()
        if wave.evidence is None and pool_of(key) != without
        for domain in wave.groups
    ]


def excess(limits: RolloutLimits, pins: ImagesLock, pool: str, wave: Sequence[str]) -> list[Excess]:
    """Return the limits that ``wave`` of ``pool`` breaks together with what other pools have in motion."""
    others = in_motion(pins, without=pool)
    without = {(broken.limit, broken.subject): broken.away for broken in limits.broken_by(others)}
    together = limits.broken_by([*others, *wave])
    return [broken for broken in together if broken.away > without.get((broken.limit, broken.subject), 0)]


def _with_groups(wave: Wave, pool: str, groups: Collection[str]) -> Wave:
    return wave.model_copy(update={"groups": tuple(name for name in wave.groups if group_key(pool, name) in groups)})


def _canary(environment: Environment, ordered: Sequence[str], canary: int) -> list[str]:
    """Return the smallest group with enough nodes, or the first ones that have them together."""
    sizes = {group: environment.allocations.groups[group].nodes for group in ordered}
    enough = [group for group in ordered if sizes[group] >= canary]
    if enough:
        return [min(enough, key=lambda group: sizes[group])]
    found: list[str] = []
    for group in ordered:
        if sum(sizes[item] for item in found) >= canary:
            break
        found += [group] if sizes[group] else []
    return found


def _packed(limits: RolloutLimits, ordered: Sequence[str]) -> list[list[str]]:
    """Return ``ordered`` cut into waves, each as long as the limits allow, one group at least."""
    found: list[list[str]] = []
    for group in ordered:
        fits = found and len(found[-1]) < MAX_GROUPS and not any(limits.broken_by([*found[-1], group]))
        if fits:
            found[-1].append(group)
        else:
            found.append([group])
    return found
