"""Golden images of a region: how far each is in its life, where it runs, what is behind, and what fits what."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from dataclasses import asdict, dataclass
from typing import Any

from components.plan.edges import is_newer
from components.plan.images import choose_image, doca_fits, find_image, misfits
from components.plan.pools import PlacedPool, pool_of, pools
from components.specs.catalog import GoldenImage, Lifecycle
from components.specs.environment import Environment
from components.specs.lock_text import naturally


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """A pool that runs an image, in part or whole."""

    pool: str
    groups: int
    nodes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageState:
    """An image of the catalogue."""

    version: str
    lifecycle: Lifecycle
    channels: tuple[str, ...]
    expires: dt.date
    days_left: int
    """Until it expires; negative when it has."""
    contents: dict[str, Any]
    """What is baked in: versions, kernel arguments and sysctls."""
    signature: dict[str, Any] | None
    runs: tuple[Running, ...]

    @property
    def nodes(self) -> int:
        """Return the nodes that are pinned to it."""
        return sum(item.nodes for item in self.runs)


@dataclass(frozen=True, slots=True, kw_only=True)
class Behind:
    """A pool that has a newer image to go to."""

    pool: str
    images: tuple[str, ...]
    """What it is pinned to."""
    offered: str
    """What its channel, or the pool itself, says."""
    expires: dt.date
    """First of its images to expire."""
    open_to: str | None
    """Image of its open rollout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Match:
    """An image on one instance type, with the kubelet, DPU image and control planes it would meet there."""

    image: str
    instance_type: str
    kubelet: str
    dpu_image: str
    dpu_fits: bool
    """Whether the DOCA of host and DPU work together."""
    pools: tuple[str, ...]
    """Pools of the type that may run it, whatever their channel."""
    refused: dict[str, tuple[str, ...]]
    """Other pools of the type, each with the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageReport:
    """Everything that ``jacquard show ENV images`` says."""

    environment: str
    channel: str
    today: dt.date
    images: tuple[ImageState, ...]
    """By lifecycle, then as the catalogue has them."""
    behind: tuple[Behind, ...]
    matrix: tuple[Match, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report as data for JSON: dates as text."""
        return {"schema_version": 1, **_plain(asdict(self))}


def image_report(environment: Environment, today: dt.date) -> ImageReport:
    """Return the golden images of ``environment`` as they are on ``today``."""
    types = {host.instance_type for host in environment.hosts}
    here = [image for image in environment.images.images if types & set(image.fits)]
    running = _running(environment)
    states = [_state(image, running.get(image.version, ()), today) for image in here]
    return ImageReport(
        environment=environment.name,
        channel=environment.region.image_channel.value,
        today=today,
        images=tuple(sorted(states, key=lambda state: tuple(Lifecycle).index(state.lifecycle))),
        behind=tuple(item for placed in pools(environment) if (item := _behind(environment, placed))),
        matrix=tuple(_match(environment, image, name) for image in here for name in sorted(types & set(image.fits))),
    )


def _running(environment: Environment) -> dict[str, tuple[Running, ...]]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    for key, pin in environment.image_pins.groups.items():
        groups[pin.image, pool_of(key)].append(key)
    found: dict[str, list[Running]] = defaultdict(list)
    for image, pool in sorted(groups):
        sizes = [environment.allocations.groups[key].nodes for key in groups[image, pool]]
        found[image].append(Running(pool=pool, groups=len(sizes), nodes=sum(sizes)))
    return {image: tuple(items) for image, items in found.items()}


def _state(image: GoldenImage, runs: tuple[Running, ...], today: dt.date) -> ImageState:
    return ImageState(
        version=image.version,
        lifecycle=image.lifecycle(today),
        channels=tuple(channel.value for channel in image.channel),
        expires=image.expires,
        days_left=(image.expires - today).days,
        contents={**image.contents.model_dump(mode="json"), "profile": image.profile.model_dump(mode="json")},
        signature=None if image.signature is None else image.signature.model_dump(mode="json"),
        runs=runs,
    )


def _behind(environment: Environment, placed: PlacedPool) -> Behind | None:
    pins = {pin.image for key, pin in environment.image_pins.groups.items() if pool_of(key) == placed.key}
    running = [image for version in naturally(pins) if (image := find_image(environment, version))]
    offered = choose_image(environment, placed.cluster, placed.pool)
    if offered is None or not any(is_newer(offered, image) for image in running):
        return None
    rollout = environment.image_pins.rollouts.get(placed.key)
    return Behind(
        pool=placed.key,
        images=tuple(image.version for image in running),
        offered=offered.version,
        expires=min(image.expires for image in running),
        open_to=rollout.to.image if rollout else None,
    )


def _match(environment: Environment, image: GoldenImage, instance_type: str) -> Match:
    of_type = [placed for placed in pools(environment) if placed.pool.instance_type == instance_type]
    reasons = {placed.key: tuple(misfits(environment, image, placed.cluster, placed.pool)) for placed in of_type}
    dpu = next(item for item in environment.images.dpu_images if item.version == environment.region.dpus.image)
    return Match(
        image=image.version,
        instance_type=instance_type,
        kubelet=image.contents.kubelet,
        dpu_image=dpu.version,
        dpu_fits=doca_fits(image.contents.doca, dpu.doca),
        pools=tuple(naturally(pool for pool, found in reasons.items() if not found)),
        refused={pool: reasons[pool] for pool in naturally(reasons) if reasons[pool]},
    )


def _plain(value: Any) -> Any:
    match value:
        case dict():
            return {key: _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case dt.date():
            return value.isoformat()
        case _:
            return value
