"""Transfer of field ownership to this resource's field manager before an apply: pure functions.

The vendor's provider creates objects as ``pulumi-kubernetes`` by a plain write, which server-side apply treats as
another manager. A change of such an object would be a conflict, and fields removed from the program would remain. Like
the first update of the vendor's provider, this transfer includes all fields that the vendor's provider wrote. Of
kubectl's fields, only current and earlier fields of the program move. The vendor's provider moves all fields, and
thereby removes additional labels of other users.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.kube.field_sets import ITSELF, Fields, below, of_body, union, without

_PULUMI = ("pulumi-kubernetes", "pulumi-resource-kubernetes")
_BY_HAND = ("kubectl", "before-first-apply")


@dataclass(frozen=True)
class Move:
    """A transfer of field ownership.

    Attributes:
        entries: the new ``managedFields`` of the object; the entry of the new manager is last.
        from_hands: the managers of fields that users had set manually.
    """

    entries: list[dict[str, Any]]
    from_hands: tuple[str, ...]


def moved(live: Mapping[str, Any], name: str, declared: Iterable[Mapping[str, Any]]) -> Move | None:
    """Return the transfer required before ``name`` applies to a live object; None if no field moves.

    Args:
        live: the current object.
        name: the new field manager.
        declared: the inputs before and after the change.
    """
    bodies, current, others = list(declared), None, []
    taken: Fields = {}
    hands: set[str] = set()
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("manager") == name and entry.get("operation") == "Apply" and not entry.get("subresource"):
            current = entry
            continue
        part = _taken(entry, name, bodies)
        taken = union(taken, part)
        hands |= {entry["manager"]} if part and entry["manager"].startswith(_BY_HAND) else set()
        rest = without(entry.get("fieldsV1") or {}, part)
        others += [entry if not part else {**entry, "fieldsV1": rest}] if rest or not part else []
    if not taken:
        return None
    base = current or {"manager": name, "operation": "Apply", "fieldsType": "FieldsV1"}
    fields = union(base.get("fieldsV1") or {}, taken)
    entries = [*others, {**base, "apiVersion": live["apiVersion"], "fieldsV1": fields}]
    return Move(entries, tuple(sorted(hands)))


def takes_from(manager: str, name: str) -> bool:
    """Return whether fields of ``manager`` can move to ``name``."""
    return manager == name or manager.startswith((*_PULUMI, *_BY_HAND))


def _taken(entry: Mapping[str, Any], name: str, bodies: Iterable[Mapping[str, Any]]) -> Fields:
    manager, operation, fields = entry.get("manager", ""), entry.get("operation"), entry.get("fieldsV1") or {}
    if entry.get("subresource"):
        return {}
    # The vendor's provider replaces a CustomResourceDefinition by a plain write with the resource's own manager name.
    if operation == "Update" and (manager == name or manager.startswith(_PULUMI)):
        return dict(fields)
    if manager.startswith(_BY_HAND):
        declared: Fields = {}
        for body in bodies:
            declared = union(declared, of_body(fields, body))
        return declared
    return {}


def applied(live: Mapping[str, Any], body: Mapping[str, Any], move: Move) -> dict[str, Any]:
    """Return the live object after a transfer and an apply of ``body``."""
    *others, last = move.entries
    owned = last["fieldsV1"]
    removed = without(owned, of_body(owned, body))
    for entry in others:
        removed = without(removed, entry.get("fieldsV1") or {})
    return dict(_merged(_without(live, removed), body, owned))


def _without(value: Any, removed: Fields) -> Any:
    """Return a value without the removed fields and items."""
    if not removed:
        return value
    if isinstance(value, dict):
        remaining: dict[str, Any] = {}
        for key, item in value.items():
            inner = removed.get(f"f:{key}")
            rest = _without(item, inner) if inner else item
            if inner is None or (inner and (rest or ITSELF not in inner)):
                remaining[key] = rest
        return remaining
    if not isinstance(value, list):
        return value
    return [_without(item, inner or {}) for item in value if not _is_removed(inner := _of_item(removed, item))]


def _of_item(fields: Fields, item: Any) -> Fields | None:
    """Return the fields of a list item in a field set; None if the field set lacks the item."""
    return next((inner for key, inner in fields.items() if key != ITSELF and below([item], key)), None)


def _is_removed(inner: Fields | None) -> bool:
    return inner is not None and (not inner or ITSELF in inner)


def _merged(live: Any, body: Any, fields: Fields) -> Any:
    """Merge a body into a live value; list items are matched by the keys in ``fields``."""
    if isinstance(live, dict) and isinstance(body, dict):
        merged = {key: _merged(live.get(key), item, fields.get(f"f:{key}", {})) for key, item in body.items()}
        return {**live, **merged}
    if not isinstance(live, list) or not isinstance(body, list):
        return body
    names = next((tuple(json.loads(key[2:])) for key in fields if key.startswith("k:")), ())
    if names:
        items = [item for item in live if not any(_same(item, new, names) for new in body)]
        pairs = [(next((item for item in live if _same(item, new, names)), None), new) for new in body]
        return [new if old is None else _merged(old, new, _of_item(fields, new) or {}) for old, new in pairs] + items
    if any(key.startswith("v:") for key in fields):
        return live + [item for item in body if item not in live]
    return body


def _same(live: Any, new: Any, names: tuple[str, ...]) -> bool:
    return all(new.get(name, live.get(name)) == live.get(name) for name in names)
