"""Division of a rollout into waves: first the canary, then waves as large as the limits allow.

The division depends only on the data and the remaining groups. The remaining waves therefore stay the same during a
rollout.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType

from components.intents.pins import in_use
from components.rollout.limits import Excess, RolloutLimits
from components.specs.environment import Environment
from components.specs.keys import group_key, number_of, pool_of
from components.specs.locks import ImagesLock, Wave
from components.specs.natural import naturally
from components.specs.pools.intents import Intent, IntentName
from components.specs.struct import Struct

_NONE: Mapping[str, Intent] = MappingProxyType({})
MAX_GROUPS = 50
"""Maximum number of rollout groups per wave: one line of the lock file (at most 4,000 characters) lists all groups."""


class PlannedGroup(Struct):
    """A rollout group with its planned change."""

    key: str
    """Key of the group in the lock file."""
    nodes: int
    """Number of nodes of the group."""
    spares: int
    """Number of hosts in service beyond the nodes of the group."""
    replacement: str
    """Replacement of the nodes, as message text."""


class PlannedWave(Struct):
    """Rollout groups that are promoted together."""

    number: int
    """Number of the wave, from 1."""
    groups: tuple[PlannedGroup, ...]


def waves(environment: Environment, limits: RolloutLimits, groups: Collection[str], canary: int) -> list[list[str]]:
    """Return ``groups`` of one pool (keys of the lock file) in waves.

    Args:
        environment: environment whose lock file has the sizes of the groups.
        limits: limits that apply to each wave.
        groups: groups to promote.
        canary: minimum number of nodes in the first wave; 0 for no canary.
    """
    ordered = naturally(groups)
    first = _canary(environment, ordered, canary) if canary else []
    rest = [group for group in ordered if group not in set(first)]
    return [*_packed(limits, first), *_packed(limits, rest)]


def backwards(limits: RolloutLimits, groups: Collection[str], moved: Sequence[str]) -> list[list[str]]:
    """Return ``groups`` of one pool in the waves of a rollback: in reverse order of ``moved``, then the others.

    There is no canary.
    """
    last_first = [group for group in reversed(moved) if group in set(groups)]
    return _packed(limits, [*last_first, *naturally(set(groups) - set(last_first))])


def moved_waves(pins: ImagesLock, pool: str) -> list[tuple[int, tuple[str, ...]]]:
    """Return the promoted waves of the open rollout of ``pool``: number and failure domains, in order."""
    by_number = {number_of(key): wave.groups for key, wave in pins.waves.items() if pool_of(key) == pool}
    return sorted(by_number.items())


def last_wave(pins: ImagesLock, pool: str) -> int:
    """Return the number of the last promoted wave in the open rollout of ``pool``; 0 if there is none."""
    return max((number for number, _ in moved_waves(pins, pool)), default=0)


def without_rollout(pins: ImagesLock, pool: str) -> ImagesLock:
    """Return ``pins`` without the open rollout of ``pool``; nothing else changes."""
    rollouts = {key: rollout for key, rollout in pins.rollouts.items() if key != pool}
    remaining = {key: wave for key, wave in pins.waves.items() if pool_of(key) != pool}
    return pins.model_copy(update={"rollouts": rollouts, "waves": remaining})


def carried(before: ImagesLock, after: ImagesLock, unpinned: Mapping[str, Intent] = _NONE) -> ImagesLock:
    """Return ``after`` with the rollouts of ``before`` that are still open.

    A rollout ends when all groups of its pool have the same intent, or when the pool is deleted.

    Args:
        before: pins with the rollouts.
        after: the same pins with other groups.
        unpinned: intents of groups without a pin, by key: charts in clusters of later waves.
    """
    names: dict[str, set[IntentName]] = defaultdict(set)
    for key, name in {**{key: intent.name for key, intent in unpinned.items()}, **after.moved}.items():
        names[pool_of(key)].add(name)
    previous = {pool: name for pool, name in before.previous.items() if pool in names}
    pins = after
    for pool, rollout in before.rollouts.items():
        if len(names[pool]) > 1:
            continue
        pins = without_rollout(pins, pool)
        if names[pool] == {rollout.to} and not rollout.rollback:
            previous[pool] = rollout.before
    open_waves = {key: _with_groups(wave, pool_of(key), after.moved) for key, wave in pins.waves.items()}
    return in_use(pins.model_copy(update={"waves": open_waves, "previous": previous}))


def in_motion(pins: ImagesLock, *, without: str = "") -> list[str]:
    """Return the rollout groups in unsettled waves of open rollouts, except groups of the pool ``without``."""
    return [
        group_key(pool_of(key), domain)
        for key, wave in pins.waves.items()
        if wave.evidence is None and pool_of(key) != without
        for domain in wave.groups
    ]


def excess(limits: RolloutLimits, pins: ImagesLock, pool: str, wave: Sequence[str]) -> list[Excess]:
    """Return the limits that ``wave`` of ``pool`` together with unsettled waves of other pools would exceed."""
    others = in_motion(pins, without=pool)
    without = {(item.limit, item.subject): item.away for item in limits.broken_by(others)}
    together = limits.broken_by([*others, *wave])
    return [item for item in together if item.away > without.get((item.limit, item.subject), 0)]


def _with_groups(wave: Wave, pool: str, groups: Collection[str]) -> Wave:
    return wave.model_copy(update={"groups": tuple(name for name in wave.groups if group_key(pool, name) in groups)})


def _canary(environment: Environment, ordered: Sequence[str], canary: int) -> list[str]:
    """Return the smallest group with at least ``canary`` nodes, or the first groups that together have that many."""
    sizes = {group: environment.allocations.groups[group].nodes for group in ordered}
    enough = [group for group in ordered if sizes[group] >= canary]
    if enough:
        return [min(enough, key=lambda group: sizes[group])]
    chosen: list[str] = []
    for group in ordered:
        if sum(sizes[item] for item in chosen) >= canary:
            break
        chosen += [group] if sizes[group] else []
    return chosen


def _packed(limits: RolloutLimits, ordered: Sequence[str]) -> list[list[str]]:
    """Return ``ordered`` divided into waves, each as large as the limits allow, with at least one group."""
    packed: list[list[str]] = []
    for group in ordered:
        fits = packed and len(packed[-1]) < MAX_GROUPS and not any(limits.broken_by([*packed[-1], group]))
        if fits:
            packed[-1].append(group)
        else:
            packed.append([group])
    return packed
