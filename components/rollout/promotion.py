"""Moves pins of intents: the only way a rollout group gets other nodes, a DPU is flashed anew, a chart is pinned anew.

A promotion is an edit of ``images.lock.yaml``, of all groups of a pool at once or wave by wave. No clock is read.
"""

from __future__ import annotations

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NoReturn

from components.intents.charts import unpinned_charts
from components.intents.pins import knowing
from components.lookups.pools import problem
from components.rollout.chart_subject import ChartSubject
from components.rollout.dpu_subject import DpuSubject
from components.rollout.limits import RolloutLimits
from components.rollout.pool_subject import PoolSubject
from components.rollout.subject import DATA, Subject, Wish
from components.rollout.waves import PlannedWave, carried, last_wave, moved_waves, without_rollout
from components.specs.environment import Environment
from components.specs.keys import DPUS, domain_of, group_key, is_about_charts, wave_key
from components.specs.locks import ImagesLock, OpenRollout, Wave
from components.specs.pools.intents import Intent, IntentName
from components.specs.reading.loader import IMAGE_PINS
from components.specs.reading.lock_text import sealed
from components.specs.reading.problems import Problem, SpecError, listed
from components.specs.region.evidence import Evidence


class Promotion:
    """One pool, one chart or all DPUs, on the way to another intent.

    Args:
        environment: as loaded and checked.
        pool: ``cluster/pool``, ``charts/chart``, or ``dpus``.
        version: an image of the catalogue, or a release of the chart, with everything else as the data say it; `DATA`
            for the image or release that the data say, too; None goes back to what the pool was before.
        today: day on which the image must be released and not expired; None leaves the day out.

    Raises:
        SpecError: pool or version is unknown, or the pool may not go there; all reasons are told.
    """

    def __init__(self, environment: Environment, pool: str, version: str | None, today: dt.date | None = None) -> None:
        self._environment, self._pins, self.pool = environment, environment.image_pins, pool
        self._subject = _subject(environment, pool)
        self._mine = self._subject.groups
        self._open, self._back = self._pins.rollouts.get(pool), version is None
        self.target = self._way_back() if version is None else self._way_to(version, today)
        self._left = [key for key, name in self._mine.items() if name != self.target.name]
        self._goes_on = self._open is not None and (self._open.to, self._open.rollback) == (
            self.target.name,
            self._back,
        )
        self._moved = last_wave(self._pins, pool) if self._goes_on else 0
        self._limits = RolloutLimits(environment)

    @property
    def image(self) -> str:
        """Return the image that the pool goes to, or the release that the chart does."""
        return self.target.release

    @property
    def left(self) -> tuple[str, ...]:
        """Return the keys of the groups that are to move."""
        return tuple(self._left)

    @property
    def leaving(self) -> tuple[Intent, ...]:
        """Return the intents that groups have which are to move, each once."""
        return tuple(self._intent(name) for name in sorted({self._mine[key] for key in self._left}))

    @property
    def needs_waves(self) -> bool:
        """Tell whether the groups that are left may not move all at once."""
        alone = self._canary > 0 and len(self._waves) > 1
        return self._goes_on or alone or bool(self._subject.excess(self._limits, self._left))

    def plan(self) -> list[PlannedWave]:
        """Return the waves that are left, in order."""
        planned = self._subject.planned(self._left)
        return [
            PlannedWave(number=number, groups=tuple(planned[key] for key in wave))
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
        broken = self._subject.excess(self._limits, wave)
        if broken:
            self._stop(f"{'; '.join(map(str, broken))}; {self._wait()}")
        return self._with_moved(wave, number, proof)

    def _way_to(self, version: str, today: dt.date | None) -> Intent:
        opened = self._intent(self._open.to) if self._open else None
        if opened is not None and version in {DATA, opened.release} and not (self._open and self._open.rollback):
            self._refuse(self._subject.unfit(opened, today))
            return opened
        wish = self._subject.wish(version, today)
        before = self._pins.previous.get(self.pool)
        known = {*self._mine.values(), *([before] if before else [])}
        return _same(wish, map(self._intent, known)) or wish.at(wish.newest)

    def _way_back(self) -> Intent:
        previous = self._pins.previous.get(self.pool)
        target = (self._open.to if self._open.rollback else self._open.before) if self._open else previous
        if target is None:
            self._stop(f"nothing is known that {self.pool} was before; name where it goes with --to")
        intent = self._intent(target)
        self._refuse(self._subject.unfit(intent, None))
        return intent

    def _intent(self, name: IntentName) -> Intent:
        return self._subject.intents[name]

    @property
    def _canary(self) -> int:
        return 0 if self._back or self._moved else self._subject.canary

    @cached_property
    def _waves(self) -> list[list[str]]:
        if self._back:
            moved = [group_key(self.pool, domain) for _, wave in moved_waves(self._pins, self.pool) for domain in wave]
            return self._subject.backwards(self._limits, self._left, moved)
        first = 0 if self._moved else max(1, self._canary)
        return self._subject.waves(self._limits, self._left, first)

    def _with_moved(self, groups: Sequence[str], number: int = 0, proof: str | None = None) -> ImagesLock:
        """Return the pins with ``groups`` moved in wave ``number``; the rollout ends with its last group."""
        if not groups:
            return self._pins
        pins = self._pins if self._goes_on else without_rollout(self._pins, self.pool)
        section = self._subject.section
        moved = getattr(pins, section) | dict.fromkeys(groups, self.target.name)
        before = self._before()
        known = [self.target, self._intent(before)]
        pins = knowing(pins, known, self._subject.intent_section).model_copy(update={section: moved})
        if len(groups) == len(self._left):
            ended = without_rollout(pins, self.pool)
            began = ended.model_copy(update={"previous": self._previous(before)})
            return sealed(carried(began, ended, unpinned_charts(self._environment)))
        opened = OpenRollout(to=self.target.name, before=before, rollback=self._back)
        steps = dict(pins.waves)
        if self._moved:
            last = wave_key(self.pool, self._moved)
            steps[last] = steps[last].model_copy(update={"evidence": proof})
        domains = tuple(map(domain_of, groups))
        steps[wave_key(self.pool, number)] = Wave(groups=domains)
        return sealed(pins.model_copy(update={"rollouts": pins.rollouts | {self.pool: opened}, "waves": steps}))

    def _before(self) -> IntentName:
        if self._goes_on and self._open is not None:
            return self._open.before
        count = Counter(self._mine[key] for key in self._left)
        return max(count, key=lambda name: (count[name], name))

    def _previous(self, before: IntentName) -> dict[str, IntentName]:
        """Return what pools were before, now that this one has arrived; after a way back there is none to repeat."""
        previous = self._pins.previous
        if not self._back:
            return previous | {self.pool: before}
        return {key: name for key, name in previous.items() if key != self.pool or name != self.target.name}

    def _proof(self, evidence: Evidence | None) -> str | None:
        if not self._moved:
            return None
        if evidence is None:
            self._stop(f"nothing shows that wave {self._moved} is settled; {self._next()}")
        wave = self._pins.waves[wave_key(self.pool, self._moved)]
        found = list(self._subject.shortcomings(wave, self.target, evidence, back=self._back))
        if found:
            raise SpecError(self._environment.name, [Problem(evidence.name, 0, "", text) for text in found])
        return evidence.digest

    def _refuse_other_rollout(self) -> None:
        if self._open is not None and not self._goes_on and not self._back:
            back = f"jacquard promote {self._environment.name} {self.pool} --rollback"
            to = self._intent(self._open.to).release
            self._stop(f"a rollout to {to} is open; finish it, or go back with: {back}")

    def _why_not_at_once(self) -> str:
        if self._goes_on:
            return f"a rollout to {self.image} is open at wave {self._moved}"
        broken = map(str, self._subject.excess(self._limits, self._left))
        return "; ".join([*([self._subject.alone] if self._canary else []), *broken])

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
        file, path = self._subject.place
        found = [problem(self._environment, file, path, reason) for reason in reasons]
        if found:
            raise SpecError(self._environment.name, found)

    def _stop(self, text: str) -> NoReturn:
        path = ("rollouts", self.pool) if self._open else (self._subject.section, next(iter(self._mine), ""))
        raise SpecError(self._environment.name, [problem(self._environment, IMAGE_PINS, path, text)])


def _subject(environment: Environment, promoted: str) -> Subject:
    if promoted == DPUS:
        return DpuSubject(environment)
    return ChartSubject(environment, promoted) if is_about_charts(promoted) else PoolSubject(environment, promoted)


def _same(wish: Wish, known: Iterable[Intent]) -> Intent | None:
    """Return the newest of ``known`` intents that is what ``wish`` says but for its revision: then nothing rolls."""
    same = [intent for intent in known if intent.revision >= wish.first and wish.at(intent.revision) == intent]
    return max(same, key=lambda intent: intent.revision, default=None)
