"""Release of DPU maintenance holds: a CronJob with a small program, RBAC, and an admission policy for host claims.

The source of the program (`dpu_actor`, which uses `dpu_decision`) is in a ConfigMap, and the image is plain Python. The
program annotates hosts whose DPU is ready in their VPC. An admission policy allows Cluster API to claim only these
hosts, and allows the program to change only annotations of hosts.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from components.programs.dpu_decision import READY
from components.render.manifest import Manifest
from components.render.namespaces import FREE_HOSTS, namespaces_in
from components.render.network.dpus import NAMESPACE
from components.render.objects import manifest
from components.render.platform_pods import role
from components.render.program_pods import program
from components.render.region.monitors import release_rules
from components.specs.network.dpus import DpuReleaseSpec
from components.specs.region.thresholds import Thresholds
from components.specs.struct import Struct

NAME = "dpu-release"
GATE = "dpu-ready-hosts"
PROGRAM = ("dpu_actor.py", "dpu_decision.py", "api.py")
"""Modules that run in the pod; the first one is started."""
SETTINGS = "settings.json"
_EVERY_MINUTES = 2
_RUN_SECONDS = 300
_DPF, _METAL3, _CAPI = "provisioning.dpu.nvidia.com", "metal3.io", "cluster.x-k8s.io"
_ADMISSION = "admissionregistration.k8s.io/v1"


class DpuRelease(Struct):
    """Release of the DPU maintenance holds of one region."""

    spec: DpuReleaseSpec
    image: str
    """Container image of Python, by digest."""
    clusters: tuple[str, ...]
    """Clusters whose hosts are isolated by DPUs."""
    deployments: Mapping[str, str | None]
    """VPC of the hosts of each DPUDeployment; None for unassigned hosts."""
    thresholds: Thresholds = Thresholds()
    """Thresholds of alerts."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the region-wide objects of the management cluster."""
        place: dict[str, Any] = {"namespace": NAMESPACE, "labels": {}}
        return (
            manifest("v1", "ServiceAccount", NAME, **place),
            *role(NAME, _dpu_rules(), account=(NAMESPACE, NAME), **place),
            *role(NAME, [_hosts()], account=(NAMESPACE, NAME), namespace=FREE_HOSTS, labels={}),
            *self._gate(),
            *program(
                NAME,
                self.image,
                PROGRAM,
                **place,
                settings={SETTINGS: self._settings()},
                every_minutes=_EVERY_MINUTES,
                run_seconds=_RUN_SECONDS,
            ),
            release_rules(NAME, NAMESPACE, self.thresholds),
        )

    def _settings(self) -> str:
        settings = {
            "max_away": self.spec.max_away,
            "max_away_per_vpc": self.spec.max_away_per_vpc,
            "stuck_minutes": self.spec.stuck_minutes,
            "namespace": NAMESPACE,
            "hosts": [*self.clusters, FREE_HOSTS],
            "clusters": list(self.clusters),
            "deployments": dict(self.deployments),
        }
        return json.dumps(settings, indent=1) + "\n"

    def _gate(self) -> Iterable[Manifest]:
        """Return the admission policy that blocks claims, and its binding to the namespaces of clusters."""
        marked = f"has(object.metadata.annotations) && {json.dumps(READY)} in object.metadata.annotations"
        me = json.dumps(f"system:serviceaccount:{NAMESPACE}:{NAME}")
        rule = {"apiGroups": [_METAL3], "apiVersions": ["*"], "operations": ["UPDATE"], "resources": ["baremetalhosts"]}
        validations = [
            {
                "expression": f"!has(object.spec.consumerRef) || has(oldObject.spec.consumerRef) || ({marked})",
                "message": "the DPU of this host is not ready in its VPC; choose another host or wait",
                "reason": "Forbidden",
            },
            {
                "expression": f"request.userInfo.username != {me} || object.spec == oldObject.spec",
                "message": f"{NAME} may change only annotations of hosts",
                "reason": "Forbidden",
            },
        ]
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": validations,
        }
        bound = {
            "policyName": GATE,
            "validationActions": ["Deny"],
            "matchResources": {"namespaceSelector": namespaces_in([*self.clusters, FREE_HOSTS])},
        }
        return (
            manifest(_ADMISSION, "ValidatingAdmissionPolicy", GATE, spec=spec),
            manifest(_ADMISSION, "ValidatingAdmissionPolicyBinding", GATE, spec=bound),
        )


def in_cluster(cluster: str, labels: Mapping[str, str]) -> tuple[Manifest, ...]:
    """Return the RBAC for annotations of hosts, and for listing and deleting machines, in ``cluster``."""
    rules = [
        _hosts(),
        {"apiGroups": [_CAPI], "resources": ["machinedeployments"], "verbs": ["list"]},
        {"apiGroups": [_CAPI], "resources": ["machines"], "verbs": ["list", "delete"]},
    ]
    return role(f"{NAME}-cluster", rules, account=(NAMESPACE, NAME), namespace=cluster, labels=labels)


def _hosts() -> dict[str, Any]:
    return {"apiGroups": [_METAL3], "resources": ["baremetalhosts"], "verbs": ["list", "patch"]}


def _dpu_rules() -> list[dict[str, Any]]:
    return [
        {"apiGroups": ["svc.dpu.nvidia.com"], "resources": ["dpudeployments"], "verbs": ["list"]},
        {"apiGroups": [_DPF], "resources": ["dpus"], "verbs": ["list", "delete"]},
        {"apiGroups": [_DPF], "resources": ["dpunodes", "dpunodemaintenances"], "verbs": ["list", "patch"]},
    ]
