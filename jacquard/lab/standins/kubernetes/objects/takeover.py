"""Fields of an object move to this resource's field manager before it applies: pure data in, pure data out.

The vendor's provider creates as ``pulumi-kubernetes`` by a plain write, which server-side apply counts as another
manager: a change of such an object would be a conflict, and what the program no longer has would stay. Like that
provider's first update, ours takes everything over that it wrote. Of kubectl's fields only those are taken that the
program declares or declared; the vendor's takes all, and so removes a label that somebody else put beside ours.
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
    """A take-over of fields.

    Attributes:
        entries: the ``managedFields`` that the object has to get; those of the manager that takes over come last.
        from_hands: the managers by which people had set some of the fields.
    """

    entries: list[dict[str, Any]]
    from_hands: tuple[str, ...]


def moved(live: Mapping[str, Any], name: str, declared: Iterable[Mapping[str, Any]]) -> Move | None:
    """Return what has to move before ``name`` applies to a live object; None for nothing.

    Args:
        live: the object as it is.
        name: the field manager that takes the fields.
        declared: the inputs before and after the change.
    """
    bodies, mine, others = list(declared), None, []
    taken: Fields = {}
    hands: set[str] = set()
    for entry in live["metadata"].get("managedFields") or ():
        if entry.get("manager") == name and entry.get("operation") == "Apply" and not entry.get("subresource"):
            mine = entry
            continue
        part = _taken(entry, name, bodies)
        taken = union(taken, part)
        hands |= {entry["manager"]} if part and entry["manager"].startswith(_BY_HAND) else set()
        rest = without(entry.get("fieldsV1") or {}, part)
        others += [entry if not part else {**entry, "fieldsV1": rest}] if rest or not part else []
    if not taken:
        return None
    base = mine or {"manager": name, "operation": "Apply", "fieldsType": "FieldsV1"}
    fields = union(base.get("fieldsV1") or {}, taken)
    entries = [*others, {**base, "apiVersion": live["apiVersion"], "fieldsV1": fields}]
    return Move(entries, tuple(sorted(hands)))


def takes_from(manager: str, name: str) -> bool:
    """Return whether fields of ``manager`` may move to ``name``."""
    return manager == name or manager.startswith((*_PULUMI, *_BY_HAND))


def _taken(entry: Mapping[str, Any], name: str, bodies: Iterable[Mapping[str, Any]]) -> Fields:
    manager, operation, fields = entry.get("manager", ""), entry.get("operation"), entry.get("fieldsV1") or {}
    if entry.get("subresource"):
        return {}
    # The vendor's provider replaces a definition by a plain write under the resource's own name.
    if operation == "Update" and (manager == name or manager.startswith(_PULUMI)):
        return dict(fields)
    if manager.startswith(_BY_HAND):
        found: Fields = {}
        for body in bodies:
            found = union(found, of_body(fields, body))
        return found
    return {}


def applied(live: Mapping[str, Any], body: Mapping[str, Any], move: Move) -> dict[str, Any]:
    """Return a live object as it will be when ``body`` is applied after a take-over."""
    *others, last = move.entries
    ours = last["fieldsV1"]
    leaving = without(ours, of_body(ours, body))
    for entry in others:
        leaving = without(leaving, entry.get("fieldsV1") or {})
    return dict(_merged(_cut(live, leaving), body, ours))


def _cut(value: Any, leaving: Fields) -> Any:
    """Return a value without the fields and items that leave it."""
    if not leaving:
        return value
    if isinstance(value, dict):
        left: dict[str, Any] = {}
        for key, item in value.items():
            inner = leaving.get(f"f:{key}")
            rest = _cut(item, inner) if inner else item
            if inner is None or (inner and (rest or ITSELF not in inner)):
                left[key] = rest
        return left
    if not isinstance(value, list):
        return value
    return [_cut(item, inner or {}) for item in value if not _goes_whole(inner := _of_item(leaving, item))]


def _of_item(fields: Fields, item: Any) -> Fields | None:
    """Return what a set of fields says of an item of a list; None for nothing."""
    return next((inner for key, inner in fields.items() if key != ITSELF and below([item], key)), None)


def _goes_whole(inner: Fields | None) -> bool:
    return inner is not None and (not inner or ITSELF in inner)


def _merged(live: Any, body: Any, fields: Fields) -> Any:
    """Return a live value with that of a body laid over it; lists by the keys that ``fields`` knows their items by."""
    if isinstance(live, dict) and isinstance(body, dict):
        laid = {key: _merged(live.get(key), item, fields.get(f"f:{key}", {})) for key, item in body.items()}
        return {**live, **laid}
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


def _same(one: Any, other: Any, names: tuple[str, ...]) -> bool:
    return all(other.get(name, one.get(name)) == one.get(name) for name in names)
