"""Pinned intents in the lock file: each intent is stored once and removed when no pin refers to it."""

from collections.abc import Iterable

from components.specs.locks import ImagesLock
from components.specs.pools.intents import DpuIntent, Intent, NodeIntent

SECTIONS = ("intents", "dpu_intents", "chart_intents")
"""Sections of the lock file with the intents of nodes, DPUs and charts."""


def pinned(pins: ImagesLock) -> dict[str, NodeIntent | DpuIntent]:
    """Return the intent of each rollout group of nodes and of each DPUDeployment, by key of the lock file."""
    dpus = {key: pins.dpu_intents[name] for key, name in pins.dpus.items()}
    return {**{key: pins.intents[name] for key, name in pins.groups.items()}, **dpus}


def knowing(pins: ImagesLock, intents: Iterable[Intent], section: str = SECTIONS[0]) -> ImagesLock:
    """Return ``pins`` with ``intents`` added to ``section``."""
    known = {**getattr(pins, section), **{intent.name: intent for intent in intents}}
    return pins.model_copy(update={section: known})


def in_use(pins: ImagesLock) -> ImagesLock:
    """Return ``pins`` without unreferenced intents."""
    used = {*pins.moved.values(), *pins.previous.values()}
    used |= {name for rollout in pins.rollouts.values() for name in (rollout.to, rollout.before)}
    kept = {
        section: {name: intent for name, intent in getattr(pins, section).items() if name in used}
        for section in SECTIONS
    }
    return pins.model_copy(update=kept)
