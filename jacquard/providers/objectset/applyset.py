"""Membership of sets, stored in the cluster: an ApplySet (KEP-3659) with a ConfigMap as its parent.

The parent has the set's id and lists the kinds and namespaces of the members; every member has that id as a label.
A set can therefore be found, pruned and adopted after the state is lost, and other tools can identify its objects.
"""

import base64
import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from jacquard.providers.ownership import MADE_BY

ID = "applyset.kubernetes.io/id"
PART_OF = "applyset.kubernetes.io/part-of"
TOOLING = "applyset.kubernetes.io/tooling"
KINDS = "applyset.kubernetes.io/contains-group-kinds"
NAMESPACES = "applyset.kubernetes.io/additional-namespaces"
MEMBER = "jacquard.dev/member"
"""Annotation with the key of a member in its set: a second mark; an import restores the keys from this annotation."""
PATCHES = "patches"
"""Key of the parent's data with the patches of other controllers' objects, which have no mark."""
FIELD_MANAGER = "jacquard-objectset"
"""Field manager of the fields that sets apply."""
OURS = "jacquard/v1"
"""Jacquard's value of `TOOLING`; sets with another value are never changed."""


def applyset_id(name: str, namespace: str) -> str:
    """Return the id of the set whose parent is the ConfigMap ``name`` in ``namespace``."""
    digest = hashlib.sha256(f"{name}.{namespace}.ConfigMap.".encode()).digest()
    return f"applyset-{base64.urlsafe_b64encode(digest).rstrip(b'=').decode()}-v1"


def parent(
    name: str,
    namespace: str,
    kinds: Iterable[tuple[str, str]],
    namespaces: Iterable[str],
    *,
    patches: Mapping[str, Any],
    urn: str,
) -> dict[str, Any]:
    """Return the parent object of a resource's set, with these (group, kind) pairs in these namespaces."""
    group_kinds = sorted(f"{kind}.{group}" if group else kind for group, kind in kinds)
    elsewhere = sorted(set(namespaces) - {namespace})
    annotations = {TOOLING: OURS, KINDS: ",".join(group_kinds), MADE_BY: urn}
    if elsewhere:
        annotations[NAMESPACES] = ",".join(elsewhere)
    metadata = {
        "name": name,
        "namespace": namespace,
        "labels": {ID: applyset_id(name, namespace)},
        "annotations": annotations,
    }
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    if patches:
        body["data"] = {PATCHES: json.dumps(patches, separators=(",", ":"), sort_keys=True)}
    return body


def foreign(live: Mapping[str, Any]) -> str | None:
    """Return the reason why a ConfigMap with the parent's name must not be used; None if it can be used."""
    metadata = live["metadata"]
    tooling = (metadata.get("annotations") or {}).get(TOOLING)
    if tooling is not None and tooling != OURS:
        return f"is the parent of an ApplySet of '{tooling}'"
    if (metadata.get("labels") or {}).get(ID) != applyset_id(metadata["name"], metadata["namespace"]):
        return "exists and is not the parent of an ApplySet"
    return None


def maker(live: Mapping[str, Any]) -> str | None:
    """Return the URN of the resource that owns a parent's set, None if the parent has no URN."""
    return (live["metadata"].get("annotations") or {}).get(MADE_BY)


def contents(live: Mapping[str, Any]) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the (group, kind) pairs and the namespaces that a parent lists for its set."""
    metadata = live["metadata"]
    annotations = metadata.get("annotations") or {}
    kinds = {
        (group, kind)
        for kind, _, group in (item.partition(".") for item in annotations.get(KINDS, "").split(",") if item)
    }
    return kinds, {metadata["namespace"], *(item for item in annotations.get(NAMESPACES, "").split(",") if item)}


def patches(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the patches that a parent lists for its set."""
    try:
        return dict(json.loads((live.get("data") or {})[PATCHES]))
    except (KeyError, ValueError):
        return {}


def same(live: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Return whether a live parent has the content of ``body``."""
    return patches(live) == patches(body) and all(
        (live["metadata"].get(part) or {}).get(key) == body["metadata"][part].get(key)
        for part, keys in (("labels", (ID,)), ("annotations", (TOOLING, KINDS, NAMESPACES, MADE_BY)))
        for key in keys
    )


def of_another(live: Mapping[str, Any], applyset: str) -> bool:
    """Return whether an object has the label of another set."""
    return (live["metadata"].get("labels") or {}).get(PART_OF) not in (None, applyset)
