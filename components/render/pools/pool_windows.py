"""Windows that are kept: two CronJobs hold the rolls of a cluster's pools outside the window of their tenant.

Cluster API's own switch does the holding: a MachineDeployment with ``spec.paused`` begins no replacement, while scaling
and repair go on. The field is declared nowhere, so applying neither reverts nor contests it. The window is held shut
more often than once: a closing that was missed, a pool that was made since, or a clock change costs an hour. It opens
once, and only by taking the field away, so that a pause that is declared stays and never meets another owner.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY, manifest
from components.render.workloads import KUBECTL, cron_job, pod, role
from components.specs.times import DAY_MINUTES, HOUR_MINUTES, WindowSpec

FIELD_MANAGER = "jacquard-window"
"""Owner of ``spec.paused`` while the window is shut."""
OPENS, CLOSES = "window-opens", "window-closes"
LEAST_MINUTES = 10
"""How many minutes a window must be open, and shut: a job may start five minutes late and run for five."""
_RUN_SECONDS = _LATE_SECONDS = LEAST_MINUTES * 60 // 2
_ACCOUNT = "window"
_GROUP = "cluster.x-k8s.io"
_KIND = f"machinedeployments.v1beta2.{_GROUP}"


@dataclass(frozen=True, slots=True, kw_only=True)
class PoolWindows:
    """The window that the pools of a cluster keep."""

    window: WindowSpec
    groups: tuple[str, ...]
    """Names of the pools' MachineDeployments, without those that the tenant pauses; at least one."""
    image: str
    """Container image of kubectl, by digest."""


def render_windows(windows: PoolWindows, cluster: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
    """Return the two CronJobs in the namespace of ``cluster``, and what lets them do this and nothing else."""
    window = windows.window
    common: dict[str, Any] = {"namespace": cluster, "labels": labels}
    rule = {
        "apiGroups": [_GROUP],
        "resources": ["machinedeployments"],
        "resourceNames": list(windows.groups),
        "verbs": ["get", "patch"],
    }
    return (
        manifest("v1", "ServiceAccount", _ACCOUNT, **common),
        *role(_ACCOUNT, [rule], account=(cluster, _ACCOUNT), **common),
        *(
            cron_job(
                name,
                _job(windows, cluster, paused=paused),
                **common,
                schedule=schedule,
                time_zone=window.timezone,
                # Late, it must still be done before the window turns again.
                late_seconds=late_seconds,
            )
            for name, schedule, paused, late_seconds in (
                (OPENS, opening(window), None, window.minutes * 60 - _RUN_SECONDS),
                (CLOSES, closing(window), True, _LATE_SECONDS),
            )
        ),
    )


def opening(window: WindowSpec) -> str:
    """Return the cron schedule of the moments at which ``window`` opens."""
    days = ",".join(window.days) if len(set(window.days)) < 7 else "*"  # noqa: PLR2004 - of a week
    return f"{window.from_.minute} {window.from_.hour} * * {days}"


def closing(window: WindowSpec) -> str:
    """Return the cron schedule of the moments at which ``window`` is held shut: its end, and each hour until it opens.

    They are out of the hours of the window, so they hold on every day, whichever its days are.
    """
    last = DAY_MINUTES - window.minutes - LEAST_MINUTES
    hours = sorted((window.to.hour + hour) % 24 for hour in range(max(last, 0) // HOUR_MINUTES + 1))
    return f"{window.to.minute} {_ranges(hours)} * * *"


def _ranges(numbers: list[int]) -> str:
    """Return rising ``numbers`` as cron writes them: ``0-1,6-23``."""
    runs = [[number for _, number in run] for _, run in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)


def _job(windows: PoolWindows, cluster: str, *, paused: bool | None) -> dict[str, Any]:
    patch = json.dumps({"spec": {"paused": paused}}, separators=(",", ":"))
    container = {
        "name": KUBECTL,
        "image": windows.image,
        "command": [KUBECTL],
        "args": [
            "patch",
            _KIND,
            *windows.groups,
            f"--namespace={cluster}",
            "--type=merge",
            f"--patch={patch}",
            f"--field-manager={FIELD_MANAGER}",
        ],
    }
    spec = pod(_ACCOUNT, [container], priorityClassName=SERVICES_PRIORITY)
    return {"backoffLimit": 3, "activeDeadlineSeconds": _RUN_SECONDS, "template": {"spec": spec}}
