"""Audit policy of the library, for API servers whose cluster does not name a policy of its own.

It records who did what, without bodies of requests, since these contain Secrets and tokens: changes of all objects,
reads of Secrets, ConfigMaps and tokens, and access to pods. CIS Kubernetes Benchmark 3.2.2 requires these. Bodies are
recorded only for RBAC objects, which contain no secrets. Frequent requests of nodes and of Kubernetes itself are not
recorded. The first matching rule decides.
"""

import json
from typing import Any

from components.render.control_planes.control_plane import ControlPlane
from components.render.manifest import Manifest
from components.render.objects import digest, manifest
from components.specs.control_planes.api_server import AuditSpec

POLICY_KEY = "policy.yaml"
_WRITES = ["create", "update", "patch", "delete", "deletecollection"]
_AGENTS = ["system:nodes", "system:serviceaccounts:kube-system"]
_KUBERNETES = ["system:apiserver", "system:kube-controller-manager", "system:kube-scheduler"]
_HEARTBEATS = [
    {"group": "coordination.k8s.io", "resources": ["leases"]},
    {"group": "", "resources": ["nodes/status", "pods/status", "endpoints"]},
    {"group": "discovery.k8s.io", "resources": ["endpointslices"]},
]
POLICY: dict[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    # Each request would otherwise be recorded twice, on arrival and on completion.
    "omitStages": ["RequestReceived"],
    "rules": [
        {"level": "None", "nonResourceURLs": ["/healthz*", "/livez*", "/readyz*", "/version", "/openapi*", "/api*"]},
        {"level": "None", "resources": [{"group": group, "resources": ["events"]} for group in ("", "events.k8s.io")]},
        {"level": "None", "userGroups": _AGENTS, "resources": _HEARTBEATS},
        {"level": "None", "users": _KUBERNETES, "resources": _HEARTBEATS},
        {"level": "None", "users": _KUBERNETES, "verbs": ["get", "list", "watch"]},
        {
            "level": "Metadata",
            "resources": [
                {
                    "group": "",
                    "resources": [
                        "secrets",
                        "configmaps",
                        "serviceaccounts/token",
                        "pods/exec",
                        "pods/attach",
                        "pods/portforward",
                        "pods/ephemeralcontainers",
                        "pods/proxy",
                        "services/proxy",
                        "nodes/proxy",
                    ],
                },
                {"group": "authentication.k8s.io"},
            ],
        },
        {"level": "Request", "verbs": _WRITES, "resources": [{"group": "rbac.authorization.k8s.io"}]},
        {"level": "Metadata", "verbs": _WRITES},
        {"level": "None"},
    ],
}
DEFAULT = f"audit-policy-{digest(POLICY, 8)}"
"""Name of the ConfigMap. It changes with the policy, because API servers read the policy only when they start."""


def policy_of(audit: AuditSpec) -> str:
    """Return the name of the ConfigMap with the policy."""
    return audit.policy or DEFAULT


def render_policy(control_plane: ControlPlane) -> tuple[Manifest, ...]:
    """Return the ConfigMap with the library's policy; nothing without an audit log or with the cluster's own policy."""
    audit = control_plane.audit
    if audit is None or audit.policy is not None:
        return ()
    data = {POLICY_KEY: json.dumps(POLICY, indent=2) + "\n"}
    namespace, labels = control_plane.spec.name, control_plane.labels
    return (manifest("v1", "ConfigMap", DEFAULT, namespace=namespace, labels=labels, data=data),)
