"""Conversion between Kubernetes objects and Pulumi inputs and outputs: pure functions."""

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
"""Output with the field manager, as in the vendor's state; a renamed resource keeps its field manager."""
INPUTS = "__inputs"
"""Output with the inputs. The vendor's provider compares these fields of the live object with the program. Without this
output, that provider treats every field as new and would replace each object."""
FIRST_VERSION = "__initialApiVersion"
"""Output with the apiVersion of the create; the vendor's provider uses it in the waits of some kinds."""

AUTONAMED = "pulumi.com/autonamed"
PATCH_FORCE = "pulumi.com/patchForce"
PATCH_MANAGER = "pulumi.com/patchFieldManager"
LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"
"""Annotation with the whole object as applied by kubectl, including the content of a Secret."""

_SERVER_METADATA = ("creationTimestamp", "generation", "resourceVersion", "uid")
_CHANGING_METADATA = ("generation", "resourceVersion")
_SECRET_DATA: tuple[Path, ...] = (("data",), ("stringData",))
_COPY: Path = ("metadata", "annotations", LAST_APPLIED)


def annotation(body: Mapping[str, Any], name: str) -> str:
    """Return the value of an annotation; empty if missing or unknown."""
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, dict) else None
    value = annotations.get(name) if isinstance(annotations, dict) else None
    return value if isinstance(value, str) else ""


def reference(body: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> ObjectRef:
    """Return the reference to the object of ``body``; ``outputs`` provide a namespace that the inputs omit."""
    metadata = body["metadata"]
    namespace = metadata.get("namespace") or ((outputs or {}).get("metadata") or {}).get("namespace")
    return ObjectRef(body["apiVersion"], body["kind"], metadata["name"], namespace)


def identity(obj: Mapping[str, Any]) -> str:
    """Return the Pulumi ID of an object: ``namespace/name``, or ``name`` for a cluster-scoped kind."""
    metadata = obj["metadata"]
    namespace = metadata.get("namespace")
    return f"{namespace}/{metadata['name']}" if namespace else str(metadata["name"])


def manager(urn: str, body: Mapping[str, Any], outputs: Mapping[str, Any] | None = None) -> str:
    """Return the field manager of a resource: stable, unique, and identical after a crash."""
    chosen = annotation(body, PATCH_MANAGER) or (outputs or {}).get(MANAGER)
    return str(chosen) if chosen else f"pulumi-kubernetes-{hashlib.sha256(urn.encode()).hexdigest()[:8]}"


def marked(body: Mapping[str, Any], urn: str) -> Mapping[str, Any]:
    """Return the inputs to apply, with ``jacquard.dev/made-by`` if resources may share their field manager."""
    if not annotation(body, PATCH_MANAGER) or is_patch(urn, body):
        return body
    metadata = body["metadata"]
    return {**body, "metadata": {**metadata, "annotations": {**metadata["annotations"], MADE_BY: urn}}}


def is_made_by(obj: Mapping[str, Any], body: Mapping[str, Any], urn: str) -> bool:
    """Return whether the same resource applied a live object from inputs like ``body``."""
    entries, name = obj["metadata"].get("managedFields") or (), manager(urn, body)
    managed = any(entry.get("manager") == name and entry.get("operation") == "Apply" for entry in entries)
    return managed and (not annotation(body, PATCH_MANAGER) or annotation(obj, MADE_BY) == urn)


def without_nulls(value: Any) -> Any:
    """Return ``value`` without map entries that are null, which is how Pulumi omits a property."""
    if isinstance(value, dict):
        return {key: without_nulls(item) for key, item in value.items() if item is not None}
    if isinstance(value, list):
        return [without_nulls(item) for item in value]
    return value


def outputs(
    live: Mapping[str, Any], name: str, inputs: Mapping[str, Any], state: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the outputs of an object for the state: the whole object without ``managedFields``.

    Args:
        live: the object.
        name: its field manager.
        inputs: the applied inputs, or inputs that describe the object.
        state: the previous outputs.
    """
    metadata = {key: value for key, value in live["metadata"].items() if key != "managedFields"}
    first = (state or {}).get(FIRST_VERSION) or inputs.get("apiVersion") or live["apiVersion"]
    convert = with_underscores if is_definition(live) else dict
    return {**convert({**live, "metadata": metadata}), INPUTS: convert(inputs), FIRST_VERSION: first, MANAGER: name}


def planned(body: Mapping[str, Any], old: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the outputs of a preview; fields that only the API server sets are unknown.

    Args:
        body: the result of the dry run, or the inputs without a dry run.
        old: the outputs before an update, empty for a create.
        name: the field manager.
    """
    metadata = dict(body.get("metadata") or {}) if isinstance(body.get("metadata"), dict) else {}
    metadata.pop("managedFields", None)
    recorded = old.get("metadata") or {}
    for key in _SERVER_METADATA:
        known = bool(old) and key not in _CHANGING_METADATA and key in recorded
        metadata[key] = recorded[key] if known else UNKNOWN
    rest = {key: value for key, value in body.items() if key != "status"}
    return {**rest, "metadata": metadata, MANAGER: name}


def overlay(inputs: Any, recorded: Any, live: Any) -> Any:
    """Return inputs that describe the live object.

    Only values that changed since they were recorded are drift. An API server that normalizes ``1000m`` to ``1``, or
    drops fields, causes no drift. Live fields that are not part of the inputs belong to other managers.
    """
    if live == recorded:
        return inputs
    if isinstance(inputs, dict) and isinstance(live, dict):
        before = recorded if isinstance(recorded, dict) else {}
        return {
            key: overlay(value, before.get(key), live.get(key)) if key in live else value
            for key, value in inputs.items()
            if key in live or key not in before
        }
    if isinstance(inputs, list) and isinstance(live, list):
        if isinstance(recorded, list) and len(inputs) == len(live) == len(recorded):
            return [overlay(*items) for items in zip(inputs, recorded, live, strict=True)]
        return live
    return live


def imported(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the inputs of an imported object: all fields that the API server does not set."""
    metadata = {
        key: value
        for key, value in live["metadata"].items()
        if key not in (*_SERVER_METADATA, "managedFields", "selfLink", "ownerReferences")
    }
    annotations = metadata.pop("annotations", None) or {}
    remaining = {key: value for key, value in annotations.items() if key not in (MADE_BY, LAST_APPLIED)}
    metadata |= {"annotations": remaining} if remaining else {}
    return {key: value for key, value in live.items() if key != "status"} | {"metadata": metadata}


def secret_paths(body: Mapping[str, Any], given: Iterable[Path]) -> frozenset[Path]:
    """Return the secret paths of an object and of its recorded inputs: ``given``, and the content of a Secret."""
    paths = set(given)
    if body.get("apiVersion") == "v1" and body.get("kind") == "Secret":
        paths |= {path for path in _SECRET_DATA if path[0] in body}
        paths |= {_COPY} if annotation(body, LAST_APPLIED) else set()
    paths |= {(INPUTS, *path) for path in paths} if INPUTS in body else set()
    return frozenset(path for path in paths if not covered(path[:-1], paths))


def secret_texts(properties: Properties) -> frozenset[str]:
    """Return all secret texts of an object, plain and in base64, to mask them in messages."""
    marked = Properties(properties.plain, secret_paths(properties.plain, properties.secrets))
    texts = marked.secret_texts()
    return texts | {base64.b64encode(text.encode()).decode() for text in texts} | _decoded(properties.plain)


def _decoded(body: Mapping[str, Any]) -> frozenset[str]:
    """Return the decoded texts of a Secret's ``data``."""
    data = body.get("data") if body.get("kind") == "Secret" else None
    coded = [value for value in data.values() if isinstance(value, str)] if isinstance(data, dict) else []
    texts = set()
    for value in coded:
        with suppress(ValueError):
            texts.add(base64.b64decode(value, validate=True).decode())
    return frozenset(texts - {""})
