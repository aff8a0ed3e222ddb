"""Facts of a recorded state: its digest, by which an apply detects concurrent changes, and the commits of slices."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from components.render.region.engine.engine import API, KIND

_STACK = f"kubernetes:{API}:{KIND}"


def state_digest(resources: Sequence[Any]) -> str:
    """Return the SHA-256 of the resources of a state, as returned by ``Engine.look``; secrets are encrypted.

    The time of the last write is not included.
    """
    return hashlib.sha256(json.dumps(resources, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def recorded_commits(resources: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the commit of each slice that an operator applies, by its name, from the state of the engine's stack."""
    stacks = (item["inputs"] for item in resources if item["type"] == _STACK)
    return {stack["metadata"]["name"]: stack["spec"]["commit"] for stack in stacks}
