"""In-memory API servers that return the declared objects of a region; they reject all writes except dry runs."""

from __future__ import annotations

import copy
from typing import Any

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import ManifestSet, objects
from components.specs.environment import Environment
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef

Object = dict[str, Any]
_LABEL = "app.kubernetes.io/managed-by"


class FakeServer(ApiServer):
    """One API server: objects by kind, namespace and name, and the kinds that it refuses to list or to discover."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.refused: dict[str, ApiError] = {}

    def put(self, body: Object) -> Object:
        """Store an object."""
        metadata = body["metadata"]
        self.objects[body["kind"], metadata.get("namespace", ""), metadata["name"]] = body
        return body

    def version(self, group: str, kind: str) -> str | None:
        """Return the version of the kind; None if the server has no object of it."""
        found = (body for key, body in self.objects.items() if key[0] == kind)
        return next((body["apiVersion"] for body in found if body["apiVersion"].rpartition("/")[0] == group), None)

    def list(self, _: str, kind: str, **__: Any) -> list[Object]:
        """Return the objects that carry Jacquard's label."""
        if kind in self.refused:
            raise self.refused[kind]
        found = [body for key, body in self.objects.items() if key[0] == kind]
        return [body for body in found if body["metadata"].get("labels", {}).get(_LABEL) == "jacquard"]

    def get(self, ref: ObjectRef) -> Object | None:
        """Return one object."""
        if ref.kind in self.refused:
            raise self.refused[ref.kind]
        return self.objects.get((ref.kind, ref.namespace or "", ref.name))

    def apply(self, body: Any, *, field_manager: str, dry_run: bool = False, force: bool = False) -> Object:
        """Return the result of a dry-run apply; every other apply fails the test."""
        assert (dry_run, force) == (True, True), f"{field_manager} wrote"
        metadata = body["metadata"]
        live = self.objects[body["kind"], metadata.get("namespace", ""), metadata["name"]]
        return _over(live, body)


def _over(live: Any, body: Any) -> Any:
    if isinstance(live, dict) and isinstance(body, dict):
        return live | {key: _over(live.get(key), value) for key, value in body.items()}
    return body


def fake_servers(environment: Environment) -> dict[str, FakeServer]:
    """Return a server for each cluster of a region, with all declared objects applied."""
    servers: dict[str, FakeServer] = {"management": FakeServer()}
    for piece in slices(environment):
        for item in manifests(environment, piece):
            manager = "jacquard-objectset" if isinstance(item, ManifestSet) else "jacquard"
            for manifest in objects((item,)):
                body = copy.deepcopy(dict(manifest.body))
                noted = {**body["metadata"].get("annotations", {}), "jacquard.dev/made-by": "urn"}
                entry = {"manager": manager, "operation": "Apply", "fieldsV1": applied_fields(manifest.body)}
                body["metadata"] |= {"annotations": noted, "managedFields": [entry]}
                servers.setdefault(manifest.cluster, FakeServer()).put(body)
    return servers


def applied_fields(body: Any) -> Object:
    """Return the set of fields of an applied body; lists are atomic."""
    named = ("apiVersion", "kind", "name", "namespace")
    inner = {key: value for key, value in body.items() if key not in named}
    return {f"f:{key}": applied_fields(value) if isinstance(value, dict) else {} for key, value in inner.items()}
