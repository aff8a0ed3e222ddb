"""Simulated power control of the bare-metal operator: power on if requested, and power cycles on request.

As in upstream's ``manageHostPower``, the request is removed when the power is off. For a host without an image, it
applies only with ``force``. Requests with a name, which keep the power off, are not supported.
"""

from __future__ import annotations

import json

from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.view import Object, View, deleting
from jacquard.providers.kube.objects import dig

ASKED = "reboot.metal3.io"


def reconcile(view: View) -> None:
    """Update the power of each host that is in a stable state."""
    for host in view.all(*HOST):
        state, on = dig(host, "status", "provisioning", "state"), bool(dig(host, "status", "poweredOn"))
        if deleting(host) or state not in {"available", "provisioned"}:
            continue
        request = (host["metadata"].get("annotations") or {}).get(ASKED)
        if not on and request is not None:
            view.patch(host, {"metadata": {"annotations": {ASKED: None}}})
        elif not on and dig(host, "spec", "online"):
            view.status(host, {"poweredOn": True})
        elif on and request is not None and (state == "provisioned" or _forced(request)):
            view.status(host, {"poweredOn": False})


def _forced(request: str) -> bool:
    try:
        options: Object = json.loads(request)
    except ValueError:
        return False
    return bool(options.get("force"))
