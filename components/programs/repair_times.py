"""Times at which idle nodes with soft faults may be repaired: window, freezes and approval of their tenant.

A health check of Cluster API repairs a node once its condition has lasted for the hold time, and supports no windows
(kubernetes-sigs/cluster-api#3568). The condition of idle nodes is therefore set only if both ends of the hold time
permit a repair. Hard faults have other conditions, so they never wait.
"""

from __future__ import annotations

import datetime as dt
import zoneinfo
from collections.abc import Iterable, Mapping
from typing import Any

from components.programs.objects import REQUESTED, time_of

APPROVED = "jacquard.dev/approved-reboot"
"""Annotation of a Node by which its tenant approves a repair. The value is the ID of the current boot, so that an
approval ends with the reboot."""
APPROVAL, FREEZE, WINDOW = "WaitsForApproval", "WaitsForEndOfFreeze", "WaitsForWindow"
"""Reasons for which an idle node with a fault is not repaired yet."""
_WEEK = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")


def waits_for(
    node: Mapping[str, Any], faults: Iterable[Mapping[str, Any]], times: Mapping[str, Any], now: dt.datetime
) -> tuple[str, str] | None:
    """Return reason and message of the wait for the repair of an idle node; None if the repair may begin.

    A reboot that a person requested does not wait.

    Args:
        node: the Node.
        faults: its conditions that a reboot ends.
        times: ``hold_seconds`` between the condition and the repair, and optionally ``window``, ``freezes`` and
            ``approval`` of the tenant.
        now: time of the run.
    """
    if any(fault.get("reason") == REQUESTED for fault in faults):
        return None
    starts = now + dt.timedelta(seconds=times.get("hold_seconds", 0))
    boot = ((node.get("status") or {}).get("nodeInfo") or {}).get("bootID")
    if times.get("approval") and (not boot or (node["metadata"].get("annotations") or {}).get(APPROVED) != boot):
        return APPROVAL, f"the tenant approves the reboot by the annotation {APPROVED}={boot}"
    for freeze in times.get("freezes") or ():
        if time_of(freeze["from"]) <= starts and now < time_of(freeze["to"]):
            return FREEZE, f"freeze {freeze['name']} lasts until {freeze['to']}"
    window = times.get("window")
    return _closed(window, (now, starts)) if window else None


def _closed(window: Mapping[str, Any], moments: Iterable[dt.datetime]) -> tuple[str, str] | None:
    text = f"{','.join(window['days'])} {window['from']}-{window['to']} {window['timezone']}"
    try:
        zone = zoneinfo.ZoneInfo(window["timezone"])
    except zoneinfo.ZoneInfoNotFoundError:
        return WINDOW, f"the image of this program has no time zone data for the window of the tenant ({text})"
    if all(is_open(window, moment.astimezone(zone)) for moment in moments):
        return None
    return WINDOW, f"the window of the tenant is closed ({text})"


def is_open(window: Mapping[str, Any], local: dt.datetime) -> bool:
    """Return whether ``window`` is open at a time in its time zone; a window may end on the next day."""
    opens, closes = (dt.time.fromisoformat(window[key]) for key in ("from", "to"))
    today, yesterday = _WEEK[local.weekday()] in window["days"], _WEEK[local.weekday() - 1] in window["days"]
    time = local.time()
    if opens < closes:
        return today and opens <= time < closes
    return (today and time >= opens) or (yesterday and time < closes)
