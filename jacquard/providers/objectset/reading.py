"""Reading a set back: what was declared, with the values the cluster has now, so that drift shows as a difference."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.overlay import seen
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.inputs import ObjectSet, brief
from jacquard.providers.objectset.looking import existing
from jacquard.providers.objectset.members import Members
from jacquard.providers.objectset.patch_bodies import bodies
from jacquard.providers.objectset.patching import try_over
from jacquard.providers.objectset.session import Session


@dataclass(frozen=True, slots=True)
class Seen:
    """A set as it is in the cluster."""

    members: Mapping[str, Any] = field(repr=False)
    uids: Mapping[str, str]
    has_parent: bool
    patches: Mapping[str, Any] = field(repr=False)
    """Patches as recorded, without objects that are not there; one that differs stands alone, at ``key/name``."""


def read(session: Session, recorded: ObjectSet) -> Seen:
    """Return the recorded set with live values; a member that is gone is left out.

    A value that differs is no drift when applying the member once more would leave it as it is: the server writes it
    in a form of its own, such as ``1`` for ``1000m``. The server itself says so, by a dry-run.

    Raises:
        ApiError: The server refused to answer; nothing can be said about the set.
    """
    parent = session.api.get(ObjectRef("v1", "ConfigMap", recorded.name, recorded.namespace))
    members = Members(session, recorded)
    found = {recorded.identity(body): body for body in members.labelled(recorded.versions(), recorded.namespaces())}
    live = {key: found[identity] for identity, key in recorded.identities().items() if identity in found}
    rest = members.look(key for key in recorded.members if key not in live)
    for error in rest.failed.values():
        raise error
    live |= {key: body for key, body in rest.done.items() if body is not None}
    values = {key: seen(body, live[key]) for key, body in recorded.members.items() if key in live}
    drifted = {key: key for key, value in values.items() if value != recorded.members[key]}
    # Where that cannot be tried, the drift just shows.
    for key, applied in session.workers.run(members.try_over, drifted).done.items():
        values[key] = seen(recorded.members[key], live[key], applied)
    return Seen(
        members=values,
        uids={key: brief(live[key]) for key in recorded.members if key in live},
        has_parent=parent is not None and applyset.foreign(parent) is None,
        patches=_patches(session, recorded),
    )


def _patches(session: Session, recorded: ObjectSet) -> dict[str, Any]:
    targets = recorded.targets()
    live = existing(session, {one: str(body["apiVersion"]) for one, body in targets.items()})
    values = {one: seen(targets[one], body) for one, body in live.items()}
    drifted = {one: one for one, value in values.items() if value != targets[one]}
    tried = session.workers.run(lambda one: try_over(session, targets[one], live[one]), drifted)
    values |= {one: seen(targets[one], live[one], applied) for one, applied in tried.done.items()}
    found: dict[str, Any] = {}
    for key, patch in recorded.patches.items():
        there = {body["metadata"]["name"]: one for body in bodies(patch) if (one := recorded.identity(body)) in live}
        same = [name for name, one in there.items() if values[one] == targets[one]]
        if same:
            found[key] = {**patch, "names": same}
        for name in sorted(there.keys() - set(same)):
            fields = {field: value for field, value in values[there[name]].items() if field in patch["fields"]}
            found[f"{key}/{name}"] = {**patch, "names": [name], "fields": fields}
    return found
