"""Report on golden images of a region: lifecycle, use, out-of-date pools, and compatibility."""

import datetime as dt
from collections import defaultdict
from typing import Any

from components.intents.differences import Difference
from components.intents.dpus import dpus_behind
from components.intents.images import doca_fits, find_image, incompatibilities
from components.intents.nodes import behind, intents_of, offered_image
from components.intents.revisions import OutdatedTemplates, outdated_templates
from components.lookups.pools import PlacedPool, pools
from components.specs.environment import Environment
from components.specs.keys import DPUS, pool_of
from components.specs.natural import naturally
from components.specs.region.catalog import GoldenImage, Lifecycle
from components.specs.struct import Struct, asdict


class Running(Struct):
    """Pool with nodes on an image."""

    pool: str
    groups: int
    nodes: int


class ImageState(Struct):
    """Image of the catalogue."""

    version: str
    lifecycle: Lifecycle
    channels: tuple[str, ...]
    expires: dt.date
    days_left: int
    """Days until the image expires; negative after the expiry date."""
    contents: dict[str, Any]
    """Content of the image: versions, kernel arguments and sysctls."""
    signature: dict[str, Any] | None
    runs: tuple[Running, ...]

    @property
    def nodes(self) -> int:
        """Return the number of nodes pinned to this image."""
        return sum(item.nodes for item in self.runs)


class Behind(Struct):
    """Pool, or DPUs of a region, with pins that differ from the data or with an open rollout."""

    pool: str
    """``cluster/pool``, or ``dpus``."""
    images: tuple[str, ...]
    """Pinned images."""
    offered: str
    """Image declared in the data: the named image, or the newest image of the channel."""
    differences: tuple[Difference, ...]
    """Differing fields, each with both values and the place in the data."""
    expires: dt.date | None
    """Earliest expiry date of the pinned images; None for DPU images, which do not expire."""
    open_to: str | None
    """Target image of the open rollout."""


class Match(Struct):
    """Compatibility of an image on one instance type: kubelet, DPU image and control planes."""

    image: str
    instance_type: str
    kubelet: str
    dpu_image: str
    dpu_fits: bool
    """Whether the DOCA versions of host and DPU are compatible."""
    pools: tuple[str, ...]
    """Pools of the type that may run the image, regardless of the channel."""
    refused: dict[str, tuple[str, ...]]
    """Other pools of the type, each with the constraint violations."""


class ImageReport(Struct):
    """Report of ``jacquard show ENV images``."""

    environment: str
    channel: str
    today: dt.date
    images: tuple[ImageState, ...]
    """Golden images, ordered by lifecycle and then by position in the catalogue."""
    behind: tuple[Behind, ...]
    templates: tuple[OutdatedTemplates, ...]
    """Pools, and DPUs, whose template revision is not the newest."""
    matrix: tuple[Match, ...]

    def to_json(self) -> dict[str, Any]:
        """Return the report as JSON data, with dates as text."""
        return {"schema_version": 1, **_plain(asdict(self))}


def image_report(environment: Environment, today: dt.date) -> ImageReport:
    """Return the golden images of ``environment`` as of ``today``."""
    types = {host.instance_type for host in environment.hosts}
    here = [image for image in environment.images.images if types & set(image.fits)]
    running = _running(environment)
    states = [_state(image, running.get(image.version, ()), today) for image in here]
    return ImageReport(
        environment=environment.name,
        channel=environment.region.image_channel.value,
        today=today,
        images=tuple(sorted(states, key=lambda state: tuple(Lifecycle).index(state.lifecycle))),
        behind=all_behind(environment),
        templates=outdated_templates(environment),
        matrix=tuple(_match(environment, image, name) for image in here for name in sorted(types & set(image.fits))),
    )


def _running(environment: Environment) -> dict[str, tuple[Running, ...]]:
    groups: dict[tuple[str, str], list[str]] = defaultdict(list)
    pins = environment.image_pins
    for key, name in pins.groups.items():
        groups[pins.intents[name].image, pool_of(key)].append(key)
    running: dict[str, list[Running]] = defaultdict(list)
    for image, pool in sorted(groups):
        sizes = [environment.allocations.groups[key].nodes for key in groups[image, pool]]
        running[image].append(Running(pool=pool, groups=len(sizes), nodes=sum(sizes)))
    return {image: tuple(items) for image, items in running.items()}


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


def all_behind(environment: Environment) -> tuple[Behind, ...]:
    """Return all out-of-date pools of ``environment``, and its DPUs if the DPUs are out of date."""
    pools_behind = [_behind(environment, placed) for placed in pools(environment)]
    return tuple(item for item in (*pools_behind, _dpus_behind(environment)) if item)


def _behind(environment: Environment, placed: PlacedPool) -> Behind | None:
    pins, offered = environment.image_pins, offered_image(environment, placed)
    differences = behind(environment, placed, offered) if offered else ()
    if offered is None or not (differences or placed.key in pins.rollouts):
        return None
    names = naturally({intent.image for intent in intents_of(environment, placed.key).values()})
    dates = [image.expires for name in names if (image := find_image(environment, name))]
    rollout = pins.rollouts.get(placed.key)
    return Behind(
        pool=placed.key,
        images=tuple(names),
        offered=offered.version,
        differences=differences,
        expires=min(dates, default=None),
        open_to=pins.intents[rollout.to].image if rollout else None,
    )


def _dpus_behind(environment: Environment) -> Behind | None:
    pins, differences = environment.image_pins, dpus_behind(environment)
    rollout = pins.rollouts.get(DPUS)
    if not differences and not rollout:
        return None
    return Behind(
        pool=DPUS,
        images=tuple(naturally({pins.dpu_intents[name].image for name in pins.dpus.values()})),
        offered=environment.region.dpus.image,
        differences=differences,
        expires=None,
        open_to=pins.dpu_intents[rollout.to].image if rollout else None,
    )


def _match(environment: Environment, image: GoldenImage, instance_type: str) -> Match:
    of_type = [placed for placed in pools(environment) if placed.pool.instance_type == instance_type]
    reasons = {
        placed.key: tuple(incompatibilities(environment, image, placed.cluster, placed.pool)) for placed in of_type
    }
    dpu = next(item for item in environment.images.dpu_images if item.version == environment.region.dpus.image)
    return Match(
        image=image.version,
        instance_type=instance_type,
        kubelet=image.contents.kubelet,
        dpu_image=dpu.version,
        dpu_fits=doca_fits(image.contents.doca, dpu.doca),
        pools=tuple(naturally(pool for pool, texts in reasons.items() if not texts)),
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
