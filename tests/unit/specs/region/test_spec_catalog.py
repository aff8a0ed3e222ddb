"""Life cycle of golden images, and instance types by name."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.specs.hosts.instance_types import Scale
from components.specs.region.catalog import Channel, GoldenImage, Lifecycle

DAY = dt.timedelta(days=1)


@pytest.fixture
def image(laptop: Any) -> GoldenImage:
    image: GoldenImage = laptop.load().images.images[0]
    dates = {"supported": image.released + 14 * DAY, "deprecated": image.expires - 30 * DAY}
    return image.model_copy(update=dates)


def test_an_image_climbs_the_ladder_on_the_day_each_date_names(image: GoldenImage) -> None:
    assert image.supported is not None
    assert image.deprecated is not None
    days = (image.released, image.supported, image.deprecated, image.expires)

    assert [image.lifecycle(day) for day in days] == list(Lifecycle)
    assert [image.lifecycle(day - DAY) for day in days] == [Lifecycle.PREVIEW, *list(Lifecycle)[:3]]


def test_an_image_without_the_middle_dates_is_supported_until_it_expires(image: GoldenImage) -> None:
    short = image.model_copy(update={"supported": None, "deprecated": None})

    assert short.lifecycle(short.released) is Lifecycle.SUPPORTED
    assert short.lifecycle(short.expires - DAY) is Lifecycle.SUPPORTED
    assert short.lifecycle(short.expires) is Lifecycle.EXPIRED


def test_dates_may_be_equal(laptop: Any) -> None:
    data = laptop.load().images.images[0].model_dump()
    same = dict.fromkeys(("supported", "deprecated", "expires"), data["released"])

    assert GoldenImage.model_validate({**data, **same}).lifecycle(data["released"]) is Lifecycle.EXPIRED


def test_an_image_keeps_its_signature_firmware_and_nic_firmware(laptop: Any) -> None:
    laptop.edit(
        "../catalog/images.yaml",
        "    contents: {",
        "    firmware: h100-2026.11\n"
        "    signature: {kind: cosign, url: https://images.cloud.example/gpu.sig}\n"
        "    contents: {nic_firmware: 28.45.1020, ",
    )

    image = laptop.load().images.images[0]

    assert image.firmware == "h100-2026.11"
    assert image.signature.model_dump(mode="json") == {
        "kind": "cosign",
        "url": "https://images.cloud.example/gpu.sig",
        "provenance": None,
    }
    assert image.contents.nic_firmware == "28.45.1020"
    assert image.channel == (Channel.STABLE,)


def test_instance_types_are_found_by_name(laptop: Any) -> None:
    catalog = laptop.load().instance_types

    assert list(catalog.by_name) == [kind.name for kind in catalog.instance_types]
    assert {kind.scale for kind in catalog.by_name.values() if kind.name in {"h100-ib-8", "cpu-gen4"}} == {Scale.NODE}
