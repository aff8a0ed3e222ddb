"""Output and exit code of failed engine runs. The events are recorded ones."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from components.specs.struct import asdict
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.engine import raise_for, watched
from jacquard.cli.views.changes.preview import by_component
from jacquard.cli.views.progress import Screen
from jacquard.cli.views.summary import counted
from jacquard.engine.driver import Engine, Run
from jacquard.engine.errors import EngineStopped
from jacquard.engine.events import Progress
from tests.support.engine.fake_pulumi import replay


def run(events: str, tmp_path: Path, *, code: int = 255, output: str = "") -> Run:
    progress = replay(events) if events else Progress()
    log = tmp_path / "laptop.log"
    log.write_text(output)
    return Run(stack="laptop", code=code, progress=progress, duration_seconds=1.0, log=log)


def failure(result: Run, verb: str = "up") -> tuple[Stop, str]:
    console = Console(file=io.StringIO(), width=120)
    with pytest.raises(Stop) as stop:
        raise_for(Screen(console), result, verb, "jacquard up laptop")
    assert isinstance(console.file, io.StringIO)
    return stop.value, console.file.getvalue()


def test_a_successful_run_prints_nothing(tmp_path: Path) -> None:
    console = Console(file=io.StringIO())
    raise_for(Screen(console), run("create", tmp_path, code=0), "up", "jacquard up laptop")

    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue() == ""


def test_a_mandatory_policy_ends_with_4_and_its_message(tmp_path: Path) -> None:
    stop, shown = failure(run("refused", tmp_path))

    assert stop.code is ExitCode.REFUSED
    assert str(stop) == (
        "up of laptop is refused by 1 mandatory policy; "
        "change the data as shown above and run 'jacquard up laptop' again"
    )
    assert shown == (
        "refused: forbidden-word: Command train-a\n"
        "  No forbidden words.\n"
        "  found: forbidden\n"
        "    fix: say something else\n"
    )


def test_an_unmet_gate_exits_with_3_and_names_the_prerequisites(tmp_path: Path) -> None:
    stop, shown = failure(run("gate", tmp_path))

    assert stop.code is ExitCode.WAITING
    assert str(stop) == ("stack toy has 1 missing prerequisite\n  control plane\nresume with: pulumi up -s toy")
    assert shown == ""


def test_a_failed_resource_is_named_with_the_providers_reason_and_no_echo(tmp_path: Path) -> None:
    result = run("fail", tmp_path)
    stop, shown = failure(result)

    assert stop.code is ExitCode.FAILED
    assert str(stop) == (
        "up of laptop failed; completed operations are recorded, 'jacquard up laptop' continues from there"
        f" (log: {result.log})"
    )
    assert shown == (
        "error: Command train-b: the create command failed with exit code 3: echo b; exit 3\nits output:\nb\n"
    )


def test_a_stack_locked_in_its_store_is_reported_as_locked(tmp_path: Path) -> None:
    output = (
        "error: the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end or delete the "
        "lock file with `pulumi cancel`.\n  s3://states/.pulumi/locks/organization/jacquard/laptop/3781dd9b.json: "
        "created by ada@elsewhere (pid 4711) at 2026-11-28T10:12:31Z\n"
    )
    stop, shown = failure(run("", tmp_path, output=output))

    assert str(stop).startswith(
        "laptop: locked by another operation: process 4711 of ada on elsewhere, since 2026-11-2"
    )
    assert str(stop).endswith("&& pulumi cancel -s laptop'; 'jacquard up laptop' continues from there")
    assert shown == ""


def test_a_state_that_could_not_be_written_is_no_record_to_continue_from(tmp_path: Path) -> None:
    result = run("unrecorded", tmp_path, code=1)
    stop, shown = failure(result)

    assert str(stop) == (
        "up of laptop failed; the state could not be written: remove the cause, then run 'jacquard up laptop', which "
        f"adopts objects that the state lacks (log: {result.log})"
    )
    assert "no space left on device" in shown.replace("\n", " ")


def test_a_preview_that_failed_promises_no_continuation(tmp_path: Path) -> None:
    result = run("fail", tmp_path)
    stop, _ = failure(result, "preview")

    assert str(stop) == f"preview of laptop failed (log: {result.log})"


def test_an_engine_that_died_without_an_event_shows_its_last_words(tmp_path: Path) -> None:
    _, shown = failure(run("", tmp_path, output="one\n\nerror: could not open the state\n"))

    assert shown == "one\nerror: could not open the state\n"


def test_an_interrupted_run_reports_how_it_stops(pulumi: Any, capsys: pytest.CaptureFixture[str]) -> None:
    pulumi.answer("up", waits=True)
    pulumi.terminate_caller()
    with pytest.raises(EngineStopped):
        watched(Engine("laptop", None, {}), "up", "laptop", title="region", resume="up")

    assert capsys.readouterr().err.endswith(
        "interrupted: stopping after the current operations, which are recorded; press Ctrl-C again to stop "
        "immediately\n"
    )


def test_a_retained_object_is_not_reported_as_deleted() -> None:
    progress = replay("bump")

    assert counted(progress.changes) == "2 created, 1 updated, 2 left in the cluster"
    assert [asdict(item) for item in by_component(progress)] == [
        {"component": "NodePool acme-train-infer", "operations": {"create": 2, "update": 1, "retain": 2}}
    ]
