"""Computes a digest of a stack's recorded state; an apply detects concurrent changes by this digest."""

import hashlib
import json
from collections.abc import Sequence
from typing import Any


def state_digest(resources: Sequence[Any]) -> str:
    """Return the SHA-256 of the resources of a state, as returned by ``Engine.look``; secrets are encrypted.

    The time of the last write is not included.
    """
    return hashlib.sha256(json.dumps(resources, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
