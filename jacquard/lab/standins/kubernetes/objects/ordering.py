"""Which of several objects comes before which: namespaces and kinds before what is of them, and what annotations say.

The annotation and the form of its references are those of sigs.k8s.io/cli-utils, by which the vendor's provider orders.
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
    """What tells an object from others of a set, whatever version it is given in."""

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
    """Return for each object those of the set that have to be there first.

    Raises:
        ProviderError: an object is there twice, an annotation cannot be read or names none of them, or they form a
            circle.
    """
    by_key: dict[Key, Mapping[str, Any]] = {}
    problems: list[str] = []
    for one in objects:
        if key(one) in by_key:
            problems.append(f"{key(one)} is there twice")
        by_key[key(one)] = one
    kinds = {brought(one): name for name, one in by_key.items() if name.kind == DEFINITION}
    found: dict[Key, set[Key]] = {}
    for name, one in by_key.items():
        implied = {Key("", "Namespace", "", name.namespace), kinds.get((name.group, name.kind))}
        found[name] = {other for other in implied if other in by_key and other is not None}
        for text in _annotated(one):
            other = _parsed(text)
            if other in by_key:
                found[name].add(other)
            else:
                what = f"is not {_FORM}" if other is None else "names none of the objects beside it"
                problems.append(f"{name}: {DEPENDS_ON} '{text}' {what}")
    problems += [] if problems else _circles(found)
    if problems:
        raise ProviderError("\n".join(problems))
    return found


def brought(definition: Mapping[str, Any]) -> tuple[str, str]:
    """Return group and kind that a CustomResourceDefinition brings; empty where it says none."""
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


def _circles(found: Mapping[Key, set[Key]]) -> list[str]:
    try:
        TopologicalSorter(found).prepare()
    except CycleError as error:
        return [f"each waits for the next: {', '.join(str(one) for one in error.args[1])}"]
    return []
