"""What the bare-metal operator does with the power of hosts: on where that is wanted, and off and on again when asked.

As upstream's ``manageHostPower``: the question goes when the power is off, and where a host has no image it counts only
with ``force``. What only wants the power off (a question with a name) is nobody's here.
"""

from __future__ import annotations

import json

from jacquard.lab.rehearsal.operators.hosts.bare_metal import HOST
from jacquard.lab.rehearsal.operators.view import Object, View, deleting
from jacquard.providers.kube.objects import dig

ASKED = "reboot.metal3.io"


def reconcile(view: View) -> None:
    """Move the power of each host that Metal3 has nothing else to do on one step on."""
    for host in view.all(*HOST):
        state, on = dig(host, "status", "provisioning", "state"), bool(dig(host, "status", "poweredOn"))
        if deleting(host) or state not in {"available", "provisioned"}:
            continue
        asked = (host["metadata"].get("annotations") or {}).get(ASKED)
        if not on and asked is not None:
            view.patch(host, {"metadata": {"annotations": {ASKED: None}}})
        elif not on and dig(host, "spec", "online"):
            view.status(host, {"poweredOn": True})
        elif on and asked is not None and (state == "provisioned" or _forced(asked)):
            view.status(host, {"poweredOn": False})


def _forced(asked: str) -> bool:
    try:
        said: Object = json.loads(asked)
    except ValueError:
        return False
    return bool(said.get("force"))
