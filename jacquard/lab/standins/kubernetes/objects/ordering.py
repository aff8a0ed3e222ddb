"""Dependency order of objects: namespaces and kinds before their objects, then by annotation.

The annotation and the form of its references come from sigs.k8s.io/cli-utils, which the vendor's provider uses.
"""

from collections.abc import Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, NamedTuple

from jacquard.providers.errors import ProviderError

DEPENDS_ON = "config.kubernetes.io/depends-on"
DEFINITION = "CustomResourceDefinition"

_FORM = "GROUP/KIND/NAME or GROUP/namespaces/NAMESPACE/KIND/NAME"
_NAMESPACED_PARTS, _PARTS = 5, 3


class Key(NamedTuple):
    """Identity of an object in a set, independent of its API version."""

    group: str
    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"


def key(obj: Mapping[str, Any]) -> Key:
    """Return the key of an object."""
    group, _, version = obj["apiVersion"].rpartition("/")
    del version
    metadata = obj["metadata"]
    return Key(group, obj["kind"], metadata.get("namespace") or "", metadata["name"])


def dependencies(objects: Iterable[Mapping[str, Any]]) -> dict[Key, set[Key]]:
    """Return the dependencies of each object within the set.

    Raises:
        ProviderError: an object is listed twice, an annotation is invalid or matches no object, or dependencies form a
            cycle.
    """
    by_key: dict[Key, Mapping[str, Any]] = {}
    problems: list[str] = []
    for obj in objects:
        if key(obj) in by_key:
            problems.append(f"{key(obj)} is listed twice")
        by_key[key(obj)] = obj
    kinds = {brought(obj): name for name, obj in by_key.items() if name.kind == DEFINITION}
    result: dict[Key, set[Key]] = {}
    for name, obj in by_key.items():
        implied = {Key("", "Namespace", "", name.namespace), kinds.get((name.group, name.kind))}
        result[name] = {other for other in implied if other in by_key and other is not None}
        for text in _annotated(obj):
            other = _parsed(text)
            if other in by_key:
                result[name].add(other)
            else:
                rule = f"must be {_FORM}" if other is None else "matches none of the other objects"
                problems.append(f"{name}: {DEPENDS_ON} '{text}' {rule}")
    problems += [] if problems else _cycles(result)
    if problems:
        raise ProviderError("\n".join(problems))
    return result


def brought(definition: Mapping[str, Any]) -> tuple[str, str]:
    """Return group and kind of a CustomResourceDefinition; empty if missing."""
    spec = definition.get("spec") or {}
    return spec.get("group", ""), (spec.get("names") or {}).get("kind", "")


def _annotated(obj: Mapping[str, Any]) -> list[str]:
    text = (obj["metadata"].get("annotations") or {}).get(DEPENDS_ON) or ""
    return [part.strip() for part in text.split(",") if part.strip()]


def _parsed(text: str) -> Key | None:
    parts = text.split("/")
    if len(parts) == _PARTS:
        return Key(parts[0], parts[1], "", parts[2])
    if len(parts) == _NAMESPACED_PARTS and parts[1] == "namespaces":
        return Key(parts[0], parts[3], parts[2], parts[4])
    return None


def _cycles(graph: Mapping[Key, set[Key]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return [f"dependency cycle: {', '.join(str(name) for name in error.args[1])}"]
    return []
