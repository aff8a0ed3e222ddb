"""``jacquard logs``: logs of the components of a region, selected by name prefix."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from typer.testing import Result

Invoke = Callable[..., Result]


def test_logs_are_listed_shown_and_matched_by_the_beginning_of_their_name(invoke: Invoke, home: Path) -> None:
    folder = home / "regions" / "laptop" / "logs" / "management"
    folder.mkdir(parents=True)
    (folder / "kube-apiserver.log").write_text("".join(f"line {number}\n" for number in range(150)))
    engine = home / "pulumi" / "logs"
    engine.mkdir(parents=True)
    (engine / "laptop.bootstrap.log").write_text("Updating\n")

    listed, shown = invoke("logs", "laptop"), invoke("logs", "laptop", "management/kube-api")
    unknown = invoke("logs", "laptop", "engine/laptop.bootstrip")

    assert [line.split()[0] for line in listed.stdout.splitlines()] == [
        "component",
        "management/kube-apiserver",
        "engine/laptop.bootstrap",
        "folders:",
    ]
    assert listed.stdout.endswith(f"folders: {home}/regions/laptop/logs and {engine}\n")
    assert shown.stdout.splitlines() == [f"line {number}" for number in range(50, 150)]
    assert unknown.exit_code == 2
    assert unknown.stderr == (
        "error: component 'engine/laptop.bootstrip' is unknown (known: management/kube-apiserver, "
        "engine/laptop.bootstrap); did you mean 'engine/laptop.bootstrap'?\n"
    )


def test_logs_of_a_region_that_never_ran_name_the_command_that_writes_them(invoke: Invoke) -> None:
    result = invoke("logs", "laptop")

    assert result.exit_code == 7
    assert result.stderr == (
        "unreachable: laptop: there are no logs; if the region is local, 'jacquard up laptop' creates them\n"
    )
