"""Charts in clusters follow their pins, which only promotions change: in waves, with evidence, with rollback."""

from __future__ import annotations

from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.reports.chart_upgrades import chart_upgrades
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.reading.lock_text import lock_text
from components.specs.reading.problems import SpecError
from tests.support.changes.chart_rollouts import (
    ACME,
    CHART,
    EVAL,
    GLOBEX,
    NEW,
    OLD,
    PROMOTED,
    after_wave,
    at,
    rendered,
    seen,
    versions,
    with_newer_release,
    with_third_cluster,
    with_waves,
)
from tests.support.data.manifest_pins import by_charts
from tests.support.data.small_region import changed


@pytest.fixture
def three(laptop: Any) -> Any:
    """Return laptop with three clusters that use the chart, and a newer release of it."""
    with_third_cluster(laptop)
    with_newer_release(laptop)
    with_waves(laptop)
    return laptop


def refused(environment: Environment, number: int, **changes: Any) -> str:
    """Return the reason why wave ``number`` is rejected for evidence of the canary with ``changes``."""
    evidence = seen(environment, "globex-eval", "globex-lab", **changes)
    with pytest.raises(SpecError) as caught:
        Promotion(environment, PROMOTED, NEW).next_wave(number, evidence)
    return "\n".join(problem.text for problem in caught.value.problems)


def test_a_newer_release_in_the_catalogue_changes_no_object_and_is_offered(laptop: Any) -> None:
    before = rendered(laptop.load())
    with_newer_release(laptop)
    after = laptop.load()

    assert rendered(after) == before
    assert allocate(after)[1] == after.image_pins
    [offer] = chart_upgrades(after)
    assert (offer.chart, offer.clusters, offer.next, offer.wave) == (
        CHART,
        {"acme-train": OLD, "globex-lab": OLD},
        NEW,
        0,
    )
    assert offer.do == f"jacquard promote laptop {PROMOTED} --to {NEW} --plan"


def test_a_chart_is_promoted_over_three_clusters_in_two_waves_and_rolled_back(three: Any) -> None:
    environment = three.load()
    plan = Promotion(environment, PROMOTED, "data").plan()
    assert [[group.key for group in wave.groups] for wave in plan] == [[EVAL, GLOBEX], [ACME]]

    first = after_wave(environment, 1)
    assert versions(first) == {"acme-train": OLD, "globex-eval": NEW, "globex-lab": NEW}
    assert first.image_pins.charts.keys() == {EVAL, GLOBEX}

    second = after_wave(first, 2, "globex-eval", "globex-lab")
    assert versions(second) == dict.fromkeys(("acme-train", "globex-eval", "globex-lab"), NEW)
    assert (second.image_pins.rollouts, second.image_pins.waves) == ({}, {})
    assert list(chart_upgrades(second)) == []

    back = at(second, Promotion(second, PROMOTED, None).all_at_once())
    assert versions(back) == dict.fromkeys(("acme-train", "globex-eval", "globex-lab"), OLD)
    assert back.image_pins.previous.get(PROMOTED) is None


def test_the_lock_file_records_versions_and_start_of_an_open_rollout(three: Any) -> None:
    lines = lock_text(after_wave(three.load(), 1).image_pins).splitlines()
    begun, there = "cilium-1.20.0@d1b30a879e2239de", "cilium-1.20.1@ce238828d3d15dee"

    assert lines[lines.index("chart_intents:") : lines.index("region: laptop")] == [
        "chart_intents:",
        f"  {begun}:",
        "    revision: 1",
        "    chart: cilium",
        "    version: 1.20.0",
        "    url: oci://registry.cloud.example/charts/cilium",
        "    digest: sha256:5e00f4a3cccbb0cb550daf37c3da88a8c39720ef9e057e8cf179fb20a05bdd9f",
        f"  {there}:",
        "    revision: 1",
        "    chart: cilium",
        "    version: 1.20.1",
        "    url: oci://registry.cloud.example/charts/cilium",
        f"    digest: sha256:{'c' * 64}",
        "charts:",
        f"  {EVAL}: {there}",
        f"  {GLOBEX}: {there}",
        "rollouts:",
        f"  {PROMOTED}: {{to: {there}, before: {begun}}}",
        "waves:",
        f"  {PROMOTED}/1: {{groups: [globex-eval, globex-lab]}}",
    ]


def test_a_wave_only_changes_the_objects_of_its_clusters(three: Any) -> None:
    environment = three.load()
    before, after = rendered(environment), rendered(after_wave(environment, 1))

    assert {key for key in before.keys() | after.keys() if before.get(key) != after.get(key)} == {
        f"{kind} {cluster}/{CHART} management"
        for kind in ("OCIRepository", "HelmRelease")
        for cluster in ("globex-eval", "globex-lab")
    }


def test_a_later_wave_only_changes_the_source_of_pinned_clusters(three: Any) -> None:
    pinned = after_wave(after_wave(three.load(), 1), 2, "globex-eval", "globex-lab")
    back = at(pinned, Promotion(pinned, PROMOTED, None).all_at_once())
    before, after = rendered(pinned), rendered(back)

    assert {key.partition(" ")[0] for key in before if before[key] != after[key]} == {"OCIRepository"}


def test_an_open_rollout_is_rolled_back_to_its_start(three: Any) -> None:
    first = after_wave(three.load(), 1)
    back = at(first, Promotion(first, PROMOTED, None).all_at_once())

    assert versions(back) == dict.fromkeys(("acme-train", "globex-eval", "globex-lab"), OLD)
    assert back.image_pins.rollouts == {}


def test_a_chart_with_canary_tenants_is_not_promoted_everywhere_together(three: Any) -> None:
    with pytest.raises(SpecError) as caught:
        Promotion(three.load(), PROMOTED, NEW).all_at_once()

    [problem] = caught.value.problems
    assert problem.text == three.resolved(
        "canary_tenants (region.yaml:<chart_rollouts>) requires a first wave of globex-eval, globex-lab;"
        f" promote it in 2 waves (--plan lists them): jacquard promote laptop {PROMOTED} --to {NEW} --wave 1"
    )


@pytest.mark.parametrize(
    ("rules", "waves"),
    [
        ("soak_minutes: 0", [[EVAL], [GLOBEX, ACME]]),
        ("max_clusters: 1", [[EVAL], [GLOBEX], [ACME]]),
        ("max_clusters: 2", [[EVAL], [GLOBEX, ACME]]),
        ("canary_tenants: [acme]", [[ACME], [EVAL, GLOBEX]]),
        ("canary_tenants: [globex], max_clusters: 1", [[EVAL], [GLOBEX], [ACME]]),
        ("canary_tenants: [acme, globex]", [[ACME, EVAL, GLOBEX]]),
        ("max_clusters: 70%", [[EVAL], [GLOBEX, ACME]]),
    ],
)
def test_waves_follow_the_rules_of_the_region(laptop: Any, rules: str, waves: list[list[str]]) -> None:
    with_third_cluster(laptop)
    with_newer_release(laptop)
    with_waves(laptop, rules)
    plan = Promotion(laptop.load(), PROMOTED, "data").plan()

    assert [[group.key for group in wave.groups] for wave in plan] == waves


def test_more_clusters_than_a_wave_may_have_need_waves(laptop: Any) -> None:
    with_third_cluster(laptop)
    with_newer_release(laptop)
    with_waves(laptop, "max_clusters: 2")
    with pytest.raises(
        SpecError, match=rf"3 clusters would change simultaneously in {PROMOTED}, max_clusters allows 2"
    ):
        Promotion(laptop.load(), PROMOTED, NEW).all_at_once()


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        (
            {"applied": None},
            f"{EVAL} has nothing applied, not sha256:{'c' * 64}; apply it first: jacquard up laptop",
        ),
        ({"installed": "sha256:0"}, f"{EVAL} has sha256:0 installed, not sha256:{'c' * 64}"),
        (
            {"settled": False, "why": ["eval a04: 1 node is not ready"]},
            f"{EVAL} is not settled: eval a04: 1 node is not ready",
        ),
        ({"settled_since": None}, f"{EVAL} has no settled_since time"),
        (
            {"settled_since": "2026-11-21T08:30:00Z"},
            f"{EVAL} was settled for 30 of 60 minutes; check again at 2026-11-21T09:30:00+00:00 or later",
        ),
    ],
)
def test_the_second_wave_waits_until_the_first_one_has_soaked(three: Any, changes: dict[str, Any], why: str) -> None:
    assert why in refused(after_wave(three.load(), 1), 2, **changes).splitlines()


def test_without_evidence_there_is_no_second_wave(three: Any) -> None:
    first = after_wave(three.load(), 1)
    with pytest.raises(
        SpecError, match=r"there is no evidence that wave 1 is settled; continue with: jacquard status laptop"
    ):
        Promotion(first, PROMOTED, NEW).next_wave(2)


def test_a_vm_operator_delivered_by_its_chart_is_promoted(laptop: Any) -> None:
    environment = by_charts(laptop.load())
    [old] = environment.versions.releases("kubevirt-operator")
    newer = changed(old, version="v1.9.1", digest=f"sha256:{'c' * 64}")
    offering = changed(environment.versions, charts=(*environment.versions.charts, newer))
    environment = changed(environment, versions=offering)

    found = rendered(at(environment, Promotion(environment, "charts/kubevirt-operator", "data").all_at_once()))

    release = found["HelmRelease acme-train/kubevirt-operator management"]
    assert release["spec"]["chartRef"]["namespace"] == "acme-train"
    source = found["OCIRepository acme-train/kubevirt-operator management"]
    assert source["spec"]["ref"] == {"tag": "v1.9.1", "digest": newer.digest}
