"""Nodes of a local region that become unready, and the reaction of Cluster API's health check."""

from __future__ import annotations

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from jacquard.providers.kube import ObjectRef
from tests.support.changes.unavailable_nodes import Group, group_of
from tests.support.local_regions.local_region import LocalRegion, wait_until
from tests.support.local_regions.watches import watched_uids, watching

MACHINE = ("cluster.x-k8s.io/v1beta2", "Machine")
TEMPLATE = ("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3RemediationTemplate")
CHECK = ("cluster.x-k8s.io/v1beta2", "MachineHealthCheck")
REMEDIATION = ("infrastructure.cluster.x-k8s.io/v1beta2", "Metal3Remediation")
JUDGED = "HealthCheckSucceeded"
_STAGES = "/apis/kwok.x-k8s.io/v1alpha1/stages/"
_PATIENCE_SECONDS = 180.0
_TOUCHES = count(1)


class Health:
    """Health checks of a cluster's pools, with shorter timeouts and the limits of the region."""

    def __init__(self, region: LocalRegion, cluster: str, *, seconds: int, startup_seconds: int) -> None:
        """Stop the kubelets, which would report nodes as ready again, and shorten the timeouts of the health checks.

        Only timeouts change: limits and selectors stay as applied. Remediations get no strategy, so Metal3 ignores
        them: the test counts the hosts that would be power-cycled.
        """
        self._region, self._cluster = region, cluster
        region.api(cluster).request("DELETE", f"{_STAGES}node-ready")
        for template in region.api().list(*TEMPLATE, namespace=cluster):
            ref = ObjectRef(*TEMPLATE, template["metadata"]["name"], cluster)
            without = {"spec": {"template": {"spec": {"strategy": None}}}}
            region.api().patch(ref, without, field_manager="test")
        for check in region.api().list(*CHECK, namespace=cluster):
            waits = [{**one, "timeoutSeconds": seconds} for one in check["spec"]["checks"]["unhealthyNodeConditions"]]
            checks = {"nodeStartupTimeoutSeconds": startup_seconds, "unhealthyNodeConditions": waits}
            self._patch_check(check["metadata"]["name"], {"spec": {"checks": checks}})

    def machines(self) -> dict[Group, list[dict[str, Any]]]:
        """Return the Machines of each rollout group, by name."""
        found: dict[Group, list[dict[str, Any]]] = defaultdict(list)
        for machine in sorted(self._region.api().list(*MACHINE), key=lambda one: str(one["metadata"]["name"])):
            found[group_of(machine)].append(machine)
        return dict(found)

    def limits(self) -> dict[Group, int]:
        """Return the maximum number of unhealthy nodes up to which each group is remediated, from the API server."""
        found = {}
        for check in self._region.api().list(*CHECK, namespace=self._cluster):
            labels = check["metadata"]["labels"]
            domain = check["spec"]["selector"]["matchLabels"]["jacquard.dev/rollout-group"].rpartition("-")[2]
            group = f"{self._cluster}/{labels['jacquard.dev/pool']}/{domain}"
            found[group] = check["spec"]["remediation"]["triggerIf"]["unhealthyLessThanOrEqualTo"]
        return found

    def set_ready(self, status: str, machines: Collection[dict[str, Any]]) -> None:
        """Set the condition Ready of the nodes of ``machines``, as kubelets would."""
        hosted = self._region.api(self._cluster)
        for machine in machines:
            if "nodeRef" not in machine.get("status", {}):
                continue
            ref = ObjectRef("v1", "Node", machine["status"]["nodeRef"]["name"])
            node = hosted.get(ref)
            assert node is not None, f"{ref.name} is gone"
            ready = {"status": status, "lastTransitionTime": f"{dt.datetime.now(dt.UTC):%Y-%m-%dT%H:%M:%SZ}"}
            conditions = [{**one, **ready} if one["type"] == "Ready" else one for one in node["status"]["conditions"]]
            hosted.patch(ref, {"status": {"conditions": conditions}}, subresource="status", field_manager="kubelet")

    def wait_for_verdict(self, names: Collection[str], what: str) -> None:
        """Wait until the health check reports each Machine of ``names`` as unhealthy.

        Above the limit, the controller does not requeue and would reconcile again only after minutes, so each health
        check is touched.
        """

        def judged() -> bool:
            for check in self._region.api().list(*CHECK, namespace=self._cluster):
                self._patch_check(
                    check["metadata"]["name"], {"metadata": {"annotations": {"looked": str(next(_TOUCHES))}}}
                )
            every = [machine for those in self.machines().values() for machine in those]
            return set(names) <= {machine["metadata"]["name"] for machine in every if _fails(machine)}

        wait_until(judged, timeout_seconds=_PATIENCE_SECONDS, what=what)

    def remediations(self) -> dict[Group, int]:
        """Return the number of current remediations of each group."""
        groups = {machine["metadata"]["name"]: group for group, those in self.machines().items() for machine in those}
        found: dict[Group, int] = defaultdict(int)
        for one in self._region.api().list(*REMEDIATION, namespace=self._cluster):
            found[groups[one["metadata"]["name"]]] += 1
        return dict(found)

    def _patch_check(self, name: str, patch: dict[str, Any]) -> None:
        self._region.api().patch(ObjectRef(*CHECK, name, self._cluster), patch, field_manager="test")


@contextmanager
def counted_repairs(region: LocalRegion, cluster: str, file: Path) -> Iterator[None]:
    """Write all events of remediations in a cluster into ``file`` until the block ends, including the first ones.

    The watch starts at the resource version of a list made before the block, so the connection time does not matter.
    """
    path = f"/apis/{REMEDIATION[0]}/namespaces/{cluster}/metal3remediations"
    listed = region.api().request("GET", path)
    before = {one["metadata"]["uid"] for one in listed["items"]}

    def is_complete() -> bool:
        there = {one["metadata"]["uid"] for one in region.api().list(*REMEDIATION, namespace=cluster)}
        return there - before <= watched_uids(file)

    since = listed["metadata"]["resourceVersion"]
    with watching(region, file, path, catch_up=is_complete, resourceVersion=since):
        yield


def _fails(machine: dict[str, Any]) -> bool:
    conditions = {one["type"]: one["status"] for one in machine.get("status", {}).get("conditions", ())}
    return conditions.get(JUDGED) == "False"
