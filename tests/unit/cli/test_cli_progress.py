"""What a person sees while something is awaited, in a log as on a terminal."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from shown_status import GROUP, STATUS, TRAIN, console, text

from cli.views.progress import phase
from engine.events import Progress


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The time of the clock that progress looks at; a test moves it."""
    moment = [100.0]
    monkeypatch.setattr("cli.views.progress.time.monotonic", lambda: moment[0])
    return moment


def test_progress_in_a_log_is_a_line_now_and_then(now: list[float]) -> None:
    progress = Progress()
    metadata = {"op": "create", "urn": "urn:pulumi:laptop::jacquard::kubernetes:x/v1:DataStore::a"}
    begun = json.dumps({"resourcePreEvent": {"metadata": metadata}})
    progress.see(begun, 101.0)
    screen = console()

    with phase(screen, "region") as shown:
        for now[0] in (101.0, 109.0, 110.0, 111.0, 119.9, 120.0):
            shown.engine(progress, 141, "resources")

    assert text(screen) == (
        "region: begins\n"
        "region: 0 of 141 resources, 10 s, awaited: DataStore a (create, 9.0 s)\n"
        "region: 0 of 141 resources, 20 s, awaited: DataStore a (create, 19 s)\n"
    )


def test_progress_of_node_pools_names_the_groups_that_are_awaited(now: list[float]) -> None:
    group = replace(GROUP, ready=3, settled=False, why=["3 of 5 nodes ready, 4 machines exist", "no host is free"])
    screen = console()

    with phase(screen, "node pools") as shown:
        now[0] = 110.0
        shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, ready=3, groups=[group])]))

    assert text(screen) == (
        "node pools: begins\n"
        "node pools: 3 of 5 nodes ready, 10 s, "
        "awaited: acme-train/train a01 (3 of 5 nodes ready, 4 machines exist)\n"
    )


def test_a_phase_in_which_nothing_moves_says_so_each_minute_with_advice(
    now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cli.views.progress._LOG_EVERY_SECONDS", 1000.0)
    group = replace(GROUP, settled=False, why=["no host is free"])
    screen = console()

    with phase(screen, "node pools", "'jacquard logs laptop' may tell why") as shown:
        for now[0], ready in ((110.0, 3), (169.0, 3), (171.0, 3), (180.0, 3), (231.0, 3), (250.0, 4), (290.0, 4)):
            shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, groups=[replace(group, ready=ready)])]))

    assert text(screen) == (
        "node pools: begins\n"
        "node pools: nothing has moved for 1 min 01 s; 'jacquard logs laptop' may tell why\n"
        "node pools: nothing has moved for 2 min 01 s; 'jacquard logs laptop' may tell why\n"
    )
