"""DPUs follow their pinned intents, which only promotions change: in waves, with evidence, with rollback."""

from __future__ import annotations

from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.inputs.manifests import manifests
from components.intents.dpus import dpus_behind
from components.lookups.slices import slices
from components.render.manifest import objects
from components.render.network.dpu_templates import templates
from components.rollout.promotion import Promotion
from components.rules.pools.rollouts import mixed_dpus
from components.specs.environment import Environment
from components.specs.keys import DPUS
from components.specs.pools.intents import DpuIntent
from components.specs.reading.problems import SpecError
from components.specs.region.evidence import Evidence
from tests.support.changes.dpu_rollouts import DATA, FREE, LARGE, SMALL, at, outdated, seen
from tests.support.data.small_region import allocated, changed, tenant

WITHOUT_OTHER_USE = ("virtual_functions", "url")
"""Fields that only the templates of DPUs use."""


def flashes(environment: Environment) -> list[Any]:
    """Return all flash inputs of DPUs: BFBs, flavors, and their references."""
    found: list[Any] = []
    for part in slices(environment):
        for item in objects(manifests(environment, part)):
            body = item.body
            if item.kind in {"BFB", "DPUFlavor"}:
                found.append((item.name, body["spec"]))
            elif item.kind == "DPUDeployment":
                dpus = body["spec"]["dpus"]
                found.append((item.name, *(dpus[name] for name in ("bfb", "flavor", "secureBoot", "dpuSetStrategy"))))
    return found


def rendered(environment: Environment) -> list[Any]:
    return [item.body for part in slices(environment) for item in objects(manifests(environment, part))]


@pytest.mark.parametrize("field", DATA)
def test_changed_data_make_dpus_out_of_date_and_flash_none(laptop: Any, field: str) -> None:
    before = laptop.load()
    edit, expected = DATA[field]
    laptop.edit(*edit)
    after = laptop.load()

    assert [str(one) for one in dpus_behind(after)] == [laptop.resolved(expected)]
    assert laptop.report() == ""
    assert flashes(after) == flashes(before) != []
    assert allocate(after)[1] == before.image_pins


@pytest.mark.parametrize("field", WITHOUT_OTHER_USE)
def test_fields_that_only_templates_use_change_no_object(laptop: Any, field: str) -> None:
    before = rendered(laptop.load())

    assert rendered(outdated(laptop, field)) == before


def test_a_promotion_only_changes_bfb_and_flavor_of_all_dpus(laptop: Any) -> None:
    environment = outdated(laptop, *DATA)
    promotion = Promotion(environment, DPUS, "data")
    moved = at(environment, promotion.all_at_once())

    target = promotion.target
    assert isinstance(target, DpuIntent)
    assert (target.virtual_functions, target.mtu_bytes) == (32, 8000)
    assert target.mirror == "elsewhere.laptop.cloud.example/v2/nvcr.io"
    assert target.url == "https://images.moved.example/bfb-3.2.0.bfb"
    assert set(moved.image_pins.dpus.values()) == {target.name}
    assert moved.image_pins.groups == environment.image_pins.groups
    assert dpus_behind(moved) == ()
    kept, expected = (
        [item for item in rendered(moved) if item["kind"] not in {"BFB", "DPUFlavor"}],
        rendered(environment),
    )
    assert {item["kind"] for item in kept if item not in expected} == {"DPUDeployment"}


def test_dpus_of_free_hosts_go_first_then_the_vpc_with_the_fewest(laptop: Any) -> None:
    environment = outdated(laptop)

    plan = Promotion(environment, DPUS, "data").plan()

    assert [[(group.key, group.nodes) for group in wave.groups] for wave in plan] == [
        [(FREE, 3)],
        [(SMALL, 7)],
        [(LARGE, 20)],
    ]


def test_each_wave_needs_evidence_of_the_one_before_and_the_last_one_ends_the_rollout(laptop: Any) -> None:
    environment = outdated(laptop)
    before = environment.image_pins
    first = at(environment, Promotion(environment, DPUS, "data").next_wave(1))
    proof = seen(first, "unassigned")
    second = at(first, Promotion(first, DPUS, "data").next_wave(2, proof))
    third = at(second, Promotion(second, DPUS, "data").next_wave(3, seen(second, "globex")))

    target = first.image_pins.rollouts[DPUS].to
    assert first.image_pins.dpus == before.dpus | {FREE: target}
    assert second.image_pins.waves["dpus/1"].evidence == proof.digest
    assert second.image_pins.dpus == before.dpus | {FREE: target, SMALL: target}
    assert set(third.image_pins.dpus.values()) == {target}
    assert (third.image_pins.rollouts, third.image_pins.waves) == ({}, {})
    assert third.image_pins.previous[DPUS] == before.dpus[FREE]


GO_ON = (
    "continue with: jacquard status laptop --format json > evidence.json, then jacquard promote laptop dpus --to"
    " bfb-3.2.0 --wave 2 --evidence evidence.json"
)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (None, f"rollouts.dpus: a rollout to bfb-3.2.0 is open at wave 1; {GO_ON}"),
        (2, f"rollouts.dpus: there is no evidence that wave 1 is settled; {GO_ON}"),
        (3, f"--wave 3: the next wave is 2; {GO_ON}"),
    ],
)
def test_an_open_rollout_continues_wave_by_wave_only(laptop: Any, number: int | None, text: str) -> None:
    environment = outdated(laptop)
    there = at(environment, Promotion(environment, DPUS, "data").next_wave(1))
    promotion = Promotion(there, DPUS, "data")

    with pytest.raises(SpecError) as caught:
        promotion.all_at_once() if number is None else promotion.next_wave(number)
    assert str(caught.value).endswith(text)


def lacking(environment: Environment) -> dict[str, tuple[Evidence, list[str]]]:
    made = templates(environment.image_pins.dpu_intents[environment.image_pins.dpus[FREE]])
    return {
        "another environment": (
            seen(environment, "unassigned", "lab"),
            ["is from environment lab, not from laptop"],
        ),
        "other DPUs": (seen(environment, "globex"), ["has no entry for the DPUs of unassigned"]),
        "DPUs on their way": (
            seen(environment, "unassigned", settled=False, why=["1 of 3 DPUs are in phase Node Effect"]),
            ["dpus/unassigned is not settled: 1 of 3 DPUs are in phase Node Effect"],
        ),
        "the old BFB": (
            seen(environment, "unassigned", images={"bfb-3.2.0": 1, made.bfb_name: 2}),
            [f"dpus/unassigned has 2 of 3 DPUs with BFB {made.bfb_name}"],
        ),
        "the old flavor": (
            seen(environment, "unassigned", flavors={"zero-trust-of-before": 3}),
            [f"dpus/unassigned has 0 of 3 DPUs with flavor {made.flavor_name}"],
        ),
    }


@pytest.mark.parametrize(
    "case", ["another environment", "other DPUs", "DPUs on their way", "the old BFB", "the old flavor"]
)
def test_evidence_that_shows_too_little_is_refused(laptop: Any, case: str) -> None:
    environment = outdated(laptop)
    there = at(environment, Promotion(environment, DPUS, "data").next_wave(1))
    evidence, texts = lacking(there)[case]

    with pytest.raises(SpecError) as caught:
        Promotion(there, DPUS, "data").next_wave(2, evidence)
    assert [(found.file, found.text) for found in caught.value.problems] == [("evidence.json", text) for text in texts]


def test_an_open_rollout_is_rolled_back_last_wave_first(laptop: Any) -> None:
    environment = outdated(laptop)
    first = at(environment, Promotion(environment, DPUS, "data").next_wave(1))
    second = at(first, Promotion(first, DPUS, "data").next_wave(2, seen(first, "unassigned")))

    back = Promotion(second, DPUS, None)

    assert [[group.key for group in wave.groups] for wave in back.plan()] == [[SMALL], [FREE]]
    assert back.all_at_once().dpus == environment.image_pins.dpus
    assert back.all_at_once().dpu_intents == environment.image_pins.dpu_intents


def test_a_finished_rollout_is_rolled_back_together(laptop: Any) -> None:
    environment = outdated(laptop)
    there = at(environment, Promotion(environment, DPUS, "data").all_at_once())
    home = at(there, Promotion(there, DPUS, None).all_at_once())

    assert home.image_pins == environment.image_pins
    with pytest.raises(SpecError) as caught:
        Promotion(home, DPUS, None)
    assert str(caught.value) == ("--rollback: no previous version of dpus is recorded; select the target with --to")


@pytest.mark.parametrize(
    ("version", "text"),
    [
        (
            "bfb-3.3.0",
            (
                "environments/laptop: 1 problem\n  ../catalog/images.yaml:LINE  dpu_images: DPU image 'bfb-3.3.0' is"
                " not declared (declared: bfb-2.9.2, bfb-3.2.0, bfb-3.2.1); add it there; did you mean 'bfb-3.2.0'?"
            ),
        ),
        (
            "bfb-2.9.2",
            (
                "environments/laptop: 2 problems\n  region.yaml:LINE  dpus.image: DOCA 2.9.2 is incompatible with"
                " images in use: gpu-2026.10.2 (3.1.0), gpu-2026.11.1 (3.2.0), cpu-2026.10.2 (3.1.0)\n "
                " region.yaml:LINE  dpus.image: the region declares DPU image bfb-3.2.0; write bfb-2.9.2 here first"
            ),
        ),
    ],
)
def test_an_image_that_the_region_does_not_name_is_refused(laptop: Any, version: str, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        Promotion(laptop.load(), DPUS, version)
    assert str(caught.value) == laptop.resolved(text)


def test_a_new_vpc_gets_dpus_with_the_intent_of_most_others(laptop: Any) -> None:
    environment = outdated(laptop)
    there = at(environment, Promotion(environment, DPUS, "data").next_wave(1))
    model = tenant("initech")
    [vpc], like = model.vpcs, there.tenants[0].vpcs[0]
    more = changed(model, vpcs=(changed(vpc, isolation=like.isolation),), clusters=())

    after = allocated(there, tenants=(*there.tenants, more)).image_pins

    assert after.dpus == there.image_pins.dpus | {"dpus/initech": environment.image_pins.dpus[LARGE]}
    assert after.rollouts == there.image_pins.rollouts


def test_dpus_are_mixed_only_while_a_rollout_is_open(laptop: Any) -> None:
    environment = outdated(laptop)
    pins = Promotion(environment, DPUS, "data").next_wave(1)
    closed = at(environment, changed(pins, rollouts={}, waves={}))

    assert list(mixed_dpus(at(environment, pins))) == []
    [problem] = mixed_dpus(closed)
    assert problem.path == "dpus.dpus/unassigned"
    assert problem.text == (
        f"{pins.dpus[FREE]} differs from {pins.dpus[LARGE]} of {LARGE}, and no rollout of dpus is open; make them"
        " uniform: jacquard promote laptop dpus"
    )
    assert list(mixed_dpus(at(closed, Promotion(closed, DPUS, "data").all_at_once()))) == []


def test_a_region_whose_vpcs_need_no_dpu_has_none_to_promote(laptop: Any) -> None:
    for name, isolation in (("acme", "dpf-hbn"), ("globex", "dpf-ovn")):
        laptop.edit(f"tenants/{name}.yaml", f"isolation: {isolation}", "isolation: policy-only")

    with pytest.raises(SpecError) as caught:
        Promotion(laptop.load(), DPUS, "data")

    assert str(caught.value) == laptop.resolved(
        "environments/laptop: 1 problem\n  region.yaml:LINE  dpus.image: no VPC of this region is isolated by DPUs,"
        " so DPF manages no DPUs to promote"
    )
