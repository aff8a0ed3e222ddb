"""Lock files: complete, not stale, and pinned to what the catalogue says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from components.plan.allocation import TEMPLATE_REVISION, attempt
from components.plan.images import choose_image, find_image, standing_objections
from components.plan.pools import PlacedPool, pool_of, pools, problem
from components.plan.rules.references import IMAGES
from components.specs.environment import Environment
from components.specs.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.problems import Problem, listed

MAX_NAMES_SHOWN = 5


def allocations(environment: Environment) -> Iterator[Problem]:
    """Report what cannot be allocated; when all can, what the lock files lack or have too much."""
    wanted = attempt(environment)
    if wanted.problems:
        yield from wanted.problems
        return
    have, pins = environment.allocations, environment.image_pins
    if not have.model_fields_set - {"schema_version"} and not pins.groups:
        yield Problem(ALLOCATIONS, 0, "", f"is not written yet; {_remedy(environment)}")
        return
    for section in ("vpcs", "clusters", "public_ips", "groups"):
        yield from _entries(environment, ALLOCATIONS, section, getattr(have, section), getattr(wanted.numbers, section))
    yield from _hosts(environment, have.hosts, wanted.numbers.hosts)
    yield from _entries(environment, IMAGE_PINS, "groups", pins.groups, wanted.pins.groups)


def pins(environment: Environment) -> Iterator[Problem]:
    """Report pins that differ from the catalogue or may not run where they are. A pin behind its channel is fine."""
    by_key = {placed.key: placed for placed in pools(environment)}
    for group, pin in environment.image_pins.groups.items():
        placed, image, path = by_key.get(pool_of(group)), find_image(environment, pin.image), ("groups", group)
        if placed is None:
            continue
        move = _move(environment, placed)
        if image is None:
            known = [entry.version for entry in environment.images.images]
            text = f"image {pin.image} is not in {IMAGES} ({listed(known)}); add it there again, or {move}"
            yield problem(environment, IMAGE_PINS, (*path, "image"), text)
            continue
        if pin.sha256 != image.sha256:
            line = environment.positions.line(IMAGES, ("images", environment.images.images.index(image), "sha256"))
            text = (
                f"{pin.sha256[:12]}... is not the digest of {pin.image} ({image.sha256[:12]}..., {IMAGES}:{line});"
                " an image never changes under its version, restore the digest that was published"
            )
            yield problem(environment, IMAGE_PINS, (*path, "sha256"), text)
        for objection in standing_objections(environment, image, placed.cluster, placed.pool):
            yield problem(environment, IMAGE_PINS, (*path, "image"), f"{objection}; {move}")
        if pin.revision > TEMPLATE_REVISION:
            text = f"revision {pin.revision} is newer than this library ({TEMPLATE_REVISION}); use the newer release"
            yield problem(environment, IMAGE_PINS, (*path, "revision"), text)


def _move(environment: Environment, placed: PlacedPool) -> str:
    better = choose_image(environment, placed.cluster, placed.pool)
    if better is None:
        return f"add an image that fits to {IMAGES}"
    return f"run jacquard promote {environment.name} {placed.key} --to {better.version}"


def _entries(
    environment: Environment, file: str, section: str, have: Mapping[str, Any], wanted: Mapping[str, Any]
) -> Iterator[Problem]:
    for name in sorted({*have, *wanted}):
        if name not in have:
            text = f"is missing; {_remedy(environment)}"
        elif name not in wanted:
            text = f"belongs to nothing in the data; {_remedy(environment)}"
        elif have[name] != wanted[name]:
            text = f"is stale ({have[name]}, the data needs {wanted[name]}); {_remedy(environment)}"
        else:
            continue
        yield problem(environment, file, (section, name), text)


def _hosts(environment: Environment, have: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[Problem]:
    missing, superfluous = defaultdict(list), []
    for host in sorted({*have, *wanted}):
        if host in wanted and have.get(host) != wanted[host]:
            missing[wanted[host]].append(host)
        elif host not in wanted:
            superfluous.append(host)
    for key, names in missing.items():
        text = f"lacks {len(names)} of {key} ({_some(names)}); {_remedy(environment)}"
        yield problem(environment, ALLOCATIONS, ("hosts",), text)
    if superfluous:
        text = f"has {len(superfluous)} that no pool can have ({_some(superfluous)}); {_remedy(environment)}"
        line = environment.positions.line(ALLOCATIONS, ("hosts", superfluous[0]))
        yield Problem(ALLOCATIONS, line, "hosts", text)


def _some(names: list[str]) -> str:
    more = len(names) - MAX_NAMES_SHOWN
    return ", ".join(names[:MAX_NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")


def _remedy(environment: Environment) -> str:
    return f"run jacquard allocate {environment.name}"
