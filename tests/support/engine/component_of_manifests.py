"""Components with given manifests, and the resources that they register."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pulumi

from components.render.manifest import Manifest, Rendered
from components.resources import Cluster, register

KUBECONFIGS = Path("/kubeconfigs")


def manifest(kind: str, name: str, namespace: str | None = None, **known: Any) -> Manifest:
    spec = known.pop("spec", {})
    api_version = known.pop("api_version", "example.com/v1")
    metadata = {"name": name} if namespace is None else {"name": name, "namespace": namespace}
    return Manifest(body={"apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec}, **known)


def cluster(name: str = "management") -> Cluster:
    return Cluster(name=name, kubeconfig=KUBECONFIGS / f"{name}.yaml", identifier=f"lab/{name}")


class Group(pulumi.ComponentResource):
    """A component with given manifests."""

    def __init__(self, name: str, *rendered: Rendered, tenants: tuple[str, ...] = ()) -> None:
        super().__init__("test:components:Group", name, {})
        register(self, name, rendered, {key: cluster(key) for key in ("management", *tenants)})
        self.register_outputs({})


def children(registered: list[Any]) -> dict[str, Any]:
    return {item.name: item for item in registered if item.parent}
