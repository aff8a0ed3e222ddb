"""Faults of the engine, the API server and etcd during an ``up``: the next one completes it without duplicates.

The real engine applies single objects and an object set to a real API server, as a stack of a region does.
"""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.api_servers.api_server import LocalApiServer
from tests.support.engine.faulty_stack import DATA, WRITES_OF_A_CHANGE, FaultyStack, applied, serving
from tests.support.local_regions.local_region import wait_until

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

POINTS = sorted(random.Random(37).sample(range(1, WRITES_OF_A_CHANGE), 10))  # noqa: S311 - no secret
ROUNDS = 20


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalApiServer]:
    with serving(tmp_path_factory.mktemp("faults") / "server") as running:
        yield running


@pytest.fixture
def mill(server: LocalApiServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStack]:
    with applied(server, tmp_path, monkeypatch) as made:
        yield made


def test_an_engine_that_is_killed_at_any_write_leaves_no_orphans_or_duplicates(mill: FaultyStack) -> None:
    for turn, point in enumerate(POINTS, start=1):
        objects = DATA[turn % 2]
        mill.declare(objects)
        mill.kill_at(point)
        before = mill.uids()

        resumed = mill.up()

        assert resumed.code == 0, resumed.tail
        after = mill.uids()
        assert {name: uid for name, uid in before.items() if name in after}.items() <= after.items(), point
        mill.require(objects)


def test_lost_responses_of_writes_require_at_most_a_second_run(mill: FaultyStack) -> None:
    mill.declare(DATA[1])
    mill.connection.lose = lambda number: number % 5 == 0

    struck = mill.up()

    if struck.code:
        assert "Traceback" not in struck.tail
        assert "unreachable" in struck.tail or "closed connection" in struck.tail, struck.tail
    mill.connection.reset()
    before = mill.uids()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    after = mill.uids()
    assert {name: uid for name, uid in before.items() if name in after}.items() <= after.items()
    mill.require(DATA[1])


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_server_that_rejects_every_third_write_requires_at_most_a_second_run(mill: FaultyStack, status: int) -> None:
    mill.declare(DATA[1])
    mill.connection.refuse = lambda number: status if number % 3 == 0 else None

    struck = mill.up()

    assert "Traceback" not in struck.tail
    assert status != 429 or struck.code == 0, struck.tail
    mill.connection.reset()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


def test_a_suspended_etcd_requires_at_most_a_second_run(mill: FaultyStack) -> None:
    mill.declare(DATA[1])

    def freeze(number: int) -> bool:
        if number == WRITES_OF_A_CHANGE // 4:
            mill.server.etcd.send_signal(signal.SIGSTOP)
        return False

    mill.connection.lose = freeze
    running = mill.start()
    wait_until(
        lambda: mill.connection.writes >= WRITES_OF_A_CHANGE // 4,
        timeout_seconds=60,
        what="the first writes",
        during=running,
    )
    time.sleep(20)
    mill.server.etcd.send_signal(signal.SIGCONT)
    text, _ = running.communicate()

    assert "Traceback" not in text
    mill.connection.reset()
    wait_until(
        lambda: mill.server.api.request("GET", "/readyz") == "ok", timeout_seconds=60, what="the server is ready"
    )
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


def test_at_most_one_of_two_parallel_engines_applies_and_the_state_stays_valid(mill: FaultyStack) -> None:
    for turn in range(1, ROUNDS + 1):
        mill.declare(DATA[turn % 2])
        both = [mill.start(), mill.start()]
        texts = [running.communicate()[0] for running in both]
        for running, text in zip(both, texts, strict=True):
            assert running.returncode == 0 or "locked by" in text, text
        assert any(running.returncode == 0 for running in both), texts
    mill.require(DATA[ROUNDS % 2])
