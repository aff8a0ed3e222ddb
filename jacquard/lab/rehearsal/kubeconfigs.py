"""Kubeconfig files of the region's clusters: embedding of files, and readiness checks of their API servers."""

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
    """Return the kubeconfig at ``path`` with embedded files and only its current context, renamed to ``name``."""
    config = yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
    context = next(entry for entry in config["contexts"] if entry["name"] == config["current-context"])["context"]
    cluster = next(entry for entry in config["clusters"] if entry["name"] == context["cluster"])["cluster"]
    user = next(entry for entry in config["users"] if entry["name"] == context["user"])["user"]
    embedded_config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": _with_data(cluster)}],
        "users": [{"name": name, "user": _with_data(user)}],
        "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
        "current-context": name,
    }
    return yaml.dump(embedded_config, Dumper=yaml.CSafeDumper, sort_keys=False)


def ready(path: Path) -> bool:
    """Return whether the API server of the kubeconfig at ``path`` reports that it is ready."""
    try:
        api = ApiServer.from_kubeconfig(path, timeout_seconds=5, connections=1)
        api.request("GET", "/readyz")
    except (ApiError, KubeconfigError):
        return False
    api.close()
    return True


def controlled(path: Path) -> bool:
    """Return whether the API server of a new cluster is ready and its controller manager has created an object.

    A controller manager exits if the API server becomes healthy too slowly, possibly just before the API server is
    healthy.
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
    embedded_entry = {key: value for key, value in entry.items() if key not in _FILES}
    for key, data in _FILES.items():
        if key in entry:
            embedded_entry[data] = base64.b64encode(Path(entry[key]).read_bytes()).decode()
    return embedded_entry
