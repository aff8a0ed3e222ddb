"""Helper functions of renderers for objects, names and digests."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.manifest import MANAGEMENT, Json, Manifest, Readiness

LABEL_LIMIT = 63
"""Maximum length of a DNS label and of a label value, in characters."""
SERVICES_PRIORITY = "region-services"
"""PriorityClass of the platform's services and jobs."""


def manifest(
    api_version: str,
    kind: str,
    name: str,
    *,
    namespace: str | None = None,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    cluster: str = MANAGEMENT,
    readiness: Readiness | None = None,
    retain: bool = False,
    protect: bool = False,
    **sections: Any,
) -> Manifest:
    """Return an object; ``sections`` are its top-level keys except ``metadata``, such as ``spec``."""
    metadata: dict[str, Any] = {"name": name}
    if namespace is not None:
        metadata["namespace"] = namespace
    metadata["labels"] = {keys.MANAGED_BY: keys.FIELD_MANAGER, **(labels or {})}
    if annotations:
        metadata["annotations"] = dict(annotations)
    return Manifest(
        body={"apiVersion": api_version, "kind": kind, "metadata": metadata, **sections},
        cluster=cluster,
        readiness=readiness,
        retain=retain,
        protect=protect,
    )


def namespace(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    cluster: str = MANAGEMENT,
) -> Manifest:
    """Return the Namespace ``name``."""
    return manifest("v1", "Namespace", name, labels=labels, annotations=annotations, cluster=cluster)


def reference(item: Manifest) -> dict[str, str]:
    """Return the reference to ``item`` in the same namespace, without a version, in Cluster API's format."""
    return {"apiGroup": item.api_version.partition("/")[0], "kind": item.kind, "name": item.name}


def given(**fields: Any) -> dict[str, Any]:
    """Return ``fields`` without values that are None or an empty collection."""
    return {key: value for key, value in fields.items() if value is not None and value not in ((), [], {})}


def digest(content: Json, length: int) -> str:
    """Return the first ``length`` hex digits of the SHA-256 of ``content`` in canonical JSON."""
    canonical = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(canonical.encode()).hexdigest()[:length]


def fit(name: str, limit: int) -> str:
    """Return ``name``, or its prefix with a digest of the whole name if it is longer than ``limit``."""
    if len(name) <= limit:
        return name
    tail = hashlib.sha256(name.encode()).hexdigest()[:8]
    return f"{name[: limit - 9].rstrip('-.')}-{tail}"
