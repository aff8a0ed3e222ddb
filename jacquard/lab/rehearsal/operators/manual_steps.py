"""What people do in a region where nothing does it: they let DPUs go, at once and whatever is on their hosts."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators.network.dpu_flashes import HOLD, REBOOT
from jacquard.lab.rehearsal.operators.network.dpus import API
from jacquard.lab.rehearsal.operators.view import View


def reconcile(view: View) -> None:
    """Take off what DPF waits for, unless a job of DPF's namespace is there to do so."""
    served = {item["metadata"]["namespace"] for item in view.all("batch/v1", "CronJob")}
    for kind, key, done in (("DPUNodeMaintenance", HOLD, "false"), ("DPUNode", REBOOT, None)):
        for item in view.all(API, kind):
            found = (item["metadata"].get("annotations") or {}).get(key)
            if found == "true" and item["metadata"]["namespace"] not in served:
                view.patch(item, {"metadata": {"annotations": {key: done}}})
