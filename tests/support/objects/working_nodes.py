"""Nodes and pods of tenants' clusters in the format of API servers, as input for the facts of a region."""

from __future__ import annotations

import datetime as dt
from typing import Any

from jacquard.observe.observation import Observation

Object = dict[str, Any]
MOMENT = dt.datetime(2026, 11, 22, 16, tzinfo=dt.UTC)
_LABEL = "node-restriction.kubernetes.io"


def node(cluster: str, name: str, pool: str, domain: str, host: str) -> Object:
    """Return a node of a pool, on a host of Metal3."""
    labels = {f"{_LABEL}/pool": pool, f"{_LABEL}/failure-domain": domain} if pool else {}
    spec = {"providerID": f"metal3://{cluster}/{host}/{name}"}
    return {"kind": "Node", "metadata": {"name": name, "labels": labels}, "spec": spec}


def pod(place: str | None, gpus: int | str = 0, **more: Any) -> Object:
    """Return a pod on the node ``place``; ``more`` is merged into its metadata, spec and status."""
    wanted = {"resources": {"limits": {"nvidia.com/gpu": str(gpus)}}} if gpus else {}
    parts = {"metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [wanted]}, "status": {}}
    parts["spec"] |= {"nodeName": place} if place else {}
    return {"kind": "Pod", **{part: value | more.get(part, {}) for part, value in parts.items()}}


def working(*, unreachable: dict[str, str] | None = None) -> Observation:
    """Return a laptop with jobs on two of three nodes of one pool, on none of another, and on a node without a pool."""
    train = [node("acme-train", f"x{n}", "train", f"a0{n % 2 + 1}", f"a0{n % 2 + 1}-u0{n}") for n in (1, 2, 3)]
    objects: dict[tuple[str, str], list[Object]] = {
        ("acme-train", "Node"): train,
        ("acme-train", "Pod"): [pod("x1", 4), pod("x1", 4), pod("x2", 8)],
        ("globex-lab", "Node"): [
            node("globex-lab", "y1", "lab", "a01", "a01-u07"),
            node("globex-lab", "y2", "", "", "h"),
        ],
        ("globex-lab", "Pod"): [pod("y2", 1)],
        ("management", "BareMetalHost"): [
            {"metadata": {"name": f"a01-u{n}"}, "status": {"provisioning": {"state": "provisioned"}}} for n in (10, 9)
        ],
    }
    left = {place: found for place, found in objects.items() if place[0] not in (unreachable or {})}
    return Observation(objects=left, unreachable=unreachable or {}, at=MOMENT)
