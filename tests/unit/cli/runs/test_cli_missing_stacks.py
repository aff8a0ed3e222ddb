"""Previews create no stack: ``preview``, the preview of a change, and an ``up`` that a freeze blocks."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from components.specs.environment import Environment
from components.specs.region.policy import PolicySpec
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.runs.policy_gate import unchanged
from jacquard.engine.driver import Engine
from tests.support.data.repositories import committed
from tests.support.engine.fake_pulumi import FakePulumi

FREEZE = {
    "name": "run-7",
    "from": "2026-11-20T00:00:00Z",
    "to": "2026-12-01T00:00:00Z",
    "reason": "a training run",
    "tenants": ["acme"],
}
LABELS = "labels: {workload: training}"


@pytest.fixture
def without_stacks(pulumi: FakePulumi) -> FakePulumi:
    """An engine without stacks, which would plan to create all objects."""
    pulumi.answer("stack export", stderr="error: no stack named 'laptop' found\n", code=255)
    pulumi.answer("preview", events="create")
    return pulumi


def assert_only_previewed(pulumi: FakePulumi) -> None:
    """Assert that a stack was only read, and previewed with a state elsewhere."""
    assert {call[0] for call in pulumi.calls} == {"stack", "preview"}
    assert {call[1] for call in pulumi.calls if call[0] == "stack"} == {"export"}
    assert all("--config-file" in call for call in pulumi.calls if call[0] == "preview")


def test_a_preview_before_the_first_apply(invoke: Any, without_stacks: FakePulumi) -> None:
    assert invoke("preview", "laptop").exit_code == ExitCode.OK

    assert_only_previewed(without_stacks)


def test_a_preview_of_a_change_before_the_first_apply(
    invoke: Any, without_stacks: FakePulumi, data_folder: Path, edit: Any
) -> None:
    committed(data_folder)
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", LABELS, "labels: {workload: training, stage: two}")

    result = invoke("preview", "laptop", "--base", "HEAD")

    assert result.exit_code == ExitCode.OK, result.output
    assert_only_previewed(without_stacks)


def test_an_up_that_a_freeze_stops(laptop: Environment, without_stacks: FakePulumi) -> None:
    policy = PolicySpec.model_validate({"schema_version": 1, "freezes": [FREEZE]})
    frozen = laptop.model_copy(update={"policy": policy})

    with pytest.raises(Stop, match="1 frozen stack would change"):
        unchanged(frozen, Engine("laptop", None, {}), dt.datetime(2026, 11, 21, tzinfo=dt.UTC))

    assert_only_previewed(without_stacks)
