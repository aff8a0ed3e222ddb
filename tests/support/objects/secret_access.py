"""Read access to Secrets, derived from rendered RBAC and rendered pods only."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from components.render.manifest import Manifest

READ = {"get", "list", "watch", "*"}
BUILT_IN = {
    "cluster-admin": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    "system:auth-delegator": [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
    ],
    "edit": [
        {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get", "list", "watch"]},
        {
            "apiGroups": [""],
            "resources": ["secrets"],
            "verbs": ["create", "delete", "deletecollection", "patch", "update"],
        },
    ],
    "view": [],
}
"""Rules about Secrets of Kubernetes' default roles (K8S:plugin/pkg/auth/authorizer/rbac/bootstrappolicy/policy.go)."""
ALL = "all"


@dataclass(frozen=True, order=True, kw_only=True)
class Access:
    """A permission to read Secrets of one cluster."""

    who: str
    cluster: str
    namespace: str
    """Namespace; empty for all."""
    secret: str
    """Name of the Secret, or `ALL`."""
    how: str


def secret_access(items: Iterable[Manifest]) -> Iterator[Access]:
    """Yield every permission that ``items`` grant.

    Raises:
        KeyError: A binding names a role that is neither rendered nor a default role.
    """
    every = tuple(items)
    roles = {
        (item.cluster, item.kind, item.namespace, item.name): item.body["rules"]
        for item in every
        if "Role" in kinds(item)
    }
    for item in every:
        if "Binding" in kinds(item):
            yield from _bound(item, roles)
        elif template := pod_of(item):
            for secret in secrets_of(template):
                yield Access(
                    who=f"pods of {item.kind} {item.name}",
                    cluster=item.cluster,
                    namespace=str(item.namespace),
                    secret=secret,
                    how="mount",
                )


def kinds(item: Manifest) -> set[str]:
    """Return the role of an object in RBAC; nothing for any other."""
    if not item.api_version.startswith("rbac.authorization.k8s.io/"):
        return set()
    return {"Binding" if item.kind.endswith("Binding") else "Role"}


def _bound(item: Manifest, roles: Mapping[Any, Any]) -> Iterator[Access]:
    reference = item.body["roleRef"]
    name, namespace = reference["name"], item.namespace if reference["kind"] == "Role" else None
    built_in = reference["kind"] == "ClusterRole" and name in BUILT_IN
    for rule in BUILT_IN[name] if built_in else roles[item.cluster, reference["kind"], namespace, name]:
        if (
            not {"secrets", "*"} & {*rule["resources"]}
            or not {"", "*"} & {*rule["apiGroups"]}
            or not READ & {*rule["verbs"]}
        ):
            continue
        for subject in item.body["subjects"]:
            for secret in rule.get("resourceNames") or [ALL]:
                yield Access(
                    who=f"{subject['kind']} {subject['name']}",
                    cluster=item.cluster,
                    namespace=item.namespace or "",
                    secret=secret,
                    how=", ".join(rule["verbs"]),
                )


def pod_of(item: Manifest) -> Mapping[str, Any] | None:
    """Return the pod spec of a built-in workload."""
    spec = item.body.get("spec", {})
    spec = spec.get("jobTemplate", {}).get("spec", spec) if item.kind == "CronJob" else spec
    template = spec.get("template", {}) if item.api_version in {"apps/v1", "batch/v1"} else {}
    return template.get("spec")


def secrets_of(pod: Any) -> list[str]:
    """Return the Secrets that a pod mounts or references, each once."""
    found: dict[str, None] = {}
    for key, value in _pairs(pod):
        if key in {"secret", "secretKeyRef", "secretRef"}:
            found[str(value.get("secretName") or value["name"])] = None
    return list(found)


def _pairs(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield key, inner
            yield from _pairs(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _pairs(inner)
