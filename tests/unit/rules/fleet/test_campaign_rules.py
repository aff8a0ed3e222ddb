"""Error texts of invalid campaigns: in the file, and for names and orders that contradict the fleet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from components.rules.checks import check_fleet
from components.specs.base import Stage
from components.specs.fleet.campaign import CampaignProgressSpec
from components.specs.reading.fleet import NAME, load_fleet
from components.specs.reading.problems import SpecError
from tests.support.changes.campaigns import STEPS, campaign, fleet, region, regions
from tests.support.changes.rollouts import NEW, OLD
from tests.support.data.fleets import OPEN, only_problem
from tests.support.data.small_region import changed

RIGHT = """\
schema_version: 1
campaign: driver
title: Driver 590
images: [gpu-2026.12.0]
steps:
  - {regions: [lab], soak_hours: 24}
  - {regions: [desk], soak_hours: 48, pools: [one/rack]}
skipped: {bench: no GPUs}
"""
STOP = "stopped: {region: lab, at: 2026-12-01T12:00:00Z, reason: fans}\n"
DIGEST = f"sha256:{'0' * 64}"


def write(root: Path, text: str, name: str = "driver.yaml") -> None:
    (root / "campaigns").mkdir(exist_ok=True)
    (root / "campaigns" / name).write_text(text, encoding="utf-8")


def test_campaigns_are_read_by_name(tmp_path: Path) -> None:
    write(tmp_path, RIGHT + STOP)
    write(tmp_path, RIGHT.replace("campaign: driver", "campaign: a"), "a.yaml")
    write(tmp_path, "", ".draft.yaml")

    found = load_fleet(tmp_path).campaigns

    assert [item.campaign for item in found] == ["a", "driver"]
    assert found[0].regions == ("lab", "desk")
    assert not found[0].is_complete
    assert found[1].stopped is not None


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("title: Driver 590\n", "", "1 title: is required"),
        ("campaign: driver\n", "", "1 campaign: is required"),
        ("campaign: driver", "campaign: drivers",
         "2 campaign: is 'drivers' in ../campaigns/driver.yaml; write driver, or rename the file to drivers.yaml"),
        ("images: [gpu-2026.12.0]\n", "", "2 campaign: promotes nothing; write images, or chart"),
        ("images: [gpu-2026.12.0]\n", "images: [gpu-2026.12.0]\nchart: {name: cilium, version: 1.2.3}\n",
         "5 chart: images are promoted too; remove chart or images"),
        ("[gpu-2026.12.0]", "[gpu-2026.12.0, gpu-2026.12.0]", "4 images[1]: 'gpu-2026.12.0' is listed twice; remove"),
        ("[gpu-2026.12.0]", "gpu-2026.12.0", "4 images: must be a list"),
        ("regions: [lab], soak_hours: 24", "regions: [lab]", "6 steps[0].soak_hours: is required"),
        ("soak_hours: 24", "soak_hours: 0", "6 steps[0].soak_hours: must be "),
        ("soak_hours: 24", "soak_hours: -2", "6 steps[0].soak_hours: must be "),
        ("soak_hours: 24", "soak_hours: 1d", "6 steps[0].soak_hours: must be "),
        ("soak_hours: 24", "soak_hours: 9999", "6 steps[0].soak_hours: must be "),
        ("soak_hours: 24", "soak_minutes: 24", "6 steps[0].soak_minutes: is not a key here"),
        ("regions: [lab]", "regions: []", "6 steps[0].regions: needs at least 1 entry"),
        ("regions: [lab]", "regions: [lab, bench2]",
         "6 steps[0].regions: the first step is the canary and has 2 regions; write one region"),
        ("regions: [desk]", "regions: [lab]", "7 steps[1].regions[0]: 'lab' is in the campaign twice; remove one"),
        ("regions: [desk]", "regions: [desk, desk]", "7 steps[1].regions[1]: 'desk' is in the campaign twice"),
        ("regions: [desk]", "regions: [bench]",
         "7 steps[1].regions[0]: 'bench' is also in skipped; remove it from one of them"),
        ("skipped: {bench: no GPUs}", "skipped: {bench: ''}", "8 skipped.bench: "),
        ("skipped: {bench: no GPUs}", "skipped: [bench]", "8 skipped: must be a mapping"),
        ("pools: [one/rack]", "pools: [rack]", "7 steps[1].pools[0]: "),
        ("pools: [one/rack]", "stop: {failed_nodes: -1}", "7 steps[1].stop.failed_nodes: must be "),
        ("pools: [one/rack]", "stop: {settle_hours: 0}", "7 steps[1].stop.settle_hours: must be "),
        ("pools: [one/rack]", "stop: {alerts: 1}", "7 steps[1].stop.alerts: is not a key here"),
        ("images: [gpu-2026.12.0]", "chart: {name: cilium, version: 1.2.3}",
         "7 steps[1].pools: is only for campaigns with images; remove it, because a chart is promoted in all clusters"),
        ("skipped:", "progress: {moon: {}}\nskipped:",
         "8 progress.moon: 'moon' is in no step; remove the entry, or add the region to a step"),
        ("skipped:", "stopped: {region: moon, at: 2026-12-01T12:00:00Z, reason: fans}\nskipped:",
         "8 stopped.region: 'moon' is in no step; write a region of the campaign"),
        ("skipped:", "stopped: {region: lab, at: 2026-12-01T12:00:00, reason: fans}\nskipped:", "8 stopped.at: "),
        ("skipped:", "stopped: {region: lab, at: 2026-12-01T12:00:00Z}\nskipped:", "8 stopped.reason: is required"),
        ("skipped:", "progress: {lab: {evidence: abc}}\nskipped:", "8 progress.lab.evidence: "),
        ("schema_version: 1", "schema_version: 9", "1 schema_version: is 9, but this jacquard reads 1"),
        (RIGHT, "", "1 is empty; restore the file with git checkout, or write its keys"),
    ],
)  # fmt: skip
def test_a_wrong_campaign_has_one_problem_with_its_line(tmp_path: Path, old: str, new: str, problem: str) -> None:
    assert old in RIGHT
    write(tmp_path, RIGHT.replace(old, new, 1))

    line = only_problem(tmp_path)

    assert line.startswith(f"../campaigns/driver.yaml:{problem}"), line


def test_other_files_are_reported(tmp_path: Path) -> None:
    write(tmp_path, RIGHT, "driver.yml")

    with pytest.raises(SpecError) as error:
        load_fleet(tmp_path)

    text = "is not read; rename it to <campaign>.yaml in lower case, or remove it"
    assert [(item.file, item.text) for item in error.value.problems] == [("../campaigns/driver.yml", text)]


def found(entries: dict[str, Any] | None = None, others: tuple[Any, ...] = (), **fields: Any) -> list[str]:
    """Return the problems of a campaign over small regions."""
    known = fleet(campaign(**fields), *others, **(entries or {}))
    state = regions()
    state["plant"] = changed(state["plant"], region=changed(state["plant"].region, stage=Stage.PRODUCTION))
    problems = check_fleet(known, list(state.values())).get(NAME, [])
    return [f"{item.path}: {item.text} ({item.rule})" for item in problems if item.file == "../campaigns/driver.yaml"]


def test_a_right_campaign() -> None:
    assert found() == []


def steps(*names: str, **fields: Any) -> list[dict[str, Any]]:
    return [{"regions": [name], "soak_hours": 24} | fields for name in names]


FOUR = ("canary", "desk", "bench", "plant")


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"images": ["gpu-2026.11.9"]},
         "images[0]: 'gpu-2026.11.9' is unknown in ../catalog/images.yaml (known: "),
        ({"steps": steps(*FOUR, "plart")},
         ("steps[4].regions[0]: 'plart' is unknown in ../fleet.yaml (known: bench, canary, desk and 1 more); did you"
         " mean 'plant'? (campaigns.names)")),
        ({"skipped": {"moon": "none there"}},
         ("skipped.moon: 'moon' is unknown in ../fleet.yaml (known: bench, canary, desk and 1 more); add it to"
         " ../fleet.yaml, or remove it (campaigns.names)")),
        ({"images": [], "chart": {"name": "cilum", "version": "1.0.0"}},
         "chart.name: 'cilum' is unknown in ../catalog/versions.yaml (known: "),
        ({"images": [], "chart": {"name": "cilium", "version": "0.0.1"}},
         "chart.version: '0.0.1' is unknown in ../catalog/versions.yaml (known: "),
        ({"steps": steps("canary", "bench", "plant", "desk")},
         ("steps[3].regions[0]: 'desk' is a rehearsal region and comes after plant, a production region; move it before"
         " plant, so that it is the canary (campaigns.canary-order)")),
        ({"steps": steps("canary", "desk", "plant")},
         ("steps: has no 'bench', which is open (../fleet.yaml); add it to a step, or to skipped with the reason"
         " (campaigns.skipped-regions)")),
        ({"images": [NEW, "gpu-2026.12.0"]},
         f"images[1]: 'gpu-2026.12.0' is of the same line as {NEW} (gpu); write one of them (campaigns.selections)"),
        ({"images": ["gb-2026.12.0"], "steps": steps("canary"), "skipped": dict.fromkeys(FOUR[1:], "later")},
         ("steps[0].regions[0]: 'canary' has nothing that gb-2026.12.0 can be promoted in; remove it from the step"
         " (campaigns.selections)")),
        ({"steps": [*steps("canary"), *steps("desk", pools=["one-one/rock"]), *steps(*FOUR[2:])]},
         ("steps[1].pools[0]: 'one-one/rock' is unknown in desk (known: one-one/rack); did you mean 'one-one/rack'?"
         " (campaigns.selections)")),
    ],
)  # fmt: skip
def test_a_campaign_that_contradicts_the_fleet(fields: dict[str, Any], expected: str) -> None:
    lines = found(**fields)

    assert any(line.startswith(expected) for line in lines), lines
    if fields.get("chart") is None and "gpu-2026.11.9" not in expected:
        assert len(lines) == 1, lines


def test_a_retired_region_is_no_step_unless_it_has_soaked() -> None:
    retired = {"desk": {"status": "retired", "jurisdictions": ["us"]}}
    soaked = {"desk": {"soaked": "2026-12-01T12:00:00Z", "evidence": DIGEST}}

    assert found(retired) == [
        (
            "steps[1].regions[0]: 'desk' is retired (../fleet.yaml) and has no nodes; remove it from the step"
            " (campaigns.retired-regions)"
        )
    ]
    assert found(retired, progress=soaked) == []


def test_regions_that_are_not_open_may_be_omitted() -> None:
    closed = {name: OPEN | {"status": status} for name, status in (("desk", "draining"), ("bench", "building"))}

    assert found(closed, steps=steps("canary", "plant")) == []


def test_a_pool_that_names_another_image() -> None:
    own = region("canary")
    [tenant] = own.tenants
    [cluster] = tenant.clusters
    pools = tuple(changed(pool, image=OLD) for pool in cluster.pools)
    named = changed(own, tenants=(changed(tenant, clusters=(changed(cluster, pools=pools),)),))
    known = fleet(campaign(steps=steps("canary", pools=["one-one/rack"]), skipped=dict.fromkeys(FOUR[1:], "later")))

    problems = [item.text for item in check_fleet(known, [named])[NAME] if item.file.startswith("../campaigns")]

    assert f"'one-one/rack' runs no image of the line of {NEW}, or names another; remove it" in problems


def test_two_campaigns_in_opposite_directions() -> None:
    back = campaign(campaign="back", images=[OLD])
    done = {name: CampaignProgressSpec(soaked="2026-12-01T12:00:00Z") for name in FOUR}

    assert found(others=(back,)) == [
        (
            f"steps[0]: promotes one-one/rack of canary to {NEW}, but campaign back promotes it to {OLD} (and 3 more);"
            " remove one of the campaigns, or the region from one of them (campaigns.contradictions)"
        )
    ]
    assert found(others=(campaign(campaign="same"),)) == []
    assert found(others=(back.model_copy(update={"progress": done}),)) == []
    assert len(STEPS) == 3
