"""Timeouts of end-to-end tests scale with the load of the machine."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Any

import pytest

from jacquard.providers.kube import ApiServer
from tests.support.local_regions.local_region import LocalRegion, wait_while_changing
from tests.support.machine.scaled_timeout import ScaledTimeout, slowdown


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> dict[str, float]:
    """A machine with two processors, and a clock and load that a test sets."""
    now = {"clock": 0.0, "load": 0.0}
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (now["load"], 0.0, 0.0))
    monkeypatch.setattr(time, "monotonic", lambda: now["clock"])
    return now


def test_a_timeout_on_an_idle_machine_is_exact(machine: dict[str, float]) -> None:
    patience = ScaledTimeout(240)
    over = []
    for machine["clock"] in (100.0, 239.0, 240.0):
        over.append(patience.is_over())

    assert over == [False, False, True]


def test_a_busy_one_is_waited_for_as_much_longer_as_it_is_busy(machine: dict[str, float]) -> None:
    machine["load"] = 16.0
    patience = ScaledTimeout(240)
    over = []
    for machine["clock"], machine["load"] in ((800.0, 16.0), (930.0, 2.0), (940.0, 2.0)):
        over.append(patience.is_over())

    assert over == [False, False, True]


def test_the_slowdown_is_at_least_one(machine: dict[str, float]) -> None:
    machine["load"] = 0.5
    assert slowdown() == 1.0
    machine["load"] = 5.0
    assert slowdown() == 2.5


def test_an_api_server_may_take_as_much_longer_to_answer(
    machine: dict[str, float], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(ApiServer, "from_kubeconfig", lambda _, timeout_seconds: asked.append(timeout_seconds))
    region = LocalRegion(tmp_path, environments=tmp_path)
    for machine["load"] in (0.5, 30.0):
        region.api()

    assert asked == [30.0, 450.0]


def test_a_changing_state_is_awaited_and_a_stuck_one_fails(
    machine: dict[str, float], monkeypatch: pytest.MonkeyPatch
) -> None:
    def sleep(seconds: float) -> None:
        machine["clock"] += seconds

    monkeypatch.setattr(time, "sleep", sleep)
    steps = iter(range(100))

    wait_while_changing(lambda: next(steps), lambda step: step == 99, still_seconds=10, what="all steps")
    assert machine["clock"] > 10
    with pytest.raises(AssertionError, match=r"^no step: nothing moved within 10 s of a free machine: 7"):
        wait_while_changing(lambda: 7, lambda step: step == 99, still_seconds=10, what="no step")
