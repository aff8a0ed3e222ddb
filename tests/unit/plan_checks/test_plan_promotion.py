"""Which pins a promotion moves, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from components.plan.promotion import promote
from components.specs.problems import SpecError


def _images(laptop: Any, *arguments: Any) -> dict[str, str]:
    return {key: pin.image for key, pin in promote(laptop.load(), *arguments).groups.items()}


def test_a_promotion_moves_the_groups_of_its_pool_only(laptop: Any) -> None:
    before = laptop.load().image_pins.groups
    after = promote(laptop.load(), "acme-train/train", "gpu-2026.11.1").groups

    moved = {key for key in after if after[key] != before[key]}
    assert moved == {"acme-train/train/a01", "acme-train/train/a02"}
    image = laptop.load().images.images[1]
    assert {(after[key].image, after[key].sha256) for key in moved} == {(image.version, image.sha256)}


def test_waves_follow_each_other(laptop: Any) -> None:
    environment = laptop.load()
    first = promote(environment, "acme-train/train", "gpu-2026.11.1", 1)
    assert [first.groups[f"acme-train/train/{rack}"].image for rack in ("a01", "a02")] == [
        "gpu-2026.11.1",
        "gpu-2026.10.2",
    ]

    second = promote(environment.model_copy(update={"image_pins": first}), "acme-train/train", "gpu-2026.11.1", 1)
    assert second.groups["acme-train/train/a02"].image == "gpu-2026.11.1"


def test_an_older_image_rolls_back(laptop: Any) -> None:
    assert _images(laptop, "globex-lab/lab", "gpu-2026.10.2")["globex-lab/lab/a01"] == "gpu-2026.10.2"


@pytest.mark.parametrize(
    ("pool", "version", "text"),
    [
        (
            "acme-train/trian",
            "gpu-2026.11.1",
            (
                "images.lock.yaml  groups: there is no pool 'acme-train/trian' (pools: acme-train/system,"
                " acme-train/train, acme-train/infer, globex-lab/lab); did you mean 'acme-train/train'?"
            ),
        ),
        (
            "acme-train/train",
            "gpu-2026.11.2",
            (
                "../catalog/images.yaml:3  images: image 'gpu-2026.11.2' is not declared (declared: gpu-2026.10.2,"
                " gpu-2026.11.1, gpu-2026.12.0, cpu-2026.10.2); add it there; did you mean 'gpu-2026.11.1'?"
            ),
        ),
        (
            "acme-train/train",
            "gpu-2026.12.0",
            (
                "tenants/acme.yaml:29  clusters[0].pools[1].image: image gpu-2026.12.0 is in candidate, not in channel"
                " stable of region.yaml"
            ),
        ),
        (
            "acme-train/train",
            "cpu-2026.10.2",
            "tenants/acme.yaml:29  clusters[0].pools[1].image: image cpu-2026.10.2 fits cpu-gen4, not h100-ib-8",
        ),
    ],
)
def test_what_may_not_be_promoted_says_why(laptop: Any, pool: str, version: str, text: str) -> None:
    with pytest.raises(SpecError) as caught:
        promote(laptop.load(), pool, version)
    assert str(caught.value) == f"environments/laptop: 1 problem\n  {text}"


def test_a_pool_that_names_another_version_is_not_promoted_past_it(laptop: Any) -> None:
    laptop.edit("tenants/acme.yaml", "image: channel ", "image: gpu-2026.10.2 ")
    with pytest.raises(
        SpecError, match=r"this pool names image gpu-2026\.10\.2; write gpu-2026\.11\.1 or channel here first"
    ):
        promote(laptop.load(), "acme-train/train", "gpu-2026.11.1")
