"""Golden images of a region: life cycle, use, outdated pools, and the matrix."""

from __future__ import annotations

import datetime as dt
import json

import pytest

from components.intents.differences import Difference
from components.intents.images import choose_image
from components.lookups.pools import pools
from components.reports.images import Behind, ImageReport, Running, image_report
from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from components.specs.region.catalog import Lifecycle
from components.specs.struct import replace
from tests.support.changes.rollouts import NEW, OLD, rollable, with_pins
from tests.support.checks.places import resolved
from tests.support.data.environment_data import ENVIRONMENTS, LAPTOP
from tests.support.data.small_region import changed

TODAY = dt.date(2026, 11, 21)


@pytest.fixture
def report(region: Environment) -> ImageReport:
    return image_report(region, TODAY)


def test_each_image_shows_its_pools_and_life_cycle(report: ImageReport) -> None:
    states = {state.version: state for state in report.images}

    assert {version.partition("-")[0] for version in states} == {"gpu", "cpu"}
    assert states[OLD].runs == (
        Running(pool="acme-train/infer", groups=1, nodes=4),
        Running(pool="acme-train/train", groups=2, nodes=10),
    )
    assert (states[OLD].nodes, states[OLD].days_left, states[OLD].lifecycle) == (14, 136, Lifecycle.SUPPORTED)
    assert (states["gpu-2026.12.0"].nodes, states["gpu-2026.12.0"].channels) == (0, ("candidate",))


def test_an_expired_image_is_marked(region: Environment) -> None:
    states = {state.version: state for state in image_report(region, dt.date(2027, 4, 8)).images}

    assert (states[OLD].lifecycle, states[OLD].days_left) == (Lifecycle.EXPIRED, -2)
    assert [state.lifecycle for state in states.values()] == sorted(
        (state.lifecycle for state in states.values()), key=tuple(Lifecycle).index
    )


def test_a_pool_outside_its_channel_is_named(report: ImageReport) -> None:
    expires = dt.date(2027, 4, 6)
    where = resolved(f"../catalog/images.yaml:<images.{NEW}>", LAPTOP)

    of_images = [
        replace(item, differences=tuple(one for one in item.differences if one.field == "image"))
        for item in report.behind
        if item.pool != "acme-train/system"
    ]
    assert of_images == [
        Behind(
            pool=pool,
            images=(OLD,),
            offered=NEW,
            differences=(Difference(field="image", pinned=OLD, data=NEW, where=where),),
            expires=expires,
            open_to=None,
        )
        for pool in ("acme-train/train", "acme-train/infer")
    ]


def test_a_pool_in_a_rollout_shows_its_target() -> None:
    region = rollable({"one": 2})
    begun = with_pins(region, Promotion(region, "one-one/rack", NEW).next_wave(1))

    [behind] = image_report(begun, TODAY).behind

    assert (behind.images, behind.open_to) == ((OLD, NEW), NEW)


def test_the_matrix_shows_permitted_images_and_reasons_against_others(region: Environment) -> None:
    images = region.images.images
    [old] = (image for image in images if image.version == OLD)
    newer = changed(old, contents=changed(old.contents, kubelet="v1.36.0", doca="2.9.0"))
    catalog = changed(region.images, images=tuple(newer if image is old else image for image in images))

    matrix = image_report(changed(region, images=catalog), TODAY).matrix

    [match] = (match for match in matrix if match.image == OLD)
    reason = f"image {OLD} has kubelet v1.36.0, newer than control plane v1.35.2"
    assert (match.instance_type, match.kubelet, match.dpu_image, match.dpu_fits) == (
        "h100-ib-8",
        "v1.36.0",
        "bfb-3.2.0",
        False,
    )
    assert (match.pools, match.refused) == (
        (),
        dict.fromkeys(("acme-train/infer", "acme-train/train", "globex-lab/lab"), (reason,)),
    )
    assert {item.image: item.pools for item in matrix}["cpu-2026.10.2"] == ("acme-train/system",)


def test_the_report_is_data(report: ImageReport) -> None:
    answer = report.to_json()

    assert json.loads(json.dumps(answer)) == answer
    assert list(answer) == [
        "schema_version",
        "environment",
        "channel",
        "today",
        "images",
        "behind",
        "templates",
        "matrix",
    ]
    assert (answer["today"], answer["behind"][0]["expires"]) == ("2026-11-21", "2027-04-06")


def test_an_image_that_reserves_gpus_for_vms_is_only_selected_by_name() -> None:
    region = load_environment("eu-south-03a", ENVIRONMENTS)
    [placed] = [placed for placed in pools(region) if placed.key == "tessera-render/l40s"]

    named = choose_image(region, placed.cluster, placed.pool)
    channel = choose_image(region, placed.cluster, placed.pool.model_copy(update={"image": "channel"}))

    assert (named and named.version, channel and channel.version) == ("vfio-2026.11.2", "eth-2026.11.1")
