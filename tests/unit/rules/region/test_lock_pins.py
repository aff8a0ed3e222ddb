"""Pools whose images are outside the channel of the region."""

from __future__ import annotations

from collections import defaultdict

from components.rules.region.lock_pins import pins
from components.specs.keys import pool_of
from tests.support.data.environment_data import reference


def test_many_pools_outside_the_channel_are_one_problem_at_the_channel() -> None:
    environment = reference("us-east-04a")
    channels = {image.version: image.channel for image in environment.images.images}
    lock, outside = environment.image_pins, defaultdict[str, set[str]](set)
    for group, name in lock.groups.items():
        if "candidate" not in channels[lock.intents[name].image]:
            outside[lock.intents[name].image].add(pool_of(group))
    most = max(outside, key=lambda image: len(outside[image]))
    first = next(pool_of(group) for group, name in lock.groups.items() if lock.intents[name].image == most)

    region = environment.region.model_copy(update={"image_channel": "candidate"})
    (found,) = pins(environment.model_copy(update={"region": region}))

    assert (found.file, found.path, found.rule) == ("region.yaml", "image_channel", "image-outside-channel")
    assert found.text.startswith(
        f"'candidate' does not contain the images of {sum(map(len, outside.values()))} pools: {most} of {first} and"
        f" {len(outside[most]) - 1} more, "
    )
    assert found.text.endswith(
        "; restore the channel, or the channels of these images in ../catalog/images.yaml, or run jacquard promote"
        " us-east-04a POOL for each pool"
    )
