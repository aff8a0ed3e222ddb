"""Immediate promotion of a pool, for tests that are not about waves."""

from __future__ import annotations

from components.rollout.promotion import Promotion
from components.specs.environment import Environment
from components.specs.locks import ImagesLock


def promote(environment: Environment, pool: str, version: str) -> ImagesLock:
    """Return the pins of ``environment`` with all rollout groups of ``pool`` at image ``version``."""
    return Promotion(environment, pool, version).all_at_once()
