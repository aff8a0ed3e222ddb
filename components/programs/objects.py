"""Conditions and times of plain objects of Kubernetes, for programs that run in clusters."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping
from typing import Any

REQUESTED = "RebootRequested"
"""Reason of conditions of Nodes by which a person requests a reboot."""


def conditions(body: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the conditions of an object by type."""
    return {item["type"]: item for item in (body.get("status") or {}).get("conditions") or ()}


def time_of(text: str) -> dt.datetime:
    """Return the time in a field of Kubernetes."""
    return dt.datetime.fromisoformat(text)


def text_of(time: dt.datetime) -> str:
    """Return a time as a field of Kubernetes."""
    return f"{time:%Y-%m-%dT%H:%M:%SZ}"
