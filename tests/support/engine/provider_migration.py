"""A region after use of the vendor's kubernetes provider: its field manager owns the applied fields."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ApiServer, ObjectRef

_THEIRS = ("pulumi-kubernetes", "Update")
_OURS = ("jacquard", "Apply")
_POOL = ("cluster.x-k8s.io/v1beta2", "MachineDeployment")
_CONTROL_PLANE = ("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane")


def assign_to_vendor(api: ApiServer) -> None:
    """Assign the fields of all pools and of globex-lab's control plane to the vendor's field manager."""
    for body in _changed(api):
        entries = [
            {**entry, "manager": _THEIRS[0], "operation": _THEIRS[1]} if owner == _OURS else entry
            for entry, owner in zip(body["metadata"]["managedFields"], _owners(body), strict=True)
        ]
        patch = [{"op": "replace", "path": "/metadata/managedFields", "value": entries}]
        api.patch(ObjectRef.of(body), patch, kind="json", field_manager="test")


def owned_by_vendor(api: ApiServer) -> list[str]:
    """Return the names of the objects in which the vendor's field manager still owns fields."""
    return [body["metadata"]["name"] for body in _changed(api) if _THEIRS in _owners(body)]


def _changed(api: ApiServer) -> list[dict[str, Any]]:
    planes = [plane for plane in api.list(*_CONTROL_PLANE) if plane["metadata"]["name"] == "globex-lab"]
    return api.list(*_POOL) + planes


def _owners(body: dict[str, Any]) -> list[tuple[str, str]]:
    return [(entry["manager"], entry["operation"]) for entry in body["metadata"]["managedFields"]]
