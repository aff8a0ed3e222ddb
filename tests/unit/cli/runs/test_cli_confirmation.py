"""Confirmation of destructive changes in ``up`` and ``preview``."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.specs.reading.loader import load_environment
from jacquard.cli import local_region
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.plan_checks import Plan
from jacquard.engine import guard
from jacquard.engine.plan import Plan as Steps
from jacquard.machine import paths
from jacquard.observe.observation import Observation
from tests.support.changes.planned_steps import deleted, replaced, same
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
WROTE = {
    "kubernetes": "vendor 4.34.2",
    "command": "vendor 1.2.1",
}  # No plug-in exists at the path where the fake engine would search.
LOST = (replaced("Secret", "a", namespace="n"), deleted("Namespace", "operators"))


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch, seen: Observation) -> None:
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    monkeypatch.setattr(local_region, "revive", lambda *_: None)


@pytest.fixture
def engine(pulumi: FakePulumi) -> FakePulumi:
    """An engine whose state was written by the current plug-ins."""
    pulumi.record(**WROTE)
    return pulumi


def token(invoke: Invoke) -> str:
    """Return the confirmation token that ``preview`` prints."""
    [stack] = json.loads(invoke("preview", "laptop", "--format", "json").stdout)["stacks"]
    return str(stack["held"]["accept"])


def test_nothing_is_applied_if_an_object_would_be_deleted_unintentionally(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(*LOST, same("Namespace", "b"))

    result = invoke("up", "laptop")

    assert result.exit_code == 5
    assert engine.runs == ["preview laptop.bootstrap"]
    lines = result.stderr.splitlines()[-5:]
    assert lines[:-1] == [
        "blocked: laptop: confirmation required to delete or replace 2 objects; nothing was applied",
        "laptop.bootstrap:",
        "  delete Namespace operators: its kind is guarded",
        "  replace Secret n/a, forced by metadata.namespace: its declaration did not change",
    ]
    assert lines[-1].startswith("to confirm exactly these changes: jacquard up laptop --confirm ")


def test_blocked_changes_are_reported_as_data(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(LOST[0])

    result = invoke("up", "laptop", "--format", "json")

    assert result.exit_code == 5
    held = json.loads(result.stdout)["held"]["laptop.bootstrap"]
    assert held["objects"] == [
        {
            "urn": LOST[0]["urn"],
            "object": "Secret n/a",
            "operation": "replace",
            "forced_by": ["metadata.namespace"],
            "reason": "its declaration did not change",
            "users": [],
        }
    ]
    assert held["accept"] in result.stderr


def test_a_preview_shows_the_same_and_ends_with_the_same_code(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(*LOST)

    text, data = invoke("preview", "laptop"), invoke("preview", "laptop", "--format", "json")

    assert (text.exit_code, data.exit_code) == (5, 5)
    assert "laptop: 1 to replace, 1 to delete, " in text.stdout
    assert "  delete Namespace operators: its kind is guarded\n" in text.stderr
    [stack] = json.loads(data.stdout)["stacks"]
    assert [one["operation"] for one in stack["held"]["objects"]] == ["delete", "replace"]
    assert f"jacquard up laptop --confirm {stack['held']['accept']}\n" in text.stderr


def test_a_confirmation_token_only_confirms_its_changes(
    invoke: Invoke, engine: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)
    engine.plan(*LOST)
    confirmed = token(invoke)
    engine.plan(*LOST, deleted("Namespace", "more"))

    refused = invoke("up", "laptop", "--confirm", confirmed)

    assert refused.exit_code == 5
    assert "confirmation required to delete or replace 3 objects" in refused.stderr
    assert f"--confirm {confirmed}: does not match these changes\n" in refused.stderr
    assert "up laptop" not in engine.runs

    engine.plan(*LOST)
    passed = invoke("up", "laptop", "--confirm", confirmed, "--timeout", "0")

    assert passed.exit_code == 0, passed.output
    assert engine.runs[-2:] == ["preview laptop", "up laptop"]


def test_the_former_name_of_confirm_still_works_with_a_warning(
    invoke: Invoke, engine: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)
    engine.plan(*LOST)

    passed = invoke("up", "laptop", "--accept", token(invoke), "--timeout", "0")

    assert passed.exit_code == 0, passed.output
    assert passed.stderr.count("warning: --accept is deprecated; use --confirm\n") == 1


def test_former_names_of_options_are_not_in_the_help(invoke: Invoke) -> None:
    shown = invoke("up", "--help").stdout

    assert "--confirm" in shown
    assert "--migrate-providers" in shown
    assert "--accept" not in shown
    assert "--switch-to" not in shown


def test_declared_deletions_need_no_confirmation(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(deleted("Secret", "a", namespace="n"), same("Namespace", "b"))

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 0, result.output
    stacks = ("laptop.bootstrap", "laptop")
    assert engine.runs == [f"{verb} {stack}" for stack in stacks for verb in ("preview", "up")]


def test_a_plan_in_which_nothing_changes_is_not_applied(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(same("Namespace", "b"))

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 0, result.output
    assert engine.runs == ["preview laptop.bootstrap", "preview laptop"]
    assert "laptop: no changes, " in result.stdout


def test_a_stack_in_which_nothing_is_yet_is_not_planned(invoke: Invoke, pulumi: FakePulumi) -> None:
    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 0, result.output
    assert pulumi.runs == ["up laptop.bootstrap", "up laptop"]


def test_a_failed_plan_stops_before_any_change(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(same("Namespace", "b"), code=255)

    result = invoke("up", "laptop")

    assert result.exit_code == 1
    assert "preview of laptop.bootstrap failed" in result.stderr
    assert engine.runs == ["preview laptop.bootstrap"]


SLICES = ("foundation", "inventory-a", "tenant-acme", "tenant-globex", "cluster-acme-train", "cluster-globex-lab")


@pytest.fixture
def planned(data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Plan | Stop]]:
    """Slices, applied one at a time, each with a configured plan; by default there are changes to apply."""
    monkeypatch.setenv("JACQUARD_PARALLELISM", "1")
    edit(data_folder / "laptop" / "region.yaml", "stacks: whole", "stacks: sliced")
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)
    plans: dict[str, list[Plan | Stop]] = {}

    def plan_of(_engine: object, _environment: object, stack: str, **_options: object) -> Plan:
        answers = plans.get(stack.partition(".")[2])
        answer = answers.pop(0) if answers else Plan(stack=stack)
        if isinstance(answer, Stop):
            raise answer
        return answer

    monkeypatch.setattr("jacquard.cli.runs.plan_checks.plan", plan_of)
    return plans


@pytest.mark.parametrize("code", [ExitCode.WAITING, ExitCode.FAILED])
def test_a_slice_that_depends_on_an_earlier_one_is_planned_after_it(
    invoke: Invoke, pulumi: FakePulumi, planned: dict[str, list[Plan | Stop]], code: ExitCode
) -> None:
    planned["tenant-acme"] = [Stop("its kind is not served", code)]

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 0, result.output
    assert pulumi.runs == [f"up laptop.{name}" for name in SLICES]
    assert (
        "note: laptop.tenant-acme cannot be planned yet; it is planned again after its dependencies are applied\n"
        in result.stderr
    )


def test_a_slice_that_is_planned_late_is_blocked_too(
    invoke: Invoke, pulumi: FakePulumi, planned: dict[str, list[Plan | Stop]]
) -> None:
    lost = tuple(guard.held(_seen(LOST[0]), load_environment("laptop", paths.ROOT / "environments")))
    late = Plan(stack="laptop.tenant-acme", held=lost)
    planned["tenant-acme"] = [Stop("its kind is not served", ExitCode.WAITING), late]

    result = invoke("up", "laptop")

    assert result.exit_code == 5
    independent = ("foundation", "inventory-a", "tenant-globex", "cluster-globex-lab")
    assert pulumi.runs == [f"up laptop.{name}" for name in independent]
    assert "blocked: laptop.tenant-acme: confirmation required to delete or replace 1 object" in result.stderr
    assert result.stderr.endswith(
        "blocked: laptop: 4 of 6 stacks applied, 1 blocked, 1 not started; 'jacquard up laptop' continues from there\n"
    )


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("foundation", ExitCode.WAITING),
        ("tenant-acme", ExitCode.REFUSED),
        ("tenant-acme", ExitCode.CONFIRMATION_REQUIRED),
    ],
)
def test_no_slice_is_applied_when_one_is_refused_or_the_first_cannot_be_planned(
    invoke: Invoke, pulumi: FakePulumi, planned: dict[str, list[Plan | Stop]], name: str, code: ExitCode
) -> None:
    planned[name] = [Stop("no", code)]

    assert invoke("up", "laptop").exit_code == code
    assert pulumi.runs == []


def _seen(*steps: dict[str, Any]) -> Steps:
    seen = Steps()
    for step in steps:
        seen.see(step)
    return seen
