"""Helpers to read Kubernetes objects from an API server."""

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from jacquard.providers.kube.objects import dig

Object: TypeAlias = dict[str, Any]
Objects: TypeAlias = Callable[[str], list[Object]]
"""Returns all objects of a kind in one cluster."""
Kind: TypeAlias = tuple[str, str]
"""Version and kind."""
Place: TypeAlias = tuple[str, str]
"""Namespace and name."""
Report: TypeAlias = Callable[[Place], tuple[str | None, Mapping[str, str]]]
"""Returns the host of a node, None if unknown, and the values that the host reports, by property."""
UNKNOWN = "unknown"
"""State of an object whose controller has not written a state yet."""


def condition(body: Object, kind: str) -> Object:
    """Return the condition ``kind`` of an object, or an empty mapping."""
    for item in dig(body, "status", "conditions") or []:
        if item.get("type") == kind:
            return dict(item)
    return {}


def holds(body: Object, kind: str, status: str = "True") -> bool:
    """Return whether the condition ``kind`` of an object has ``status``; False if the condition is absent."""
    return condition(body, kind).get("status") == status


def key(body: Object) -> tuple[str, str]:
    """Return namespace and name; the namespace of a cluster-scoped object is empty."""
    metadata = body["metadata"]
    return str(metadata.get("namespace", "")), str(metadata["name"])
