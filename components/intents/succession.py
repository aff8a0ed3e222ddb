"""Rules for which golden image may replace another in a promotion."""

import datetime as dt
import re

from components.intents.images import find_image, standing_objections
from components.lookups.pools import PlacedPool
from components.specs.environment import Environment
from components.specs.natural import natural
from components.specs.region.catalog import GoldenImage, Lifecycle

_NUMBER = re.compile(r"-\d")


def line_of(version: str) -> str:
    """Return the line of an image version: ``gpu`` for ``gpu-2026.11.1``. Images of one line replace each other."""
    return _NUMBER.split(version, maxsplit=1)[0]


def is_newer(image: GoldenImage, other: GoldenImage) -> bool:
    """Return whether ``image`` was released after ``other``."""
    return (image.released, natural(image.version)) > (other.released, natural(other.version))


def succession_objections(environment: Environment, placed: PlacedPool, image: GoldenImage) -> list[str]:
    """Return why ``placed`` may not be promoted from its current image to ``image``; empty if it is allowed.

    Allowed are a newer image of the same line, the previous image, and the image named by the pool. A pool whose
    current image is no longer allowed may be promoted to any suitable image. A pool with mixed images and no open
    rollout may be promoted to any of its current images.
    """
    pins = environment.image_pins
    running = {pins.intents[name].image for name in pins.groups_by_pool.get(placed.key, {}).values()}
    before = pins.previous.get(placed.key)
    previous = pins.intents[before].image if before else None
    if image.version in {placed.pool.image, previous, *running}:
        return []
    return [
        text
        for version in sorted(running, key=natural)
        for text in _objections(environment, placed, version, image, previous)
    ]


def day_objections(image: GoldenImage, today: dt.date | None) -> list[str]:
    """Return why ``image`` may not be used on ``today``; empty if ``today`` is None."""
    if today is None:
        return []
    if image.lifecycle(today) is Lifecycle.EXPIRED:
        return [f"image {image.version} expired on {image.expires}"]
    if today < image.released:
        return [f"image {image.version} is not released until {image.released}"]
    return []


def _objections(
    environment: Environment, placed: PlacedPool, version: str, image: GoldenImage, previous: str | None
) -> list[str]:
    current = find_image(environment, version)
    if current is None or standing_objections(environment, current, placed.cluster, placed.pool):
        return []
    remedy = f"write image: {image.version} for this pool to allow it"
    if line_of(version) != line_of(image.version):
        lines = f"{image.version} is of line {line_of(image.version)}, the pool runs {version} of {line_of(version)}"
        return [f"{lines}; {remedy}"]
    if not is_newer(image, current):
        back = f"roll back to {previous} with --rollback, or " if previous else ""
        return [f"{image.version} is older than {version}, which the pool runs; {back}{remedy}"]
    return []
