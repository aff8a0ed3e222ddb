"""The rules without an engine."""

from __future__ import annotations

from components.specs.catalog import Channel
from components.specs.environment import Environment
from policies import judge


def test_laptop_keeps_every_rule(laptop: Environment) -> None:
    assert judge(laptop) == []


def test_pools_on_images_outside_the_channel_are_refused_group_by_group(laptop: Environment) -> None:
    region = laptop.region.model_copy(update={"image_channel": Channel.CANDIDATE})

    found = judge(laptop.model_copy(update={"region": region}))

    assert {violation.rule.name for violation in found} == {"image-outside-channel"}
    assert [violation.fact.title.split(" ")[1].rsplit("-", 1)[0] for violation in found] == [
        "acme-train/acme-train-system-a04",
        "acme-train/acme-train-train-a01",
        "acme-train/acme-train-train-a02",
        "acme-train/acme-train-infer-a03",
    ]
