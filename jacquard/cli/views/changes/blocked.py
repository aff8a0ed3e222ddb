"""Objects that a plan would delete or replace and that are held until somebody says so, as data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jacquard.engine.guard import Held


def to_json(held: Sequence[Held], word: str | None) -> dict[str, Any]:
    """Return what is held of a stack, and the word that lets exactly this pass, which is null if nothing is."""
    return {
        "accept": word,
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
