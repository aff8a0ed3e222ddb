"""Monitors of node-problem-detector from the values of its chart, and the conditions with which it starts.

Source: kubernetes/node-problem-detector 1.34.0, ``pkg/systemlogmonitor/log_monitor.go``. On a node without a kernel log
(`problem_detectors`), no problem can occur. There, a running pod of the DaemonSet sets only the initial conditions,
all False. Heartbeats of these conditions are not simulated.
"""

import json
from collections.abc import Iterator
from functools import cache
from pathlib import PurePosixPath
from typing import Any

from jacquard.lab.rehearsal.operators.view import LOG, Object, View, now
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError
from jacquard.providers.kube.objects import dig

CHART = "node-problem-detector"
MONITORS = "node-problem-monitors"
"""Data of the toolchain with the monitors that the image contains."""
_IN_IMAGE, _CUSTOM = PurePosixPath("/config"), PurePosixPath("/custom-config")
_KERNEL_LOG = "kmsg"


def monitors(release: Object) -> Iterator[tuple[str, Object]]:
    """Yield name and definition of the monitors that read the kernel log, in the order of the release's values."""
    settings = dig(release, "spec", "values", "settings") or {}
    custom = settings.get("custom_monitor_definitions") or {}
    for entry in settings.get("log_monitors") or ():
        path = PurePosixPath(entry)
        text = custom.get(path.name) if path.parent == _CUSTOM else _of_image(path)
        try:
            monitor = _parsed(text or "")
        except ValueError as error:
            LOG.warning("%s: monitor %s: %s", CHART, path, error)
            continue
        if monitor.get("plugin") == _KERNEL_LOG:
            yield path.name, monitor


def report(view: View, node: Object, _pod: Object, release: Object, _found: object = None) -> None:
    """Set the initial conditions of all monitors that ``node`` lacks."""
    conditions = dig(node, "status", "conditions") or []
    reported, moment = {condition["type"] for condition in conditions}, now()
    missing = [
        {**condition, "status": "False", "lastHeartbeatTime": moment, "lastTransitionTime": moment}
        for _, monitor in monitors(release)
        for condition in monitor.get("conditions") or ()
        if condition["type"] not in reported
    ]
    # The kubelet of a new node reports its conditions first.
    if missing and conditions:
        view.status(node, {"conditions": [*conditions, *missing]})


@cache
def _of_image(path: PurePosixPath) -> str | None:
    """Return a file of the image's folder ``/config``; None if it does not exist."""
    try:
        local = binaries.data(MONITORS) / "config" / path.name
    except ToolchainError:
        return None
    return local.read_text(encoding="utf-8") if path.parent == _IN_IMAGE and local.is_file() else None


@cache
def _parsed(text: str) -> dict[str, Any]:
    """Return a monitor.

    Raises:
        ValueError: The text is not a JSON object.
    """
    monitor = json.loads(text)
    if not isinstance(monitor, dict):
        msg = "not a JSON object"
        raise ValueError(msg)  # noqa: TRY004 - as for any other text that is no monitor
    return monitor
