"""Whole Kubernetes objects as Pulumi inputs and outputs: pure data in, pure data out."""

import base64
import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from jacquard.lab.standins.kubernetes.objects.normal import is_definition, with_underscores
from jacquard.lab.standins.kubernetes.objects.tokens import is_patch
from jacquard.providers.kube import ObjectRef
from jacquard.providers.ownership import MADE_BY
from jacquard.providers.rpc.paths import Path, covered
from jacquard.providers.rpc.values import UNKNOWN, Properties

MANAGER = "__fieldManager"
"""Output that keeps the field manager, as in the vendor's state: it stays when a resource is renamed."""
INPUTS = "__inputs"
"""Output that keeps the inputs. The vendor's provider compares these fields of the live object with the program, and
without them takes every field for a new one: it would replace each object whose state lacks them."""
FIRST_VERSION = "__initialApiVersion"
"""Output that keeps the apiVersion in which the object was made; the vendor's provider awaits some kinds by it."""

AUTONAMED = "pulumi.com/autonamed"
PATCH_FORCE = "pulumi.com/patchForce"
PATCH_MANAGER = "pulumi.com/patchFieldManager"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation with the whole object as kubectl applied it, the content of a Secret included."""

_SERVER_METADATA = ("creationTimestamp", "generation", "resourceVersion", "uid")
_CHANGING_METADATA = ("generation", "resourceVersion")
_SECRET_DATA: tuple[Path, ...] = (("data",), ("stringData",))
_COPY: Path = ("metadata", "annotations", LAST_APPLIED)


def annotation(body: Mapping[str, Any], name: str) -> str:
    """Return an annotation's value, empty when it is not set or not known yet."""
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    value = annotations.get(name) if isinstance(annotations, dict) else None
    return value if isinstance(value, str) else ""


def reference(body: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> ObjectRef:
    """Return what identifies the object of some inputs, with the namespace that its outputs know."""
    metadata = body["metadata"]
    namespace = metadata.get("namespace") or ((outputs or {}).get("metadata") or {}).get("namespace")
    return ObjectRef(body["apiVersion"], body["kind"], metadata["name"], namespace)


def identity(obj: Mapping[str, Any]) -> str:
    """Return the Pulumi id of an object: ``namespace/name``, or ``name`` for a kind without namespaces."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def manager(urn: str, body: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> str:
    """Return the field manager of a resource: stable, its own, and recognisable after a crash."""
    chosen = annotation(body, PATCH_MANAGER) or (outputs or {}).get(MANAGER)
    return str(chosen) if chosen else f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"


def marked(body: Mapping[str, Any], urn: str) -> Mapping[str, Any]:
    """Return inputs as they are applied: with the resource's mark where their field manager may be shared."""
    if not annotation(body, PATCH_MANAGER) or is_patch(urn, body):
        return body
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "annotations": {**metadata["annotations"], MADE_BY: urn}}}


def is_made_by(obj: Mapping[str, Any], body: Mapping[str, Any], urn: str) -> bool:
    """Return whether a live object was applied by this very resource, from inputs like ``body``."""
    entries, name = obj["metadata"].get("managedFields") or (), manager(urn, body)
    managed = any(entry.get("manager") == name and entry.get("operation") == "Apply" for entry in entries)
    return managed and (not annotation(body, PATCH_MANAGER) or annotation(obj, MADE_BY) == urn)


def without_nulls(value: Any) -> Any:
    """Return ``value`` without map entries that are null: Pulumi's way of leaving a property out."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def outputs(
    live: Mapping[str, Any], name: str, inputs: Mapping[str, Any], state: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return what the state keeps of an object: all of it but the bookkeeping of field managers.

    Args:
        live: the object.
        name: its field manager.
        inputs: what it was applied from, or would have to be.
        state: what was kept before.
    """
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    first = (state or {}).get(FIRST_VERSION) or inputs.get("apiVersion") or live["apiVersion"]
    spelt = with_underscores if is_definition(live) else dict
    return {**spelt({**live, "metadata": metadata}), INPUTS: spelt(inputs), FIRST_VERSION: first, MANAGER: name}


def planned(body: Mapping[str, Any], old: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the outputs that a preview promises: what only the API server decides is unknown.

    Args:
        body: the object as the dry-run gave it back, or just the inputs where there was no dry-run.
        old: the outputs before an update, empty for a create.
        name: the field manager.
    """
    metadata = dict(body.get("metadata") or {}) if isinstance(body.get("metadata"), dict) else {}
    metadata.pop("managedFields", None)
    kept = old.get("metadata") or {}
    for key in _SERVER_METADATA:
        known = bool(old) and key not in _CHANGING_METADATA and key in kept
        metadata[key] = kept[key] if known else UNKNOWN
    rest = {key: value for key, value in body.items() if key != "status"}
    return {**rest, "metadata": metadata, MANAGER: name}


def overlay(given: Any, recorded: Any, live: Any) -> Any:
    """Return inputs as they would have to read to describe the live object.

    Only what has moved since it was recorded counts: an API server that writes ``1`` where ``1000m`` was given, or
    drops what it does not keep, is no drift. What is live but was never given belongs to others.
    """
    if live == recorded:
        return given
    if isinstance(given, dict) and isinstance(live, dict):
        before = recorded if isinstance(recorded, dict) else {}
        return {
            key: overlay(value, before.get(key), live.get(key)) if key in live else value
            for key, value in given.items()
            if key in live or key not in before
        }
    if isinstance(given, list) and isinstance(live, list):
        if isinstance(recorded, list) and len(given) == len(live) == len(recorded):
            return [overlay(one, two, three) for one, two, three in zip(given, recorded, live, strict=True)]
        return live
    return live


def imported(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs for an object that Pulumi has not seen before: everything that is not the API server's."""
    metadata = {
        key: value
        for key, value in live["metadata"].items()
        if key not in (*_SERVER_METADATA, "managedFields", "selfLink", "ownerReferences")
    }
    annotations = metadata.pop("annotations", None) or {}
    kept = {key: value for key, value in annotations.items() if key not in (MADE_BY, LAST_APPLIED)}
    metadata |= {"annotations": kept} if kept else {}
    return {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}


def secret_paths(body: Mapping[str, Any], given: Iterable[Path]) -> frozenset[Path]:
    """Return the paths to be kept secret, also in the inputs beside an object: what came so, a Secret's content."""
    paths = set(given)
    if body.get("apiVersion") == "v1" and body.get("kind") == "Secret":
        paths |= {path for path in _SECRET_DATA if path[0] in body}
        paths |= {_COPY} if annotation(body, LAST_APPLIED) else set()
    paths |= {(INPUTS, *path) for path in paths} if INPUTS in body else set()
    return frozenset(path for path in paths if not covered(path[:-1], paths))


def secret_texts(properties: Properties) -> frozenset[str]:
    """Return every secret text of an object, plain and in base64, to be masked in messages."""
    marked = Properties(properties.plain, secret_paths(properties.plain, properties.secrets))
    texts = marked.secret_texts()
    return texts | {base64.b64encode(text.encode()).decode() for text in texts} | _decoded(properties.plain)


def _decoded(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the texts of a Secret, of which the inputs have only the base64."""
    data = body.get("data") if body.get("kind") == "Secret" else None
    coded = [value for value in data.values() if isinstance(value, str)] if isinstance(data, dict) else []
    found = set()
    for value in coded:
        with suppress(ValueError):
            found.add(base64.b64decode(value, validate=True).decode())
    return frozenset(found - {""})
