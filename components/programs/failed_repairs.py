"""Has Machines replaced whose hosts Metal3 has given up to reboot.

After its last attempt Metal3 sets ``OwnerRemediated`` among the deprecated conditions of the Machine
(CAPM3:baremetal/metal3remediation_manager.go, v1.13.2), where Cluster API no longer reads it
(CAPI:util/collections/machine_filters.go, v1.13.5). The Machine would stay unhealthy forever. This program sets the
condition where Cluster API reads it. Cluster API then replaces the Machine, with its own checks and limits.

`components.render.pools.failed_repairs` renders its pod, which runs this module and `api` with the standard library
only.
"""

from __future__ import annotations

import datetime as dt
import logging
import sys
import urllib.error
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from components.programs.api import CONFLICTS, Api

MANAGER = "jacquard-failed-repairs"
GAVE_UP = "Deleting machine"
"""Phase of a Metal3Remediation after its last attempt."""
CONDITION = "OwnerRemediated"
_METAL3, _CAPI = "infrastructure.cluster.x-k8s.io/v1beta2", "cluster.x-k8s.io/v1beta2"
LOG = logging.getLogger("failed-repairs")


def given_up(remediations: Iterable[dict[str, Any]]) -> Iterator[tuple[str, str]]:
    """Yield namespace and name of each Machine whose remediation has given up."""
    for item in remediations:
        if (item.get("status") or {}).get("phase") == GAVE_UP:
            for owner in item["metadata"].get("ownerReferences") or ():
                if owner["kind"] == "Machine":
                    yield item["metadata"]["namespace"], owner["name"]


def stays(machine: dict[str, Any] | None) -> bool:
    """Return whether a Machine exists, is unhealthy and nothing replaces it."""
    if machine is None or "deletionTimestamp" in machine["metadata"]:
        return False
    conditions = {item["type"]: item["status"] for item in (machine.get("status") or {}).get("conditions") or ()}
    return conditions.get("HealthCheckSucceeded") == "False" and CONDITION not in conditions


def condition(now: dt.datetime) -> dict[str, str]:
    """Return the condition that asks the owner of a Machine to replace it."""
    return {
        "type": CONDITION,
        "status": "False",
        "reason": "WaitingForRemediation",
        "message": "Metal3 has given up after its last reboot",
        "lastTransitionTime": f"{now:%Y-%m-%dT%H:%M:%SZ}",
    }


def main(server: str, account: str) -> None:
    """Ask for the replacement of each Machine whose repair has failed."""
    api, now = Api(server, Path(account), MANAGER), dt.datetime.now(dt.UTC)
    for namespace, name in given_up(api.items(_METAL3, "metal3remediations")):
        machine = api.get(_CAPI, "machines", namespace, name)
        if machine is None or not stays(machine):
            continue
        try:
            api.apply_status("machines", machine, {"conditions": [condition(now)]})
        except urllib.error.HTTPError as error:
            if error.code not in CONFLICTS:
                raise
            LOG.info("%s/%s: skipped, object changed since it was read", namespace, name)
        else:
            LOG.info("%s/%s: handed over for replacement", namespace, name)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
