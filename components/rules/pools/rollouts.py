"""Rules about rollouts: pins of a pool differ only during a rollout, and open rollouts respect the region's limits."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from components.intents.images import find_image, objections
from components.intents.revisions import outdated_templates
from components.lookups.pools import PlacedPool, place, pools, problem
from components.rollout.limits import RolloutLimits
from components.rollout.options import NEWEST_TEMPLATES
from components.rollout.waves import in_motion
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.keys import DPUS, pool_of
from components.specs.natural import natural, naturally
from components.specs.pools.intents import NodeIntent
from components.specs.reading.loader import IMAGE_PINS, REGION
from components.specs.reading.problems import Problem


def mixed(environment: Environment) -> Iterator[Problem]:
    """Report pools whose rollout groups have different pins without an open rollout of the pool."""
    pins = environment.image_pins
    of_pool: dict[str, dict[str, NodeIntent]] = defaultdict(dict)
    for key, name in pins.groups.items():
        of_pool[pool_of(key)][key] = pins.intents[name]
    for placed in pools(environment):
        mine = of_pool[placed.key]
        if len({intent.name for intent in mine.values()}) < 2 or placed.key in pins.rollouts:  # noqa: PLR2004 - one is uniform
            continue
        ordered = naturally(mine)
        first = ordered[0]
        other = next(key for key in ordered if mine[key] != mine[first])
        text = (
            f"{_shown(mine[other])} differs from {_shown(mine[first])} of {first}, and no rollout of {placed.key} is"
            f" open; make it uniform: jacquard promote {environment.name} {placed.key} --to"
            f" {_newest(environment, placed, mine.values())}"
        )
        yield problem(environment, IMAGE_PINS, ("groups", other), text)


def mixed_dpus(environment: Environment) -> Iterator[Problem]:
    """Report DPUs of a region with different pins without an open rollout of DPUs."""
    pins = environment.image_pins
    ordered = naturally(pins.dpus)
    other = next((key for key in ordered if pins.dpus[key] != pins.dpus[ordered[0]]), None)
    if other is None or DPUS in pins.rollouts:
        return
    text = (
        f"{pins.dpus[other]} differs from {pins.dpus[ordered[0]]} of {ordered[0]}, and no rollout of {DPUS} is open;"
        f" make them uniform: jacquard promote {environment.name} {DPUS}"
    )
    yield problem(environment, IMAGE_PINS, ("dpus", other), text)


def old_templates(environment: Environment) -> Iterator[Problem]:
    """Report pools and DPUs whose pinned template revision does not work for them.

    The groups of an open rollout to a sufficient revision are not reported.
    """
    for item in outdated_templates(environment):
        for key, reason in list(item.failing.items())[:1]:
            text = (
                f"template revision {item.revisions[key]} does not work here, because {reason}; promote {item.pool} to"
                f" revision {item.newest}: jacquard promote {environment.name} {item.pool} {NEWEST_TEMPLATES}"
            )
            yield problem(environment, IMAGE_PINS, (DPUS if item.pool == DPUS else "groups", key), text)


def in_motion_together(environment: Environment) -> Iterator[Problem]:
    """Report limits that unsettled waves of open rollouts exceed together."""
    moving = in_motion(environment.image_pins)
    if not moving:
        return
    for excess in RolloutLimits(environment).broken_by(moving):
        there = place(environment, REGION, ("nodes", "rollouts", excess.limit))
        text = f"{excess} ({there}); revert the latest wave with git revert, or raise the limit"
        yield problem(environment, IMAGE_PINS, ("waves",), text)


def _newest(environment: Environment, placed: PlacedPool, pins: Iterable[NodeIntent]) -> str:
    """Return the newest image of ``pins`` that ``placed`` may run, or else the most frequent image."""
    count = Counter(pin.image for pin in pins)
    images = [image for version in count if (image := find_image(environment, version))]
    fitting = [image for image in images if not objections(environment, image, placed.cluster, placed.pool)]
    newest = max(fitting, key=lambda image: (image.released, natural(image.version)), default=None)
    return newest.version if newest else max(count, key=lambda version: (count[version], version))


def _shown(intent: NodeIntent) -> str:
    return f"{intent.name} (revision {intent.revision})"


RULES = Rules(locks=(mixed, mixed_dpus, old_templates, in_motion_together), promoted=(mixed, mixed_dpus, old_templates))
