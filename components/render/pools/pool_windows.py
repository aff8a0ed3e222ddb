"""Enforcement of maintenance windows: two CronJobs pause rollouts of a cluster's pools outside their tenant's window.

A MachineDeployment with ``spec.paused`` starts no replacement, while scaling and remediation continue. The rendered
objects of these pools do not contain the field, so that ``up`` neither reverts it nor conflicts with it. Outside the
window, one job sets the pause every hour. The effect of a missed run, a new pool or a clock change is therefore limited
to an hour. The other job runs once when the window opens and removes only this pause. A declared pause remains and has
no second owner.
"""

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any

from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY, manifest
from components.render.platform_pods import KUBECTL, cron_job, pod, role
from components.specs.struct import Struct
from components.specs.times import DAY_MINUTES, HOUR_MINUTES, WindowSpec

FIELD_MANAGER = "jacquard-window"
"""Field manager of ``spec.paused`` while the window is closed."""
RESUME, PAUSE = "resume-rollouts", "pause-rollouts"
"""CronJobs that run when the window opens, and when it closes."""
LEAST_MINUTES = 10
"""Minimum minutes for which a window must be open, and closed. A job may start five minutes late and run for five."""
_RUN_SECONDS = _LATE_SECONDS = LEAST_MINUTES * 60 // 2
_ACCOUNT = "rollout-window"
_GROUP = "cluster.x-k8s.io"
_KIND = f"machinedeployments.v1beta2.{_GROUP}"


class PoolWindows(Struct):
    """Maintenance window of the pools of a cluster."""

    window: WindowSpec
    groups: tuple[str, ...]
    """Names of the pools' MachineDeployments, except those paused by the tenant; at least one."""
    image: str
    """Container image of kubectl, pinned by digest."""


def render_windows(windows: PoolWindows, cluster: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
    """Return the two CronJobs in the namespace of ``cluster``, with a ServiceAccount and a minimal role."""
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
                # A late run must finish before the window opens or closes again.
                late_seconds=late_seconds,
            )
            for name, schedule, paused, late_seconds in (
                (RESUME, opening(window), None, window.minutes * 60 - _RUN_SECONDS),
                (PAUSE, closing(window), True, _LATE_SECONDS),
            )
        ),
    )


def opening(window: WindowSpec) -> str:
    """Return the cron schedule of the opening of ``window``."""
    days = ",".join(window.days) if len(set(window.days)) < 7 else "*"  # noqa: PLR2004 - of a week
    return f"{window.from_.minute} {window.from_.hour} * * {days}"


def closing(window: WindowSpec) -> str:
    """Return the cron schedule of the pause outside ``window``: at the end of the window, then hourly until it opens.

    The schedule runs daily, independent of the days of the window, because all times are outside the window's hours.
    """
    last = DAY_MINUTES - window.minutes - LEAST_MINUTES
    hours = sorted((window.to.hour + hour) % 24 for hour in range(max(last, 0) // HOUR_MINUTES + 1))
    return f"{window.to.minute} {_ranges(hours)} * * *"


def _ranges(numbers: list[int]) -> str:
    """Return ascending ``numbers`` in the format of cron, such as ``0-1,6-23``."""
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
