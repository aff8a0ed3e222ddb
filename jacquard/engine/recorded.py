"""What is recorded of a stack, by digest: an apply can tell by it whether somebody else was at work meanwhile."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from typing import Any


def state_digest(resources: Sequence[Any]) -> str:
    """Return the SHA-256 of the resources that a state has, as ``Engine.look`` returns them; secrets are encrypted.

    The moment of the last write, which stands beside them, is no part of it.
    """
    return hashlib.sha256(json.dumps(resources, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
