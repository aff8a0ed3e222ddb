"""Commits of the slices that an operator applies: set by commands, kept from the state otherwise."""

from __future__ import annotations

import pytest

from components.render.concept import Made
from components.render.region.engine.engine import EngineInput, StackSlice
from components.specs.region.engine import EngineSpec
from jacquard.engine.recorded import recorded_commits
from jacquard.machine import settings
from stacks.errors import StackError
from stacks.program import at_commits

SPEC = EngineSpec.model_validate({"kind": "operator", "repository": "https://git.cloud.example/regions"})
SLICES = tuple(StackSlice(name=name, needs=(), places={}) for name in ("inventory-a", "tenant-acme"))
ENGINE = Made(EngineInput(name="one", spec=SPEC, state=None, context=None, image="pulumi@x", slices=SLICES))


def test_a_run_has_the_commits_of_the_command() -> None:
    commits = {"inventory-a": "4" * 40, "tenant-acme": "5" * 40}
    variables = {settings.COMMITS: f'{{"inventory-a": "{"4" * 40}", "tenant-acme": "{"5" * 40}"}}'}

    made = at_commits(ENGINE, "one.engine", preview=False, variables=variables)

    assert isinstance(made.concept, EngineInput)
    assert made.concept.commits == commits


def test_a_run_without_a_commit_is_refused_before_its_first_step() -> None:
    variables = {settings.COMMITS: f'{{"inventory-a": "{"4" * 40}"}}'}

    with pytest.raises(StackError) as caught:
        at_commits(ENGINE, "one.engine", preview=False, variables=variables)

    assert str(caught.value) == (
        "stack 'one.engine': JACQUARD_COMMITS has no commit for slice tenant-acme, without which the operator cannot"
        " apply the slice; run jacquard up one, which sets the commits"
    )


def test_a_preview_needs_no_commits() -> None:
    made = at_commits(ENGINE, "one.engine", preview=True, variables={})

    assert made.concept == ENGINE.concept


def test_the_state_of_the_engine_records_the_commit_of_each_slice() -> None:
    resources = [
        {"type": "pulumi:pulumi:Stack", "urn": "urn"},
        {
            "type": "kubernetes:pulumi.com/v1:Stack",
            "inputs": {"metadata": {"name": "tenant-acme"}, "spec": {"commit": "5" * 40}},
        },
    ]

    assert recorded_commits(resources) == {"tenant-acme": "5" * 40}
