"""Promotions of node groups, DPUs and charts; only promotions change their pinned intents.

A promotion edits ``images.lock.yaml``, for all groups of a pool in one step or wave by wave. The result does not depend
on the clock.
"""

import datetime as dt
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import NoReturn

from components.intents.charts import unpinned_charts
from components.intents.pins import knowing
from components.intents.revisions import Improvement, improvements, newest
from components.lookups.pools import problem
from components.rollout.limits import RolloutLimits
from components.rollout.options import ALL, NEWEST_TEMPLATES
from components.rollout.subject import DATA, DeclaredIntent
from components.rollout.subjects import subject_of
from components.rollout.waves import PlannedWave, carried, last_wave, moved_waves, without_rollout
from components.specs.environment import Environment
from components.specs.keys import domain_of, group_key, wave_key
from components.specs.locks import ImagesLock, OpenRollout, Wave
from components.specs.pools.intents import Intent, IntentName
from components.specs.reading.loader import IMAGE_PINS
from components.specs.reading.lock_text import sealed
from components.specs.reading.problems import ArgumentError, Problem, SpecError, listed
from components.specs.region.evidence import Evidence


class Promotion:
    """Promotion of one pool, one chart or all DPUs to another intent.

    A new intent has the given version, and all other values from the data.

    Args:
        environment: loaded and checked environment.
        pool: ``cluster/pool``, ``charts/chart``, or ``dpus``.
        version: image or chart release; `DATA` reads it from the data, None rolls back to the previous intent.
        today: date on which the image must be released and not expired; None skips this check.
        newest_templates: whether groups also move if only the revision of their templates is not the newest.

    Raises:
        SpecError: pool or version is unknown, or the promotion is not allowed; all reasons are reported.
    """

    def __init__(
        self,
        environment: Environment,
        pool: str,
        version: str | None,
        today: dt.date | None = None,
        *,
        newest_templates: bool = False,
    ) -> None:
        self._environment, self._pins, self.pool = environment, environment.image_pins, pool
        self._newest_templates = newest_templates
        self._subject = subject_of(environment, pool)
        self._current = self._subject.groups
        self._open, self._back = self._pins.rollouts.get(pool), version is None
        self.target = self._rollback_target() if version is None else self._promotion_target(version, today)
        self._pending = [key for key, name in self._current.items() if name != self.target.name]
        self._continues = self._open is not None and (self._open.to, self._open.rollback) == (
            self.target.name,
            self._back,
        )
        self._moved = last_wave(self._pins, pool) if self._continues else 0
        self._limits = RolloutLimits(environment)

    @property
    def image(self) -> str:
        """Return the target image of the pool, or the target release of the chart."""
        return self.target.release

    @property
    def improvements(self) -> tuple[Improvement, ...]:
        """Return the improvements of the revisions between the current intents and the target."""
        newer = improvements(self.replaced_intents)
        return tuple(item for item in newer if item.revision <= self.target.revision)

    @property
    def newer_templates(self) -> tuple[Improvement, ...]:
        """Return the improvements of the revisions that are newer than the target."""
        return improvements([self.target])

    @property
    def remaining(self) -> tuple[str, ...]:
        """Return the keys of the groups that do not have the target intent yet."""
        return tuple(self._pending)

    @property
    def replaced_intents(self) -> tuple[Intent, ...]:
        """Return the distinct current intents of the groups that do not have the target intent yet."""
        return tuple(self._intent(name) for name in sorted({self._current[key] for key in self._pending}))

    @property
    def needs_waves(self) -> bool:
        """Return whether the remaining groups must be promoted in waves."""
        separate_canary = self._canary > 0 and len(self._waves) > 1
        return self._continues or separate_canary or bool(self._subject.excess(self._limits, self._pending))

    def plan(self) -> list[PlannedWave]:
        """Return the remaining waves, in order."""
        planned = self._subject.planned(self._pending)
        return [
            PlannedWave(number=number, groups=tuple(planned[key] for key in wave))
            for number, wave in enumerate(self._waves, self._moved + 1)
        ]

    def all_at_once(self, *, requested: bool = True) -> ImagesLock:
        """Return the pins with all groups promoted.

        Args:
            requested: whether the user explicitly requested all groups; only a rollback needs no request.

        Raises:
            SpecError: a rollout is open, the pool has a canary, a limit would be exceeded, or more than one wave would
            be promoted without a request.
        """
        self._refuse_other_rollout()
        if self._pending and self.needs_waves:
            self._stop(f"{self._why_not_at_once()}; {self._next()}")
        if not (requested or self._back) and len(self._waves) > 1:
            self._stop(f"neither --wave nor {ALL} is set; {self._next()}, or promote all together with {ALL}")
        return self._with_moved(self._pending)

    def next_wave(self, number: int, evidence: Evidence | None = None) -> ImagesLock:
        """Return the pins with the groups of wave ``number`` promoted; unchanged if the wave is already promoted.

        Raises:
            SpecError: another wave is next, there is no evidence that the previous wave is settled, or a limit would be
            exceeded.
        """
        self._refuse_other_rollout()
        if not self._pending or (self._continues and number <= self._moved):
            return self._pins
        if number != self._moved + 1:
            text = f"the next wave is {self._moved + 1}; {self._next()}"
            raise ArgumentError(self._environment.name, f"--wave {number}", text)
        wave, proof = self._waves[0], self._proof(evidence)
        exceeded = self._subject.excess(self._limits, wave)
        if exceeded:
            self._stop(f"{'; '.join(map(str, exceeded))}; {self._wait()}")
        return self._with_moved(wave, number, proof)

    def _promotion_target(self, version: str, today: dt.date | None) -> Intent:
        opened = self._intent(self._open.to) if self._open and not self._open.rollback else None
        if opened is not None and version in {DATA, opened.release} and not self._outdated(opened):
            self._refuse(self._subject.unfit(opened, today))
            return opened
        declared = self._subject.declared_intent(version, today)
        before = self._pins.previous.get(self.pool)
        known = {*self._current.values(), *([before] if before else [])}
        least = declared.newest if self._newest_templates else declared.least
        usable = [intent for intent in map(self._intent, known) if intent.revision >= least]
        return _same(declared, usable) or declared.at(declared.newest)

    def _outdated(self, intent: Intent) -> bool:
        """Return whether the promotion must not select ``intent``, because newer templates are requested."""
        return self._newest_templates and intent.revision < newest(type(intent))

    def _rollback_target(self) -> Intent:
        previous = self._pins.previous.get(self.pool)
        target = (self._open.to if self._open.rollback else self._open.before) if self._open else previous
        if target is None:
            text = f"no previous version of {self.pool} is recorded; select the target with --to"
            raise ArgumentError(self._environment.name, "--rollback", text)
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
            return self._subject.backwards(self._limits, self._pending, moved)
        first = 0 if self._moved else max(1, self._canary)
        return self._subject.waves(self._limits, self._pending, first)

    def _with_moved(self, groups: Sequence[str], number: int = 0, proof: str | None = None) -> ImagesLock:
        """Return the pins with ``groups`` promoted in wave ``number``; the rollout ends with its last group."""
        if not groups:
            return self._pins
        pins = self._pins if self._continues else without_rollout(self._pins, self.pool)
        section = self._subject.section
        moved = getattr(pins, section) | dict.fromkeys(groups, self.target.name)
        before = self._before()
        known = [self.target, self._intent(before)]
        pins = knowing(pins, known, self._subject.intent_section).model_copy(update={section: moved})
        if len(groups) == len(self._pending):
            closed = without_rollout(pins, self.pool)
            with_previous = closed.model_copy(update={"previous": self._previous(before)})
            return sealed(carried(with_previous, closed, unpinned_charts(self._environment)))
        opened = OpenRollout(to=self.target.name, before=before, rollback=self._back)
        steps = dict(pins.waves)
        if self._moved:
            last = wave_key(self.pool, self._moved)
            steps[last] = steps[last].model_copy(update={"evidence": proof})
        domains = tuple(map(domain_of, groups))
        steps[wave_key(self.pool, number)] = Wave(groups=domains)
        return sealed(pins.model_copy(update={"rollouts": pins.rollouts | {self.pool: opened}, "waves": steps}))

    def _before(self) -> IntentName:
        if self._continues and self._open is not None:
            return self._open.before
        count = Counter(self._current[key] for key in self._pending)
        return max(count, key=lambda name: (count[name], name))

    def _previous(self, before: IntentName) -> dict[str, IntentName]:
        """Return the previous intents of all pools after this rollout; a rollback removes the entry of its pool."""
        previous = self._pins.previous
        if not self._back:
            return previous | {self.pool: before}
        return {key: name for key, name in previous.items() if key != self.pool or name != self.target.name}

    def _proof(self, evidence: Evidence | None) -> str | None:
        if not self._moved:
            return None
        if evidence is None:
            self._stop(f"there is no evidence that wave {self._moved} is settled; {self._next()}")
        wave = self._pins.waves[wave_key(self.pool, self._moved)]
        texts = list(self._subject.shortcomings(wave, self.target, evidence, back=self._back))
        if texts:
            raise SpecError(self._environment.name, [Problem(evidence.name, 0, "", text) for text in texts])
        return evidence.digest

    def _refuse_other_rollout(self) -> None:
        if self._open is not None and not self._continues and not self._back:
            back = f"jacquard promote {self._environment.name} {self.pool} --rollback"
            to = self._intent(self._open.to).release
            self._stop(f"a rollout to {to} is open; finish it, or roll back with: {back}")

    def _why_not_at_once(self) -> str:
        if self._continues:
            return f"a rollout to {self.image} is open at wave {self._moved}"
        exceeded = map(str, self._subject.excess(self._limits, self._pending))
        return "; ".join([*([self._subject.canary_rule] if self._canary else []), *exceeded])

    def _next(self) -> str:
        """Return the remedy that promotes the next wave."""
        direction = "--rollback" if self._back else f"--to {self.image}{self._option}"
        command = f"jacquard promote {self._environment.name} {self.pool} {direction} --wave {self._moved + 1}"
        if self._moved:
            file = "evidence.json"
            status = f"jacquard status {self._environment.name} --format json > {file}"
            return f"continue with: {status}, then {command} --evidence {file}"
        count = len(self._waves)
        if count == 1 and self.needs_waves:
            return self._wait()
        return f"promote it in {count} wave{'s' if count > 1 else ''} (--plan lists them): {command}"

    @property
    def _option(self) -> str:
        return f" {NEWEST_TEMPLATES}" if self._newest_templates else ""

    def _wait(self) -> str:
        others = sorted({pool for pool in self._pins.rollouts if pool != self.pool})
        return f"wait until the last waves of {listed(others)} are settled" if others else "raise the limit"

    def _refuse(self, reasons: Iterable[str]) -> None:
        file, path = self._subject.place
        problems = [problem(self._environment, file, path, reason) for reason in reasons]
        if problems:
            raise SpecError(self._environment.name, problems)

    def _stop(self, text: str) -> NoReturn:
        path = ("rollouts", self.pool) if self._open else (self._subject.section, next(iter(self._current), ""))
        raise SpecError(self._environment.name, [problem(self._environment, IMAGE_PINS, path, text)])


def _same(declared: DeclaredIntent, known: Iterable[Intent]) -> Intent | None:
    """Return the newest of ``known`` that equals ``declared`` except for the revision; reusing it rolls no nodes."""
    same = [intent for intent in known if declared.at(intent.revision) == intent]
    return max(same, key=lambda intent: intent.revision, default=None)
