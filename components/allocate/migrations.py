"""What moves data files of older formats on, by kind and by the version that is left."""

from __future__ import annotations

from typing import Any

from components.intents.dpus import deployments as dpu_deployments
from components.intents.dpus import find_dpu_image, wanted_dpu_intent
from components.intents.images import find_image
from components.intents.nodes import wanted_intent
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.keys import pool_of
from components.specs.pools.intents import Intent, NodeIntent
from components.specs.reading.loader import IMAGE_PINS, IMAGES
from components.specs.reading.migrations import Around, Migrations
from components.specs.reading.problems import Problem, SpecError

_FIRST_DPU_REVISION = 1
_Pin = dict[str, Any]
"""Pin of format 1: image, its SHA-256, and the revision of the templates."""


def with_isolation(document: Any, around: Around) -> Any:
    """Write into each VPC of ``allocations.lock.yaml``, format 1, what isolates it on the day of the migration."""
    wanted = {vpc.name: (tenant.tenant, vpc.isolation) for tenant in around().tenants for vpc in tenant.vpcs}
    for name, entry in document.get("vpcs", {}).items():
        owner, isolation = wanted.get(name, ("", None))
        if isolation is not None and owner == entry["tenant"]:
            entry["isolation"] = isolation.value
    return document


def with_intents(document: Any, around: Around) -> Any:
    """Turn the pins of ``images.lock.yaml``, format 1, into intents: what is rendered stays the same byte by byte.

    Format 1 held image, digest and revision; all else that makes a node was read from the data, so it is what the data
    say on the day of the migration. What nobody can make anew, since its image is gone, is left out of ``previous``.
    """
    environment = around()
    intents: dict[str, Intent] = {}
    lost: list[Problem] = []

    def named(section: str, key: str, pool: str, pin: _Pin) -> str | None:
        intent = _intent(environment, pool, pin)
        if intent is None:
            text = f"nothing else says what nodes of image {pin['image']} are, and {IMAGES} has it no more;"
            text += " add it there again, then jacquard migrate"
            lost.append(Problem(IMAGE_PINS, 0, f"{section}.{key}", text))
            return None
        intents[intent.name] = intent
        return intent.name

    groups = {key: named("groups", key, pool_of(key), pin) for key, pin in document.get("groups", {}).items()}
    rollouts = {
        pool: {**rollout, **{end: named("rollouts", f"{pool}.{end}", pool, rollout[end]) for end in ("to", "before")}}
        for pool, rollout in document.get("rollouts", {}).items()
    }
    if lost:
        raise SpecError(environment.name, lost)
    previous = {
        pool: name for pool, pin in document.get("previous", {}).items() if (name := named("previous", pool, pool, pin))
    }
    flashed = _dpus(environment)
    moved = {
        "schema_version": document["schema_version"],
        "control_planes": document.get("control_planes", {}),
        "intents": {name: _plain(intent) for name, intent in intents.items()},
        "groups": groups,
        "dpu_intents": {intent.name: _plain(intent) for intent in flashed.values()},
        "dpus": {key: intent.name for key, intent in flashed.items()},
        "rollouts": rollouts,
        "waves": document.get("waves", {}),
        "previous": previous,
    }
    return {key: value for key, value in moved.items() if value or key == "schema_version"}


def _intent(environment: Environment, pool: str, pin: _Pin) -> NodeIntent | None:
    placed = next((placed for placed in pools(environment) if placed.key == pool), None)
    image = find_image(environment, pin["image"])
    if placed is None or image is None:
        return None
    pinned = image.model_copy(update={"sha256": pin["sha256"]})
    # No library that wrote such a file had nodes with shared GPUs, or IPv6.
    unknown = {"gpu_sharing": None, "dual_stack": None}
    return wanted_intent(environment, placed, pinned, pin["revision"]).model_copy(update=unknown)


def _dpus(environment: Environment) -> dict[str, Intent]:
    image = find_dpu_image(environment, environment.region.dpus.image)
    if image is None:
        return {}
    intent = wanted_dpu_intent(environment, image, _FIRST_DPU_REVISION)
    return {one.key: intent for one in dpu_deployments(environment, environment.allocations.vpcs)}


def _plain(intent: Intent) -> dict[str, Any]:
    return intent.model_dump(mode="json", exclude_defaults=True)


MIGRATIONS: Migrations = {"allocations.lock": {1: with_isolation}, "images.lock": {1: with_intents}}
