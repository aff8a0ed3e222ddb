"""Data model of an object set, and validation of its inputs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from jacquard.providers.kube import ObjectRef
from jacquard.providers.objectset.applyset import MEMBER, PART_OF, applyset_id
from jacquard.providers.objectset.patch_bodies import bodies
from jacquard.providers.rpc.errors import check_failure
from jacquard.providers.rpc.paths import Path, leaves
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN

INPUTS = ("setName", "namespace", "members", "patches")
_PATCH = ("apiVersion", "kind", "names", "fields")
_PATCH_MAY = ("namespace", "waitSeconds", "unless", "madeOf")
_NOT_PATCHED = ("apiVersion", "kind", "metadata", "status")
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")


class Identity(NamedTuple):
    """Identity of an object, independent of its API version."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}"


UID_DIGITS = 8
"""Number of recorded digits of a uid: sufficient to recognise an object of a known name, with a third less state."""


def brief(live: Mapping[str, Any]) -> str:
    """Return the recorded digits of a live object's uid."""
    return str(live["metadata"]["uid"])[:UID_DIGITS]


@dataclass(frozen=True, slots=True)
class ObjectSet:
    """Objects that are managed as one resource. The representation contains no member."""

    name: str
    namespace: str
    members: Mapping[str, Any] = field(repr=False)
    """Complete objects by a stable key, sorted by key."""
    patches: Mapping[str, Any] = field(default_factory=dict, repr=False)
    """Fields of objects that other controllers create, by a stable key. A patch has ``apiVersion``, ``kind``, ``names``
    and ``fields``, which are the same for all names, and ``namespace`` for namespaced kinds. ``waitSeconds`` is the
    time that a change waits for objects that do not exist yet. ``unless`` is a part of an object with which the object
    needs no patch, if its fields are empty; an object that reports no such part is not patched yet. ``madeOf``
    describes the source of the objects: if it changes, the objects are recreated and the fields are applied again."""

    @classmethod
    def of(cls, plain: Mapping[str, Any]) -> ObjectSet:
        """Return the set of checked or recorded inputs."""
        members, patches = (_known(plain.get(name)) for name in ("members", "patches"))
        return cls(str(plain.get("setName")), str(plain.get("namespace")), members, patches)

    @property
    def id(self) -> str:
        """Return the id of the resource, which is the name of the parent object."""
        return f"{self.namespace}/{self.name}"

    @property
    def applyset(self) -> str:
        """Return the id of the ApplySet, which is a label of every member."""
        return applyset_id(self.name, self.namespace)

    def identity(self, body: Mapping[str, Any]) -> Identity:
        """Return the identity of a member; the default namespace is the set's namespace."""
        group = str(body["apiVersion"]).rpartition("/")[0]
        metadata = body["metadata"]
        namespace = str(metadata.get("namespace") or self.namespace)
        return Identity(group, str(body["kind"]), namespace, str(metadata["name"]))

    def identities(self) -> dict[Identity, str]:
        """Return the key of each member by its identity; members with an unknown identity are omitted."""
        return {self.identity(body): key for key, body in self.members.items() if _is_known(body)}

    def targets(self) -> dict[Identity, dict[str, Any]]:
        """Return the patch of each object of another controller; unknown objects are omitted."""
        return {
            self.identity(body): body
            for patch in self.patches.values()
            if _is_known_patch(patch)
            for body in bodies(patch)
        }

    def patience(self) -> dict[Identity, float]:
        """Return the waiting time in seconds for each object of a patch with ``waitSeconds``."""
        return {
            self.identity(body): float(patch["waitSeconds"])
            for patch in self.patches.values()
            if _is_known_patch(patch) and patch.get("waitSeconds")
            for body in bodies(patch)
        }

    def origins(self) -> dict[Identity, tuple[Any, Any]]:
        """Return the source (``madeOf``) and the condition (``unless``) of each patched object, None without one."""
        known = (patch for patch in self.patches.values() if _is_known_patch(patch))
        return {
            self.identity(body): (patch.get("madeOf"), patch.get("unless")) for patch in known for body in bodies(patch)
        }

    def ref(self, body: Mapping[str, Any]) -> ObjectRef:
        """Return the reference of a member."""
        identity = self.identity(body)
        return ObjectRef(str(body["apiVersion"]), identity.kind, identity.name, identity.namespace)

    def versions(self) -> dict[tuple[str, str], str]:
        """Return the apiVersion in use for each group and kind."""
        known = [(body["apiVersion"], body["kind"]) for body in self.members.values() if _is_known(body)]
        return {(version.rpartition("/")[0], kind): version for version, kind in known}

    def namespaces(self) -> set[str]:
        """Return all namespaces of the set, including the parent's."""
        return {self.namespace, *(identity.namespace for identity in self.identities())}


def _known(objects: Any) -> dict[str, Any]:
    return {} if not objects or objects is UNKNOWN else {key: objects[key] for key in sorted(objects)}


def check(plain: Mapping[str, Any]) -> list[provider_pb2.CheckFailure]:
    """Return all errors in the inputs, each at a path that exists in them."""
    return [check_failure(path, reason) for path, reason in _problems(plain)]


def _problems(plain: Mapping[str, Any]) -> Iterator[tuple[Path, str]]:
    for key in plain:
        if key not in INPUTS:
            yield (key,), f"is not an input of an ObjectSet; its inputs are {', '.join(INPUTS)}"
    for key in ("setName", "namespace"):
        value = plain.get(key)
        if value is not UNKNOWN and not (isinstance(value, str) and _NAME.fullmatch(value)):
            at = (key,) if key in plain else ()
            yield at, f"{_got(key, value)} but must be an object name: 1 to 63 of a-z, 0-9 and -, no - at either end"
    members, patches = plain.get("members"), plain.get("patches", {})
    seen: dict[Identity, str] = {}
    namespace = plain.get("namespace")
    place = ObjectSet("", namespace if isinstance(namespace, str) else "", {})
    if isinstance(members, dict):
        yield from _member_problems(members, place, seen)
    elif members is not UNKNOWN:
        at = ("members",) if "members" in plain else ()
        yield at, f"{_got('members', members)} but must map a stable key to each complete object"
    if isinstance(patches, dict):
        yield from _patch_problems(patches, place, seen)
    elif patches is not UNKNOWN:
        yield ("patches",), f"{_got('patches', patches)} but must map a stable key to each patch"


def _member_problems(
    members: Mapping[str, Any], place: ObjectSet, seen: dict[Identity, str]
) -> Iterator[tuple[Path, str]]:
    for key in sorted(members):
        body = members[key]
        problems = list(_body_problems(body, ("members", key)))
        yield from problems
        if problems or not _is_known(body):
            continue
        yield from _credential_problems(body, ("members", key))
        identity = place.identity(body)
        if identity in seen:
            yield (
                ("members", key),
                f"is {identity}, which is already {seen[identity]}; an object can be in a set only once",
            )
        seen.setdefault(identity, f"members[{key!r}]")


def _patch_problems(
    patches: Mapping[str, Any], place: ObjectSet, seen: dict[Identity, str]
) -> Iterator[tuple[Path, str]]:
    for key in sorted(patches):
        patch, path = patches[key], ("patches", key)
        problems = list(_form_problems(patch, path))
        yield from problems
        if problems or not _is_known_patch(patch):
            continue
        yield from _credential_problems(patch, path)
        for identity in map(place.identity, bodies(patch)):
            if identity in seen:
                yield path, f"has {identity}, which is already {seen[identity]}; an object can be in a set only once"
            seen.setdefault(identity, f"patches[{key!r}]")


def _form_problems(patch: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if patch is UNKNOWN:
        return
    if not isinstance(patch, dict) or not set(_PATCH) <= patch.keys() <= {*_PATCH, *_PATCH_MAY}:
        form = ", ".join(patch) if isinstance(patch, dict) else f"a {type(patch).__name__}"
        yield path, f"is {form or 'empty'} but a patch is {', '.join(_PATCH)}, and may have {', '.join(_PATCH_MAY)}"
        return
    for name in ("apiVersion", "kind", "namespace", "madeOf"):
        if name in patch and not _is_text(patch[name]):
            yield (*path, name), f"{_got(name, patch[name])} but must be a text"
    wait = patch.get("waitSeconds", 0)
    if wait is not UNKNOWN and (isinstance(wait, bool) or not isinstance(wait, int | float) or wait < 0):
        yield (*path, "waitSeconds"), f"{_got('waitSeconds', wait)} but must be a number of seconds"
    unless = patch.get("unless", UNKNOWN)
    if unless is not UNKNOWN and not (isinstance(unless, dict) and unless):
        yield (*path, "unless"), f"{_got('unless', unless)} but must map at least one field, such as status"
    names, fields = patch["names"], patch["fields"]
    if names is not UNKNOWN and not (isinstance(names, list) and names and all(map(_is_text, names))):
        yield (*path, "names"), "must be a list with the name of at least one object"
    if fields is not UNKNOWN and not (isinstance(fields, dict) and fields and fields.keys().isdisjoint(_NOT_PATCHED)):
        yield (*path, "fields"), f"must map at least one field, such as spec; not {', '.join(_NOT_PATCHED)}"


def _is_known(body: Any) -> bool:
    """Return whether the identity of the object is known."""
    if body is UNKNOWN or UNKNOWN in (body["apiVersion"], body["kind"], body["metadata"]):
        return False
    return UNKNOWN not in (body["metadata"]["name"], body["metadata"].get("namespace"))


def _is_known_patch(patch: Any) -> bool:
    """Return whether the fields and objects of the patch are known."""
    return patch is not UNKNOWN and UNKNOWN not in patch.values()


def _body_problems(body: Any, path: Path) -> Iterator[tuple[Path, str]]:
    if body is UNKNOWN:
        return
    if not isinstance(body, dict):
        yield path, f"{_got('member', body)} but must be a complete object with apiVersion, kind and metadata"
        return
    for key in ("apiVersion", "kind"):
        if not _is_text(body.get(key)):
            yield (*path, key) if key in body else path, f"{_got(key, body.get(key))} but must be a text"
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        yield from _metadata_problems(metadata, (*path, "metadata"))
    elif metadata is not UNKNOWN:
        at = (*path, "metadata") if "metadata" in body else path
        yield at, f"{_got('metadata', metadata)} but must be a map with a name"


def _metadata_problems(metadata: Mapping[str, Any], at: Path) -> Iterator[tuple[Path, str]]:
    if not _is_text(metadata.get("name")):
        reason = f"{_got('metadata.name', metadata.get('name'))} but must be a text; names are never generated"
        yield (*at, "name") if "name" in metadata else at, reason
    if "namespace" in metadata and not _is_text(metadata["namespace"]):
        yield (*at, "namespace"), f"{_got('metadata.namespace', metadata['namespace'])} but must be a text"
    for part, mark in (("labels", PART_OF), ("annotations", MEMBER)):
        if isinstance(metadata.get(part), dict) and mark in metadata[part]:
            yield (*at, part, mark), "is written by the set itself; remove it"


def _is_text(value: object) -> bool:
    return value is UNKNOWN or (isinstance(value, str) and value != "")


def _got(name: str, value: object) -> str:
    """Return the description of an invalid value, quoting only short texts and numbers."""
    if value is None:
        return f"{name} is missing"
    return f"{name} is {value!r}" if isinstance(value, str | int | float) else f"{name} is a {type(value).__name__}"


HOLDERS = {("", "Secret"), ("metal.ironcore.dev", "BMCSecret")}
"""Kinds that contain a credential, by group."""
_LITERAL = {"password", "passwd", "passphrase"}
_LOGIN = re.compile(r"://[^/@\s]*:[^/@\s]+@")
_REMEDY = "let a secret store write it into the cluster and reference it here by name"


def _credential_problems(body: Mapping[str, Any], path: Path) -> Iterator[tuple[Path, str]]:
    """Yield the path of every credential in a member, without quoting its value."""
    holder = str(body["apiVersion"]).rpartition("/")[0], body["kind"]
    if holder in HOLDERS:
        yield (*path, "kind"), f"a {body['kind']} contains a credential and cannot be a member of a set; {_REMEDY}"
        return
    for at, value in leaves(body, path):
        if isinstance(value, str) and isinstance(at[-1], str) and at[-1].lower() in _LITERAL and value:
            yield at, f"is a credential in clear text; {_REMEDY}"
        elif isinstance(value, str) and _LOGIN.search(value):
            yield at, f"is an address with credentials; {_REMEDY}"
