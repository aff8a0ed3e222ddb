"""``up`` of a region whose slices an operator applies: commits, order, and failures of the operator."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli import local_region
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.plan_checks import Plan
from jacquard.machine import settings
from jacquard.observe.observation import Observation
from jacquard.previews.base_commits import BaseError
from tests.support.engine.fake_operator import COMMIT, FakeOperator, given_up, stack, workspace_failed
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
OLDER = "4" * 40
ENGINE = "stacks: sliced\nengine: {kind: operator, repository: https://git.cloud.example/regions}"
SLICES = ("inventory-a", "tenant-acme", "tenant-globex", "cluster-acme-train", "cluster-globex-lab")


class Once(Stop):
    """Failure of the first plan of a stack."""


def unchanged(*names: str) -> dict[str, Plan]:
    """Plans without changes of these stacks."""
    return {name: Plan(stack=f"laptop.{name}", empty=True) for name in names}


@pytest.fixture
def operator(monkeypatch: pytest.MonkeyPatch) -> FakeOperator:
    fake = FakeOperator()
    monkeypatch.setattr("jacquard.cli.runs.operator.connect", lambda *_: fake)
    monkeypatch.setattr("jacquard.cli.runs.operator._POLL_SECONDS", 0.0)
    monkeypatch.setattr("jacquard.cli.runs.operator.reviewed_commit", lambda: COMMIT)
    return fake


@pytest.fixture
def plans(
    data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch, seen: Observation, operator: FakeOperator
) -> dict[str, Plan | Stop]:
    """Configured plans of laptop with an operator; by default each slice has changes."""
    del operator
    edit(data_folder / "laptop" / "region.yaml", "stacks: whole", ENGINE)
    monkeypatch.setenv("JACQUARD_PARALLELISM", "1")
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)
    monkeypatch.setattr(local_region, "revive", lambda *_: None)
    plans: dict[str, Plan | Stop] = {}

    def plan_of(_engine: object, _environment: object, stack: str, **_options: object) -> Plan:
        answer = plans.get(stack.partition(".")[2], Plan(stack=stack))
        if isinstance(answer, Once):
            plans[stack.partition(".")[2]] = Plan(stack=stack)
        if isinstance(answer, Stop):
            raise answer
        return answer

    monkeypatch.setattr("jacquard.cli.runs.plan_checks.plan", plan_of)
    return plans


@pytest.fixture
def commits(pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch) -> list[dict[str, str]]:
    """The commits that the program gets, for each run of the engine's stack."""
    found: list[dict[str, str]] = []
    from jacquard.engine.driver import Engine  # noqa: PLC0415 - patched here only

    start = Engine._start

    def recording(self: Engine, command: list[str], output: Any, more: dict[str, str]) -> Any:
        if settings.COMMITS in more:
            found.append(json.loads(more[settings.COMMITS]))
        return start(self, command, output, more)

    monkeypatch.setattr(Engine, "_start", recording)
    del pulumi
    return found


def record(pulumi: FakePulumi, commit: str) -> None:
    """Record all slices at ``commit`` in the state of the engine."""
    kind = "kubernetes:pulumi.com/v1:Stack"
    recorded = [{"type": kind, "inputs": {"metadata": {"name": name}, "spec": {"commit": commit}}} for name in SLICES]
    pulumi.answer("stack export", stack="laptop.engine", stdout=json.dumps({"deployment": {"resources": recorded}}))


def up(invoke: Invoke, *options: str) -> Result:
    return invoke("up", "laptop", "--timeout", "0", *options)


@pytest.mark.usefixtures("plans")
def test_the_command_applies_the_operator_and_its_stacks_and_follows_all_other_slices(
    invoke: Invoke, pulumi: FakePulumi, operator: FakeOperator, commits: list[dict[str, str]]
) -> None:
    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert pulumi.runs == ["up laptop.foundation", "up laptop.engine"]
    assert commits == [dict.fromkeys(SLICES, COMMIT)]
    assert sorted(operator.read) == sorted(SLICES)
    assert operator.read.index("inventory-a") < operator.read.index("tenant-acme")
    assert operator.read.index("tenant-acme") < operator.read.index("cluster-acme-train")


def test_only_slices_with_changes_get_the_new_commit(
    invoke: Invoke,
    pulumi: FakePulumi,
    operator: FakeOperator,
    plans: dict[str, Plan | Stop],
    commits: list[dict[str, str]],
) -> None:
    record(pulumi, OLDER)
    plans |= unchanged("engine", "foundation", *SLICES[1:])

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert commits == [{**dict.fromkeys(SLICES, OLDER), "inventory-a": COMMIT}]
    assert operator.read == ["inventory-a"]


def test_without_changes_the_stacks_keep_their_commits(
    invoke: Invoke, pulumi: FakePulumi, operator: FakeOperator, plans: dict[str, Plan | Stop]
) -> None:
    record(pulumi, OLDER)
    plans |= unchanged("foundation", "engine", *SLICES)

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert (pulumi.runs, operator.read) == ([], [])


@pytest.mark.usefixtures("plans", "pulumi")
def test_a_slice_that_the_operator_cannot_apply_fails_the_run_and_its_dependents_are_not_started(
    invoke: Invoke, operator: FakeOperator
) -> None:
    retries = stack({"type": "Reconciling", "status": "True", "reason": "x", "message": "1 update failure(s)"})
    operator.stacks["tenant-acme"] = [retries, retries, given_up()]

    result = up(invoke)

    assert result.exit_code == ExitCode.FAILED
    assert (
        "the operator could not apply laptop.tenant-acme at 555555555555: VPC acme is refused\n"
        "  the pod of the failed run: kubectl -n pulumi-kubernetes-operator logs tenant-acme-workspace-0;"
        " 'jacquard up laptop' continues from there"
    ) in result.stderr
    assert "cluster-acme-train" not in operator.read
    assert "cluster-globex-lab" in operator.read


@pytest.mark.usefixtures("plans", "pulumi")
def test_a_slice_that_the_operator_has_given_up_is_tried_again(invoke: Invoke, operator: FakeOperator) -> None:
    operator.stacks["tenant-acme"] = [given_up()]

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert operator.requests == ["tenant-acme"]
    assert "note: tenant-acme: the operator has given up an earlier run of this commit" in result.stderr


@pytest.mark.usefixtures("plans", "pulumi")
@pytest.mark.parametrize("observed", [(2,), (1, 2)], ids=["same commit", "another commit"])
def test_a_failed_workspace_is_deleted_so_that_the_operator_tries_again(
    invoke: Invoke, operator: FakeOperator, observed: tuple[int, ...]
) -> None:
    operator.stacks["tenant-acme"] = [workspace_failed(generation) for generation in observed]
    operator.failed_workspaces.add("tenant-acme")

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert (operator.failed_workspaces, operator.requests) == (set(), ["tenant-acme"])
    assert "note: tenant-acme: its Workspace failed and is deleted, so that the operator tries again" in result.stderr


@pytest.mark.usefixtures("plans", "pulumi")
def test_an_operator_that_does_not_see_its_stacks_is_reported(
    invoke: Invoke, operator: FakeOperator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jacquard.cli.runs.operator._SILENT_SECONDS", 0.0)
    operator.stacks["inventory-a"] = [{**stack(), "status": {}}]

    result = up(invoke)

    assert result.exit_code == ExitCode.WAITING
    assert (
        "laptop.inventory-a: the operator has not seen its Stack for five minutes; check its pod:"
        " kubectl -n pulumi-kubernetes-operator get deployment pulumi-kubernetes-operator-controller-manager"
    ) in result.stderr


def test_a_slice_that_could_not_be_planned_is_not_submitted(
    invoke: Invoke, operator: FakeOperator, plans: dict[str, Plan | Stop], commits: list[dict[str, str]]
) -> None:
    plans["tenant-acme"] = Once("its kind is not served", ExitCode.WAITING)

    result = up(invoke)

    assert result.exit_code == ExitCode.WAITING
    assert "laptop.tenant-acme: could not be planned before its dependencies; run 'jacquard up' again" in result.stderr
    assert "tenant-acme" not in commits[0]
    assert "tenant-acme" not in operator.read


def test_slices_that_were_applied_without_the_operator_get_the_commit_and_are_not_followed(
    invoke: Invoke,
    pulumi: FakePulumi,
    operator: FakeOperator,
    plans: dict[str, Plan | Stop],
    commits: list[dict[str, str]],
) -> None:
    plans |= unchanged("foundation", *SLICES)

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert (pulumi.runs, operator.read) == (["up laptop.engine"], [])
    assert commits == [dict.fromkeys(SLICES, COMMIT)]


@pytest.mark.usefixtures("pulumi")
def test_without_a_plan_of_the_engine_no_slice_is_submitted(
    invoke: Invoke, operator: FakeOperator, plans: dict[str, Plan | Stop]
) -> None:
    plans["engine"] = Stop("the management cluster does not answer", ExitCode.FAILED)

    result = up(invoke)

    assert result.exit_code == ExitCode.FAILED
    assert operator.read == []


@pytest.mark.usefixtures("pulumi")
def test_a_slice_that_cannot_be_planned_at_all_fails_with_its_reason(
    invoke: Invoke, operator: FakeOperator, plans: dict[str, Plan | Stop]
) -> None:
    plans["tenant-acme"] = Stop("MachineDeployment a01 is forbidden", ExitCode.FAILED)

    result = up(invoke)

    assert result.exit_code == ExitCode.FAILED
    assert "error: MachineDeployment a01 is forbidden" in result.stderr
    assert "tenant-acme" not in operator.read


@pytest.mark.usefixtures("plans")
def test_uncommitted_data_are_refused_before_the_first_plan(
    invoke: Invoke, pulumi: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    def dirty() -> str:
        msg = "environments/laptop/region.yaml differs from the commit"
        raise BaseError(msg)

    monkeypatch.setattr("jacquard.cli.runs.operator.reviewed_commit", dirty)

    result = up(invoke)

    assert result.exit_code == ExitCode.REFUSED
    assert "laptop: nothing was applied: environments/laptop/region.yaml differs from the commit" in result.stderr
    assert pulumi.runs == []


def test_a_slice_with_changes_at_its_own_commit_is_applied_again(
    invoke: Invoke, pulumi: FakePulumi, operator: FakeOperator, plans: dict[str, Plan | Stop]
) -> None:
    record(pulumi, COMMIT)
    plans |= unchanged("engine", "foundation", *SLICES[1:])

    result = up(invoke)

    assert result.exit_code == 0, result.output
    assert operator.requests == ["inventory-a"]


def test_a_refresh_reads_live_objects_into_the_state_before_the_operator_runs(
    invoke: Invoke, pulumi: FakePulumi, plans: dict[str, Plan | Stop]
) -> None:
    plans |= unchanged("engine", "foundation", *SLICES[1:])

    result = up(invoke, "--refresh")

    assert result.exit_code == 0, result.output
    assert pulumi.runs == ["refresh laptop.inventory-a", "up laptop.engine"]
