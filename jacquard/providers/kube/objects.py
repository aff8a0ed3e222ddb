"""Helper to read Kubernetes objects from an API server."""

from typing import Any


def dig(body: Any, *path: str) -> Any:
    """Return the value at ``path``; None if the path does not exist (a status may be null right after apply)."""
    for key in path:
        body = body.get(key) if isinstance(body, dict) else None
    return body
