"""Moves image pins: the only way a rollout group gets another golden image.

A promotion is an edit of ``images.lock.yaml``, of all groups of a pool at once or wave by wave. No clock is read.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NoReturn

from components.plan.allocation import TEMPLATE_REVISION
from components.plan.boot import FIRST_REVISION
from components.plan.edges import date_objections, edge_objections
from components.plan.images import CHANNEL, find_image, objections
from components.plan.pools import PlacedPool, pool_of, pools, problem
from components.plan.replacement import replacements, spare_hosts
from components.plan.rollout_limits import RolloutLimits
from components.plan.soak import shortcomings
from components.plan.waves import backwards, excess, last_wave, waves, without_rollout
from components.specs.environment import Environment
from components.specs.evidence import Evidence
from components.specs.loader import IMAGE_PINS, IMAGES
from components.specs.lock_text import sealed
from components.specs.locks import ImagePin, ImagesLock, OpenRollout, Wave
from components.specs.problems import Problem, SpecError, listed, suggestion


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedGroup:
    """A rollout group that is to move."""

    key: str
    nodes: int
    spares: int
    """Hosts in service beyond its nodes."""
    replacement: str
    """How its nodes are replaced, and why so."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedWave:
    """Rollout groups that move together."""

    number: int
    groups: tuple[PlannedGroup, ...]


class Promotion:
    """One pool on its way to another image.

    Args:
        environment: as loaded and checked.
        pool: ``cluster/pool``.
        version: an image of the catalogue; None goes back to what the pool ran before.
        today: day on which the image must be released and not expired; None: any.

    Raises:
        SpecError: pool or version is unknown, or the pool may not go there; all reasons are told.
    """

    def __init__(self, environment: Environment, pool: str, version: str | None, today: dt.date | None = None) -> None:
        self._environment, self._pins, self.pool = environment, environment.image_pins, pool
        self._placed = _placed(environment, pool)
        self._mine = {key: pin for key, pin in self._pins.groups.items() if pool_of(key) == pool}
        self._open, self._back = self._pins.rollouts.get(pool), version is None
        self._target = self._way_back() if version is None else self._way_to(version, today)
        self._left = [key for key, pin in self._mine.items() if pin != self._target]
        self._goes_on = self._open is not None and (self._open.to, self._open.rollback) == (self._target, self._back)
        self._moved = last_wave(self._pins, pool) if self._goes_on else 0
        self._limits = RolloutLimits(environment)

    @property
    def image(self) -> str:
        """Return the image that the pool goes to."""
        return self._target.image

    @property
    def needs_waves(self) -> bool:
        """Tell whether the groups that are left may not move all at once."""
        alone = self._canary > 0 and len(self._waves) > 1
        return self._goes_on or alone or bool(excess(self._limits, self._pins, self.pool, self._left))

    def plan(self) -> list[PlannedWave]:
        """Return the waves that are left, in order."""
        spares, how = spare_hosts(self._environment), replacements(self._environment)

        def planned(key: str) -> PlannedGroup:
            nodes = self._environment.allocations.groups[key].nodes
            return PlannedGroup(key=key, nodes=nodes, spares=spares[key], replacement=how[key].reason)

        return [
            PlannedWave(number=number, groups=tuple(map(planned, wave)))
            for number, wave in enumerate(self._waves, self._moved + 1)
        ]

    def all_at_once(self) -> ImagesLock:
        """Return the pins with all groups moved.

        Raises:
            SpecError: a rollout is open, the pool has a canary, or a limit would be broken.
        """
        self._refuse_other_rollout()
        if self._left and self.needs_waves:
            self._stop(f"{self._why_not_at_once()}; {self._next()}")
        return self._with_moved(self._left)

    def next_wave(self, number: int, evidence: Evidence | None = None) -> ImagesLock:
        """Return the pins with the groups of wave ``number`` moved; as they are when these moved before.

        Raises:
            SpecError: another wave is next, the one before is not shown to be settled, or a limit would be broken.
        """
        self._refuse_other_rollout()
        if not self._left or (self._goes_on and number <= self._moved):
            return self._pins
        if number != self._moved + 1:
            self._stop(f"wave {number} is not the next one, {self._moved + 1} is; {self._next()}")
        wave, proof = self._waves[0], self._proof(evidence)
        broken = excess(self._limits, self._pins, self.pool, wave)
        if broken:
            self._stop(f"{'; '.join(map(str, broken))}; {self._wait()}")
        return self._with_moved(wave, number, proof)

    def _way_to(self, version: str, today: dt.date | None) -> ImagePin:
        image, environment, placed = find_image(self._environment, version), self._environment, self._placed
        if image is None:
            known = [item.version for item in environment.images.images]
            text = f"image '{version}' is not declared (declared: {listed(known)}); add it there"
            problems = [problem(environment, IMAGES, ("images",), text + suggestion(version, known))]
            raise SpecError(environment.name, problems)
        self._refuse(_unfit(environment, placed, version, today) or edge_objections(environment, placed, image))
        first, previous = FIRST_REVISION[image.boot], self._pins.previous.get(self.pool)
        opened = self._open.to if self._open else None
        for pin in (opened, previous):
            if pin is not None and pin.image == version and pin.revision >= first:
                return pin
        new = ImagePin(image=version, sha256=image.sha256, revision=TEMPLATE_REVISION)
        running = [pin for pin in self._mine.values() if pin.image == version and pin.revision >= first]
        return max(running, key=lambda pin: pin.revision, default=new)

    def _way_back(self) -> ImagePin:
        previous = self._pins.previous.get(self.pool)
        target = (self._open.to if self._open.rollback else self._open.before) if self._open else previous
        if target is None:
            self._stop("the pool has no previous image to go back to; name one with --to")
        self._refuse(_unfit(self._environment, self._placed, target.image, None))
        return target

    @property
    def _canary(self) -> int:
        return 0 if self._back or self._moved else self._placed.pool.rollout.canary

    @cached_property
    def _waves(self) -> list[list[str]]:
        if self._back:
            return backwards(self._environment, self._limits, self.pool, self._left)
        first = 0 if self._moved else max(1, self._canary)
        return waves(self._environment, self._limits, self._left, first)

    def _with_moved(self, groups: Sequence[str], number: int = 0, proof: str | None = None) -> ImagesLock:
        """Return the pins with ``groups`` moved in wave ``number``; the rollout ends with its last group."""
        if not groups:
            return self._pins
        pins = self._pins if self._goes_on else without_rollout(self._pins, self.pool)
        moved, done = pins.groups | dict.fromkeys(groups, self._target), len(groups) == len(self._left)
        before = self._before()
        if done:
            ended = without_rollout(pins, self.pool)
            return sealed(ended.model_copy(update={"groups": moved, "previous": self._previous(before)}))
        opened = OpenRollout(to=self._target, before=before, rollback=self._back)
        steps = dict(pins.waves)
        if self._moved:
            last = f"{self.pool}/{self._moved}"
            steps[last] = steps[last].model_copy(update={"evidence": proof})
        domains = tuple(key.rpartition("/")[2] for key in groups)
        steps[f"{self.pool}/{number}"] = Wave(groups=domains)
        update = {"groups": moved, "rollouts": pins.rollouts | {self.pool: opened}, "waves": steps}
        return sealed(pins.model_copy(update=update))

    def _before(self) -> ImagePin:
        if self._goes_on and self._open is not None:
            return self._open.before
        count = Counter(self._mine[key] for key in self._left)
        return max(count, key=lambda pin: (count[pin], pin.image))

    def _previous(self, before: ImagePin) -> dict[str, ImagePin]:
        """Return what pools ran before, now that this one has arrived; after a way back there is none to repeat."""
        previous = self._pins.previous
        if not self._back:
            return previous | {self.pool: before}
        return {key: pin for key, pin in previous.items() if key != self.pool or pin != self._target}

    def _proof(self, evidence: Evidence | None) -> str | None:
        if not self._moved:
            return None
        if evidence is None:
            self._stop(f"nothing shows that wave {self._moved} is settled; {self._next()}")
        wave = self._pins.waves[f"{self.pool}/{self._moved}"]
        soak = 0 if self._back else self._placed.pool.rollout.soak_minutes
        found = list(shortcomings(self._environment.name, self._placed, wave, self.image, soak, evidence))
        if found:
            raise SpecError(self._environment.name, [Problem(evidence.name, 0, "", text) for text in found])
        return evidence.digest

    def _refuse_other_rollout(self) -> None:
        if self._open is not None and not self._goes_on and not self._back:
            back = f"jacquard promote {self._environment.name} {self.pool} --rollback"
            self._stop(f"a rollout to {self._open.to.image} is open; finish it, or go back with: {back}")

    def _why_not_at_once(self) -> str:
        if self._goes_on:
            return f"a rollout to {self.image} is open at wave {self._moved}"
        nodes = f"{self._canary} node{' takes' if self._canary == 1 else 's take'}"
        canary = f"{nodes} an image first, alone (rollout.canary of the pool)"
        broken = map(str, excess(self._limits, self._pins, self.pool, self._left))
        return "; ".join([*([canary] if self._canary else []), *broken])

    def _next(self) -> str:
        """Return what moves the next wave."""
        way = "--rollback" if self._back else f"--to {self.image}"
        command = f"jacquard promote {self._environment.name} {self.pool} {way} --wave {self._moved + 1}"
        if self._moved:
            file = "evidence.json"
            status = f"jacquard status {self._environment.name} --format json > {file}"
            return f"go on with: {status}, then {command} --evidence {file}"
        count = len(self._waves)
        if count == 1 and self.needs_waves:
            return self._wait()
        return f"move it in {count} wave{'s' if count > 1 else ''} (--plan shows them): {command}"

    def _wait(self) -> str:
        others = sorted({pool for pool in self._pins.rollouts if pool != self.pool})
        return f"wait until the last waves of {listed(others)} are settled" if others else "raise the limit"

    def _refuse(self, reasons: Iterable[str]) -> None:
        path = (*self._placed.path, "image")
        found = [problem(self._environment, self._placed.file, path, reason) for reason in reasons]
        if found:
            raise SpecError(self._environment.name, found)

    def _stop(self, text: str) -> NoReturn:
        path = ("rollouts", self.pool) if self._open else ("groups", next(iter(self._mine), ""))
        raise SpecError(self._environment.name, [problem(self._environment, IMAGE_PINS, path, text)])


def promote(environment: Environment, pool: str, version: str) -> ImagesLock:
    """Return the pins of ``environment`` with all rollout groups of ``pool`` at image ``version``.

    Raises:
        SpecError: it may not go there, or not all at once; all reasons are told.
    """
    return Promotion(environment, pool, version).all_at_once()


def _placed(environment: Environment, pool: str) -> PlacedPool:
    placed = {item.key: item for item in pools(environment)}
    if pool not in placed:
        text = f"there is no pool '{pool}' (pools: {listed(placed)}){suggestion(pool, placed)}"
        raise SpecError(environment.name, [Problem(IMAGE_PINS, 0, "groups", text)])
    return placed[pool]


def _unfit(environment: Environment, placed: PlacedPool, version: str, today: dt.date | None) -> list[str]:
    """Return why nodes of ``placed`` may not run ``version``, wherever they come from."""
    image = find_image(environment, version)
    if image is None:
        return [f"image {version} is not in the catalogue any more; add it to {IMAGES} again"]
    found = [*objections(environment, image, placed.cluster, placed.pool), *date_objections(image, today)]
    if placed.pool.image not in {CHANNEL, version}:
        found.append(f"this pool names image {placed.pool.image}; write {version} or {CHANNEL} here first")
    return found
