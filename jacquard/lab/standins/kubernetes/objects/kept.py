"""What the state keeps of an object, as operations are given it and give it back."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class Found:
    """An object as Read found it."""

    identity: str
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]


@dataclass(frozen=True)
class Before:
    """What the state has of an object before a change."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
