"""Starts Jobs that test nodes of one cluster, and writes their results as conditions.

The program runs in the management cluster and acts in the tenant's cluster with the kubeconfig of Cluster API. A Node
without a result gets a Job of its pool's burn-in, an idle Node a Job of the verification (`node_test_decision`). The
result is a condition of the Node, and for the burn-in also of its Machine, where Cluster API reads it as a readiness
gate. Taints and alerts follow from the conditions by other controllers.

The program also reports nodes that are idle with a fault that a reboot ends, if their tenant permits the repair at this
time (`repair_times`). The health check of their rollout group repairs them, within its limit on unhealthy nodes.

`components.render.health.node_tests` renders its pod, which runs these modules with the standard library only.
"""

from __future__ import annotations

import copy
import datetime as dt
import hashlib
import json
import logging
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from components.programs.api import Api, is_written
from components.programs.node_test_decision import (
    BURN_IN,
    IDLE_FAULT,
    NODE,
    NODE_UID,
    PHASE,
    POOL,
    changes,
    compared,
    condition,
    due,
    faults_of,
    idle_condition,
    occupied,
    results,
)
from components.programs.objects import conditions
from components.programs.repair_times import waits_for

MANAGER = "jacquard-node-tests"
_CORE, _BATCH, _CAPI = "v1", "batch/v1", "cluster.x-k8s.io/v1beta2"
_METAL3 = "infrastructure.cluster.x-k8s.io/v1beta2"
_MACHINE_POOL = "jacquard.dev/pool"
LOG = logging.getLogger("node-tests")


def job_for(node: Mapping[str, Any], phase: str, template: Mapping[str, Any], now: dt.datetime) -> dict[str, Any]:
    """Return the Job of a phase for one node, from the CronJob ``template``, with a unique name."""
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    tail = hashlib.sha256(f"{uid} {now.isoformat()}".encode()).hexdigest()[:12]
    labels = {PHASE: phase}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": f"{phase}-{tail}", "labels": labels, "annotations": {NODE: name, NODE_UID: uid}},
        "spec": copy.deepcopy(template["spec"]["jobTemplate"]["spec"]),
    }
    pod = job["spec"]["template"]
    pod["metadata"] = {"labels": {**pod["metadata"]["labels"], **labels}}
    field = {"key": "metadata.name", "operator": "In", "values": [name]}
    terms = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    pod["spec"]["affinity"] = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}
    return job


class Cluster:
    """Tests of the nodes of one cluster, with its objects as read once per run."""

    def __init__(self, management: Api, tenant: Api, settings: Mapping[str, Any]) -> None:
        self._management, self._tenant, self._settings = management, tenant, settings
        self._place = settings["namespace"]
        self._nodes = {item["metadata"]["name"]: item for item in tenant.items(_CORE, "nodes")}
        self._jobs = list(tenant.items(_BATCH, "jobs", self._place))

    def report(self) -> None:
        """Write the results of finished Jobs as conditions of their Nodes."""
        pods = self._tenant.items(_CORE, "pods", self._place)
        found = list(results(self._jobs, pods, self._nodes, self._settings["measures"]))
        for result in compared(found, self._nodes):
            wanted = condition(result, self._settings["gate"])
            node = self._nodes[result.node]
            changed = changes(conditions(node).get(wanted["type"]), wanted)
            if changed is not None and is_written(self._tenant.merge_conditions, _CORE, "nodes", node, [changed]):
                LOG.info("%s: %s is %s, %s", result.node, changed["type"], changed["status"], changed["message"])
                known = [item for item in node["status"]["conditions"] if item["type"] != changed["type"]]
                node["status"]["conditions"] = [*known, changed]

    def start(self, now: dt.datetime) -> None:
        """Create the Jobs that are due on nodes without a Job in progress."""
        ended = {"Complete", "Failed"}
        templates = {item["metadata"]["name"]: item for item in self._tenant.items(_BATCH, "cronjobs", self._place)}
        active = {
            (job["metadata"].get("annotations") or {}).get(NODE_UID)
            for job in self._jobs
            if not any(item["status"] == "True" and kind in ended for kind, item in conditions(job).items())
        }
        for name, node in self._nodes.items():
            phase = None if node["metadata"]["uid"] in active else due(node, self._settings, now)
            if phase is None or occupied(self._pods_of(name), phase):
                continue
            pool = node["metadata"]["labels"][POOL]
            job = job_for(node, phase, templates[self._settings["pools"][pool][phase]], now)
            self._tenant.create(_BATCH, "jobs", self._place, job)
            LOG.info("%s: started %s", name, job["metadata"]["name"])

    def mark_idle(self, now: dt.datetime) -> None:
        """Set the condition of idle nodes with a fault that a reboot ends, so that they are repaired.

        The condition is removed when the window of the tenant closes, unless the repair has begun: Cluster API would
        abort it.
        """
        for name, node in self._nodes.items():
            repaired = self._settings["when_idle"].get((node["metadata"].get("labels") or {}).get(POOL), ())
            faults = faults_of(node, repaired)
            if faults and occupied(self._pods_of(name), BURN_IN):
                faults = []
            wait = waits_for(node, faults, self._settings.get("repairs") or {}, now) if faults else None
            reported = conditions(node).get(IDLE_FAULT, {}).get("status") == "True"
            if wait and reported and self._has_repair(name):
                continue
            changed = idle_condition(node, faults, wait, now)
            if changed and is_written(self._tenant.merge_conditions, _CORE, "nodes", node, [changed]):
                LOG.info("%s: %s is %s, %s", name, changed["type"], changed["status"], changed["message"])

    def _has_repair(self, node: str) -> bool:
        """Return whether a node is being repaired: the remediation has the name of the Machine."""
        cluster = self._settings["cluster"]
        repairs = {item["metadata"]["name"] for item in self._management.items(_METAL3, "metal3remediations", cluster)}
        return any(
            ((machine.get("status") or {}).get("nodeRef") or {}).get("name") == node
            and machine["metadata"]["name"] in repairs
            for machine in self._management.items(_CAPI, "machines", cluster)
        )

    def _pods_of(self, node: str) -> list[dict[str, Any]]:
        return list(self._tenant.items(_CORE, "pods", fieldSelector=f"spec.nodeName={node}"))

    def open_gates(self, cluster: str) -> None:
        """Copy the result of the burn-in from each Node to its Machine."""
        gate = self._settings["gate"]
        gated = {pool for pool, phases in self._settings["pools"].items() if phases.get(BURN_IN)}
        for machine in self._management.items(_CAPI, "machines", cluster) if gated else ():
            node = self._nodes.get(((machine.get("status") or {}).get("nodeRef") or {}).get("name", ""))
            if node is None or (machine["metadata"].get("labels") or {}).get(_MACHINE_POOL) not in gated:
                continue
            known = conditions(node).get(gate)
            keys = ("type", "status", "reason", "message", "lastTransitionTime")
            wanted = known and {key: known[key] for key in keys}
            if wanted and not wanted.items() <= conditions(machine).get(gate, {}).items():
                machine.setdefault("apiVersion", _CAPI)
                machine.setdefault("kind", "Machine")
                is_written(self._management.apply_status, "machines", machine, {"conditions": [wanted]})


def main(server: str, account: str, settings: str, kubeconfig: str) -> None:
    """Report the results of a cluster, then start the tests that are due."""
    file, now = json.loads(Path(settings).read_text(encoding="utf-8")), dt.datetime.now(dt.UTC)
    management = Api.of_account(server, Path(account), MANAGER)
    nodes = Cluster(management, Api.of_kubeconfig(Path(kubeconfig), MANAGER), file)
    nodes.report()
    nodes.open_gates(file["cluster"])
    nodes.mark_idle(now)
    nodes.start(now)


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    main(*sys.argv[1:])
