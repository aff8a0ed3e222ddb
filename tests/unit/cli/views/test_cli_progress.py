"""Progress output during waits, in a log and on a terminal."""

from __future__ import annotations

import io
import json
import re

import pytest
from rich.console import Console
from rich.text import Text

from components.specs.struct import replace
from jacquard.cli.errors import Stop
from jacquard.cli.views.board import board
from jacquard.cli.views.progress import phase
from jacquard.engine.events import Progress
from tests.support.objects.status_example import GROUP, STATUS, TRAIN, console, text


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The clock that progress reads, which a test advances."""
    moment = [100.0]
    monkeypatch.setattr("jacquard.cli.views.progress.time.monotonic", lambda: moment[0])
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
        "region: started\n"
        "region: 0 of 141 resources, 10 s, waiting for: DataStore a (create, 9.0 s)\n"
        "region: 0 of 141 resources, 20 s, waiting for: DataStore a (create, 19 s)\n"
    )


def test_progress_of_node_pools_names_the_groups_that_are_awaited(now: list[float]) -> None:
    group = replace(GROUP, ready=3, settled=False, why=["3 of 5 nodes ready, 4 machines exist", "no host is free"])
    screen = console()

    with phase(screen, "node pools") as shown:
        now[0] = 110.0
        shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, ready=3, groups=[group])]))

    assert text(screen) == (
        "node pools: started\n"
        "node pools: 3 of 5 nodes ready, 10 s, "
        "waiting for: acme-train/train a01 (3 of 5 nodes ready, 4 machines exist)\n"
    )


def test_a_phase_without_progress_is_reported_each_minute_with_advice(
    now: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jacquard.cli.views.progress._LOG_EVERY_SECONDS", 1000.0)
    group = replace(GROUP, settled=False, why=["no host is free"])
    screen = console()

    with phase(screen, "node pools", "'jacquard logs laptop' may tell why") as shown:
        for now[0], ready in ((110.0, 3), (169.0, 3), (171.0, 3), (180.0, 3), (231.0, 3), (250.0, 4), (290.0, 4)):
            shown.region(replace(STATUS, settled=False, pools=[replace(TRAIN, groups=[replace(group, ready=ready)])]))

    assert text(screen) == (
        "node pools: started\n"
        "node pools: no progress for 1 min 01 s; waiting for: acme-train/train a01 (no host is free); "
        "'jacquard logs laptop' may tell why\n"
        "node pools: no progress for 2 min 01 s; waiting for: acme-train/train a01 (no host is free); "
        "'jacquard logs laptop' may tell why\n"
    )


def test_parallel_phases_in_a_log_are_named_by_title_and_stack(now: list[float]) -> None:
    screen = console()

    with board(screen, 2, telling=True) as shown, shown.phase("tenant-a") as one, shown.phase("tenant-b") as two:
        now[0] = 110.0
        for phase_of_one in (one, two):
            phase_of_one.engine(Progress(), 7, "resources")
        shown.tell("laptop.tenant-a", [Text("advice: be careful"), Text("  for once")])
        shown.tell("laptop.tenant-b", [])
        shown.ended(Stop("up of laptop.tenant-a failed"))

    assert text(screen) == (
        "tenant-a: started\n"
        "tenant-b: started\n"
        "tenant-a: 0 of 7 resources, 10 s\n"
        "tenant-b: 0 of 7 resources, 10 s\n"
        "laptop.tenant-a:\nadvice: be careful\n  for once\n"
        "error: up of laptop.tenant-a failed\n"
    )


def test_parallel_phases_on_a_terminal_are_below_finished_ones(now: list[float]) -> None:
    screen = Console(file=io.StringIO(), force_terminal=True, width=80, height=20, _environ={"TERM": "xterm"})

    with board(screen, 3, telling=False) as shown:
        shown.ended(None)
        with shown.phase("tenant-a") as one, shown.phase("tenant-b") as two:
            now[0] = 110.0
            one.engine(Progress(), 7, "resources")
            two.engine(Progress(), 8, "resources")
            assert lines(screen) == [
                "1 of 3 stacks finished",
                "tenant-a 0 of 7 resources 10 s",
                "tenant-b 0 of 8 resources 10 s",
            ]
        assert lines(screen) == ["1 of 3 stacks finished"]


def lines(screen: Console) -> list[str]:
    """Return the last drawn frame, without colours and bars."""
    assert isinstance(screen.file, io.StringIO)
    drawn = re.sub(r"\x1b\[[0-9;]*m|[━╺╸]", "", screen.file.getvalue()).rpartition("\x1b[2K")[2]
    return [" ".join(line.split()) for line in drawn.splitlines()]
