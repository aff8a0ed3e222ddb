"""Decisions of the node tests: results of finished Jobs, comparison of neighbours, and the tests that are due.

The module reads plain objects of Kubernetes and writes nothing. `node_tests` acts on the decisions.
"""

from __future__ import annotations

import datetime as dt
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from components.programs.objects import REQUESTED, conditions, text_of, time_of

BURN_IN, VERIFICATION = "burn-in", "verification"
FAULT = "NodeTestFailed"
"""Condition of a Node that is True after a failed verification."""
IDLE_FAULT = "IdleWithFault"
"""Condition of a Node that is True while it has a fault that a reboot ends, and runs no pods that a reboot would end.
The health check of its rollout group repairs it."""
PHASE = "jacquard.dev/node-test"
"""Label of a Job and its pods: the phase."""
NODE, NODE_UID = "jacquard.dev/node", "jacquard.dev/node-uid"
"""Annotations of a Job: name and UID of the tested Node."""
POOL, DOMAIN, KIND = (f"node-restriction.kubernetes.io/{key}" for key in ("pool", "failure-domain", "instance-type"))
_IN_USE = {"reason": "NoFaultOrInUse", "message": "the node has no fault that a reboot ends, or runs pods"}
_REPAIR = "readiness.k8s.io/repair"
_FAILED_TEST = "PodFailurePolicy"
"""Reason of a Job that failed by the exit code of a container. Other reasons, such as a preemption, are no result."""
_SLOW = 0.9
"""Part of the median below which a node is slow, as in nccl-tests (src/common.cu, ``NCCL_TESTS_MIN_BW``)."""
_LEAST_NEIGHBOURS = 3
_MESSAGE_LIMIT = 300


@dataclass(frozen=True)
class Result:
    """Result of a Job on one node."""

    node: str
    phase: str
    finished: dt.datetime
    passed: bool
    reason: str
    message: str
    values: Mapping[str, float] = field(default_factory=dict)
    """Measured values by test."""


def results(
    jobs: Iterable[dict[str, Any]], pods: Iterable[dict[str, Any]], nodes: Mapping[str, dict[str, Any]], tests: Any
) -> Iterator[Result]:
    """Yield the result of each finished Job of a Node that still exists; a preempted Job has none.

    Args:
        jobs: Jobs of the node tests.
        pods: pods of the Jobs.
        nodes: Nodes by name.
        tests: expression for the measured value by name of the test; tests without a value are omitted.
    """
    by_job = defaultdict(list)
    for pod in pods:
        by_job[(pod["metadata"].get("labels") or {}).get("batch.kubernetes.io/job-name")].append(pod)
    for job in jobs:
        notes = job["metadata"].get("annotations") or {}
        node = nodes.get(notes.get(NODE, ""))
        if node is not None and node["metadata"]["uid"] == notes.get(NODE_UID):
            result = _result(job, by_job[job["metadata"]["name"]], tests)
            if result is not None:
                yield result


def _result(job: dict[str, Any], pods: list[dict[str, Any]], tests: Mapping[str, str]) -> Result | None:
    ended = [item for item in conditions(job).values() if item["type"] in {"Complete", "Failed"}]
    ended = [item for item in ended if item["status"] == "True"]
    if not ended or (ended[0]["type"] == "Failed" and ended[0].get("reason") != _FAILED_TEST):
        return None
    name, phase = job["metadata"]["name"], job["metadata"]["labels"][PHASE]
    passed, states = ended[0]["type"] == "Complete", list(_terminated(pods))
    failures = [f"{test} ended with exit code {state['exitCode']}: {_last(state)}" for test, state in _failed(states)]
    message = f"Job {name} passed" if passed else f"Job {name}: {'; '.join(failures) or 'a test failed'}"
    return Result(
        node=job["metadata"]["annotations"][NODE],
        phase=phase,
        finished=time_of(ended[0]["lastTransitionTime"]),
        passed=passed,
        reason="TestsPassed" if passed else "TestFailed",
        message=message[:_MESSAGE_LIMIT],
        values=dict(_measured(states, tests)) if passed else {},
    )


def _terminated(pods: list[dict[str, Any]]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield name and last state of the ended containers of all pods."""
    for pod in pods:
        status = pod.get("status") or {}
        for item in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
            if state := (item.get("state") or {}).get("terminated"):
                yield item["name"], state


def _failed(states: list[tuple[str, dict[str, Any]]]) -> Iterator[tuple[str, dict[str, Any]]]:
    return ((test, state) for test, state in states if state.get("exitCode"))


def _last(state: Mapping[str, Any]) -> str:
    """Return the last line of the message of an ended container."""
    lines = str(state.get("message") or "no output").strip().splitlines()
    return lines[-1] if lines else "no output"


def _measured(states: list[tuple[str, dict[str, Any]]], tests: Mapping[str, str]) -> Iterator[tuple[str, float]]:
    for test, state in states:
        if test in tests and (match := re.search(tests[test], str(state.get("message")))):
            yield test, float(match[1])


def compared(found: Iterable[Result], nodes: Mapping[str, dict[str, Any]]) -> list[Result]:
    """Return the latest result of each node and phase; a node that is slower than its neighbours has failed.

    Neighbours are nodes of one failure domain and instance type whose latest verification has passed. A node is slow if
    a measured value is below 90 % of the median; fewer than three nodes are not compared.
    """
    latest: dict[tuple[str, str], Result] = {}
    for result in sorted(found, key=lambda item: item.finished):
        latest[result.node, result.phase] = result
    groups: dict[tuple[str, ...], list[float]] = defaultdict(list)
    for result in latest.values():
        if result.phase == VERIFICATION:
            for test, value in result.values.items():
                groups[*_place(nodes[result.node]), test].append(value)
    return [_judged(result, nodes, groups) for result in latest.values()]


def _judged(
    result: Result, nodes: Mapping[str, dict[str, Any]], groups: Mapping[tuple[str, ...], list[float]]
) -> Result:
    for test, value in result.values.items() if result.phase == VERIFICATION else ():
        values = groups[*_place(nodes[result.node]), test]
        median = statistics.median(values)
        if len(values) >= _LEAST_NEIGHBOURS and value < _SLOW * median:
            text = (
                f"{test} measured {value:g}, but the median of {len(values)} nodes of the failure domain is {median:g}"
            )
            return replace(result, passed=False, reason="SlowerThanNeighbours", message=text)
    return result


def _place(node: Mapping[str, Any]) -> tuple[str, str]:
    labels = node["metadata"].get("labels") or {}
    return labels.get(DOMAIN, ""), labels.get(KIND, "")


def due(node: dict[str, Any], settings: Mapping[str, Any], now: dt.datetime) -> str | None:
    """Return the phase that is due on a node; None if none is, or if the node must not be tested now.

    A failed burn-in is repeated when the node becomes ready again, for example after a repair with a reboot. A passed
    burn-in counts as a verification.
    """
    known, pool = conditions(node), settings["pools"].get((node["metadata"].get("labels") or {}).get(POOL))
    ready, gate, fault = known.get("Ready", {}), known.get(settings["gate"]), known.get(FAULT)
    taints = {taint["key"] for taint in node["spec"].get("taints") or ()}
    if pool is None or ready.get("status") != "True" or node["spec"].get("unschedulable") or _REPAIR in taints:
        return None
    since = time_of(ready["lastTransitionTime"])
    if pool.get(BURN_IN) and (gate is None or gate["status"] != "True"):
        open_ = gate is None or gate["status"] == "Unknown" or since > time_of(gate["lastHeartbeatTime"])
        return BURN_IN if open_ else None
    if not pool.get(VERIFICATION):
        return None
    seconds = settings["interval_seconds"]
    last = max((time_of(item["lastHeartbeatTime"]) for item in (gate, fault) if item), default=None)
    if last is None or since > last or now.timestamp() // seconds > last.timestamp() // seconds:
        return VERIFICATION
    return None


def occupied(pods: Iterable[dict[str, Any]], phase: str) -> bool:
    """Return whether pods of a node prevent a test.

    A verification waits for pods with devices, a burn-in for all pods except those of DaemonSets, because it also uses
    memory and disks. Pods of tests do not count.
    """
    for pod in (pod for pod in pods if PHASE not in (pod["metadata"].get("labels") or {})):
        owners = {owner["kind"] for owner in pod["metadata"].get("ownerReferences") or ()}
        ended = (pod.get("status") or {}).get("phase") in {"Succeeded", "Failed"}
        if not ended and not owners & {"DaemonSet", "Node"} and (phase == BURN_IN or _has_devices(pod["spec"])):
            return True
    return False


def _has_devices(spec: Mapping[str, Any]) -> bool:
    """Return whether a pod requests extended resources, such as GPUs, or claims devices."""
    containers = [*spec["containers"], *(spec.get("initContainers") or ())]
    names = {name for item in containers for name in (item.get("resources") or {}).get("limits") or ()}
    return bool(spec.get("resourceClaims")) or any("/" in name for name in names)


def condition(result: Result, gate: str) -> dict[str, Any]:
    """Return the condition of the Node for a result: the gate after a burn-in, a fault after a verification."""
    kind, status = (gate, result.passed) if result.phase == BURN_IN else (FAULT, not result.passed)
    return {
        "type": kind,
        "status": str(status),
        "reason": result.reason,
        "message": result.message,
        "lastHeartbeatTime": text_of(result.finished),
    }


def faults_of(node: dict[str, Any], faults: Iterable[str]) -> list[dict[str, Any]]:
    """Return those of the conditions ``faults`` of a node that are True."""
    known = conditions(node)
    return [known[fault] for fault in faults if known.get(fault, {}).get("status") == "True"]


def idle_condition(
    node: dict[str, Any], faults: list[dict[str, Any]], wait: tuple[str, str] | None, now: dt.datetime
) -> dict[str, Any] | None:
    """Return the changed condition of a node that is idle with ``faults``; None if the condition stays.

    The condition is False while the repair waits, with reason and message of ``wait``. The reason is that of a request
    if a person requested the reboot and the node has no other fault.
    """
    idle, known = bool(faults) and wait is None, conditions(node).get(IDLE_FAULT) or {"status": "False", **_IN_USE}
    said = dict(zip(("reason", "message"), wait, strict=True)) if wait else _IN_USE
    if idle:
        requested = all(fault.get("reason") == REQUESTED for fault in faults)
        message = "only pods of DaemonSets run on the node, and a reboot ends its fault"
        said = {"reason": REQUESTED if requested else "RebootRequired", "message": message}
    same = known["status"] == str(idle)
    if same and (idle or said.items() <= known.items()):
        return None
    since = known.get("lastTransitionTime") if same else None
    times = {"lastHeartbeatTime": text_of(now), "lastTransitionTime": since or text_of(now)}
    return {"type": IDLE_FAULT, "status": str(idle), **said, **times}


def changes(known: Mapping[str, Any] | None, wanted: dict[str, Any]) -> dict[str, Any] | None:
    """Return ``wanted`` with the time of its last transition; None if ``known`` is the same or newer."""
    if known is None:
        return {**wanted, "lastTransitionTime": wanted["lastHeartbeatTime"]}
    if known.get("lastHeartbeatTime") and time_of(known["lastHeartbeatTime"]) > time_of(wanted["lastHeartbeatTime"]):
        return None
    if wanted.items() <= known.items():
        return None
    same = known["status"] == wanted["status"]
    return {**wanted, "lastTransitionTime": known["lastTransitionTime"] if same else wanted["lastHeartbeatTime"]}
