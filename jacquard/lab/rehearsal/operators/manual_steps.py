"""Simulated manual release of DPUs: immediate, independent of the workloads on their hosts."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators.network.dpu_flashes import HOLD, REBOOT
from jacquard.lab.rehearsal.operators.network.dpus import API
from jacquard.lab.rehearsal.operators.view import View


def reconcile(view: View) -> None:
    """Release maintenance holds and reboot requests of DPF, unless a CronJob exists in its namespace."""
    served = {item["metadata"]["namespace"] for item in view.all("batch/v1", "CronJob")}
    for kind, key, done in (("DPUNodeMaintenance", HOLD, "false"), ("DPUNode", REBOOT, None)):
        for item in view.all(API, kind):
            value = (item["metadata"].get("annotations") or {}).get(key)
            if value == "true" and item["metadata"]["namespace"] not in served:
                view.patch(item, {"metadata": {"annotations": {key: done}}})
