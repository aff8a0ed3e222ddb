"""``up`` and ``down`` of an environment in slices: slices that continue after a failure of another, and the output."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli import local_region
from jacquard.observe.observation import Observation
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
SLICES = ("foundation", "inventory-a", "tenant-acme", "tenant-globex", "cluster-acme-train", "cluster-globex-lab")
STACKS = [f"laptop.{name}" for name in SLICES]
UNTOUCHED = [stack for stack in STACKS if "acme" not in stack]
RESOURCES = json.dumps({"deployment": {"resources": [{"type": "kubernetes:core/v1:Namespace", "custom": True}]}})


@pytest.fixture(autouse=True)
def region(data_folder: Path, edit: Edit, monkeypatch: pytest.MonkeyPatch, seen: Observation) -> list[str]:
    """Laptop in slices, on existing reconciled clusters; returns the deleted parts."""
    edit(data_folder / "laptop" / "region.yaml", "stacks: whole", "stacks: sliced")
    monkeypatch.setenv("JACQUARD_PARALLELISM", "2")
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    monkeypatch.setattr("jacquard.cli.verbs.down.connect", lambda *_: Answers())
    removed: list[str] = []
    monkeypatch.setattr(local_region, "remove", lambda name, _: removed.append(name))
    return removed


class Answers:
    """An API server that responds."""

    def request(self, method: str, path: str) -> None: ...


def rows(text: str) -> list[str]:
    """Return the lines of the table of results, with whitespace normalised."""
    return [" ".join(line.split()) for line in text.splitlines() if line.startswith(SLICES)]


def test_up_applies_each_slice_after_those_that_it_needs_and_ends_with_one_summary(
    invoke: Invoke, pulumi: FakePulumi
) -> None:
    pulumi.answer("up", events="create")

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == 0, result.output
    applied = pulumi.on("up")
    assert sorted(applied) == sorted(STACKS)
    assert applied[:2] == STACKS[:2]
    for tenant, cluster in (("acme", "acme-train"), ("globex", "globex-lab")):
        assert applied.index(f"laptop.tenant-{tenant}") < applied.index(f"laptop.cluster-{cluster}")
    assert result.stdout.count("laptop: 12 created, 2 of 2 clusters and 20 of 20 nodes ready\n") == 1
    assert "not started" not in result.stdout


def test_up_answers_as_data_in_order(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("up", events="create")

    answer = json.loads(invoke("up", "laptop", "--timeout", "0", "--format", "json").stdout)

    assert answer["changes"] == {stack: {"create": 2} for stack in STACKS}
    assert list(answer["changes"]) == STACKS
    assert list(answer["seconds"]) == ["region", "node pools"]


@pytest.mark.parametrize(
    ("events", "code", "word"), [("refused", 4, "refused"), ("gate", 3, "waiting"), ("fail", 1, "failed")]
)
def test_a_failed_slice_only_blocks_its_dependents(
    invoke: Invoke, pulumi: FakePulumi, events: str, code: int, word: str
) -> None:
    pulumi.answer("up", events="create")
    pulumi.answer("up", stack="laptop.tenant-acme", events=events, code=255)

    result = invoke("up", "laptop")

    assert result.exit_code == code
    assert sorted(pulumi.on("up")) == sorted([*UNTOUCHED, "laptop.tenant-acme"])
    assert rows(result.stdout) == [
        "foundation applied 2 created",
        "inventory-a applied 2 created",
        f"tenant-acme {word}",
        "tenant-globex applied 2 created",
        "cluster-acme-train not started because of tenant-acme",
        "cluster-globex-lab applied 2 created",
    ]
    ending = f"laptop: 4 of 6 stacks applied, 1 {word}, 1 not started; 'jacquard up laptop' continues from there\n"
    assert result.stderr.endswith(f"{'error' if word == 'failed' else word}: {ending}")
    assert "Traceback" not in result.output


def test_each_failure_is_reported_and_the_worst_sets_the_exit_code(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("up", stack="laptop.tenant-acme", events="gate", code=255)
    pulumi.answer("up", stack="laptop.tenant-globex", events="fail", code=255)

    result = invoke("up", "laptop")

    assert result.exit_code == 1
    assert "\nwaiting: stack toy has 1 missing prerequisite\n" in result.stderr
    assert "\nlaptop.tenant-globex:\nerror: Command train-b: the create command failed" in result.stderr
    assert "\nerror: up of laptop.tenant-globex failed; completed operations are recorded" in result.stderr
    assert [row for row in rows(result.stdout) if "acme" in row or "globex" in row] == [
        "tenant-acme waiting",
        "tenant-globex failed",
        "cluster-acme-train not started because of tenant-acme",
        "cluster-globex-lab not started because of tenant-globex",
    ]


def test_skipped_slices_are_reported_as_data(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("up", events="create")
    pulumi.answer("up", stack="laptop.inventory-a", events="gate", code=255)

    result = invoke("up", "laptop", "--format", "json")

    assert result.exit_code == 3
    answer = json.loads(result.stdout)
    assert answer["changes"] == {"laptop.foundation": {"create": 2}}
    assert list(answer["stacks"]) == STACKS
    assert answer["stacks"]["laptop.foundation"] == {"result": "applied", "why": None, "because_of": []}
    why = "stack toy has 1 missing prerequisite\n  control plane\nresume with: pulumi up -s toy"
    assert answer["stacks"]["laptop.inventory-a"] == {"result": "waiting", "why": why, "because_of": []}
    kept_back = {"result": "not started", "why": None, "because_of": ["laptop.inventory-a"]}
    assert [answer["stacks"][stack] for stack in STACKS[2:]] == [kept_back] * 4


def test_all_runs_end_in_order_when_interrupted(invoke: Invoke, pulumi: FakePulumi) -> None:
    for tenant in ("acme", "globex"):
        pulumi.answer("up", stack=f"laptop.tenant-{tenant}", waits=True)
    pulumi.terminate_caller(waiting=2)

    result = invoke("up", "laptop")

    assert result.exit_code == 130
    assert result.stderr.count("interrupted: stopping after the current operations, which are recorded") == 1
    assert [path.read_text() for path in pulumi.folder.glob("ended-*")] == ["1 signal", "1 signal"]
    assert rows(result.stdout) == [
        "foundation applied no changes",
        "inventory-a applied no changes",
        "tenant-acme interrupted",
        "tenant-globex interrupted",
        "cluster-acme-train not started",
        "cluster-globex-lab not started",
    ]
    assert result.stderr.endswith(
        "interrupted: laptop: 2 of 6 stacks applied, 2 interrupted, 2 not started; "
        "'jacquard up laptop' continues from there\n"
    )


def test_a_first_slice_whose_plan_fails_is_the_only_one_planned(invoke: Invoke, pulumi: FakePulumi) -> None:
    pulumi.answer("stack export", stdout=RESOURCES)
    pulumi.answer("preview", events="fail", code=255)

    result = invoke("up", "laptop", "--migrate-providers", "vendor")

    assert result.exit_code == 1
    assert pulumi.on("preview") == STACKS[:1]
    assert pulumi.on("up") == []


def test_down_destroys_each_slice_after_those_that_need_it(
    invoke: Invoke, pulumi: FakePulumi, region: list[str]
) -> None:
    pulumi.answer("stack ls", stdout=json.dumps([{"name": stack} for stack in STACKS]))
    pulumi.answer("stack export", stdout=RESOURCES)

    result = invoke("down", "laptop")

    assert (result.exit_code, result.stdout) == (0, "laptop: destroyed\n")
    gone = pulumi.on("destroy")
    assert gone[-2:] == ["laptop.inventory-a", "laptop.foundation"]
    assert sorted(gone) == sorted(STACKS)
    assert gone.index("laptop.cluster-acme-train") < gone.index("laptop.tenant-acme")
    assert region == ["laptop"]


def test_a_slice_that_cannot_be_destroyed_keeps_its_dependencies(
    invoke: Invoke, pulumi: FakePulumi, data_folder: Path, edit: Edit
) -> None:
    edit(data_folder / "laptop" / "region.yaml", "stage: rehearsal", "stage: development")
    edit(data_folder / "laptop" / "region.yaml", "stacks:", "context: here\nstacks:")
    pulumi.answer("stack ls", stdout=json.dumps([{"name": stack} for stack in STACKS]))
    pulumi.answer("stack export", stdout=RESOURCES)
    pulumi.answer("destroy", events="create")
    pulumi.answer("destroy", stack="laptop.cluster-globex-lab", events="fail", code=255)

    result = invoke("down", "laptop", "--yes-destroy", "laptop")

    assert result.exit_code == 1
    assert rows(result.stdout) == [
        "cluster-globex-lab failed",
        "cluster-acme-train destroyed",
        "tenant-globex not started because of cluster-globex-lab",
        "tenant-acme destroyed",
        "inventory-a not started because of cluster-globex-lab",
        "foundation not started because of cluster-globex-lab",
    ]
    assert result.stderr.endswith(
        "error: laptop: 2 of 6 stacks destroyed, 1 failed, 3 not started; "
        "'jacquard down laptop --yes-destroy laptop' continues from there\n"
    )
