"""Arbitrary promotions and rollbacks: limits hold, only pools in an open rollout are mixed, others are unchanged."""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from components.rollout.limits import RolloutLimits
from components.rollout.promotion import Promotion
from components.rollout.waves import carried, in_motion, moved_waves
from components.rules.pools.rollouts import mixed
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.locks import ImagesLock
from components.specs.reading.lock_text import digest_of
from components.specs.reading.problems import SpecError
from components.specs.region.evidence import Evidence
from tests.support.changes.rollouts import NEW, OLD, evidence, rollable, with_pins

RACKS = {"one": 4, "two": 2, "six": 1}
pools = st.sampled_from([f"{name}-one/rack" for name in RACKS])
targets = st.sampled_from([OLD, NEW, None])
limits = st.fixed_dictionaries(
    {
        "max_unavailable_per_pool": st.sampled_from([None, 2, 4, "50%"]),
        "max_unavailable_per_fabric": st.sampled_from([None, 2, 5, "40%"]),
        "max_rolling_nvlink_domains": st.sampled_from([None, 1, 2]),
    }
)
rollouts = st.fixed_dictionaries(
    {"canary": st.sampled_from([0, 1, 5]), "max_unavailable": st.sampled_from([1, 2]), "soak_minutes": st.just(10)}
)


class Rollouts(RuleBasedStateMachine):
    """Arbitrary promotions in any order. A rejected one changes nothing."""

    now: Environment

    @initialize(limits=limits, rollout=rollouts)
    def begin(self, limits: dict[str, Any], rollout: dict[str, Any]) -> None:
        self.now = rollable(RACKS, rollout, limits)

    @rule(pool=pools, version=targets)
    def all_at_once(self, pool: str, version: str | None) -> None:
        self._move(pool, version, None, None)

    @rule(pool=pools, version=targets, number=st.integers(1, 5))
    def any_wave_without_evidence(self, pool: str, version: str | None, number: int) -> None:
        self._move(pool, version, number, None)

    @rule(pool=pools, back=st.booleans(), minutes=st.sampled_from([5, 15]))
    def next_wave(self, pool: str, *, back: bool, minutes: int) -> None:
        rollout = self.now.image_pins.rollouts.get(pool)
        if rollout is None:
            self._move(pool, None if back else NEW, 1, None)
            return
        number, domains = moved_waves(self.now.image_pins, pool)[-1]
        to = self.now.image_pins.intents[rollout.to].image
        proof = evidence(self.now, pool, domains, to, minutes)
        moved = self._move(pool, None if rollout.rollback else to, number + 1, proof)
        assert not moved or minutes >= 10 or rollout.rollback

    def _move(self, pool: str, version: str | None, number: int | None, proof: Evidence | None) -> set[str]:
        """Run the promotion unless it is rejected, and return the moved groups."""
        before = self.now.image_pins
        try:
            promotion = Promotion(self.now, pool, version)
            lock = promotion.all_at_once() if number is None else promotion.next_wave(number, proof)
        except SpecError:
            return set()
        moved = {key for key, pin in lock.groups.items() if pin != before.groups[key]}
        self._judge(pool, before, lock, moved)
        self.now = with_pins(self.now, lock)
        return moved

    def _judge(self, pool: str, before: ImagesLock, lock: ImagesLock, moved: set[str]) -> None:
        assert {pool_of(key) for key in moved} <= {pool}
        for section in ("rollouts", "previous"):
            after, had = (
                {key: item for key, item in getattr(pins, section).items() if key != pool} for pins in (lock, before)
            )
            assert after == had
        others = in_motion(before, without=pool)
        assert list(RolloutLimits(self.now).broken_by([*others, *moved])) == []
        assert lock.digest == digest_of(lock)

    @invariant()
    def limits_hold_for_all_that_is_in_motion(self) -> None:
        assert list(RolloutLimits(self.now).broken_by(in_motion(self.now.image_pins))) == []

    @invariant()
    def no_pool_is_mixed_without_an_open_rollout(self) -> None:
        assert list(mixed(self.now)) == []

    @invariant()
    def allocating_again_changes_no_pin(self) -> None:
        assert carried(self.now.image_pins, self.now.image_pins) == self.now.image_pins


TestRollouts = Rollouts.TestCase
TestRollouts.settings = settings(max_examples=60, stateful_step_count=25)
