"""Decisions on the way of a packet: what decides, by which rule, and who keeps it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from components.specs.base import Spec


class Keeper(StrEnum):
    """Who sees to a step."""

    RENDERED = "rendered"
    """Objects that Jacquard renders see to it."""
    BORDER = "border"
    """Routers outside see to it, by their contract."""
    NOBODY = "nobody"
    """Nothing here decides, whatever the network in between may do."""


class Way(StrEnum):
    """Direction of a packet."""

    THERE = "there"
    BACK = "back"


class Step(Spec):
    """One decision on the way of a packet."""

    way: Way
    device: str
    rule: str
    passes: bool
    kept_by: Keeper


@dataclass(frozen=True, slots=True)
class Verdict:
    """One decision, before it is known on which way it is."""

    device: str
    rule: str
    passes: bool
    kept_by: Keeper = Keeper.RENDERED
