"""Decisions on the path of a packet: device, rule, and owner of the rule."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from components.specs.base import Spec


class Keeper(StrEnum):
    """Owner of a step."""

    RENDERED = "rendered"
    """Objects that Jacquard renders."""
    BORDER = "border"
    """Border routers outside, by their contract."""
    NOBODY = "nobody"
    """No decision by Jacquard, regardless of the network in between."""


class Way(StrEnum):
    """Direction of a packet."""

    THERE = "there"
    BACK = "back"


class Step(Spec):
    """One decision on the path of a packet."""

    way: Way
    device: str
    rule: str
    passes: bool
    kept_by: Keeper


@dataclass(frozen=True, slots=True)
class Verdict:
    """One decision, before its direction is known."""

    device: str
    rule: str
    passes: bool
    kept_by: Keeper = Keeper.RENDERED
