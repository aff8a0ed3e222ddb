"""A library with newer templates: nodes and DPUs keep the revision that they were made from until their promotion."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from rollouts import NEW, OLD, pin, rollable, with_intent

from components.inputs.manifests import everything
from components.intents.nodes import behind, offered_image
from components.lookups.pools import pools
from components.render.network import dpu_templates
from components.render.pools import template_revisions
from components.render.pools.node_templates import NodeTemplates, TemplateIntent
from components.rollout.promotion import Promotion
from components.rules.checks import check
from components.specs.keys import DPUS
from components.specs.pools.intents import DpuIntent

ONE = "one-one/rack"


def _newer_nodes(intent: TemplateIntent) -> NodeTemplates:
    older = template_revisions.REVISIONS[1](intent)
    return replace(older, machine={**older.machine, "newer": True})


def _newer_dpus(intent: DpuIntent) -> dpu_templates.DpuTemplates:
    older = dpu_templates.REVISIONS[1](intent)
    return replace(older, flavor_name=f"{older.flavor_name}-newer", flavor={**older.flavor, "newer": True})


@pytest.fixture
def next_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a second revision of both kinds of templates, so that revision 1 is an older one."""
    monkeypatch.setitem(template_revisions.REVISIONS, 2, _newer_nodes)
    monkeypatch.setitem(dpu_templates.REVISIONS, 2, _newer_dpus)


def test_a_newer_library_renders_pinned_nodes_and_dpus_byte_by_byte_as_before(
    laptop: Any, request: pytest.FixtureRequest
) -> None:
    before = [item.body for item in everything(laptop.load())]
    request.getfixturevalue("next_library")
    environment = laptop.load()

    assert [item.body for item in everything(environment)] == before
    assert check(environment) == []


@pytest.mark.usefixtures("next_library")
def test_a_pool_with_the_older_revision_is_up_to_date() -> None:
    region = with_intent(rollable({"one": 2}), pin(rollable({"one": 2}), OLD).model_copy(update={"revision": 1}))
    placed = next(pools(region))
    offered = offered_image(region, placed)

    assert offered is not None
    assert [one.field for one in behind(region, placed, offered)] == ["image"]


@pytest.mark.usefixtures("next_library")
def test_a_promotion_moves_nodes_to_the_newest_revision() -> None:
    region = rollable({"one": 2})
    older = with_intent(region, pin(region, OLD).model_copy(update={"revision": 1}))

    pins = Promotion(older, ONE, NEW).all_at_once()

    assert {(pins.node(group).image, pins.node(group).revision) for group in pins.groups} == {(NEW, 2)}


@pytest.mark.usefixtures("next_library")
def test_a_promotion_to_the_intent_that_runs_does_not_roll_for_a_newer_revision_alone() -> None:
    region = rollable({"one": 2})
    older = with_intent(region, pin(region, NEW).model_copy(update={"revision": 1}))

    pins = Promotion(older, ONE, NEW).all_at_once()

    assert pins.groups == older.image_pins.groups


@pytest.mark.usefixtures("next_library")
def test_a_promotion_flashes_dpus_with_the_newest_revision(laptop: Any) -> None:
    laptop.edit("../catalog/instance_types.yaml", "virtual_functions: 16", "virtual_functions: 32")
    environment = laptop.load()

    pins = Promotion(environment, DPUS, "data").all_at_once()

    assert {
        pins.dpu_intents[name].revision for name in environment.image_pins.dpus.values() if name in pins.dpu_intents
    } <= {1}
    assert {pins.dpu_intents[name].revision for name in pins.dpus.values()} == {2}
