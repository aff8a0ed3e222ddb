"""Rules about the pins and intents in lock files."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from components.intents.images import choose_image, standing_objections
from components.intents.nodes import pinned_image
from components.lookups.pools import DataPath, PlacedPool, place, pools, problem
from components.render.network import dpu_templates
from components.render.pools import template_revisions
from components.rules.pools.images import waiver_for
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.reading.loader import FIRMWARE, IMAGE_PINS, IMAGES, REGION
from components.specs.reading.problems import FORM, Problem, abbreviated, listed
from components.specs.region.catalog import DpuImage, GoldenImage
from components.specs.region.policy import RuleId

AREA = "locks"
"""Prefix of the names of these rules in reports."""
_MAX_POOLS = 3
"""Maximum number of pools outside the channel that are reported one by one."""


def pins(environment: Environment) -> Iterator[Problem]:
    """Report pinned intents that are no longer allowed, once for each pool; not pins that are merely out of date."""
    by_key, lock = {placed.key: placed for placed in pools(environment)}, environment.image_pins
    reported, outside = set[tuple[str, str]](), defaultdict[str, dict[str, Problem]](dict)
    for group, name in lock.groups.items():
        placed, intent = by_key.get(pool_of(group)), lock.intents[name]
        if placed is None:
            continue
        image = pinned_image(environment, intent)
        if image is None:
            known = [entry.version for entry in environment.images.images]
            missing = f"image {intent.image} is not in {IMAGES} ({listed(known)}); add it there again, or"
            texts = {f"{missing} {_move(environment, placed)}": FORM}
        else:
            objections = standing_objections(environment, image, placed.cluster, placed.pool)
            texts = {
                f"{objection}; {_move(environment, placed)}{waiver_for(placed.key, rule)}": rule
                for objection, rule in objections.items()
            }
        for text, rule in texts.items():
            found = problem(environment, IMAGE_PINS, ("groups", group), text, rule=rule)
            if rule == RuleId.IMAGE_OUTSIDE_CHANNEL:
                outside[intent.image].setdefault(placed.key, found)
            elif (placed.key, text) not in reported:  # A promotion replaces the image of all groups of a pool.
                yield found
            reported.add((placed.key, text))
    yield from _outside_channel(environment, outside)


def _outside_channel(environment: Environment, found: Mapping[str, Mapping[str, Problem]]) -> Iterator[Problem]:
    """Report many pools outside the channel once: their cause is an edit of the channel, or of their images.

    Args:
        environment: region with these pools.
        found: problem of each pool by image.
    """
    count = sum(map(len, found.values()))
    if count <= _MAX_POOLS:
        yield from (item for by_pool in found.values() for item in by_pool.values())
        return
    most = sorted(found.items(), key=lambda item: -len(item[1]))
    images = listed((f"{image} of {listed(by_pool, 1)}" for image, by_pool in most), _MAX_POOLS)
    text = (
        f"'{environment.region.image_channel}' does not contain the images of {count} pools: {images}; restore the"
        f" channel, or the channels of these images in {IMAGES}, or run jacquard promote {environment.name} POOL for"
        " each pool"
    )
    yield problem(environment, REGION, ("image_channel",), text, rule=RuleId.IMAGE_OUTSIDE_CHANNEL)


def intents(environment: Environment) -> Iterator[Problem]:
    """Report intents of a newer Jacquard release, and content that changed under an immutable name."""
    lock = environment.image_pins
    for section, of in (("intents", template_revisions), ("dpu_intents", dpu_templates)):
        for name, intent in getattr(lock, section).items():
            if intent.revision > of.newest():
                text = f"revision {intent.revision} is newer than this library ({of.newest()}); use the newer release"
                yield problem(environment, IMAGE_PINS, (section, name, "revision"), text)
    images = [(("images", index), image) for index, image in enumerate(environment.images.images)]
    yield from _republished(environment, "intents", {image.version: (path, image) for path, image in images})
    dpus = [(("dpu_images", index), image) for index, image in enumerate(environment.images.dpu_images)]
    yield from _republished(environment, "dpu_intents", {image.version: (path, image) for path, image in dpus})
    baselines = {item.name: (index, item) for index, item in enumerate(environment.firmware.firmware_baselines)}
    for name, node in lock.intents.items():
        index, baseline = baselines.get(node.firmware.name if node.firmware else "", (0, None))
        if node.firmware and baseline and baseline.content != node.firmware:
            there = place(environment, FIRMWARE, ("firmware_baselines", index))
            text = (
                f"{baseline.name} differs from {there}; a baseline never changes under its name, restore it there and"
                " add a separate one for the changes"
            )
            yield problem(environment, IMAGE_PINS, ("intents", name, "firmware"), text)


def _republished(
    environment: Environment, section: str, images: Mapping[str, tuple[DataPath, GoldenImage | DpuImage]]
) -> Iterator[Problem]:
    by_url = {image.url: (path, image) for path, image in images.values()}
    for name, intent in getattr(environment.image_pins, section).items():
        path, image = images.get(intent.image) or by_url.get(intent.url) or ((), intent)
        if intent.sha256 != image.sha256:
            line = environment.positions.line(IMAGES, (*path, "sha256"))
            text = (
                f"{abbreviated(intent.sha256)}... is not the digest of {intent.image} ({abbreviated(image.sha256)}...,"
                f" {IMAGES}:{line}); an image never changes under its version or URL, restore the digest that was"
                " published"
            )
            yield problem(environment, IMAGE_PINS, (section, name, "sha256"), text)


def _move(environment: Environment, placed: PlacedPool) -> str:
    better = choose_image(environment, placed.cluster, placed.pool)
    if better is None:
        return f"add a compatible image to {IMAGES}"
    return f"run jacquard promote {environment.name} {placed.key} --to {better.version}"


RULES = Rules(locks=(pins, intents), promoted=(pins, intents))
