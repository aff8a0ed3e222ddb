"""Flux releases of one chart, and a fake helm that renders configured objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jacquard.lab.rehearsal.charts import Charts, HelmError
from jacquard.lab.rehearsal.operators.releases.helm import RELEASE
from tests.support.objects.live_objects import obj

_SOURCE = "source.toolkit.fluxcd.io/v1"
_DIGEST, REVISION = "sha256:0123456789abcdef", "0.16.1+0123456789ab"


class Rendered(Charts):
    """A version of a chart with configured rendered objects."""

    def __init__(self, *objects: Any) -> None:
        self.objects = list(objects)
        self.error = ""
        self.asked: list[Any] = []

    def has(self, chart: str, version: str) -> bool:
        return (chart, version) == ("metallb", "0.16.1")

    def template(self, *asked: Any) -> list[Any]:
        self.asked.append(asked)
        if self.error:
            raise HelmError(self.error)
        return self.objects


def source(version: str = "0.16.1", name: str = "metallb") -> Any:
    """Return the fetched chart source of the release."""
    spec = {"url": f"oci://registry.example/charts/{name}", "ref": {"tag": version}}
    status = {"artifact": {"digest": _DIGEST}, "conditions": [{"type": "Ready", "status": "True"}]}
    return obj(_SOURCE, "OCIRepository", "metallb", spec, namespace="operators", status=status)


def release(*, waits: bool = True, finalizer: bool = True, **more: Any) -> Any:
    """Return a release into the cluster of a tenant, with a pending reconciliation (``waits``) and Flux's finalizer."""
    spec = {
        "chartRef": {"kind": "OCIRepository", "name": "metallb", "namespace": "operators"},
        "releaseName": "lb",
        "targetNamespace": "metallb-system",
        "storageNamespace": "metallb-system",
        "kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}},
        "install": {"disableWait": True},
        "upgrade": {"disableWait": True},
        "values": {"speaker": {"tolerations": []}},
        **more.pop("spec", {}),
    }
    metadata = {"generation": 1, **({"finalizers": ["finalizers.fluxcd.io"]} if finalizer else {}), **more}
    status = {"conditions": [{"type": "Reconciling", "status": "True"}]} if waits else {}
    return obj(*RELEASE, "metallb", spec, namespace="acme", metadata=metadata, status=status)


def kubeconfig() -> Any:
    return obj("v1", "Secret", "acme-kubeconfig", namespace="acme")


def deployment(name: str = "controller") -> Any:
    return obj("apps/v1", "Deployment", name, {"replicas": 1}, namespace="metallb-system")


def definition(name: str, **more: Any) -> Any:
    versions = [{"name": "v1", "storage": True}]
    spec = {"group": "metallb.io", "names": {"kind": "Pool"}, "versions": versions, **more}
    return obj("apiextensions.k8s.io/v1", "CustomResourceDefinition", name, spec, namespace="")


def here(view: Any) -> Callable[[str], Any]:
    """Return a function that returns the API server of the tenant's cluster."""
    return {"acme": view}.get


def ready(management: Any) -> tuple[str, str, str]:
    """Return status, reason and message of the condition Ready of the release."""
    [found] = [
        one
        for one in management.get("HelmRelease", "metallb", "acme")["status"]["conditions"]
        if one["type"] == "Ready"
    ]
    return found["status"], found["reason"], found["message"]


def in_management(**more: Any) -> Any:
    """Return a release into the management cluster that waits for its pods."""
    found = release(**more)
    for field in ("kubeConfig", "storageNamespace", "install", "upgrade"):
        del found["spec"][field]
    return found


def secrets(view: Any) -> dict[tuple[str, str, str], Any]:
    """Return the Secrets of a cluster, including Helm's release records."""
    return {key: body for key, body in view.store.items() if key[0] == "Secret"}
