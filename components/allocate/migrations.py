"""Migrations of data files from older formats, by kind and old version."""

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
    """Add the current isolation of each VPC to ``allocations.lock.yaml``, format 1."""
    wanted = {vpc.name: (tenant.tenant, vpc.isolation) for tenant in around().tenants for vpc in tenant.vpcs}
    for name, entry in document.get("vpcs", {}).items():
        owner, isolation = wanted.get(name, ("", None))
        if isolation is not None and owner == entry["tenant"]:
            entry["isolation"] = isolation.value
    return document


def with_intents(document: Any, around: Around) -> Any:
    """Convert the pins of ``images.lock.yaml``, format 1, to intents; rendered objects stay byte-identical.

    Format 1 has image, digest and revision. All other values of a node come from the data at the time of the
    migration. Entries of ``previous`` whose image is no longer in the catalogue are dropped.
    """
    environment = around()
    intents: dict[str, Intent] = {}
    problems: list[Problem] = []

    def named(section: str, key: str, pool: str, pin: _Pin) -> str | None:
        intent = _intent(environment, pool, pin)
        if intent is None:
            text = f"image {pin['image']} is no longer in {IMAGES}, which the migration of its pins requires;"
            text += " add it again, then run jacquard migrate"
            problems.append(Problem(IMAGE_PINS, 0, f"{section}.{key}", text))
            return None
        intents[intent.name] = intent
        return intent.name

    groups = {key: named("groups", key, pool_of(key), pin) for key, pin in document.get("groups", {}).items()}
    rollouts = {
        pool: {**rollout, **{end: named("rollouts", f"{pool}.{end}", pool, rollout[end]) for end in ("to", "before")}}
        for pool, rollout in document.get("rollouts", {}).items()
    }
    if problems:
        raise SpecError(environment.name, problems)
    previous = {
        pool: name for pool, pin in document.get("previous", {}).items() if (name := named("previous", pool, pool, pin))
    }
    dpu_intents = _dpus(environment)
    migrated = {
        "schema_version": document["schema_version"],
        "control_planes": document.get("control_planes", {}),
        "intents": {name: _plain(intent) for name, intent in intents.items()},
        "groups": groups,
        "dpu_intents": {intent.name: _plain(intent) for intent in dpu_intents.values()},
        "dpus": {key: intent.name for key, intent in dpu_intents.items()},
        "rollouts": rollouts,
        "waves": document.get("waves", {}),
        "previous": previous,
    }
    return {key: value for key, value in migrated.items() if value or key == "schema_version"}


def _intent(environment: Environment, pool: str, pin: _Pin) -> NodeIntent | None:
    placed = next((placed for placed in pools(environment) if placed.key == pool), None)
    image = find_image(environment, pin["image"])
    if placed is None or image is None:
        return None
    pinned = image.model_copy(update={"sha256": pin["sha256"]})
    # Library versions that wrote format 1 did not support shared GPUs or IPv6.
    unsupported = {"gpu_sharing": None, "dual_stack": None}
    return wanted_intent(environment, placed, pinned, pin["revision"]).model_copy(update=unsupported)


def _dpus(environment: Environment) -> dict[str, Intent]:
    image = find_dpu_image(environment, environment.region.dpus.image)
    if image is None:
        return {}
    intent = wanted_dpu_intent(environment, image, _FIRST_DPU_REVISION)
    return {deployment.key: intent for deployment in dpu_deployments(environment, environment.allocations.vpcs)}


def _plain(intent: Intent) -> dict[str, Any]:
    return intent.model_dump(mode="json", exclude_defaults=True)


MIGRATIONS: Migrations = {"allocations.lock": {1: with_isolation}, "images.lock": {1: with_intents}}
