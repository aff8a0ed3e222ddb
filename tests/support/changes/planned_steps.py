"""Steps of previews in the format of the engine's events (recorded with pulumi 3.259, without properties)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

_PROVIDER = "urn:pulumi:laptop::jacquard::pulumi:providers:kubernetes::{cluster}::2bf37b02"


def inputs(kind: str, name: str, namespace: str | None = None, api_version: str = "v1", **more: Any) -> dict[str, Any]:
    metadata: dict[str, Any] = {"name": name, **({"namespace": namespace} if namespace else {})}
    metadata |= more.pop("metadata", {})
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, **more}


def _step(kind: str, name: str, urn: str, operation: str) -> dict[str, Any]:
    type_ = f"jacquard:components:Region$kubernetes:core/v1:{kind}"
    return {"op": operation, "urn": f"urn:pulumi:laptop::jacquard::{type_}::{urn or name}", "detailedDiff": None}


def _side(body: Mapping[str, Any], cluster: str) -> dict[str, Any]:
    return {"custom": True, "inputs": dict(body), "outputs": {}, "provider": _PROVIDER.format(cluster=cluster)}


def same(kind: str, name: str, *, urn: str = "", cluster: str = "management", **body: Any) -> dict[str, Any]:
    """Return the step of an unchanged object."""
    declared = inputs(kind, name, **body)
    return _step(kind, name, urn, "same") | {"old": _side(declared, cluster), "new": _side(declared, cluster)}


def deleted(kind: str, name: str, *, urn: str = "", cluster: str = "management", **body: Any) -> dict[str, Any]:
    """Return the step of a deleted object."""
    return _step(kind, name, urn, "delete") | {"old": _side(inputs(kind, name, **body), cluster), "new": None}


def replaced(
    kind: str,
    name: str,
    *,
    forced_by: Sequence[str] = ("metadata.namespace",),
    before: Mapping[str, Any] | None = None,
    now: Mapping[str, Any] | None = None,
    cluster: str = "management",
    **body: Any,
) -> dict[str, Any]:
    """Return the step of a replaced object; ``before`` and ``now`` are its declared values."""
    declared = inputs(kind, name, **body)
    return _step(kind, name, "", "replace") | {
        "old": _side({**declared, **(before or {})}, cluster),
        "new": _side({**declared, **(now or {})}, cluster),
        "keys": list(forced_by),
        "detailedDiff": {path: {"diffKind": "update-replace", "inputDiff": False} for path in forced_by},
    }
