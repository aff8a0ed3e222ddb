"""Pins that a promotion changes, and rejected promotions."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.intents.images import choose_image
from components.lookups.pools import pools
from components.rollout.promotion import Promotion
from components.rules.region import lock_pins
from components.specs.reading.problems import ArgumentError, SpecError
from tests.support.changes.promotion import promote

ACME, GLOBEX = "tenants/acme.yaml:<clusters[0].pools[1]>", "tenants/globex.yaml:<clusters[0].pools[0]>"


def test_a_promotion_moves_the_groups_of_its_pool_only(laptop: Any) -> None:
    before = laptop.load().image_pins.groups
    after = promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")

    moved = {key for key in after.groups if after.groups[key] != before[key]}
    assert moved == {"acme-train/train/a01", "acme-train/train/a02"}
    image = laptop.load().images.images[1]
    assert {(after.node(key).image, after.node(key).sha256) for key in moved} == {(image.version, image.sha256)}


@pytest.mark.parametrize(
    ("pool", "version", "text"),
    [
        (
            "acme-train/trian",
            "gpu-2026.11.1",
            (
                "POOL: there is no pool 'acme-train/trian' (pools: acme-train/system, acme-train/train,"
                " acme-train/infer, globex-lab/lab); did you mean 'acme-train/train'?"
            ),
        ),
        (
            "acme-train/train",
            "gpu-2026.12.0",
            (
                f"--to gpu-2026.12.0 for acme-train/train ({ACME}): image gpu-2026.12.0"
                " is in candidate, not in channel stable of region.yaml (image-outside-channel); add stable to its"
                " channel in ../catalog/images.yaml:<images.gpu-2026.12.0.channel>, or a waiver of"
                " image-outside-channel for acme-train/train to waivers.yaml"
            ),
        ),
        (
            "acme-train/train",
            "cpu-2026.10.2",
            (
                f"--to cpu-2026.10.2 for acme-train/train ({ACME}): image cpu-2026.10.2"
                " fits cpu-gen4, not h100-ib-8; select another image: jacquard show laptop images"
            ),
        ),
    ],
)
def test_rejected_promotions_state_the_reason(laptop: Any, pool: str, version: str, text: str) -> None:
    with pytest.raises(ArgumentError) as caught:
        promote(laptop.load(), pool, version)
    assert str(caught.value) == laptop.resolved(text)


def test_an_image_is_promoted_once_the_channel_has_it(laptop: Any) -> None:
    new = "gpu-2026.12.0"
    laptop.edit("../catalog/images.yaml", f"{new}\n    channel: [", f"{new}\n    channel: [stable, ")

    assert promote(laptop.load(), "acme-train/train", new).node("acme-train/train/a01").image == new


def test_nodes_use_the_mirror_with_images_that_support_it(laptop: Any) -> None:
    laptop.edit("region.yaml", "mirror: registry.laptop.cloud.example", "mirror: mirror.example")
    for _ in ("gpu-2026.10.2", "gpu-2026.11.1"):
        laptop.edit("../catalog/images.yaml", ", registry_hosts: true", "")
    with pytest.raises(SpecError) as caught:
        promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")
    laptop.edit("../catalog/images.yaml", "kernel: 6.8.0-85", "kernel: 6.8.0-85, registry_hosts: true")
    after = promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")

    assert str(caught.value) == laptop.resolved(
        f"--to gpu-2026.11.1 for acme-train/train ({ACME}): image gpu-2026.11.1"
        " configures no registry mirror (contents.registry_hosts), and nodes pull through mirror.example; select"
        " another image: jacquard show laptop images"
    )
    assert after.node("acme-train/train/a01").mirror == "mirror.example"
    assert after.node("acme-train/infer/a03").mirror == "registry.laptop.cloud.example"


def test_nodes_get_their_address_by_their_next_promotion(laptop: Any) -> None:
    laptop.intend(laptop.load().image_pins.groups["acme-train/train/a01"], "network", None)
    before = laptop.load().image_pins
    after = promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")
    network = after.node("acme-train/train/a01").network

    assert before.node("acme-train/train/a01").network is None
    assert network is not None
    assert (network.interface, network.mtu_bytes, [*map(str, network.dns)]) == ("enp1s0f0np0", 9000, ["10.2.0.53"])
    assert after.node("acme-train/infer/a03") == before.node("acme-train/infer/a03")


def test_an_unknown_image_is_reported_with_existing_ones(laptop: Any) -> None:
    environment = laptop.load()
    known = ", ".join(image.version for image in environment.images.images)
    with pytest.raises(SpecError) as caught:
        promote(environment, "acme-train/train", "gpu-2026.12.00")
    assert str(caught.value) == laptop.resolved(
        "--to gpu-2026.12.00: is not declared in ../catalog/images.yaml"
        f" (declared: {known}); add it there; did you mean 'gpu-2026.12.0'?"
    )


DAYS = {
    "before it is released": (dt.date(2026, 11, 2), "image gpu-2026.11.1 is not released until 2026-11-03"),
    "after it expired": (dt.date(2027, 5, 3), "image gpu-2026.11.1 expired on 2027-05-03"),
}


@pytest.mark.parametrize(("today", "reason"), DAYS.values(), ids=DAYS)
def test_an_image_is_pinned_while_it_lives(laptop: Any, today: dt.date, reason: str) -> None:
    with pytest.raises(SpecError) as caught:
        Promotion(laptop.load(), "acme-train/train", "gpu-2026.11.1", today)
    assert str(caught.value) == laptop.resolved(
        f"--to gpu-2026.11.1 for acme-train/train ({ACME}): {reason}; select another image: jacquard show laptop images"
    )


def test_an_older_image_is_no_way_forward(laptop: Any) -> None:
    with pytest.raises(SpecError) as caught:
        promote(laptop.load(), "globex-lab/lab", "gpu-2026.10.2")
    assert str(caught.value) == laptop.resolved(
        f"--to gpu-2026.10.2 for globex-lab/lab ({GLOBEX}): gpu-2026.10.2 is older"
        " than gpu-2026.11.1, which the pool runs; write image: gpu-2026.10.2 for this pool to allow it"
    )


def test_the_image_before_is_a_way_back_by_its_name_too(laptop: Any) -> None:
    environment = laptop.load()
    before = environment.image_pins
    lock = promote(environment, "acme-train/train", "gpu-2026.11.1")
    there = environment.model_copy(update={"image_pins": lock})

    assert promote(there, "acme-train/train", "gpu-2026.10.2").groups == before.groups
    assert Promotion(there, "acme-train/train", None).all_at_once() == before


def test_an_older_image_can_be_a_rollback_target(laptop: Any) -> None:
    lock = promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")
    images = laptop.load().images
    older = images.images[0].model_copy(update={"version": "gpu-2026.9.1", "released": dt.date(2026, 9, 1)})
    catalog = images.model_copy(update={"images": (*images.images, older)})
    there = laptop.load().model_copy(update={"image_pins": lock, "images": catalog})

    with pytest.raises(SpecError) as caught:
        promote(there, "acme-train/train", "gpu-2026.9.1")
    [problem] = caught.value.problems
    assert problem.text == (
        "gpu-2026.9.1 is older than gpu-2026.11.1, which the pool runs; roll back to gpu-2026.10.2 with --rollback, or"
        " write image: gpu-2026.9.1 for this pool to allow it"
    )


def test_there_is_no_way_back_to_an_image_that_the_catalogue_lost(laptop: Any) -> None:
    environment = laptop.load()
    lock = promote(environment, "acme-train/train", "gpu-2026.11.1")
    images = tuple(image for image in environment.images.images if image.version != "gpu-2026.10.2")
    catalog = environment.images.model_copy(update={"images": images})

    with pytest.raises(SpecError) as caught:
        Promotion(environment.model_copy(update={"image_pins": lock, "images": catalog}), "acme-train/train", None)
    assert [problem.text for problem in caught.value.problems] == [
        "image gpu-2026.10.2 is no longer in the catalogue; add it to ../catalog/images.yaml again"
    ]


def test_another_line_is_entered_on_purpose(laptop: Any) -> None:
    laptop.edit("../catalog/images.yaml", "fits: [h200-ib-8, b200-ib-8]", "fits: [h200-ib-8, b200-ib-8, h100-ib-8]")
    with pytest.raises(SpecError) as caught:
        promote(laptop.load(), "globex-lab/lab", "hgx-2026.11.1")
    assert str(caught.value) == laptop.resolved(
        f"--to hgx-2026.11.1 for globex-lab/lab ({GLOBEX}): hgx-2026.11.1 is of"
        " line hgx, the pool runs gpu-2026.11.1 of gpu; write image: hgx-2026.11.1 for this pool to allow it"
    )
    laptop.edit("tenants/globex.yaml", "nodes: 4}\n    storage", "nodes: 4, image: hgx-2026.11.1}\n    storage")
    lock = promote(laptop.load(), "globex-lab/lab", "hgx-2026.11.1")
    assert {lock.node(key).image for key in lock.groups if key.startswith("globex-lab/")} == {"hgx-2026.11.1"}


def test_a_pool_that_names_another_version_is_not_promoted_past_it(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.10.2 ")
    with pytest.raises(
        SpecError, match=r"this pool declares image gpu-2026\.10\.2; write gpu-2026\.11\.1 or channel here first"
    ):
        promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")


WAIVER = (
    "schema_version: 1\nwaivers:\n  - {rule: image-outside-channel, subject: acme-train/train, reason: a test,"
    " owner: ops, ticket: OPS-7, expires: 2026-12-01}\n"
)


def test_a_pool_with_a_waiver_can_be_promoted_outside_the_channel(laptop: Any) -> None:
    (laptop.folder / "waivers.yaml").write_text(WAIVER)
    environment = laptop.load()
    [train] = [item for item in pools(environment) if item.key == "acme-train/train"]

    pins = promote(environment, "acme-train/train", "gpu-2026.12.0")
    moved = environment.model_copy(update={"image_pins": pins})

    assert {pins.node(f"acme-train/train/{rack}").image for rack in ("a01", "a02")} == {"gpu-2026.12.0"}
    assert [item.text for item in lock_pins.pins(moved) if "channel" in item.text] == []
    image = choose_image(environment, train.cluster, train.pool)
    assert image is not None
    assert image.version == "gpu-2026.11.1"  # Unrequested versions stay in the channel.
