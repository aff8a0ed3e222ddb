"""Changes that replace an object, because the API server rejects in-place changes.

Source: the vendor's table (provider/pkg/provider/diff.go of pulumi-kubernetes 4.34), which follows the update
validation of Kubernetes (pkg/apis/*/validation). Custom kinds have only the rules for all kinds.
"""

from collections.abc import Mapping
from typing import Any

from jacquard.providers.rpc.paths import Path

_EVERY_KIND: tuple[Path, ...] = (("kind",), ("metadata", "name"), ("metadata", "namespace"))
PATCHED = _EVERY_KIND
"""Paths that replace a patch. For other fields, the rules of the object's owner apply."""


def _spec(*fields: str) -> tuple[Path, ...]:
    return tuple(("spec", field) for field in fields)


_BY_KIND: dict[tuple[str, str], tuple[Path, ...]] = {
    ("", "PersistentVolume"): _spec(
        "awsElasticBlockStore",
        "azureDisk",
        "azureFile",
        "cephfs",
        "cinder",
        "csi",
        "fc",
        "flexVolume",
        "flocker",
        "gcePersistentDisk",
        "glusterfs",
        "hostPath",
        "iscsi",
        "local",
        "nfs",
        "photonPersistentDisk",
        "portworxVolume",
        "quobyte",
        "rbd",
        "scaleIO",
        "storageos",
        "vsphereVolume",
    ),
    ("", "PersistentVolumeClaim"): _spec("accessModes", "selector", "storageClassName", "volumeName"),
    ("", "Pod"): _spec(
        "affinity",
        "automountServiceAccountToken",
        "containers",
        "dnsConfig",
        "dnsPolicy",
        "enableServiceLinks",
        "hostAliases",
        "hostIPC",
        "hostNetwork",
        "hostPID",
        "hostname",
        "imagePullSecrets",
        "initContainers",
        "nodeName",
        "nodeSelector",
        "overhead",
        "preemptionPolicy",
        "priority",
        "priorityClassName",
        "readinessGates",
        "restartPolicy",
        "runtimeClassName",
        "schedulerName",
        "securityContext",
        "serviceAccount",
        "serviceAccountName",
        "shareProcessNamespace",
        "subdomain",
        "terminationGracePeriodSeconds",
        "volumes",
    ),
    ("", "ResourceQuota"): _spec("scopes"),
    ("", "Secret"): (("type",),),
    ("", "Service"): _spec("clusterIP"),
    ("apps", "DaemonSet"): _spec("selector"),
    ("apps", "Deployment"): _spec("selector"),
    ("apps", "StatefulSet"): _spec(
        "podManagementPolicy", "revisionHistoryLimit", "selector", "serviceName", "volumeClaimTemplates"
    ),
    ("batch", "Job"): _spec("completions", "parallelism", "selector", "template"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("storage.k8s.io", "StorageClass"): (("parameters",), ("provisioner",)),
}

_CONTENT: dict[str, tuple[Path, ...]] = {
    "ConfigMap": (("data",), ("binaryData",)),
    "Secret": (("data",), ("stringData",), ("type",)),
}


def replaced_by(body: Mapping[str, Any], *, mutable_config_maps: bool, mutable_secrets: bool) -> tuple[Path, ...]:
    """Return the changed paths that replace the object, including changes of a parent or child.

    Args:
        body: the new inputs.
        mutable_config_maps: the provider's ``enableConfigMapMutable``; without it, new data replaces a ConfigMap.
        mutable_secrets: the provider's ``enableSecretMutable``, the same for Secrets.
    """
    kind = str(body.get("kind", ""))
    rules = _EVERY_KIND + _BY_KIND.get((group(body), kind), ())
    if not group(body) and kind in _CONTENT:
        mutable = mutable_secrets if kind == "Secret" else mutable_config_maps
        if body.get("immutable") is True or not mutable:
            rules += _CONTENT[kind]
    return rules


def touches(path: Path, rules: tuple[Path, ...]) -> bool:
    """Return whether a change at ``path`` affects one of ``rules``: the same path, a child or a parent."""
    return any(path[: len(rule)] == rule or rule[: len(path)] == path for rule in rules)


def group(body: Mapping[str, Any]) -> str:
    """Return the API group of an object, empty for the core group."""
    return str(body.get("apiVersion", "")).rpartition("/")[0]
