"""``up --refresh`` and ``preview --refresh``: lost objects are reported and created again; deletions are blocked."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from typer.testing import Result

from components.specs.environment import Environment
from components.specs.region.policy import PolicySpec
from components.specs.region.state import StackLayout
from jacquard.cli import local_region
from jacquard.cli.console import stderr
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.applying import Up
from jacquard.cli.runs.operator import Operator
from jacquard.engine.driver import Engine
from jacquard.observe.observation import Observation
from policies import judge
from stacks.target import stack_names
from tests.support.changes.planned_steps import deleted, inputs, replaced, same
from tests.support.changes.previewed_change import Change
from tests.support.engine.fake_pulumi import FakePulumi

Invoke = Callable[..., Result]
WROTE = {"kubernetes": "vendor 4.34.2", "command": "vendor 1.2.1"}
SET = "jacquard:index:ObjectSet"
GONE = "urn:pulumi:laptop::jacquard::jacquard:components:Region$kubernetes:core/v1:ConfigMap::gone"


@pytest.fixture(autouse=True)
def _region(monkeypatch: pytest.MonkeyPatch, seen: Observation) -> None:
    monkeypatch.setattr("jacquard.cli.runs.applying.observe", lambda _: seen)
    monkeypatch.setattr(local_region, "revive", lambda *_: None)
    monkeypatch.setattr("jacquard.cli.runs.applying.Up.clusters", lambda _: None)


@pytest.fixture
def engine(pulumi: FakePulumi) -> FakePulumi:
    """An engine whose state was written by the current plug-ins."""
    pulumi.record(**WROTE)
    return pulumi


def refreshed(step: Mapping[str, Any], live: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the step of a refresh that reads ``live`` for the object of ``step``; None if the object is missing."""
    old = step["old"] or step["new"]
    return {**step, "op": "refresh", "old": old, "new": {**old, "inputs": dict(live)} if live is not None else None}


def created(kind: str, name: str, **body: Any) -> dict[str, Any]:
    return {**same(kind, name, **body), "op": "create", "old": None}


def rack(*names: str) -> dict[str, Any]:
    """Return the inputs of an object set with these members."""
    members = {name: inputs("ConfigMap", name, "mill") for name in names}
    return {"setName": "rack", "namespace": "mill", "members": members}


def set_step(operation: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    step = {**same("ConfigMap", "rack"), "op": operation}
    step["urn"] = f"urn:pulumi:laptop::jacquard::jacquard:components:Region${SET}::rack"
    return step | {"old": {**step["old"], "inputs": before}, "new": {**step["new"], "inputs": after}}


def calls(engine: FakePulumi) -> list[tuple[str, bool]]:
    """Return the previews and updates, and whether they refresh."""
    return [(call[0], "--refresh" in call) for call in engine.calls if call[0] in ("preview", "up", "refresh")]


LOST = created("ConfigMap", "lost", namespace="mill")
MISSING = (
    "note: laptop: 1 recorded object is missing in the cluster: ConfigMap management/mill/lost; objects that the data "
    "declares are created again"
)
KEPT = same("Namespace", "b")
EDITED = same("ConfigMap", "edited", namespace="mill", data={"a": "1"})


def test_up_without_the_option_reads_nothing_from_the_clusters(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(LOST)

    assert invoke("up", "laptop", "--timeout", "0").exit_code == 0
    assert calls(engine) == [("preview", False), ("up", False)]


def test_up_reads_the_live_objects_in_its_plan_and_in_its_apply(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(refreshed(LOST, None), refreshed(KEPT, KEPT["old"]["inputs"]), LOST, KEPT)
    engine.answer("up", events="create")

    result = invoke("up", "laptop", "--refresh", "--timeout", "0")

    assert result.exit_code == 0, result.output
    assert calls(engine) == [("preview", True), ("up", True)]
    assert f"{MISSING}\n" in result.stderr


def test_up_records_the_live_objects_even_if_nothing_is_to_be_changed(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(refreshed(deleted("ConfigMap", "gone"), None), KEPT)

    assert invoke("up", "laptop", "--refresh", "--timeout", "0").exit_code == 0
    assert calls(engine) == [("preview", True), ("up", True)]


def test_a_preview_shows_lost_objects_as_created_again(invoke: Invoke, engine: FakePulumi) -> None:
    steps = (refreshed(LOST, None), refreshed(EDITED, {**EDITED["old"]["inputs"], "data": {"a": "2"}}))
    engine.plan(*steps, LOST, {**EDITED, "op": "update"})

    text, data = invoke("preview", "laptop", "--refresh"), invoke("preview", "laptop", "--refresh", "--format", "json")

    assert (text.exit_code, data.exit_code) == (0, 0), text.output
    assert "laptop: 1 to create, 1 to update, " in text.stdout
    assert [line for line in text.stderr.splitlines() if line.startswith("note: ")] == [
        MISSING,
        "note: laptop: 1 object differs from the last apply: ConfigMap management/mill/edited",
    ]
    assert json.loads(data.stdout)["stacks"][0]["changes"] == {"create": 1, "update": 1}
    assert set(calls(engine)) == {("preview", True)}


def test_lost_members_of_a_set_are_reported_by_name(invoke: Invoke, engine: FakePulumi) -> None:
    whole, left = rack("a", "b", "c"), rack("b")
    engine.plan(set_step("refresh", whole, left), set_step("update", left, whole))

    result = invoke("preview", "laptop", "--refresh")

    assert "laptop: 1 to update, " in result.stdout
    assert (
        "2 recorded objects are missing in the cluster: ConfigMap management/mill/a, ConfigMap management/mill/c; "
        in result.stderr
    )


def test_many_lost_objects_are_counted(invoke: Invoke, engine: FakePulumi) -> None:
    lost = [created("ConfigMap", f"lost-{number:02}") for number in range(12)]
    engine.plan(*(refreshed(step, None) for step in lost), *lost)

    result = invoke("preview", "laptop", "--refresh")

    assert "laptop: 12 recorded objects are missing in the cluster: ConfigMap management/lost-00, " in result.stderr
    assert "ConfigMap management/lost-09 and 2 more; objects" in result.stderr


def test_deletions_stay_blocked_and_the_command_that_confirms_them_refreshes_too(
    invoke: Invoke, engine: FakePulumi
) -> None:
    end = deleted("Namespace", "operators")
    engine.plan(refreshed(LOST, None), refreshed(end, end["old"]["inputs"]), end, LOST)

    blocked = invoke("up", "laptop", "--refresh")

    assert blocked.exit_code == 5
    assert calls(engine) == [("preview", True)]
    command = blocked.stderr.splitlines()[-1]
    assert command.startswith("to confirm exactly these changes: jacquard up laptop --refresh --confirm ")
    passed = invoke(*command.partition(": jacquard ")[2].split(), "--timeout", "0")
    assert passed.exit_code == 0, passed.output
    assert calls(engine)[-2:] == [("preview", True), ("up", True)]


def test_a_replacement_that_only_drift_forces_needs_confirmation(invoke: Invoke, engine: FakePulumi) -> None:
    declared = {"data": {"a": "1"}, "immutable": True}
    forced = replaced("ConfigMap", "a", forced_by=("data.a",), before={**declared, "data": {"a": "2"}}, now=declared)
    recorded = {**forced, "old": forced["new"]}
    engine.plan(refreshed(recorded, forced["old"]["inputs"]), forced)

    result = invoke("up", "laptop", "--refresh")

    assert result.exit_code == 5
    assert "  replace ConfigMap a, forced by data.a: its declaration did not change\n" in result.stderr


def test_a_failed_run_is_continued_with_the_option(invoke: Invoke, engine: FakePulumi) -> None:
    engine.plan(LOST, code=1)

    result = invoke("up", "laptop", "--refresh")

    assert result.exit_code == 1
    assert calls(engine) == [("preview", True)]
    engine.plan(refreshed(LOST, None), LOST)
    engine.answer("up", events="fail", code=255)
    assert "'jacquard up --refresh laptop' continues from there" in invoke("up", "laptop", "--refresh").stderr


def test_a_stack_without_objects_has_nothing_to_read(invoke: Invoke, pulumi: FakePulumi) -> None:
    assert invoke("up", "laptop", "--refresh", "--timeout", "0").exit_code == 0
    assert calls(pulumi) == [("up", False)]


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (
            ("up", "laptop", "--refresh", "--preview", "previewed"),
            (
                "--refresh: cannot be combined with --preview, because the previewed change does not contain the"
                " objects that a refresh finds missing; run 'jacquard up laptop --refresh' first"
            ),
        ),
        (
            ("preview", "laptop", "--refresh", "--base", "main"),
            "--refresh: cannot be combined with --base, which reports drift without --refresh; remove one of them",
        ),
    ],
    ids=["up", "preview"],
)
def test_a_preview_of_a_change_is_not_refreshed(
    invoke: Invoke, engine: FakePulumi, command: tuple[str, ...], text: str
) -> None:
    result = invoke(*command)

    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, f"error: {text}\n")
    assert engine.calls == []


def test_a_region_that_applies_only_previewed_changes_names_the_way_out(change: Change) -> None:
    change.write("laptop/region.yaml", "previews: {up_applies: previewed}\n")
    line = len((change.data / "laptop" / "region.yaml").read_text().splitlines())

    result = change.invoke("up", "laptop", "--refresh")

    assert (result.exit_code, result.stderr) == (
        4,
        (
            f"refused: laptop: 'up' applies only previewed changes (region.yaml:{line}), and the preview of a change"
            " does not contain the objects that --refresh finds missing; set previews.up_applies: anything until they"
            " are created again, and review: jacquard preview laptop --refresh\n"
        ),
    )


def test_a_frozen_stack_with_lost_objects_is_refused(
    laptop: Environment, engine: FakePulumi, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("JACQUARD_PARALLELISM", "1")
    freeze = {"name": "run-7", "from": "2026-11-20T00:00:00Z", "to": "2026-12-01T00:00:00Z", "reason": "a training run"}
    policy = PolicySpec.model_validate({"schema_version": 1, "freezes": [{**freeze, "tenants": ["acme"]}]})
    region = laptop.region.model_copy(update={"stacks": StackLayout.SLICED})
    frozen, now = (
        laptop.model_copy(update={"policy": policy, "region": region}),
        dt.datetime(2026, 11, 21, tzinfo=dt.UTC),
    )
    engine.plan(refreshed(LOST, None), LOST)
    work = Up(
        frozen,
        Engine("laptop", None, {}),
        stderr(),
        now,
        judge(frozen, now).resources,
        stack_names(frozen),
        Operator(frozen, ()),
        refresh=True,
    )

    with pytest.raises(Stop) as caught:
        work.slices()

    assert caught.value.code is ExitCode.REFUSED
    assert str(caught.value).startswith("laptop: 2 frozen stacks would change, nothing was applied\n")
    assert calls(engine) == [("preview", True)] * 2
