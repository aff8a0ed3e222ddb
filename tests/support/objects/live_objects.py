"""Objects as an API server returns them."""

from __future__ import annotations

from typing import Any


def obj(api_version: str, kind: str, name: str, spec: Any = None, namespace: str = "ns", **more: Any) -> dict[str, Any]:
    """Return an object; without a namespace it is cluster-scoped."""
    metadata = {"name": name, **({"namespace": namespace} if namespace else {}), **more.pop("metadata", {})}
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec or {}, **more}
