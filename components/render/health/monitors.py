"""Configuration of node-problem-detector: rules for the kernel log, by check."""

import json
from collections.abc import Iterable
from typing import Any

from components.specs.health.node_checks import Detector, NodeCheck

UPSTREAM_MONITORS = ("/config/kernel-monitor.json", "/config/readonly-monitor.json")
"""Monitors of upstream's image, which detect the checks with ``upstream``."""
MONITOR = "node-monitor.json"
"""Name of the monitor with the library's checks."""


def monitor(checks: Iterable[NodeCheck]) -> str:
    """Return the monitor for ``checks`` of the kernel log as JSON; checks of upstream's monitors are omitted.

    A condition stays True until the monitor restarts, normally with the next boot. The kernel log of earlier boots is
    not read (NPD:pkg/systemlogmonitor/logwatchers/kmsg).
    """
    rendered = [check for check in checks if check.detector is Detector.KERNEL_LOG and not check.upstream]
    content = {
        "plugin": "kmsg",
        "logPath": "/dev/kmsg",
        "lookback": "5m",
        "bufferSize": 10,
        "source": "node-monitor",
        "conditions": [
            {"type": check.condition, "reason": f"No{check.reason}", "message": "not seen since the last boot"}
            for check in rendered
            if check.condition
        ],
        "rules": [_rule(check) for check in rendered],
    }
    return json.dumps(content, indent=1)


def _rule(check: NodeCheck) -> dict[str, Any]:
    kind = {"type": "permanent", "condition": check.condition} if check.condition else {"type": "temporary"}
    return {**kind, "reason": check.reason, "pattern": check.pattern}
