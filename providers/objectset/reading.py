"""Reading a set back: what was declared, with the values the cluster has now, so that drift shows as a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from providers.kube import ApiServer, ObjectRef
from providers.objectset import applyset
from providers.objectset.inputs import ObjectSet
from providers.objectset.members import Members
from providers.objectset.workers import Workers

WRITE_ONLY = {("v1", "Secret"): ("stringData",)}
"""Fields that the server takes and never shows."""


@dataclass(frozen=True, slots=True)
class Seen:
    """A set as it is in the cluster."""

    members: Mapping[str, Any] = field(repr=False)
    uids: Mapping[str, str]
    has_parent: bool


def read(api: ApiServer, workers: Workers, recorded: ObjectSet) -> Seen:
    """Return the recorded set with live values; a member that is gone is left out.

    Raises:
        ApiError: The server refused to answer; nothing can be said about the set.
    """
    parent = api.get(ObjectRef("v1", "ConfigMap", recorded.name, recorded.namespace))
    members = Members(api, workers, recorded)
    owned = members.owned_objects(recorded.versions(), recorded.namespaces())
    found = {recorded.identity(body): body for body in owned}
    live = {key: found[identity] for identity, key in recorded.identities().items() if identity in found}
    rest = members.look(key for key in recorded.members if key not in live)
    for error in rest.failed.values():
        raise error
    live |= {key: body for key, body in rest.done.items() if body is not None}
    return Seen(
        members={key: seen(body, live[key]) for key, body in recorded.members.items() if key in live},
        uids={key: str(live[key]["metadata"]["uid"]) for key in recorded.members if key in live},
        has_parent=parent is not None and applyset.foreign(parent) is None,
    )


def seen(declared: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """Return a declared object with live values: fields nobody declared stay out, declared ones that are gone go."""
    hidden = WRITE_ONLY.get((str(declared["apiVersion"]), str(declared["kind"])), ())
    kept = {key: declared[key] for key in ("apiVersion", "kind", *hidden) if key in declared}
    return dict(_overlay(declared, {**live, **kept}))


def _overlay(declared: Any, live: Any) -> Any:
    if isinstance(declared, Mapping) and isinstance(live, Mapping):
        return {
            key: _overlay(value, live[key]) if key in live else value
            for key, value in declared.items()
            if key in live or _is_empty(value)
        }
    if isinstance(declared, list) and isinstance(live, list) and len(declared) == len(live):
        return [_overlay(left, right) for left, right in zip(declared, live, strict=True)]
    return live


def _is_empty(value: Any) -> bool:
    """Return whether leaving a value out says the same; servers drop such fields."""
    return value is None or value in ({}, [])
