"""Blocked destructive changes of a plan as data."""

from collections.abc import Sequence
from typing import Any

from jacquard.engine.guard import Held


def to_json(held: Sequence[Held], token: str | None) -> dict[str, Any]:
    """Return the blocked changes of a stack, and their confirmation token, which is null without blocked changes."""
    return {
        "accept": token,
        "objects": [
            {
                "urn": one.loss.urn.text,
                "object": str(one.loss),
                "operation": one.operation,
                "forced_by": list(one.loss.forced_by),
                "reason": one.reason.value,
                "users": list(one.users),
            }
            for one in held
        ],
    }
