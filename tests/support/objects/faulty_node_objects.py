"""Node objects with conditions, as an API server returns them."""

from __future__ import annotations

from typing import Any

AT = "2026-11-20T08:30:00Z"
"""Time of the last transition of all conditions."""


def node(name: str, pool: str = "train", **conditions: str) -> dict[str, Any]:
    """Return a ready node of a pool of acme-train with further ``conditions``."""
    every = {"Ready": "True", "MemoryPressure": "False", "NetworkUnavailable": "False", **conditions}
    return {
        "metadata": {"name": name, "labels": {"node-restriction.kubernetes.io/pool": pool}},
        "spec": {"providerID": f"metal3://acme-train/a01-u0{name[-1]}/machine-{name}"},
        "status": {
            "conditions": [
                {"type": kind, "status": status, "lastTransitionTime": AT, "message": f"about {kind}"}
                for kind, status in every.items()
            ]
        },
    }
