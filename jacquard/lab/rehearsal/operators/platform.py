"""What a region's platform does: it gives the logins and certificates that stand on the list of prerequisites.

The program of a rehearsal writes that list into the region's folder each time it runs (`stacks.rehearsal_inputs`).
Only what is listed is given, and only where its namespace is there: whatever asks for another Secret asks in vain.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jacquard.lab.rehearsal.operators.view import PULL_LOGIN, PULL_LOGIN_KEY, Object, View, simulated_secret
from jacquard.machine.paths import GIVEN, GOLDEN_IMAGES

_GIVEN = {
    "Secret": "v1",
    "metal.ironcore.dev/BMCSecret": "metal.ironcore.dev/v1alpha1",
    "external-secrets.io/ClusterSecretStore": "external-secrets.io/v1",
}
"""API version of what is given, by kind as the list spells it. Storage classes and the like nobody simulated asks for.
"""


def reconcile(folder: Path, views: Mapping[str, View]) -> None:
    """Make what the list in a region's folder names and is not there.

    Args:
        folder: The region's.
        views: Its API servers that answer, by cluster.
    """
    for one in _listed(folder):
        view, api = views.get(one["cluster"]), _GIVEN.get(one["kind"])
        name, namespace = one["name"], one["namespace"]
        if view is None or api is None or (namespace and not view.find("v1", "Namespace", namespace)):
            continue
        kind = one["kind"].rpartition("/")[2]
        if view.find(api, kind, name, namespace) is None:
            view.create(_made(api, kind, one))


def is_exclusive(folder: Path, image: str) -> bool:
    """Tell whether the kernel of an image keeps each RDMA device to one network namespace, as its builders say.

    Args:
        folder: The region's, with what golden images hold by their name; a kernel that nobody sets shares devices.
        image: Name of the image.
    """
    path = folder / GOLDEN_IMAGES
    images: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return bool(images.get(image, {}).get("rdma_exclusive"))


def _listed(folder: Path) -> list[dict[str, Any]]:
    path = folder / GIVEN
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return listed


def _made(api: str, kind: str, listed: dict[str, Any]) -> Object:
    name, keys = listed["name"], listed["keys"]
    if kind == "Secret":
        return simulated_secret(name, listed["namespace"], keys, PULL_LOGIN if keys == [PULL_LOGIN_KEY] else None)
    made = {"apiVersion": api, "kind": kind, "metadata": {"name": name}}
    if kind == "BMCSecret":
        return {**made, "data": simulated_secret(name, "", keys)["data"]}
    return {**made, "spec": {"provider": {"fake": {"data": []}}}}
