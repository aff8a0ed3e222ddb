"""Service level objectives of API servers: recording rules, and alerts on the use of their error budgets.

The windows and burn rates are those of the Google SRE workbook (chapter Alerting on SLOs, Multiwindow, Multi-Burn-Rate
Alerts): with a burn rate of 1, the error budget of 30 days is used within 30 days. An alert fires if the budget is used
too fast in both windows of a pair, so that it ends soon after the fault.
"""

from collections.abc import Mapping
from typing import Any

from components.render import labels as keys
from components.render.region.monitors import (
    AVAILABILITY_BURN,
    CONTROL_PLANE_WAS_DOWN,
    LATENCY_BURN,
    MUTATING,
    SLOW_SECONDS,
    Audience,
    alert,
)
from components.specs.region.observability import Objective, SlosSpec
from components.specs.struct import Struct

GROUP = "objectives"
_DOWN = "control_plane:apiserver_down:bool"
_SHORTEST = "5m"
_WINDOWS = ("30m", "1h", "2h", "6h", "1d", "3d")
_OUTAGE_REMEMBERED = "30m"
"""Short window of the slowest alert that is critical: it is true for so long after an outage."""


class _Speed(Struct):
    """Pairs of windows with the same severity."""

    severity: str
    pairs: tuple[tuple[str, str, float], ...]
    """Long window, short window and burn rate."""
    hold: str
    text: str


_SPEEDS = (
    _Speed(
        severity="critical",
        pairs=(("1h", "5m", 14.4), ("6h", "30m", 6)),
        hold="3m",
        text="2 % of the error budget of 30 days were used within an hour, or 5 % within six hours",
    ),
    _Speed(
        severity="warning",
        pairs=(("1d", "2h", 3), ("3d", "6h", 1)),
        hold="15m",
        text="10 % of the error budget of 30 days were used within three days",
    ),
)
"""The hold time of critical alerts is longer than that of ControlPlaneDown, which replaces them during an outage."""


class _Objective(Struct):
    alert: str
    series: str
    """Prefix of the recorded series: the share of failures, by window."""
    share: str
    """Expression of the share in the shortest window."""
    objective: Objective
    failure: str


def of_tenant(labels: Mapping[str, str], slos: SlosSpec) -> dict[str, Any]:
    """Return the rules for the control plane with ``labels``, whose tenant gets the alerts as well."""
    cluster, tenant = labels[keys.CLUSTER], labels[keys.TENANT]
    return group(cluster, slos, {"cluster": cluster, "tenant": tenant}, Audience.TENANT)


def of_management(slos: SlosSpec) -> dict[str, Any]:
    """Return the rules for the API servers of the management cluster, whose series have no label ``cluster``."""
    return group("", slos, {}, Audience.OPERATORS)


def group(cluster: str, slos: SlosSpec, labels: Mapping[str, str], audience: Audience) -> dict[str, Any]:
    """Return the group of rules for the API servers of ``cluster``; the empty name is the management cluster.

    Args:
        cluster: label ``cluster`` of the series of the API servers.
        slos: the objectives.
        labels: further labels of the recorded series and of the alerts.
        audience: recipients of the alerts.
    """
    of = f'job="apiserver",cluster="{cluster}"'
    objectives = (
        _Objective(
            alert=AVAILABILITY_BURN,
            series="control_plane:apiserver_errors:ratio_rate",
            share=_errors(of, cluster),
            objective=slos.of_availability,
            failure="API requests fail with a server error, or no API server responds",
        ),
        _Objective(
            alert=LATENCY_BURN,
            series="control_plane:apiserver_slow:ratio_rate",
            share=_slow(of),
            objective=slos.of_latency,
            failure=f"Mutating API requests take longer than {SLOW_SECONDS} s",
        ),
    )
    recorded = {_DOWN: _down(of), **{item.series + _SHORTEST: item.share for item in objectives}}
    for objective in objectives:
        recorded |= _averages(objective, cluster)
    rules: list[dict[str, Any]] = [{"record": name, "expr": expression} for name, expression in recorded.items()]
    rules += [_was_down(cluster, audience)]
    rules += [_burn(objective, speed, cluster, audience) for objective in objectives for speed in _SPEEDS]
    return {"name": GROUP, "rules": [_labelled(rule, labels) for rule in rules]}


def _down(of: str) -> str:
    """Return 1 while no API server is up that was up within a day; a new control plane is not down."""
    return f"absent(up{{{of}}} == 1) * (max(max_over_time(up{{{of}}}[1d])) == 1) or vector(0)"


def _errors(of: str, cluster: str) -> str:
    every = f"sum(rate(apiserver_request_total{{{of}}}[{_SHORTEST}]))"
    failed = f'sum(rate(apiserver_request_total{{{of},code=~"5.."}}[{_SHORTEST}]))'
    down = f'sum({_DOWN}{{cluster="{cluster}"}}) == 1'
    return f"{down} or (({failed} or vector(0)) / ({every} > 0)) or vector(0)"


def _slow(of: str) -> str:
    """Return the share of slow requests. Different formats write the limit of the bucket as 1 or 1.0."""
    name = f"apiserver_request_sli_duration_seconds_bucket{{{of},{MUTATING}"
    fast = f'sum(rate({name},le=~"{SLOW_SECONDS}(\\\\.0)?"}}[{_SHORTEST}]))'
    every = f'sum(rate({name},le="+Inf"}}[{_SHORTEST}]))'
    return f"1 - {fast} / ({every} > 0) or vector(0)"


def _averages(objective: _Objective, cluster: str) -> dict[str, str]:
    """Return the longer windows: averages over time of the shortest one, which needs few series."""
    base = f'{objective.series}{_SHORTEST}{{cluster="{cluster}"}}'
    return {objective.series + window: f"avg_over_time({base}[{window}])" for window in _WINDOWS}


def _burn(objective: _Objective, speed: _Speed, cluster: str, audience: Audience) -> dict[str, Any]:
    budget = 1 - float(objective.objective.removesuffix("%")) / 100

    def exceeded(window: str, rate: float) -> str:
        return f'{objective.series}{window}{{cluster="{cluster}"}} > {rate * budget:.6g}'

    pairs = [f"({exceeded(long, rate)} and {exceeded(short, rate)})" for long, short, rate in speed.pairs]
    summary = f"{objective.failure}: {speed.text} (objective: {objective.objective})."
    return alert(objective.alert, speed.severity, " or ".join(pairs), summary, audience=audience, hold=speed.hold)


def _was_down(cluster: str, audience: Audience) -> dict[str, Any]:
    return alert(
        CONTROL_PLANE_WAS_DOWN,
        "info",
        f'max_over_time({_DOWN}{{cluster="{cluster}"}}[{_OUTAGE_REMEMBERED}]) == 1',
        f"No API server responded within the last {_OUTAGE_REMEMBERED.removesuffix('m')} minutes; critical alerts on"
        " the error budget are not sent meanwhile.",
        audience=audience,
        hold="1m",
    )


def _labelled(rule: dict[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    every = {**rule.get("labels", {}), **labels}
    return {**rule, "labels": every} if every else rule
