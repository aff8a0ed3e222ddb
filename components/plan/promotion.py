"""Moves image pins: the only way a rollout group gets another golden image."""

from __future__ import annotations

from components.plan.allocation import TEMPLATE_REVISION
from components.plan.images import CHANNEL, find_image, objections
from components.plan.pools import PlacedPool, pool_of, pools, problem
from components.plan.rules.references import IMAGES
from components.specs.environment import Environment
from components.specs.loader import IMAGE_PINS
from components.specs.locks import ImagePin, ImagesLock
from components.specs.problems import Problem, SpecError, listed, suggestion


def promote(environment: Environment, pool: str, version: str, wave: int | None = None) -> ImagesLock:
    """Return the pins of ``environment`` with rollout groups of ``pool`` moved to image ``version``.

    Args:
        environment: as loaded and checked.
        pool: ``cluster/pool``.
        version: an image of the catalogue; an older one rolls back.
        wave: how many groups move at most, in order of their failure domain; all when None. Groups that run
            ``version`` already do not count, so the same call again is the next wave.

    Raises:
        SpecError: pool or version is unknown, or the pool may not run it; all reasons are told.
    """
    placed = {item.key: item for item in pools(environment)}
    if pool not in placed:
        text = f"there is no pool '{pool}' (pools: {listed(placed)}){suggestion(pool, placed)}"
        raise SpecError(environment.name, [Problem(IMAGE_PINS, 0, "groups", text)])
    reasons = _reasons(environment, placed[pool], version)
    if reasons:
        raise SpecError(environment.name, reasons)
    pins = environment.image_pins.groups
    behind = sorted(group for group, pin in pins.items() if pool_of(group) == pool and pin.image != version)
    image = next(image for image in environment.images.images if image.version == version)
    pin = ImagePin(image=version, sha256=image.sha256, revision=TEMPLATE_REVISION)
    return environment.image_pins.model_copy(update={"groups": pins | dict.fromkeys(behind[:wave], pin)})


def _reasons(environment: Environment, placed: PlacedPool, version: str) -> list[Problem]:
    image = find_image(environment, version)
    if image is None:
        known = [item.version for item in environment.images.images]
        text = (
            f"image '{version}' is not declared (declared: {listed(known)}); add it there{suggestion(version, known)}"
        )
        return [problem(environment, IMAGES, ("images",), text)]
    reasons = objections(environment, image, placed.cluster, placed.pool)
    if placed.pool.image not in {CHANNEL, version}:
        reasons.append(f"this pool names image {placed.pool.image}; write {version} or {CHANNEL} here first")
    return [problem(environment, placed.file, (*placed.path, "image"), reason) for reason in reasons]
