"""Pins of intents in the lock file: each intent stands there once, as long as something names it."""

from __future__ import annotations

from collections.abc import Iterable

from components.specs.locks import ImagesLock
from components.specs.pools.intents import Intent

SECTIONS = ("intents", "dpu_intents", "chart_intents")
"""Sections that hold intents: of nodes, of DPUs and of charts."""


def knowing(pins: ImagesLock, intents: Iterable[Intent], section: str = SECTIONS[0]) -> ImagesLock:
    """Return ``pins`` that hold ``intents`` too."""
    known = {**getattr(pins, section), **{intent.name: intent for intent in intents}}
    return pins.model_copy(update={section: known})


def in_use(pins: ImagesLock) -> ImagesLock:
    """Return ``pins`` with the intents that something in them names, and no others."""
    used = {*pins.moved.values(), *pins.previous.values()}
    used |= {name for rollout in pins.rollouts.values() for name in (rollout.to, rollout.before)}
    kept = {
        section: {name: intent for name, intent in getattr(pins, section).items() if name in used}
        for section in SECTIONS
    }
    return pins.model_copy(update=kept)
