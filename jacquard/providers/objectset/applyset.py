"""Membership that can be read from the cluster alone: an ApplySet (KEP-3659) with a ConfigMap as its parent.

The parent carries the set's id and says which kinds and namespaces to look in; every member carries that id as a
label. So a set can be found, pruned and adopted when the state is lost, and other tools know whose its objects are.
"""

from __future__ import annotations

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
"""Annotation of a member with its key in the set: a second mark, and how an import finds the keys again."""
PATCHES = "patches"
"""Key of the parent's data: what is applied to objects that other controllers make, for they bear no mark."""
FIELD_MANAGER = "jacquard-objectset"
"""Owner of the fields that sets apply."""
OURS = "jacquard/v1"
"""Our value of `TOOLING`; a set of other tooling is never touched."""


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
    """Return the parent object for the set of a resource, with these (group, kind) pairs in these namespaces."""
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
    """Return why a ConfigMap that has the parent's name is not ours to use; None when it is."""
    metadata = live["metadata"]
    tooling = (metadata.get("annotations") or {}).get(TOOLING)
    if tooling is not None and tooling != OURS:
        return f"is the parent of an ApplySet of '{tooling}'"
    if (metadata.get("labels") or {}).get(ID) != applyset_id(metadata["name"], metadata["namespace"]):
        return "exists and is no parent of an ApplySet"
    return None


def maker(live: Mapping[str, Any]) -> str | None:
    """Return the URN of the resource that a parent's set belongs to, None for a parent that names none."""
    return (live["metadata"].get("annotations") or {}).get(MADE_BY)


def contents(live: Mapping[str, Any]) -> tuple[set[tuple[str, str]], set[str]]:
    """Return the (group, kind) pairs and the namespaces that a parent says its set has."""
    metadata = live["metadata"]
    annotations = metadata.get("annotations") or {}
    kinds = {
        (group, kind)
        for kind, _, group in (item.partition(".") for item in annotations.get(KINDS, "").split(",") if item)
    }
    return kinds, {metadata["namespace"], *(item for item in annotations.get(NAMESPACES, "").split(",") if item)}


def patches(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a parent says its set applies to objects that other controllers make."""
    try:
        return dict(json.loads((live.get("data") or {})[PATCHES]))
    except (KeyError, ValueError):
        return {}


def same(live: Mapping[str, Any], body: Mapping[str, Any]) -> bool:
    """Return whether a live parent already says what ``body`` says."""
    return patches(live) == patches(body) and all(
        (live["metadata"].get(part) or {}).get(key) == body["metadata"][part].get(key)
        for part, keys in (("labels", (ID,)), ("annotations", (TOOLING, KINDS, NAMESPACES, MADE_BY)))
        for key in keys
    )


def of_another(live: Mapping[str, Any], applyset: str) -> bool:
    """Return whether an object carries the label of another set than this one."""
    return (live["metadata"].get("labels") or {}).get(PART_OF) not in (None, applyset)
