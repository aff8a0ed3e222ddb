"""Waiting time of ``up``: several consecutive observations, within the timeout."""

from __future__ import annotations

from components.specs.environment import Environment
from components.specs.struct import replace
from jacquard.observe.observation import Observation
from jacquard.observe.region_status import RegionStatus, assemble, settle


def looks(environment: Environment, states: str) -> list[RegionStatus]:
    """Return one status per letter: S settled, B settled with nodes in burn-in, n not settled."""
    nothing = assemble(environment, Observation())
    return [replace(nothing, settled=letter != "n", burn_in=["a node"] if letter == "B" else []) for letter in states]


def wait(
    environment: Environment, states: str, *, polls: int, timeout_seconds: float, look_seconds: float = 0
) -> tuple[bool, int]:
    """Return whether the region settled, and the number of observations."""
    coming, seen, clock = looks(environment, states), list[RegionStatus](), [0.0]

    def sleep(duration: float) -> None:
        clock[0] += duration

    def look() -> RegionStatus:
        sleep(look_seconds)
        return coming.pop(0)

    last = settle(
        look,
        seen.append,
        polls=polls,
        timeout_seconds=timeout_seconds,
        sleep=sleep,
        clock=lambda: clock[0],
    )
    return last.settled, len(seen)


def test_one_look_is_enough_when_nothing_was_changed(laptop: Environment) -> None:
    assert wait(laptop, "S", polls=1, timeout_seconds=60) == (True, 1)


def test_after_a_change_three_looks_in_a_row_are_needed(laptop: Environment) -> None:
    assert wait(laptop, "SSnSSnSSS", polls=3, timeout_seconds=60) == (True, 9)


def test_the_timeout_is_kept(laptop: Environment) -> None:
    assert wait(laptop, "nnnnnnnnnn", polls=3, timeout_seconds=4) == (False, 5)


def test_observing_takes_at_most_a_quarter_of_the_time(laptop: Environment) -> None:
    assert wait(laptop, "n" * 10, polls=3, timeout_seconds=8, look_seconds=0.2) == (False, 8)
    assert wait(laptop, "n" * 10, polls=3, timeout_seconds=80, look_seconds=5) == (False, 5)


def test_no_time_means_one_look(laptop: Environment) -> None:
    assert wait(laptop, "n", polls=3, timeout_seconds=0) == (False, 1)


def test_burn_ins_are_waited_for_but_do_not_prevent_the_end(laptop: Environment) -> None:
    assert wait(laptop, "SBBS", polls=1, timeout_seconds=60) == (True, 1)
    assert wait(laptop, "BBSBSS", polls=2, timeout_seconds=60) == (True, 6)
    assert wait(laptop, "BBBBBBB", polls=1, timeout_seconds=3) == (True, 4)
