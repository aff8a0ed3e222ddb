"""Allocation of numbers, prefixes, addresses, hosts and initial image pins.

Existing allocations are kept, missing ones are added, unused ones are released: hosts immediately, numbers into
quarantine. Pins are never changed.
"""

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from components.allocate.assignment import assign
from components.allocate.node_addresses import give_addresses
from components.allocate.numbering import number
from components.intents.charts import chart_pins, unpinned_charts
from components.intents.dpus import dpu_pins
from components.intents.images import choose_image, incompatibilities
from components.intents.nodes import pinned_image, wanted_intent
from components.intents.pins import knowing
from components.lookups.control_planes import control_plane_pins
from components.lookups.network.dpu_clusters import assign_links
from components.lookups.pools import PlacedPool, pools, problem
from components.rollout.waves import carried
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.pools.intents import NodeIntent
from components.specs.reading.loader import IMAGES, REGION
from components.specs.reading.lock_text import paired
from components.specs.reading.problems import Problem, SpecError
from components.specs.region.catalog import Channel

ACCEPT_EDITS = "--accept-edits"
"""Option of ``jacquard allocate`` that accepts lock files edited by hand."""


@dataclass
class Allocation:
    """New lock files, not sealed yet, and the problems of failed allocations."""

    numbers: AllocationsLock
    pins: ImagesLock
    problems: list[Problem] = field(default_factory=list)


def allocate(environment: Environment, released: Collection[str] = ()) -> tuple[AllocationsLock, ImagesLock]:
    """Return lock files that match the data of ``environment`` and pass ``checks.check_data``.

    Args:
        environment: loaded environment.
        released: hosts to remove from their pools (``releases.release_hosts``).

    Raises:
        SpecError: a range, the inventory or the image channel is exhausted; nothing is allocated then.
    """
    allocation = attempt(environment, released)
    if allocation.problems:
        raise SpecError(environment.name, allocation.problems)
    return paired(environment.name, allocation.numbers, allocation.pins)


def attempt(environment: Environment, released: Collection[str] = ()) -> Allocation:
    """Return the lock files, as complete as possible, with the problems of failed allocations."""
    assignment = assign(environment, released)
    numbers = number(environment, assignment.hosts)
    vpcs, crowded = assign_links(environment, numbers.vpcs, assignment.hosts)
    # Too few links are one problem, not also one per host without an address.
    roomy = {name: vpc for name, vpc in vpcs.items() if name not in crowded}
    addresses, address_problems = give_addresses(environment, roomy, assignment.hosts)
    control_planes, control_plane_problems = control_plane_pins(environment)
    groups, problems = _pins(environment, list(assignment.groups))
    dpus = dpu_pins(environment, vpcs)
    before = environment.image_pins
    after = knowing(knowing(before, groups.values()), dpus.values(), "dpu_intents").model_copy(
        update={
            **dict.fromkeys(("region", "beside", "digest")),
            "control_planes": control_planes,
            "groups": {key: intent.name for key, intent in groups.items()},
            "dpus": {key: intent.name for key, intent in dpus.items()},
            "charts": chart_pins(environment),
        }
    )
    pins = carried(before, after, unpinned_charts(environment))
    lock = AllocationsLock(
        schema_version=AllocationsLock.FORMAT,
        vpcs=vpcs,
        clusters=numbers.clusters,
        public_ips=numbers.public_ips,
        hosts=assignment.hosts,
        addresses=addresses,
        groups=assignment.groups,
        quarantine=numbers.quarantine,
    )
    lacking = [
        *assignment.problems,
        *numbers.problems,
        *crowded.values(),
        *address_problems,
        *control_plane_problems,
        *problems,
    ]
    return Allocation(lock, pins, lacking)


def _offers(environment: Environment, channel: Channel, placed: PlacedPool) -> bool:
    """Return whether ``channel`` has an image for ``placed``."""
    region = environment.region.model_copy(update={"image_channel": channel})
    followed = environment.model_copy(update={"region": region})
    return choose_image(followed, placed.cluster, placed.pool) is not None


def _pins(environment: Environment, groups: list[str]) -> tuple[dict[str, NodeIntent], list[Problem]]:
    by_key = {placed.key: placed for placed in pools(environment)}
    pins = environment.image_pins
    old = {key: pins.intents[name] for key, name in pins.groups.items()}
    running: dict[str, list[NodeIntent]] = defaultdict(list)
    for key, intent in old.items():
        running[pool_of(key)].append(intent)
    result: dict[str, NodeIntent] = {}
    unserved: dict[str, PlacedPool] = {}
    for key in groups:
        placed = by_key[pool_of(key)]
        first = old.get(key) or _first_intent(environment, placed, running[placed.key])
        if first:
            result[key] = first
        else:
            unserved[placed.key] = placed
    problems = [_no_image(environment, placed) for placed in unserved.values()]
    return result, problems


def _first_intent(environment: Environment, placed: PlacedPool, running: list[NodeIntent]) -> NodeIntent | None:
    """Return the intent of a new group: the most common intent of its pool, to keep a growing pool uniform.

    Groups in removal are counted too, so that moving a pool to other failure domains does not change its image. A new
    pool gets the intent declared in the data.
    """
    fitting = [intent for intent in running if _fits(environment, placed, intent)]
    if fitting:
        count = Counter(intent.name for intent in fitting)
        return max(fitting, key=lambda intent: (count[intent.name], intent.name))
    image = choose_image(environment, placed.cluster, placed.pool)
    return wanted_intent(environment, placed, image) if image else None


def _fits(environment: Environment, placed: PlacedPool, intent: NodeIntent) -> bool:
    image = pinned_image(environment, intent)
    return image is not None and not incompatibilities(environment, image, placed.cluster, placed.pool)


def _no_image(environment: Environment, placed: PlacedPool) -> Problem:
    channel = environment.region.image_channel
    others = [str(other) for other in Channel if _offers(environment, other, placed)]
    text = (
        f"no image of channel {channel} fits {placed.pool.instance_type} with a kubelet for {placed.cluster.version};"
        f" add one to {IMAGES}"
    )
    if others:
        text += f", or use channel {' or '.join(others)} in {REGION}"
    return problem(environment, placed.file, (*placed.path, "image"), text)
