"""Records of objects in the state: inputs and outputs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, kw_only=True)
class ReadResult:
    """Result of a Read."""

    identity: str
    outputs: Mapping[str, Any]
    inputs: Mapping[str, Any]


@dataclass(frozen=True)
class Before:
    """Recorded inputs and outputs of an object before a change."""

    inputs: Mapping[str, Any]
    outputs: Mapping[str, Any]
