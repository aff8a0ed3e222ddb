"""Next wave of each target in a region, as ``jacquard promote`` would write it."""

import datetime as dt
from collections.abc import Iterator, Sequence

from components.campaigns.decision import Promoted, Reason, Waiting
from components.campaigns.targets import Target
from components.lookups.pools import clusters
from components.rollout.limits import RolloutLimits
from components.rollout.promotion import Promotion
from components.rollout.waves import in_motion, last_wave
from components.specs.environment import Environment
from components.specs.keys import cluster_of, refers_to_charts
from components.specs.locks import ImagesLock
from components.specs.reading.problems import SpecError
from components.specs.region.evidence import Evidence
from components.specs.struct import Struct


class NextWaves(Struct):
    """Promotions of a region, or the reasons against them."""

    pins: ImagesLock
    """Pins with the promotions; unchanged if there are none."""
    promoted: tuple[Promoted, ...] = ()
    reasons: tuple[Waiting, ...] = ()


def next_waves(
    environment: Environment, pending: Sequence[Target], evidence: Evidence | None, now: dt.datetime
) -> NextWaves:
    """Return the next wave of each of ``pending``, in order, within the limits of the region.

    A version that a target may not have, or a freeze, blocks the whole region, so that no target is promoted alone. A
    target whose next wave must wait does not block the others.
    """
    pins = environment.image_pins
    against = [*_freezes(environment, pending, now)]
    against += [reason for target in pending if (reason := _refusal(environment, target, now))]
    if against:
        return NextWaves(pins=pins, reasons=tuple(against))
    limits, promoted, waiting = RolloutLimits(environment), list[Promoted](), list[Waiting]()
    for target in pending:
        moved = [key for item in promoted for key in item.groups]
        state = environment.model_copy(update={"image_pins": pins})
        step = _next_wave(state, target, evidence, now)
        if isinstance(step, Waiting):
            waiting.append(step)
        elif exceeded := _excess(limits, pins, target.key, moved, step[1].groups):
            waiting.append(Waiting(reason=Reason.LIMIT, text=f"{target.key}: {exceeded}; the next run continues"))
        else:
            pins = step[0]
            promoted.append(step[1])
    return NextWaves(pins=pins, promoted=tuple(promoted), reasons=tuple(waiting))


def _next_wave(
    environment: Environment, target: Target, evidence: Evidence | None, now: dt.datetime
) -> tuple[ImagesLock, Promoted] | Waiting:
    before = environment.image_pins
    number = last_wave(before, target.key) + 1 if target.is_open else 1
    try:
        after = _promotion(environment, target, now).next_wave(number, evidence)
    except SpecError as error:
        return Waiting(reason=Reason.WAVE, text=_first(target, error))
    groups = tuple(key for key, name in after.moved.items() if before.moved.get(key) != name)
    return after, Promoted(key=target.key, version=target.version, wave=number, groups=groups)


def _promotion(environment: Environment, target: Target, now: dt.datetime) -> Promotion:
    return Promotion(environment, target.key, target.version, now.date())


def _refusal(environment: Environment, target: Target, now: dt.datetime) -> Waiting | None:
    """Return why ``target`` may not have its version; None if it may."""
    try:
        _promotion(environment, target, now)
    except SpecError as error:
        return Waiting(reason=Reason.REFUSED, text=_first(target, error))
    return None


def other_rollouts(environment: Environment, pending: Sequence[Target]) -> Iterator[Waiting]:
    """Yield the open rollouts of ``pending`` to another version, and rollbacks."""
    for target in pending:
        if target.open_to and not target.is_open:
            kind = "rollback" if target.goes_back else "rollout"
            text = f"{target.key} has an open {kind} to {target.open_to}; finish it with jacquard promote"
            yield Waiting(reason=Reason.ROLLOUT, text=f"{text} {environment.name} {target.key}")


def _freezes(environment: Environment, pending: Sequence[Target], now: dt.datetime) -> Iterator[Waiting]:
    """Yield the freezes that protect a tenant of ``pending`` now, each once."""
    names = {name for target in pending for name in _clusters(environment, target)}
    tenants = dict.fromkeys(item.tenant.tenant for item in clusters(environment) if item.cluster.name in names)
    for freeze in environment.policy.freezes:
        protected = [tenant for tenant in tenants if freeze.covers(now, tenant)]
        if protected:
            text = f"freeze {freeze.name} protects {', '.join(protected)} until {freeze.to.isoformat()}"
            yield Waiting(reason=Reason.FREEZE, text=f"{text}: {freeze.reason}")


def _clusters(environment: Environment, target: Target) -> Iterator[str]:
    if refers_to_charts(target.key):
        yield from (placed.cluster.name for placed in clusters(environment))
    else:
        yield cluster_of(target.key)


def _excess(limits: RolloutLimits, pins: ImagesLock, key: str, moved: Sequence[str], wave: Sequence[str]) -> str:
    """Return the first limit that ``wave`` exceeds only together with ``moved``, the waves of this run; or nothing."""
    if not moved:
        return ""
    others = [*in_motion(pins, without=key), *moved]
    without = {(item.limit, item.subject): item.away for item in limits.broken_by(others)}
    together = limits.broken_by([*others, *wave])
    return next((str(item) for item in together if item.away > without.get((item.limit, item.subject), 0)), "")


def _first(target: Target, error: SpecError) -> str:
    """Return the first reason of ``error``, with its place in the data."""
    problem, rest = error.problems[0], len(error.problems) - 1
    more = f" (and {rest} more)" if rest else ""
    return f"{target.key}: {problem.text}{more}"
