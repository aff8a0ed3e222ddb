"""Simulated platform: creates the rights of Flux, and the logins and certificates of the list of prerequisites.

The program of a rehearsal writes this list into the region's folder on each run (`stacks.rehearsal`). Only
listed objects are created, and only in existing namespaces; references to other Secrets stay unmet.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.render.add_ons.flux import NAMESPACE
from jacquard.lab.rehearsal.operators.view import (
    PULL_LOGIN,
    PULL_LOGIN_KEY,
    SIMULATED,
    Object,
    View,
    simulated_secret,
)
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.machine.paths import GIVEN, GOLDEN_IMAGES

_GIVEN = {
    "Secret": "v1",
    "ConfigMap": "v1",
    "metal.ironcore.dev/BMCSecret": "metal.ironcore.dev/v1alpha1",
    "external-secrets.io/ClusterSecretStore": "external-secrets.io/v1",
    "seaweed.seaweedfs.com/Seaweed": "seaweed.seaweedfs.com/v1",
}
"""API versions of created objects, by kind as in the list. Other listed kinds, such as storage classes, are not
required by any simulated controller."""


FLUX = f"system:serviceaccount:{NAMESPACE}:helm-controller"
"""User with which Flux installs the charts of the management cluster."""
_RIGHTS = {
    "apiVersion": "rbac.authorization.k8s.io/v1",
    "kind": "ClusterRoleBinding",
    "metadata": {"name": f"cluster-reconciler-{NAMESPACE}"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
    "subjects": [{"kind": "ServiceAccount", "name": "helm-controller", "namespace": NAMESPACE}],
}
"""Rights of Flux, as by ``flux install`` (fluxcd/flux2:manifests/rbac/reconciler.yaml)."""


def reconcile(folder: Path, views: Mapping[str, View]) -> None:
    """Create the rights of Flux, and the missing objects of the list in a region's folder.

    Args:
        folder: The folder of the region.
        views: The responding API servers of the region, by cluster.
    """
    if (management := views.get(MANAGEMENT)) and not management.find(*_named(_RIGHTS)):
        management.create(_RIGHTS)
    for entry in _listed(folder):
        view, api = views.get(entry["cluster"]), _GIVEN.get(entry["kind"])
        name, namespace = entry["name"], entry["namespace"]
        if view is None or api is None or (namespace and not view.find("v1", "Namespace", namespace)):
            continue
        kind = entry["kind"].rpartition("/")[2]
        if view.find(api, kind, name, namespace) is None:
            view.create(_body(api, kind, entry))


def _named(body: Object) -> tuple[str, str, str]:
    return body["apiVersion"], body["kind"], body["metadata"]["name"]


def is_exclusive(folder: Path, image: str) -> bool:
    """Return whether the kernel of an image restricts each RDMA device to one network namespace, as declared.

    Args:
        folder: The folder of the region, with the declared contents of golden images by name; by default, kernels
            share devices.
        image: Name of the image.
    """
    path = folder / GOLDEN_IMAGES
    images: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return bool(images.get(image, {}).get("rdma_exclusive"))


def _listed(folder: Path) -> list[dict[str, Any]]:
    path = folder / GIVEN
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return listed


def _body(api: str, kind: str, entry: dict[str, Any]) -> Object:
    name, keys = entry["name"], entry["keys"]
    if kind == "Secret":
        return simulated_secret(name, entry["namespace"], keys, PULL_LOGIN if keys == [PULL_LOGIN_KEY] else None)
    body: Object = {"apiVersion": api, "kind": kind, "metadata": {"name": name}}
    if kind == "BMCSecret":
        return {**body, "data": simulated_secret(name, "", keys)["data"]}
    if entry["namespace"]:
        body["metadata"]["namespace"] = entry["namespace"]
    if kind == "ConfigMap":
        return {**body, "data": dict.fromkeys(keys, SIMULATED)}
    if kind == "Seaweed":
        return {**body, "spec": {}}
    return {**body, "spec": {"provider": {"fake": {"data": []}}}}
