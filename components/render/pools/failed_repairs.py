"""Replacement of Machines after failed repairs: a CronJob with a small program and its RBAC (`failed_repairs`)."""

import json
from collections.abc import Mapping
from typing import Any

from components.render.manifest import ManifestSet
from components.render.objects import manifest
from components.render.platform_pods import RBAC, cluster_binding, service_account
from components.render.pools import metal3
from components.render.program_pods import program
from components.specs.health.node_checks import RepairLimit
from components.specs.struct import Struct

NAME = "failed-repairs"
PROGRAM = ("failed_repairs.py", "spare_hosts.py", "objects.py", "api.py")
"""Modules that run in the pod; the first one is started."""
LIMITS = "limits.json"
"""File of the ConfigMap with the limits of repairs by instance type."""
NAMESPACE = metal3.PROVIDERS[1].namespace
"""Namespace of Metal3's provider of Cluster API."""
_SET = "repairs"
"""Name of the set, and of the ConfigMap that is its parent."""
_EVERY_MINUTES, _RUN_SECONDS = 2, 100
_CAPI, _HOSTS = "cluster.x-k8s.io", "metal3.io"


class FailedRepairs(Struct):
    """Replacement of Machines after failed repairs, in one region."""

    image: str
    """Container image of Python, by digest."""
    limits: Mapping[str, RepairLimit]
    """Limits of repairs by instance type; the name of the default is empty."""

    def render(self) -> ManifestSet:
        """Return the objects in the management cluster, as one set."""
        place: dict[str, Any] = {"namespace": NAMESPACE, "labels": {}}
        rules = [
            {"apiGroups": [f"infrastructure.{_CAPI}"], "resources": ["metal3remediations"], "verbs": ["list"]},
            {"apiGroups": [f"infrastructure.{_CAPI}"], "resources": ["metal3remediations/status"], "verbs": ["patch"]},
            {"apiGroups": [f"infrastructure.{_CAPI}"], "resources": ["metal3machines"], "verbs": ["get"]},
            {"apiGroups": [_CAPI], "resources": ["machines"], "verbs": ["get", "patch"]},
            {"apiGroups": [_CAPI], "resources": ["machines/status"], "verbs": ["patch"]},
            {"apiGroups": [_CAPI], "resources": ["machinehealthchecks"], "verbs": ["get"]},
            {"apiGroups": [_HOSTS], "resources": ["baremetalhosts"], "verbs": ["get", "list", "patch"]},
        ]
        items = (
            manifest("v1", "ServiceAccount", NAME, **place),
            manifest(f"{RBAC}/v1", "ClusterRole", NAME, rules=rules),
            cluster_binding(NAME, role=NAME, subject=service_account(NAMESPACE, NAME)),
            *program(
                NAME,
                self.image,
                PROGRAM,
                **place,
                settings={LIMITS: self._limits()},
                every_minutes=_EVERY_MINUTES,
                run_seconds=_RUN_SECONDS,
            ),
        )
        return ManifestSet(name=_SET, namespace=NAMESPACE, members={item.kind: item for item in items})

    def _limits(self) -> str:
        limits = self.limits.items()
        content = {kind: limit.model_dump(include={"repairs", "within_hours"}) for kind, limit in limits}
        return json.dumps(content, indent=1) + "\n"
