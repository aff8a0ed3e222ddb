"""What device plugins of NVIDIA's network operator offer of the adapters of a node, as its NicNodePolicy says."""

from __future__ import annotations

import json
from collections.abc import Iterator

from providers.kube.objects import dig
from rehearsal.operators.view import Object, View

_POLICY = ("mellanox.com/v1alpha1", "NicNodePolicy")
_PORTS = 8
"""InfiniBand ports of each simulated host, all of one adapter."""


def offer(view: View, node: Object, _release: Object) -> None:
    """Offer ports of ``node`` by the policies that choose it."""
    labels = node["metadata"].get("labels") or {}
    chosen = (body["spec"] for body in view.all(*_POLICY))
    found = dict(
        resource for spec in chosen if spec["nodeSelector"].items() <= labels.items() for resource in _resources(spec)
    )
    there = dig(node, "status", "allocatable") or {}
    if any(there.get(name) != count for name, count in found.items()):
        view.status(node, {"capacity": found, "allocatable": found})


def _resources(spec: Object) -> Iterator[tuple[str, str]]:
    """Yield what the plugins of a policy offer: each port once, or all of them to so many pods."""
    for one in _configured(spec, "sriovDevicePlugin", "resourceList"):
        yield _name(one), str(_PORTS)
    for one in _configured(spec, "rdmaSharedDevicePlugin", "configList"):
        yield _name(one), str(one["rdmaHcaMax"])


def _configured(spec: Object, section: str, key: str) -> list[Object]:
    found: list[Object] = json.loads(dig(spec, section, "config") or "{}").get(key, [])
    return found


def _name(resource: Object) -> str:
    return f"{resource['resourcePrefix']}/{resource['resourceName']}"
