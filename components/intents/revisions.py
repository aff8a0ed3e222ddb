"""Template revisions of nodes and DPUs: the newest one, the least one that an intent needs, and their improvements."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from types import ModuleType
from typing import Any

from components.intents.pins import pinned
from components.render.network import dpu_templates
from components.render.pools import template_revisions
from components.render.revision_needs import Need
from components.specs.environment import Environment
from components.specs.keys import DPUS, pool_of, refers_to_dpus
from components.specs.pools.intents import DpuIntent, Intent, NodeIntent
from components.specs.struct import Struct

_TEMPLATES: dict[type[Intent], ModuleType] = {NodeIntent: template_revisions, DpuIntent: dpu_templates}
"""Modules with all revisions of the templates of one kind of intent: ``REVISIONS``, ``CHANGES`` and ``NEEDS``."""


class Improvement(Struct):
    """Improvement of a template revision over the previous one."""

    revision: int
    text: str
    """Improvement as one line."""

    def __str__(self) -> str:
        return f"revision {self.revision}: {self.text}"


class OutdatedTemplates(Struct):
    """Rollout groups of a pool, or of all DPUs, whose template revision is not the newest."""

    pool: str
    """``cluster/pool``, or ``dpus``."""
    revisions: dict[str, int]
    """Pinned revision of each of these groups, by key of the lock file."""
    newest: int
    """Newest revision of the templates."""
    improvements: tuple[Improvement, ...]
    """Improvements of the newer revisions, in order."""
    failing: dict[str, str]
    """Reasons why the pinned revision does not work, by group; empty during a rollout to a sufficient revision."""


def newest(kind: type[Intent]) -> int:
    """Return the newest revision of intents of ``kind``; charts have only one revision."""
    return int(_TEMPLATES[kind].newest()) if kind in _TEMPLATES else 1


def need(intent: Intent) -> Need[Any] | None:
    """Return the requirement with the highest revision among those that ``intent`` has; None without requirements."""
    templates = _TEMPLATES.get(type(intent))
    needs = [item for item in templates.NEEDS if item.applies(intent)] if templates else []
    return max(needs, key=lambda item: item.revision, default=None)


def least(intent: Intent) -> int:
    """Return the least revision whose templates work for ``intent``."""
    needed = need(intent)
    return needed.revision if needed else 1


def improvements(intents: Iterable[Intent]) -> tuple[Improvement, ...]:
    """Return the improvements of all revisions that are newer than that of an intent of ``intents``, by revision."""
    found: dict[int, Improvement] = {}
    for intent in intents:
        templates = _TEMPLATES.get(type(intent))
        for revision, text in templates.CHANGES.items() if templates else ():
            if intent.revision < revision <= newest(type(intent)):
                found[revision] = Improvement(revision=revision, text=text)
    return tuple(found[revision] for revision in sorted(found))


def outdated_templates(environment: Environment) -> tuple[OutdatedTemplates, ...]:
    """Return the pools, and the DPUs, with rollout groups whose template revision is not the newest."""
    groups = defaultdict[str, dict[str, NodeIntent | DpuIntent]](dict)
    for key, intent in pinned(environment.image_pins).items():
        groups[DPUS if refers_to_dpus(key) else pool_of(key)][key] = intent
    found = (_outdated(environment, pool, intents) for pool, intents in groups.items())
    return tuple(item for item in found if item.revisions)


def _outdated(environment: Environment, pool: str, intents: Mapping[str, NodeIntent | DpuIntent]) -> OutdatedTemplates:
    older = {key: intent for key, intent in intents.items() if intent.revision < newest(type(intent))}
    opened = environment.image_pins.rollouts.get(pool)
    known = {**environment.image_pins.intents, **environment.image_pins.dpu_intents}
    moving = opened is not None and known[opened.to].revision >= least(known[opened.to])
    failing = {} if moving else {key: intent for key, intent in older.items() if intent.revision < least(intent)}
    return OutdatedTemplates(
        pool=pool,
        revisions={key: intent.revision for key, intent in older.items()},
        newest=max((newest(type(intent)) for intent in older.values()), default=1),
        improvements=improvements(older.values()),
        failing={key: needed.reason for key, intent in failing.items() if (needed := need(intent))},
    )
