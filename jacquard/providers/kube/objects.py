"""References to Kubernetes objects, and values in objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """Identifies an object; for a namespaced kind, ``namespace`` None is the namespace of the context."""

    api_version: str
    kind: str
    name: str
    namespace: str | None = None

    @classmethod
    def of(cls, body: Mapping[str, Any]) -> ObjectRef:
        """Return the reference of a complete object."""
        metadata = body["metadata"]
        return cls(body["apiVersion"], body["kind"], metadata["name"], metadata.get("namespace"))

    def __str__(self) -> str:
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"


def dig(body: Any, *path: str) -> Any:
    """Return the value at ``path``; None if the path does not exist (a status may be null right after apply)."""
    for key in path:
        body = body.get(key) if isinstance(body, dict) else None
    return body
