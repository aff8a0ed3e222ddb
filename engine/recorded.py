"""What is recorded of a stack, by digest: an apply can tell by it whether somebody else was at work meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

_CONTENT = ("resources", "pending_operations")
"""What of a deployment is content; the moment of the last write beside it is none."""


def state_digest(state: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a state as ``Engine.export`` returns it; secrets in it are encrypted."""
    deployment = state.get("deployment") or {}
    said = {name: deployment.get(name) or [] for name in _CONTENT}
    return hashlib.sha256(json.dumps(said, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
