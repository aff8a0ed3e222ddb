"""A library with newer templates: nodes and DPUs keep the revision of their creation until their promotion."""

from __future__ import annotations

from typing import Any

import pytest

from components.inputs.manifests import everything
from components.intents.nodes import behind, offered_image
from components.intents.revisions import least
from components.lookups.pools import pools
from components.render.network import dpu_templates
from components.render.pools import template_revisions
from components.render.revision_needs import Need
from components.rollout.promotion import Promotion
from components.rules.checks import check, check_promotable
from components.rules.pools.rollouts import old_templates
from components.specs.environment import Environment
from components.specs.keys import DPUS
from components.specs.locks import OpenRollout, Wave
from components.specs.pools.intents import DpuIntent, NodeIntent
from components.specs.reading.problems import SpecError
from components.specs.region.region import ControlPlaneBackend
from tests.support.changes.newer_templates import NEXT_DPUS, NEXT_NODES, add_revisions
from tests.support.changes.rollouts import NEW, OLD, pin, rollable, with_intent, with_pins
from tests.support.data.small_region import changed

ONE = "one-one/rack"


@pytest.fixture
def next_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """Add a revision of both kinds of templates, so that all others are older."""
    add_revisions(monkeypatch)


@pytest.fixture
def demanding_library(next_library: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make older revisions incompatible with all nodes and DPUs."""
    del next_library
    nodes: Need[NodeIntent] = Need(revision=NEXT_NODES, applies=lambda _: True, reason="old nodes never join")
    dpus: Need[DpuIntent] = Need(revision=NEXT_DPUS, applies=lambda _: True, reason="old DPUs never start")
    monkeypatch.setattr(template_revisions, "NEEDS", (nodes,))
    monkeypatch.setattr(dpu_templates, "NEEDS", (dpus,))


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

    assert {(pins.node(group).image, pins.node(group).revision) for group in pins.groups} == {(NEW, NEXT_NODES)}


@pytest.mark.usefixtures("next_library")
def test_a_promotion_to_the_running_intent_does_not_roll_for_a_newer_revision() -> None:
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
    } <= {NEXT_DPUS - 1}
    assert {pins.dpu_intents[name].revision for name in pins.dpus.values()} == {NEXT_DPUS}


def older(version: str = NEW, limits: dict[str, Any] | None = None) -> Environment:
    """Return a region of two racks whose nodes have the first revision."""
    region = rollable({"one": 2}, limits=limits)
    return with_intent(region, pin(region, version).model_copy(update={"revision": 1}))


@pytest.mark.usefixtures("next_library")
def test_the_option_promotes_nodes_to_newer_templates_only() -> None:
    region = older()
    before = pin(region, NEW).model_copy(update={"revision": 1})

    promotion = Promotion(region, ONE, "data", newest_templates=True)
    pins = promotion.all_at_once()

    assert promotion.target == before.model_copy(update={"revision": NEXT_NODES})
    assert str(promotion.improvements[-1]) == f"revision {NEXT_NODES}: nodes are newer"
    assert set(pins.groups.values()) == {promotion.target.name}
    assert Promotion(with_pins(region, pins), ONE, None).target == before


@pytest.mark.usefixtures("next_library")
def test_the_option_promotes_dpus_to_newer_templates_only(laptop: Any) -> None:
    environment = laptop.load()

    waves = Promotion(environment, DPUS, "data", newest_templates=True).plan()
    pins = Promotion(environment, DPUS, "data", newest_templates=True).all_at_once()

    assert [[group.key for group in wave.groups] for wave in waves] == [
        ["dpus/unassigned"],
        ["dpus/globex"],
        ["dpus/acme"],
    ]
    assert {pins.dpu_intents[name].revision for name in pins.dpus.values()} == {NEXT_DPUS}


@pytest.mark.usefixtures("next_library")
def test_newer_templates_are_promoted_in_waves_that_continue_without_the_option() -> None:
    region = older(limits={"max_rolling_nvlink_domains": 1})
    promotion = Promotion(region, ONE, "data", newest_templates=True)

    with pytest.raises(SpecError) as refused:
        promotion.all_at_once()
    first = with_pins(region, promotion.next_wave(1))
    going_on = Promotion(first, ONE, "data")

    assert f"--to {NEW} --newest-templates --wave 1" in str(refused.value)
    assert (going_on.target, [wave.number for wave in going_on.plan()]) == (promotion.target, [2])
    assert Promotion(first, ONE, "data", newest_templates=True).target == promotion.target


@pytest.mark.usefixtures("next_library")
def test_an_open_rollout_to_older_templates_is_finished_first() -> None:
    region = older(OLD, {"max_rolling_nvlink_domains": 1})
    target = pin(region, NEW).model_copy(update={"revision": 1})
    known = changed(region.image_pins, intents={**region.image_pins.intents, target.name: target})
    opened = with_pins(
        region,
        changed(
            known,
            groups={**known.groups, (first := min(known.groups)): target.name},
            rollouts={ONE: OpenRollout(to=target.name, before=known.groups[first])},
            waves={f"{ONE}/1": Wave(groups=(first.rpartition("/")[2],))},
        ),
    )

    with pytest.raises(SpecError, match=r"a rollout to .+ is open; finish it"):
        Promotion(opened, ONE, "data", newest_templates=True).next_wave(2)
    assert Promotion(opened, ONE, "data").target == target


@pytest.mark.usefixtures("demanding_library")
def test_templates_that_do_not_work_are_refused_with_the_command_that_promotes_them(laptop: Any) -> None:
    environment = laptop.load()
    before = environment.image_pins

    found = {problem.path: problem.text for problem in old_templates(environment)}

    pools = {"acme-train/train", "acme-train/infer", "acme-train/system", "globex-lab/lab"}
    assert {path.split(".")[1].rpartition("/")[0] for path in found} == {*pools, DPUS}
    [of_dpus] = [text for path, text in found.items() if path.startswith("dpus")]
    revision = {intent.revision for intent in before.dpu_intents.values()}.pop()
    assert of_dpus == (
        f"template revision {revision} does not work here, because old DPUs never start; promote dpus to revision"
        f" {NEXT_DPUS}: jacquard promote laptop dpus --newest-templates"
    )
    assert [problem for problem in check(environment) if problem.rule != "rollouts.old-templates"] == []
    assert check_promotable(environment) == []


def test_nodes_of_k0s_need_the_kubelet_directory_that_drivers_use() -> None:
    intent = pin(rollable({"one": 2}), NEW)

    assert least(intent.model_copy(update={"control_planes": ControlPlaneBackend.K0SMOTRON})) == 2
    assert least(intent) == 1


@pytest.mark.usefixtures("demanding_library")
def test_a_promotion_never_keeps_templates_that_do_not_work() -> None:
    region = older(limits={"max_rolling_nvlink_domains": 1})

    promotion = Promotion(region, ONE, "data")
    first = with_pins(region, promotion.next_wave(1))
    pins = Promotion(region, ONE, "data").target

    assert (promotion.target.revision, pins.revision) == (NEXT_NODES, NEXT_NODES)
    assert len(list(old_templates(region))) == 1
    assert list(old_templates(first)) == []  # The open rollout moves the other group.
