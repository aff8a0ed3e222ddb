"""Stacks in parallel: order, limit, effect of a failure, and stop requests."""

from __future__ import annotations

import os
import signal
import threading
from typing import Any

import pytest

from jacquard.engine.driver import Engine
from jacquard.engine.errors import EngineError, EngineStopped
from jacquard.engine.parallel import Outcome, among, backwards, side_by_side

NEEDS = {"a": (), "b": ("a",), "c": ("a",), "d": ("b",), "e": ("c", "d")}
PATIENCE_SECONDS = 20


def begun(
    needs: dict[str, Any], *, at_once: int, failing: tuple[str, ...] = ()
) -> tuple[list[str], list[Outcome[str]]]:
    """Return the stacks in the order of their start, and their outcomes."""
    order: list[str] = []

    def work(stack: str) -> str:
        order.append(stack)
        if stack in failing:
            raise EngineError(stack)
        return stack.upper()

    return order, side_by_side(needs, work, at_once=at_once)


@pytest.mark.parametrize("at_once", [1, 2, 8])
def test_each_stack_starts_after_its_dependencies_and_results_are_ordered(at_once: int) -> None:
    order, outcomes = begun(NEEDS, at_once=at_once)

    assert all(order.index(needed) < order.index(stack) for stack, all_ in NEEDS.items() for needed in all_)
    assert [(one.stack, one.result, one.done) for one in outcomes] == [(name, name.upper(), True) for name in NEEDS]


def test_one_at_a_time_they_are_begun_in_order() -> None:
    assert begun(NEEDS, at_once=1)[0] == list(NEEDS)


def test_a_dependency_outside_these_stacks_counts_as_done() -> None:
    assert begun({"b": ("a",), "d": ("b",)}, at_once=2)[0] == ["b", "d"]


@pytest.mark.parametrize("at_once", [1, 4])
def test_a_failure_only_stops_dependents(at_once: int) -> None:
    order, outcomes = begun({**NEEDS, "f": ("a",)}, at_once=at_once, failing=("b",))

    assert sorted(order) == ["a", "b", "c", "f"]
    assert [(one.stack, one.begun, one.done, one.because_of) for one in outcomes] == [
        ("a", True, True, ()),
        ("b", True, False, ()),
        ("c", True, True, ()),
        ("d", False, False, ("b",)),
        ("e", False, False, ("b",)),
        ("f", True, True, ()),
    ]
    assert str(outcomes[1].failure) == "b"
    assert [one.stack for one in outcomes if one.stopped] == []


def test_a_stack_is_kept_back_by_all_that_failed() -> None:
    _, outcomes = begun({"a": (), "b": (), "c": ("b", "a"), "d": ("c",)}, at_once=2, failing=("a", "b"))

    assert outcomes[-1].because_of == ("b", "a")


def test_the_limit_of_parallel_runs_is_kept() -> None:
    together, lock = threading.Barrier(2), threading.Lock()
    running, most = 0, 0

    def work(_: str) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        together.wait(PATIENCE_SECONDS)  # Passes only when two threads have arrived.
        with lock:
            running -= 1

    outcomes = side_by_side({str(number): () for number in range(6)}, work, at_once=2)

    assert all(one.done for one in outcomes)
    assert most == 2


def test_among_some_stacks_order_is_kept_by_way_of_those_that_are_left_out() -> None:
    assert among(NEEDS, {"a", "d", "e"}) == {"a": (), "d": ("a",), "e": ("a", "d")}


def test_backwards_each_is_begun_after_all_that_need_it() -> None:
    assert backwards(NEEDS) == {"e": [], "d": ["e"], "c": ["e"], "b": ["d"], "a": ["b", "c"]}


def test_all_running_engines_get_one_stop_request_and_no_other_stack_starts(pulumi: Any) -> None:
    pulumi.answer("up", waits=True)
    engine, calls = Engine("laptop", None, {}), []
    pulumi.terminate_caller(waiting=2)

    outcomes = side_by_side(
        NEEDS | {"f": ()}, lambda stack: engine.run("up", stack), at_once=2, stopping=lambda: calls.append(1)
    )

    assert calls == [1]
    assert [(one.stack, one.begun, one.stopped, one.because_of) for one in outcomes] == [
        ("a", True, True, ()),
        *((stack, False, True, ()) for stack in "bcde"),
        ("f", True, True, ()),
    ]
    assert str(outcomes[0].failure) == (
        "up of a was stopped; finished changes are recorded, run the same command again to continue"
    )
    assert sorted(path.read_text() for path in pulumi.folder.glob("ended-*")) == ["1 signal", "1 signal"]


def test_work_before_the_start_of_an_engine_is_stopped_as_well(pulumi: Any) -> None:
    engine = Engine("laptop", None, {})
    heard = threading.Event()

    def work(stack: str) -> None:
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard.wait(PATIENCE_SECONDS)
        engine.prepare(stack)

    [outcome] = side_by_side({"a": ()}, work, at_once=1, stopping=heard.set)

    assert isinstance(outcome.failure, EngineStopped)
    assert pulumi.calls == []


def test_signals_are_handled_as_before_once_all_have_ended() -> None:
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)

    begun(NEEDS, at_once=2)

    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before
