"""``up`` during a freeze of a tenant applies changes that do not affect the tenant, and nothing if one does."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from components.specs.region.policy import PolicySpec
from components.specs.region.state import StackLayout
from jacquard.cli.console import stderr
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.applying import Up
from jacquard.cli.runs.operator import Operator
from jacquard.cli.runs.policy_gate import refuse
from jacquard.engine.driver import Engine
from policies import judge
from stacks.target import stack_names

FREEZE = {
    "name": "run-7",
    "from": "2026-11-20T00:00:00Z",
    "to": "2026-12-01T00:00:00Z",
    "reason": "a training run",
    "tenants": ["acme"],
}
DURING, AFTER = dt.datetime(2026, 11, 21, tzinfo=dt.UTC), dt.datetime(2026, 12, 1, tzinfo=dt.UTC)
FROZEN = ["laptop.tenant-acme", "laptop.cluster-acme-train"]
FREE = ["laptop.foundation", "laptop.inventory-a", "laptop.tenant-globex", "laptop.cluster-globex-lab"]


@pytest.fixture
def sliced(laptop: Environment, monkeypatch: pytest.MonkeyPatch) -> Environment:
    """Laptop in slices, with a freeze of acme."""
    policy = PolicySpec.model_validate({"schema_version": 1, "freezes": [FREEZE]})
    region = laptop.region.model_copy(update={"stacks": StackLayout.SLICED})
    monkeypatch.setenv("JACQUARD_PARALLELISM", "1")  # For one order
    return laptop.model_copy(update={"policy": policy, "region": region})


def work(environment: Environment, now: dt.datetime) -> Up:
    resources = judge(environment, now).resources
    engine, operator = Engine(environment.name, None, {}), Operator(environment, ())
    return Up(environment, engine, stderr(), now, resources, stack_names(environment), operator)


def test_frozen_stacks_without_changes_are_left_out(
    sliced: Environment, pulumi: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    work(sliced, DURING).slices()

    assert pulumi.on("preview") == FROZEN
    assert pulumi.on("up") == FREE
    assert "laptop.tenant-acme: frozen, no changes" in capsys.readouterr().err


def test_a_change_of_a_frozen_stack_is_refused_before_anything_is_applied(sliced: Environment, pulumi: Any) -> None:
    pulumi.answer("preview", events="bump")

    with pytest.raises(Stop) as caught:
        work(sliced, DURING).slices()

    assert caught.value.code is ExitCode.REFUSED
    assert pulumi.on("up") == []
    first, second, *rest = str(caught.value).splitlines()
    assert first == "laptop: 2 frozen stacks would change, nothing was applied"
    assert second == "laptop.tenant-acme: 5 changes"
    assert rest[:2] == [
        "change-in-freeze: tenant acme in stack laptop.tenant-acme",
        "  found:   freeze run-7 until 2026-12-01T00:00:00+00:00: a training run",
    ]


def test_a_preview_that_fails_applies_nothing(sliced: Environment, pulumi: Any) -> None:
    pulumi.answer("preview", events="fail", code=255)

    with pytest.raises(Stop):
        work(sliced, DURING).slices()

    assert pulumi.on("up") == []


def test_nothing_is_previewed_once_the_freeze_has_ended(sliced: Environment, pulumi: Any) -> None:
    work(sliced, AFTER).slices()

    assert pulumi.on("preview") == []
    assert sorted(pulumi.on("up")) == sorted(FROZEN + FREE)


def test_a_stack_of_the_whole_environment_is_frozen_with_any_of_its_tenants(sliced: Environment, pulumi: Any) -> None:
    region = sliced.region.model_copy(update={"stacks": StackLayout.WHOLE})
    pulumi.answer("preview", events="bump")

    with pytest.raises(Stop, match="laptop: 1 frozen stack would change, nothing was applied"):
        work(sliced.model_copy(update={"region": region}), DURING).slices()


def test_invalid_settings_of_rules_block_an_apply(laptop: Environment) -> None:
    policy = PolicySpec.model_validate({"schema_version": 1, "rules": {"unpined-image": "advisory"}})

    with pytest.raises(SpecError, match="'unpined-image' is not a rule"):
        refuse(laptop.model_copy(update={"policy": policy}), DURING)
