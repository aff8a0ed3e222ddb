"""What the platform's own pods share: how far they may go, what they may do, and how they run again and again."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import given, manifest

KUBECTL = "kubectl"
"""Name of the image of kubectl among the tools of the version vector."""
RBAC = "rbac.authorization.k8s.io"
"""API group of roles and their bindings."""
_USER = 65532
HARDENED: Mapping[str, Any] = MappingProxyType(
    {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
)
"""Security context of a container that needs nothing."""


def service_account(namespace: str, name: str) -> dict[str, str]:
    """Return a ServiceAccount as a binding names it."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def role(
    name: str,
    rules: list[dict[str, Any]],
    *,
    account: tuple[str, str],
    namespace: str,
    labels: Mapping[str, str],
) -> tuple[Manifest, ...]:
    """Return what lets ``account``, a ServiceAccount by namespace and name, do in ``namespace`` what ``rules`` say."""
    return role_for(name, rules, subject=service_account(*account), namespace=namespace, labels=labels)


def role_for(
    name: str,
    rules: list[dict[str, Any]],
    *,
    subject: Mapping[str, str],
    namespace: str,
    labels: Mapping[str, str] | None = None,
    cluster: str = MANAGEMENT,
) -> tuple[Manifest, ...]:
    """Return what lets ``subject``, as a binding names it, do in ``namespace`` of ``cluster`` what ``rules`` say."""
    place: dict[str, Any] = {"namespace": namespace, "labels": labels, "cluster": cluster}
    return (
        manifest(f"{RBAC}/v1", "Role", name, **place, rules=rules),
        manifest(
            f"{RBAC}/v1",
            "RoleBinding",
            name,
            **place,
            roleRef={"apiGroup": RBAC, "kind": "Role", "name": name},
            subjects=[dict(subject)],
        ),
    )


def cluster_binding(name: str, *, role: str, subject: Mapping[str, str], cluster: str = MANAGEMENT) -> Manifest:
    """Return what lets ``subject``, as a binding names it, do all over ``cluster`` what ClusterRole ``role`` says."""
    return manifest(
        f"{RBAC}/v1",
        "ClusterRoleBinding",
        name,
        cluster=cluster,
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        subjects=[dict(subject)],
    )


def pod(account: str, containers: list[dict[str, Any]], **further: Any) -> dict[str, Any]:
    """Return the spec of a pod that runs ``containers`` once as ServiceAccount ``account``, and needs nothing else."""
    return {
        "restartPolicy": "Never",
        "serviceAccountName": account,
        **further,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": _USER,
            "runAsGroup": _USER,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [{**container, "securityContext": dict(HARDENED)} for container in containers],
    }


def cron_job(
    name: str,
    job: Mapping[str, Any],
    *,
    namespace: str,
    labels: Mapping[str, str],
    schedule: str,
    time_zone: str,
    late_seconds: int | None = None,
    cluster: str = MANAGEMENT,
) -> Manifest:
    """Return the CronJob that runs ``job``, the spec of a Job, at ``schedule``, and never twice at a time.

    A run that cannot begin within ``late_seconds`` is left out; None: it begins however late.
    """
    spec = {
        "schedule": schedule,
        "timeZone": time_zone,
        **given(startingDeadlineSeconds=late_seconds),
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": dict(job)},
    }
    return manifest("batch/v1", "CronJob", name, namespace=namespace, labels=labels, cluster=cluster, spec=spec)
