"""Allocates what users do not name: numbers, prefixes, addresses, hosts, first image pins. Pure and stable.

What is allocated stays; what is missing is added; what belongs to nothing is freed: hosts at once, numbers into
quarantine. A pin is never moved.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection
from dataclasses import dataclass, field

from components.plan.assignment import assign
from components.plan.control_planes import control_plane_pins
from components.plan.dpu_clusters import give_links
from components.plan.images import choose_image, find_image, misfits
from components.plan.numbering import number
from components.plan.pools import PlacedPool, pool_of, pools, problem
from components.plan.waves import carried
from components.render.template_revisions import REVISIONS
from components.specs.base import SCHEMA_VERSION, Network
from components.specs.environment import Environment
from components.specs.loader import IMAGES, REGION
from components.specs.lock_text import sealed
from components.specs.locks import AllocationsLock, ImagePin, ImagesLock, VpcAllocation
from components.specs.problems import Problem, SpecError

ACCEPT_EDITS = "--accept-edits"
"""Option of ``jacquard allocate`` for lock files that were edited by hand."""
TEMPLATE_REVISION = max(REVISIONS)
"""Revision of the template renderer that a new pin takes."""


@dataclass
class Allocation:
    """Lock files as they should be, without digest, and what could not be allocated."""

    numbers: AllocationsLock
    pins: ImagesLock
    problems: list[Problem] = field(default_factory=list)


def allocate(environment: Environment, released: Collection[str] = ()) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files that fit the data of ``environment``, in which ``checks.check_data`` finds nothing.

    Args:
        environment: as loaded.
        released: hosts that are taken from their pool (``releases.release_hosts``).

    Raises:
        SpecError: a range, the inventory or the image channel has too little; nothing is allocated then.
    """
    found = attempt(environment, released)
    if found.problems:
        raise SpecError(environment.name, found.problems)
    return sealed(found.numbers), sealed(found.pins)


def attempt(environment: Environment, released: Collection[str] = ()) -> Allocation:
    """Return the lock files as far as they can be filled, with the problems met."""
    assignment = assign(environment, released)
    numbers = number(environment, assignment.hosts)
    vpcs, crowded = give_links(environment, numbers.vpcs, assignment.hosts)
    control_planes, homeless = control_plane_pins(environment)
    groups, problems = _pins(environment, list(assignment.groups))
    before = environment.image_pins.model_copy(update={"control_planes": control_planes, "digest": None})
    pins = carried(before, groups)
    lock = AllocationsLock(
        schema_version=SCHEMA_VERSION,
        vpcs=vpcs,
        clusters=numbers.clusters,
        public_ips=numbers.public_ips,
        hosts=assignment.hosts,
        groups=assignment.groups,
        quarantine=numbers.quarantine,
    )
    return Allocation(lock, pins, [*assignment.problems, *numbers.problems, *crowded, *homeless, *problems])


def prefixes(vpc: VpcAllocation) -> dict[str, Network]:
    """Return the prefixes of ``vpc`` by their key."""
    return {"hosts": vpc.hosts, "pods": vpc.pods, "services": vpc.services, "load_balancers": vpc.load_balancers}


def _pins(environment: Environment, groups: list[str]) -> tuple[dict[str, ImagePin], list[Problem]]:
    by_key = {placed.key: placed for placed in pools(environment)}
    old = environment.image_pins.groups
    running: dict[str, list[ImagePin]] = defaultdict(list)
    for key, pin in old.items():
        running[pool_of(key)].append(pin)
    result: dict[str, ImagePin] = {}
    unserved: dict[str, PlacedPool] = {}
    for key in groups:
        placed = by_key[pool_of(key)]
        first = old.get(key) or _first_pin(environment, placed, running[placed.key])
        if first:
            result[key] = first
        else:
            unserved[placed.key] = placed
    problems = [_no_image(environment, placed) for placed in unserved.values()]
    return result, problems


def _first_pin(environment: Environment, placed: PlacedPool, running: list[ImagePin]) -> ImagePin | None:
    """Return the pin of a new group: what most groups of its pool run, so that a pool that grows stays uniform.

    Groups that leave count too: a pool that moves to other failure domains does not move to another image.
    """
    fitting = [pin for pin in running if _fits(environment, placed, pin)]
    if fitting:
        count = Counter(pin.image for pin in fitting)
        return max(fitting, key=lambda pin: (count[pin.image], pin.image))
    image = choose_image(environment, placed.cluster, placed.pool)
    return ImagePin(image=image.version, sha256=image.sha256, revision=TEMPLATE_REVISION) if image else None


def _fits(environment: Environment, placed: PlacedPool, pin: ImagePin) -> bool:
    image = find_image(environment, pin.image)
    return image is not None and not misfits(environment, image, placed.cluster, placed.pool)


def _no_image(environment: Environment, placed: PlacedPool) -> Problem:
    channel = environment.region.image_channel
    text = (
        f"no image of channel {channel} fits {placed.pool.instance_type} with a kubelet for {placed.cluster.version};"
        f" add one to {IMAGES}, or follow another channel in {REGION}"
    )
    return problem(environment, placed.file, (*placed.path, "image"), text)
