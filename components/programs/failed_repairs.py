"""Counts the repairs of hosts, and has Machines replaced whose repair failed or did not last.

Metal3 and Cluster API keep no record of a repair that helped: Cluster API deletes the Metal3Remediation once the node
is healthy (CAPI:internal/controllers/machinehealthcheck/machinehealthcheck_controller.go, v1.13.5). A fault that
returns would be repaired by reboots forever. This program records the start of each repair on the host. If a host
exceeds the limit of its type, the program ends the repair after one reboot, as Metal3 does after its last attempt:

1. It marks the host, which no Machine claims from then on, and the Machine, which then stays unhealthy if its node
   recovers.
2. Once Metal3 has powered on the host and removed its finalizer, the remediation gets the phase after the last attempt,
   in which Metal3 takes no further step (CAPM3:controllers/metal3remediation_controller.go, v1.13.2).

After its last attempt Metal3 sets ``OwnerRemediated`` among the deprecated conditions of the Machine
(CAPM3:baremetal/metal3remediation_manager.go, v1.13.2), where Cluster API no longer reads it
(CAPI:util/collections/machine_filters.go, v1.13.5). The Machine would stay unhealthy forever. This program sets the
condition where Cluster API reads it. Cluster API then replaces the Machine, with its own checks and limits.

Cluster API deletes a Machine before its replacement claims a host. Without a free host, the pool would only lose the
node. Both steps above therefore require a free host of the pool and failure domain (`spare_hosts`). Without one, a
Machine whose repair failed stays, with an annotation, and a node whose fault returned stays in use after its reboot.

Metal3 takes no step of a remediation while its Machine has no Node, and repeats this error forever
(CAPM3:baremetal/metal3remediation_manager.go, GetNode, v1.13.2). A Machine whose node never joins would stay, and would
use up the limit on repairs of its group. The program therefore also hands over such a Machine, if its host failed to be
provisioned, or was provisioned earlier than the startup timeout of the health check.

A reboot that a person requested is executed like a repair, but it is not counted. Its Machine gets an annotation,
because the reason of the repair is only known until the node is healthy.

`components.render.pools.failed_repairs` renders its pod, which runs these modules with the standard library
only.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written
from components.programs.objects import REQUESTED, conditions, text_of, time_of
from components.programs.spare_hosts import HOSTS, MARK, UNHEALTHY, Spares

MANAGER = "jacquard-failed-repairs"
REPAIRS = "jacquard.dev/repairs"
"""Annotation of a host: start of each repair within the window of its instance type, separated by spaces, and
`RETURNED` at the end if the fault returned after them."""
RETURNED = "returned"
INSTANCE_TYPE = "jacquard.dev/instance-type"
WAITS_FOR, SPARE = "jacquard.dev/waits-for", "spare"
"""Annotation of a Machine whose repair failed, and its value while no host is free to replace its host."""
REQUESTED_AT = "jacquard.dev/requested-reboot"
"""Annotation of a Machine: creation of the remediation that a person requested."""
NEVER_JOINED = "never-joined"
"""Last word of `REPAIRS` on hosts whose node did not join."""
GROUP = "jacquard.dev/rollout-group"
"""Label of a Machine with the name of the health check of its rollout group."""
REMEDIATE = "cluster.x-k8s.io/remediate-machine"
"""Annotation of a Machine that is unhealthy whatever its node reports (CAPI:api/core/v1beta2/common_types.go)."""
RUNNING, WAITING, GAVE_UP = "Running", "Waiting", "Deleting machine"
"""Phases of a Metal3Remediation: power off, power on and recovery, after the last attempt. Hosts are not rebooted in
other phases."""
CONDITION = "OwnerRemediated"
NOT_PROVISIONED = "provisioning error"
"""Type of the error of a host whose image cannot be written (BMO:apis/metal3.io/v1alpha1/baremetalhost_types.go)."""
_METAL3, _CAPI = "infrastructure.cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta2"
_HOST = "metal3.io/BareMetalHost"
"""Annotation of a Metal3Machine with namespace and name of its host."""
LOG = logging.getLogger("failed-repairs")


@dataclass(frozen=True)
class Repair:
    """Remediation of a Machine, with its host."""

    remediation: dict[str, Any]
    machine: dict[str, Any]
    metal3_machine: dict[str, Any] | None
    host: dict[str, Any] | None
    spares: Spares

    @property
    def phase(self) -> str | None:
        """Return the phase of the remediation."""
        return (self.remediation.get("status") or {}).get("phase")

    @cached_property
    def is_replaceable(self) -> bool:
        """Reserve a free host; return False without one. A Machine without a host needs none."""
        return self.metal3_machine is None or self.host is None or self.spares.take(self.metal3_machine)


def step(
    api: Api, remediation: dict[str, Any], limits: Mapping[str, Mapping[str, int]], spares: Spares, now: dt.datetime
) -> None:
    """Record a repair, end it if earlier repairs did not last, and hand its Machine over after the end.

    Args:
        api: client of the management cluster.
        remediation: the Metal3Remediation of a Machine.
        limits: ``repairs`` within ``within_hours`` by instance type; the name of the default is empty.
        spares: free hosts.
        now: time of the run.
    """
    repair = _repair(api, remediation, spares)
    if repair is None or leaves(repair.machine) or repair.phase not in {RUNNING, WAITING, GAVE_UP}:
        return
    if repair.phase == RUNNING and not (repair.machine.get("status") or {}).get("nodeRef"):
        if repair.host and stays(repair.machine) and _has_not_joined(api, repair.machine, repair.host, now):
            _replace_unjoined(api, repair, repair.host, now)
        return
    ends = not _is_requested(api, repair) and _record(api, repair, limits, now)
    if ends and repair.phase == WAITING and not remediation["metadata"].get("finalizers"):
        api.patch_status(_METAL3, "metal3remediations", remediation, {"phase": GAVE_UP})
    elif repair.phase != GAVE_UP:
        if WAITS_FOR in _annotations(repair.machine):
            api.note(_CAPI, "machines", repair.machine, {WAITS_FOR: None})
        return
    if stays(repair.machine):
        _hand_over(api, repair, now, "reboots of the host did not remove the fault")


def _repair(api: Api, remediation: dict[str, Any], spares: Spares) -> Repair | None:
    """Return a repair; None without a Machine."""
    metadata = remediation["metadata"]
    namespace = metadata["namespace"]
    for owner in metadata.get("ownerReferences") or ():
        if owner["kind"] == "Machine" and (machine := api.get(_CAPI, "machines", namespace, owner["name"])):
            reference = machine["spec"]["infrastructureRef"]["name"]
            metal3_machine = api.get(_METAL3, "metal3machines", namespace, reference)
            notes = _annotations(metal3_machine) if metal3_machine else {}
            place, _, name = notes.get(_HOST, "").partition("/")
            host = api.get(HOSTS, "baremetalhosts", place, name) if name else None
            return Repair(remediation, machine, metal3_machine, host, spares)
    return None


def _is_requested(api: Api, repair: Repair) -> bool:
    """Return whether a person requested the reboot, and record it on the Machine.

    The health check of a Machine states all conditions of its Node that are unhealthy, one in each line after the first
    (CAPI:internal/controllers/machinehealthcheck/machinehealthcheck_targets.go). With another fault, it is a repair.
    """
    machine, created = repair.machine, repair.remediation["metadata"]["creationTimestamp"]
    if _annotations(machine).get(REQUESTED_AT) == created:
        return True
    message = str(conditions(machine).get("HealthCheckSucceeded", {}).get("message", ""))
    faults = message.splitlines()[1:]
    if not faults or not all(f" with reason {REQUESTED} " in fault for fault in faults):
        return False
    api.note(_CAPI, "machines", machine, {REQUESTED_AT: created})
    LOG.info("%s: requested reboot, not counted", _name(machine))
    return True


def _record(api: Api, repair: Repair, limits: Mapping[str, Mapping[str, int]], now: dt.datetime) -> bool:
    """Record a repair on its host; return whether it ends, because the host exceeds its limit and a spare is free.

    Host and Machine are then marked.
    """
    host, machine = repair.host, repair.machine
    if host is None:
        return False
    limit = limits.get((host["metadata"].get("labels") or {}).get(INSTANCE_TYPE, ""), limits[""])
    started = time_of(repair.remediation["metadata"]["creationTimestamp"])
    starts = sorted({started, *repairs(host, now, limit["within_hours"])})
    present = _annotations(host)
    ends = len(starts) > limit["repairs"] and (repair.is_replaceable or has_returned(present))
    marks = [RETURNED] if ends or has_returned(present) else []
    notes = {REPAIRS: " ".join([*map(text_of, starts), *marks])}
    if ends:
        notes[UNHEALTHY] = present.get(UNHEALTHY, MARK)
    if not notes.items() <= present.items():
        api.note(HOSTS, "baremetalhosts", host, notes)
        LOG.info("%s: %d repairs within %d hours", _name(host), len(starts), limit["within_hours"])
    if ends and REMEDIATE not in _annotations(machine):
        api.note(_CAPI, "machines", machine, {REMEDIATE: ""})
    return ends


def _has_not_joined(api: Api, machine: dict[str, Any], host: dict[str, Any], now: dt.datetime) -> bool:
    """Return whether the host of a Machine without a Node cannot be provisioned, or runs its image for too long.

    The health check measures from the creation of the Machine, which may have waited for a host.
    """
    status, metadata = host.get("status") or {}, machine["metadata"]
    if status.get("errorType") == NOT_PROVISIONED:
        return True
    end = ((status.get("operationHistory") or {}).get("provision") or {}).get("end")
    group = (metadata.get("labels") or {}).get(GROUP)
    if not end or not group or (status.get("provisioning") or {}).get("state") != "provisioned":
        return False
    check = api.get(_CAPI, "machinehealthchecks", metadata["namespace"], group)
    seconds: int = check["spec"]["checks"].get("nodeStartupTimeoutSeconds", 0) if check else 0
    return seconds > 0 and now - time_of(end) > dt.timedelta(seconds=seconds)


def _replace_unjoined(api: Api, repair: Repair, host: dict[str, Any], now: dt.datetime) -> None:
    """Mark the host of a node that did not join, and let Cluster API replace its Machine, if a host is free."""
    present = _annotations(host)
    if UNHEALTHY not in present and repair.is_replaceable:
        notes = {REPAIRS: f"{present.get(REPAIRS, '')} {NEVER_JOINED}".strip(), UNHEALTHY: MARK}
        api.note(HOSTS, "baremetalhosts", host, notes)
    _hand_over(api, repair, now, "the node did not join the cluster")


def _hand_over(api: Api, repair: Repair, now: dt.datetime, message: str) -> None:
    """Let Cluster API replace a Machine if a host is free; otherwise record what the Machine waits for."""
    machine = repair.machine
    if repair.is_replaceable:
        api.apply_status("machines", machine, {"conditions": [condition(now, message)]})
        LOG.info("%s: handed over for replacement", _name(machine))
    elif WAITS_FOR not in _annotations(machine):
        api.note(_CAPI, "machines", machine, {WAITS_FOR: SPARE})
        LOG.info("%s: waits for a spare host", _name(machine))


def has_returned(annotations: Mapping[str, str]) -> bool:
    """Return whether a host with ``annotations`` is marked because its fault returned after its repairs."""
    return UNHEALTHY in annotations and RETURNED in annotations.get(REPAIRS, "").split()


def repairs(host: dict[str, Any], now: dt.datetime, within_hours: int) -> Iterator[dt.datetime]:
    """Yield the recorded starts of repairs of a host within the last ``within_hours``; other text is ignored."""
    for text in _annotations(host).get(REPAIRS, "").split():
        try:
            start = time_of(text)
        except ValueError:
            continue
        if start.tzinfo and now - start <= dt.timedelta(hours=within_hours):
            yield start


def _annotations(body: dict[str, Any]) -> dict[str, str]:
    return body["metadata"].get("annotations") or {}


def _name(body: dict[str, Any]) -> str:
    return f"{body['metadata']['namespace']}/{body['metadata']['name']}"


def stays(machine: dict[str, Any]) -> bool:
    """Return whether a Machine is unhealthy and nothing replaces it."""
    return conditions(machine).get("HealthCheckSucceeded", {}).get("status") == "False" and not leaves(machine)


def leaves(machine: dict[str, Any]) -> bool:
    """Return whether Cluster API deletes a Machine, or was asked to replace it."""
    return "deletionTimestamp" in machine["metadata"] or CONDITION in conditions(machine)


def condition(now: dt.datetime, message: str) -> dict[str, str]:
    """Return the condition that asks the owner of a Machine to replace it."""
    return {
        "type": CONDITION,
        "status": "False",
        "reason": "WaitingForRemediation",
        "message": message,
        "lastTransitionTime": text_of(now),
    }


def main(server: str, account: str, limits: str) -> None:
    """Take the next step of each repair; ``limits`` is the path of a JSON file."""
    api, now = Api.of_account(server, Path(account), MANAGER), dt.datetime.now(dt.UTC)
    by_type = json.loads(Path(limits).read_text())
    remediations = list(api.items(_METAL3, "metal3remediations"))
    spares = Spares(api.items(HOSTS, "baremetalhosts") if remediations else ())
    for remediation in remediations:
        if not is_written(step, api, remediation, by_type, spares, now):
            LOG.info("%s: skipped, object changed since it was read", _name(remediation))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
