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

`components.render.pools.failed_repairs` renders its pod, which runs this module and `api` with the standard library
only.
"""

from __future__ import annotations

import datetime as dt
import json
import logging
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written
from components.programs.objects import conditions, text_of, time_of

MANAGER = "jacquard-failed-repairs"
REPAIRS = "jacquard.dev/repairs"
"""Annotation of a host: start of each repair within the window of its instance type, separated by spaces."""
INSTANCE_TYPE = "jacquard.dev/instance-type"
UNHEALTHY = "capm3.metal3.io/unhealthy"
"""Annotation of a host that no Machine claims. Metal3 sets it after its last attempt, and no controller removes it."""
RETURNED = "jacquard/FaultReturned"
"""Value of `UNHEALTHY` on hosts whose fault returned after repairs."""
REMEDIATE = "cluster.x-k8s.io/remediate-machine"
"""Annotation of a Machine that is unhealthy whatever its node reports (CAPI:api/core/v1beta2/common_types.go)."""
RUNNING, WAITING, GAVE_UP = "Running", "Waiting", "Deleting machine"
"""Phases of a Metal3Remediation: power off, power on and recovery, after the last attempt. Hosts are not rebooted in
other phases."""
CONDITION = "OwnerRemediated"
_METAL3, _CAPI, _HOSTS = "infrastructure.cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta2", "metal3.io/v1alpha1"
_HOST = "metal3.io/BareMetalHost"
"""Annotation of a Metal3Machine with namespace and name of its host."""
LOG = logging.getLogger("failed-repairs")


def step(api: Api, remediation: dict[str, Any], limits: Mapping[str, Mapping[str, int]], now: dt.datetime) -> None:
    """Record a repair, end it if earlier repairs did not last, and hand its Machine over after the end.

    Args:
        api: client of the management cluster.
        remediation: the Metal3Remediation of a Machine.
        limits: ``repairs`` within ``within_hours`` by instance type; the name of the default is empty.
        now: time of the run.
    """
    phase = (remediation.get("status") or {}).get("phase")
    machine = _machine(api, remediation)
    if machine is None or phase not in {RUNNING, WAITING, GAVE_UP}:
        return
    exceeded = _record(api, remediation, machine, limits, now)
    if exceeded and phase == WAITING and not remediation["metadata"].get("finalizers"):
        api.patch_status(_METAL3, "metal3remediations", remediation, {"phase": GAVE_UP})
        phase = GAVE_UP
    if phase == GAVE_UP and stays(machine):
        api.apply_status("machines", machine, {"conditions": [condition(now)]})
        LOG.info("%s: handed over for replacement", _name(machine))


def _machine(api: Api, remediation: dict[str, Any]) -> dict[str, Any] | None:
    metadata = remediation["metadata"]
    for owner in metadata.get("ownerReferences") or ():
        if owner["kind"] == "Machine":
            return api.get(_CAPI, "machines", metadata["namespace"], owner["name"])
    return None


def _record(
    api: Api,
    remediation: dict[str, Any],
    machine: dict[str, Any],
    limits: Mapping[str, Mapping[str, int]],
    now: dt.datetime,
) -> bool:
    """Record a repair on its host; return whether the host exceeds its limit, after marking host and Machine."""
    host = _host(api, machine)
    if host is None:
        return False
    limit = limits.get((host["metadata"].get("labels") or {}).get(INSTANCE_TYPE, ""), limits[""])
    started = time_of(remediation["metadata"]["creationTimestamp"])
    starts = sorted({started, *repairs(host, now, limit["within_hours"])})
    exceeded, present = len(starts) > limit["repairs"], _annotations(host)
    notes = {REPAIRS: " ".join(map(text_of, starts))}
    if exceeded:
        notes[UNHEALTHY] = present.get(UNHEALTHY, RETURNED)
    if not notes.items() <= present.items():
        api.note(_HOSTS, "baremetalhosts", host, notes)
        LOG.info("%s: %d repairs within %d hours", _name(host), len(starts), limit["within_hours"])
    if exceeded and REMEDIATE not in _annotations(machine):
        api.note(_CAPI, "machines", machine, {REMEDIATE: ""})
    return exceeded


def _host(api: Api, machine: dict[str, Any]) -> dict[str, Any] | None:
    namespace, name = machine["metadata"]["namespace"], machine["spec"]["infrastructureRef"]["name"]
    infrastructure = api.get(_METAL3, "metal3machines", namespace, name)
    host = _annotations(infrastructure).get(_HOST, "").rpartition("/")[2] if infrastructure else ""
    return api.get(_HOSTS, "baremetalhosts", namespace, host) if host else None


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
    if "deletionTimestamp" in machine["metadata"]:
        return False
    known = conditions(machine)
    return known.get("HealthCheckSucceeded", {}).get("status") == "False" and CONDITION not in known


def condition(now: dt.datetime) -> dict[str, str]:
    """Return the condition that asks the owner of a Machine to replace it."""
    return {
        "type": CONDITION,
        "status": "False",
        "reason": "WaitingForRemediation",
        "message": "reboots of the host did not remove the fault",
        "lastTransitionTime": text_of(now),
    }


def main(server: str, account: str, limits: str) -> None:
    """Take the next step of each repair; ``limits`` is the path of a JSON file."""
    api, now = Api.of_account(server, Path(account), MANAGER), dt.datetime.now(dt.UTC)
    by_type = json.loads(Path(limits).read_text())
    for remediation in api.items(_METAL3, "metal3remediations"):
        if not is_written(step, api, remediation, by_type, now):
            LOG.info("%s: skipped, object changed since it was read", _name(remediation))


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
