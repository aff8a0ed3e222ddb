"""Kubeconfig files of the region's clusters: self-contained, and asked whether anyone answers."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import yaml

from jacquard.providers.kube import ApiError, ApiServer, KubeconfigError, ObjectRef

_FILES = {
    "certificate-authority": "certificate-authority-data",
    "client-certificate": "client-certificate-data",
    "client-key": "client-key-data",
}


def embedded(path: Path, name: str) -> str:
    """Return the kubeconfig at ``path`` with the files it names inside, its one context renamed to ``name``."""
    config = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    context = next(entry for entry in config["contexts"] if entry["name"] == config["current-context"])["context"]
    cluster = next(entry for entry in config["clusters"] if entry["name"] == context["cluster"])["cluster"]
    user = next(entry for entry in config["users"] if entry["name"] == context["user"])["user"]
    whole = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": _with_data(cluster)}],
        "users": [{"name": name, "user": _with_data(user)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return yaml.dump(whole, Dumper=yaml.CSafeDumper, sort_keys=False)


def ready(path: Path) -> bool:
    """Return whether the API server of the kubeconfig at ``path`` says that it is ready."""
    try:
        api = ApiServer.from_kubeconfig(path, timeout_seconds=5, connections=1)
        api.request("GET", "/readyz")
    except (ApiError, KubeconfigError):
        return False
    api.close()
    return True


def controlled(path: Path) -> bool:
    """Return whether the API server of a new cluster is ready, and its controller manager has made something.

    A controller manager gives up on a server that is slow to get healthy, perhaps just when that is at last.
    """
    if not ready(path):
        return False
    api = ApiServer.from_kubeconfig(path, timeout_seconds=5, connections=1)
    try:
        return api.get(ObjectRef("v1", "ServiceAccount", "default", "default")) is not None
    except ApiError:
        return False
    finally:
        api.close()


def _with_data(entry: dict[str, Any]) -> dict[str, Any]:
    whole = {key: value for key, value in entry.items() if key not in _FILES}
    for key, data in _FILES.items():
        if key in entry:
            whole[data] = base64.b64encode(Path(entry[key]).read_bytes()).decode()
    return whole
