"""Chart pins follow new and deleted clusters, during an open rollout and afterwards."""

from __future__ import annotations

from typing import Any

import pytest

from components.allocate.allocation import allocate
from components.rollout.promotion import Promotion
from components.rules.checks import check
from components.specs.reading.lock_text import paired
from tests.support.changes.chart_rollouts import (
    ACME,
    EVAL,
    GLOBEX,
    NEW,
    OLD,
    PROMOTED,
    after_wave,
    at,
    versions,
    with_newer_release,
    with_third_cluster,
    with_waves,
    write,
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


def test_a_cluster_that_gets_the_chart_later_gets_the_release_of_the_others(laptop: Any) -> None:
    with_newer_release(laptop)
    environment = laptop.load()
    write(laptop, at(environment, Promotion(environment, PROMOTED, "data").all_at_once()))
    with_third_cluster(laptop)

    assert versions(laptop.load()) == dict.fromkeys(("acme-train", "globex-eval", "globex-lab"), NEW)
    assert laptop.report() == ""


def test_a_cluster_added_during_a_rollout_is_part_of_a_later_wave(laptop: Any) -> None:
    with_newer_release(laptop)
    with_waves(laptop, "canary_tenants: [acme]")
    write(laptop, after_wave(laptop.load(), 1))
    with_third_cluster(laptop)
    environment = laptop.load()

    assert versions(environment) == {"acme-train": NEW, "globex-eval": OLD, "globex-lab": OLD}
    assert [group.key for wave in Promotion(environment, PROMOTED, NEW).plan() for group in wave.groups] == [
        EVAL,
        GLOBEX,
    ]
    assert laptop.report() == ""


def test_another_open_rollout_is_kept_open(three: Any) -> None:
    with_newer_release(three, "node-feature-discovery", "0.19.1", "d")
    first = after_wave(three.load(), 1)
    other = at(first, Promotion(first, "charts/node-feature-discovery", "0.19.1").next_wave(1))
    ended = after_wave(other, 2, "globex-eval", "globex-lab")

    assert list(ended.image_pins.rollouts) == ["charts/node-feature-discovery"]
    write(three, ended)
    assert three.report() == ""


def test_a_rollout_ends_with_the_last_cluster_that_it_waits_for(laptop: Any) -> None:
    with_newer_release(laptop)
    with_waves(laptop, "canary_tenants: [acme]")
    write(laptop, after_wave(laptop.load(), 1))
    laptop.edit("tenants/globex.yaml", "add_ons: [cilium,", "add_ons: [calico,")
    laptop.allocate()

    pins = laptop.load().image_pins
    assert (list(pins.charts), pins.rollouts, pins.waves) == ([ACME], {}, {})
    assert laptop.report() == ""


def test_a_cluster_that_has_the_chart_no_more_has_no_pin(laptop: Any) -> None:
    with_newer_release(laptop)
    environment = laptop.load()
    write(laptop, at(environment, Promotion(environment, PROMOTED, "data").all_at_once()))
    laptop.edit("tenants/globex.yaml", "add_ons: [cilium,", "add_ons: [calico,")

    assert f"charts.{GLOBEX}: belongs to nothing in the data; run jacquard allocate laptop" in laptop.report()
    laptop.allocate()
    assert list(laptop.load().image_pins.charts) == [ACME]


def test_manifests_that_take_over_from_a_chart_end_its_pins(laptop: Any) -> None:
    by_manifests = laptop.load()
    by_chart = by_charts(by_manifests)
    [first] = by_chart.versions.releases("kubevirt-operator")
    newer = changed(first, version="v1.9.1", digest=f"sha256:{'c' * 64}")
    offering = changed(by_chart.versions, charts=(*by_chart.versions.charts, newer))
    offered_there = changed(by_chart, versions=offering)
    pins = Promotion(offered_there, "charts/kubevirt-operator", "data").all_at_once()
    numbers, pins = paired("laptop", by_chart.allocations, pins)
    both = changed(offering, manifests=by_manifests.versions.manifests)
    handed_over = changed(by_chart, versions=both, allocations=numbers, image_pins=pins)

    assert list(pins.charts) == ["charts/kubevirt-operator/acme-train"]
    assert "belongs to nothing in the data; run jacquard allocate laptop" in {one.text for one in check(handed_over)}
    numbers, pins = allocate(handed_over)
    assert pins.charts == {}
    assert check(changed(handed_over, allocations=numbers, image_pins=pins)) == []
