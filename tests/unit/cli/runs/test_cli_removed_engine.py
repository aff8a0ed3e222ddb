"""Regions from whose data the operator was removed while its Stacks exist."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode
from tests.support.engine.fake_pulumi import FakePulumi

REFUSED = """\
laptop: nothing was changed: environments/laptop/region.yaml has no 'engine', but its operator has 2 Stacks
  only the operator removes their finalizer, so delete them before it; add 'engine' again, or run:
  eval "$(jacquard env laptop)"
  pulumi state unprotect --all --yes --stack laptop.engine
  pulumi destroy --stack laptop.engine
  pulumi stack rm --yes laptop.engine
"""


def record(pulumi: FakePulumi, *names: str) -> None:
    """Record Stacks of these slices in the state of the engine."""
    kind = "kubernetes:pulumi.com/v1:Stack"
    recorded = [{"type": kind, "inputs": {"metadata": {"name": name}, "spec": {"commit": "5" * 40}}} for name in names]
    pulumi.answer("stack export", stack="laptop.engine", stdout=json.dumps({"deployment": {"resources": recorded}}))


@pytest.fixture
def sliced_region(data_folder: Path, edit: Any) -> None:
    """Turn ``laptop`` into a region without an operator that is no rehearsal."""
    region = data_folder / "laptop" / "region.yaml"
    edit(region, "stage: rehearsal", "stage: development")
    edit(region, "stacks: whole", "context: here\nstacks: sliced")


def test_up_applies_nothing_while_stacks_of_a_removed_operator_exist(
    invoke: Callable[..., Result], pulumi: FakePulumi, data_folder: Path, edit: Any
) -> None:
    edit(data_folder / "laptop" / "region.yaml", "stacks: whole", "stacks: sliced")
    record(pulumi, "inventory-a", "tenant-acme")

    result = invoke("up", "laptop", "--timeout", "0")

    assert result.exit_code == ExitCode.REFUSED
    assert REFUSED in result.stderr
    assert pulumi.runs == []


@pytest.mark.usefixtures("sliced_region")
def test_down_deletes_nothing_while_stacks_of_a_removed_operator_exist(
    invoke: Callable[..., Result], pulumi: FakePulumi
) -> None:
    record(pulumi, "inventory-a", "tenant-acme")

    result = invoke("down", "laptop", "--yes-destroy", "laptop")

    assert result.exit_code == ExitCode.REFUSED
    assert REFUSED in result.stderr
    assert pulumi.on("destroy") == []


@pytest.mark.usefixtures("sliced_region")
def test_an_empty_stack_of_a_removed_operator_does_not_matter(
    invoke: Callable[..., Result], pulumi: FakePulumi
) -> None:
    record(pulumi)
    pulumi.answer("stack ls", stdout=json.dumps([{"name": "laptop.foundation"}]))

    result = invoke("down", "laptop", "--yes-destroy", "laptop")

    assert result.exit_code == 0, result.output
