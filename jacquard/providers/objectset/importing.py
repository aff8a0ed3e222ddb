"""Imports a set by its id: restores the declaration from the fields that the set's manager applied in the cluster."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube import ObjectRef
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.inputs import ObjectSet
from jacquard.providers.objectset.members import Members, marked
from jacquard.providers.objectset.session import Session


def find(session: Session, id_: str) -> ObjectSet:
    """Return the set with this id, with its members as they were applied.

    Args:
        session: Session with the cluster.
        id_: Namespace and name of the set's parent, ``inventory/rack-a01``.

    Raises:
        ProviderError: The id is invalid, or the cluster has no such set.
        ApiError: The server rejected the request.
    """
    namespace, slash, name = id_.partition("/")
    if not (namespace and slash and name):
        msg = f"'{id_}' is not an id of an ObjectSet; write NAMESPACE/SETNAME, such as inventory/rack-a01"
        raise ProviderError(msg)
    parent = session.api.get(ObjectRef("v1", "ConfigMap", name, namespace))
    reason = "does not exist" if parent is None else applyset.foreign(parent)
    if parent is None or reason:
        msg = f"ObjectSet {id_} cannot be imported: its parent, ConfigMap {id_}, {reason}"
        raise ProviderError(msg)
    empty = ObjectSet(name, namespace, {})
    bodies = [body for body in Members(session, empty).labelled(*applyset.contents(parent)) if marked(body)]
    members = {body["metadata"]["annotations"][applyset.MEMBER]: declared(body) for body in bodies}
    if len(members) < len(bodies):
        msg = f"ObjectSet {id_} cannot be imported: some of its {len(bodies)} objects have the same {applyset.MEMBER}"
        raise ProviderError(msg)
    return ObjectSet(name, namespace, {key: members[key] for key in sorted(members)}, applyset.patches(parent))


def declared(live: Mapping[str, Any], *, alone: bool = False) -> dict[str, Any]:
    """Return the fields of a live object that the set's field manager applied, without the set's marks.

    Args:
        live: The object, with its ``managedFields``.
        alone: Omit fields that another manager also owns.
    """
    entries = live["metadata"].get("managedFields") or ()
    ours = [
        entry
        for entry in entries
        if entry["manager"] == applyset.FIELD_MANAGER and entry["operation"] == "Apply" and not entry.get("subresource")
    ]
    fields: dict[str, Any] = ours[0]["fieldsV1"] if ours else {}
    if alone:
        fields = _without(fields, [entry.get("fieldsV1", {}) for entry in entries if entry not in ours])
    body = _pick(live, fields) if fields else {}
    metadata = body.get("metadata", {})
    for part, mark in (("labels", applyset.PART_OF), ("annotations", applyset.MEMBER)):
        rest = {key: value for key, value in metadata.get(part, {}).items() if key != mark}
        metadata = {**{key: value for key, value in metadata.items() if key != part}, **({part: rest} if rest else {})}
    names = {key: live["metadata"][key] for key in ("name", "namespace") if key in live["metadata"]}
    return {"apiVersion": live["apiVersion"], "kind": live["kind"], **body, "metadata": {**names, **metadata}}


def _without(fields: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return a ``fieldsV1`` tree without the leaves of other trees."""
    rest = {}
    for step, inner in fields.items():
        if step == ".":
            continue
        theirs = [other[step] for other in others if step in other]
        left = _without(inner, theirs)
        if left or not (inner or theirs):
            rest[step] = left
    return rest


def _pick(value: Any, fields: Mapping[str, Any]) -> Any:
    """Return the part of a value that a ``fieldsV1`` tree names; a leaf of the tree selects the whole value."""
    steps = {step: inner for step, inner in fields.items() if step != "."}
    if not steps:
        return value
    if isinstance(value, Mapping):
        inside = ((step[2:], inner) for step, inner in steps.items() if step.startswith("f:"))
        return {key: _pick(value[key], inner) for key, inner in inside if key in value}
    return [_pick(item, inner) for item in value for step, inner in steps.items() if _is_item(item, step)]


def _is_item(item: Any, step: str) -> bool:
    """Return whether a step of a ``fieldsV1`` tree selects this element of a list."""
    form, _, text = step.partition(":")
    wanted = json.loads(text)
    if form == "k":
        return isinstance(item, Mapping) and all(item.get(key) == value for key, value in wanted.items())
    return form == "v" and bool(item == wanted)
