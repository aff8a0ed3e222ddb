"""Reads a set: its declaration with the live values of the cluster, so that drift is visible as a difference."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jacquard.providers.kube import ObjectRef
from jacquard.providers.kube.overlay import seen
from jacquard.providers.objectset import applyset
from jacquard.providers.objectset.inputs import ObjectSet, brief
from jacquard.providers.objectset.looking import existing
from jacquard.providers.objectset.members import Members
from jacquard.providers.objectset.patch_bodies import bodies, is_unnecessary
from jacquard.providers.objectset.patching import try_over
from jacquard.providers.objectset.session import Session


@dataclass(frozen=True, slots=True)
class Seen:
    """A set in the cluster."""

    members: Mapping[str, Any] = field(repr=False)
    uids: Mapping[str, str]
    has_parent: bool
    patches: Mapping[str, Any] = field(repr=False)
    """Recorded patches, without missing objects; an object that differs has its own patch, with the key
    ``key/name``."""


def read(session: Session, recorded: ObjectSet) -> Seen:
    """Return the recorded set with live values; missing members are omitted.

    A different value is not drift if another apply would not change the value: the server may use another notation,
    such as ``1`` for ``1000m``. A dry run on the server detects this case.

    Raises:
        ApiError: The server rejected a read; nothing is known about the set.
    """
    parent = session.api.get(ObjectRef("v1", "ConfigMap", recorded.name, recorded.namespace))
    members = Members(session, recorded)
    objects = {recorded.identity(body): body for body in members.labelled(recorded.versions(), recorded.namespaces())}
    live = {key: objects[identity] for identity, key in recorded.identities().items() if identity in objects}
    rest = members.look(key for key in recorded.members if key not in live)
    for error in rest.failed.values():
        raise error
    live |= {key: body for key, body in rest.done.items() if body is not None}
    values = {key: seen(body, live[key]) for key, body in recorded.members.items() if key in live}
    drifted = {key: key for key, value in values.items() if value != recorded.members[key]}
    # If the dry run fails, the difference is shown.
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
    live = existing(session, {identity: str(body["apiVersion"]) for identity, body in targets.items()})
    origins = recorded.origins()
    values = {
        identity: targets[identity]
        if (unless := origins[identity][1]) and is_unnecessary(targets[identity], unless, body)
        else seen(targets[identity], body)
        for identity, body in live.items()
    }
    drifted = {identity: identity for identity, value in values.items() if value != targets[identity]}
    tried = session.workers.run(lambda identity: try_over(session, targets[identity], live[identity]), drifted)
    values |= {identity: seen(targets[identity], live[identity], applied) for identity, applied in tried.done.items()}
    patches: dict[str, Any] = {}
    for key, patch in recorded.patches.items():
        names = {body["metadata"]["name"]: recorded.identity(body) for body in bodies(patch)}
        present = {name: identity for name, identity in names.items() if identity in live}
        same = [name for name, identity in present.items() if values[identity] == targets[identity]]
        if same:
            patches[key] = {**patch, "names": same}
        for name in sorted(present.keys() - set(same)):
            fields = {field: value for field, value in values[present[name]].items() if field in patch["fields"]}
            patches[f"{key}/{name}"] = {**patch, "names": [name], "fields": fields}
    return patches
