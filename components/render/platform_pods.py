"""Building blocks of platform workloads: security contexts, roles, pods and CronJobs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from components.render.manifest import MANAGEMENT, Manifest
from components.render.objects import given, manifest
from components.specs.base import Address

KUBECTL = "kubectl"
"""Name of the kubectl image in the tools of the version vector."""
RBAC = "rbac.authorization.k8s.io"
"""API group of roles and their bindings."""
REVIEWER = "system:auth-delegator"
"""ClusterRole of Kubernetes for reviews of tokens and of access (K8S:docs/reference/access-authn-authz/rbac)."""
_USER = 65532
HARDENED: Mapping[str, Any] = MappingProxyType(
    {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True, "capabilities": {"drop": ["ALL"]}}
)
"""Security context of a container without special privileges."""
UNPRIVILEGED: Mapping[str, Any] = MappingProxyType(
    {key: value for key, value in HARDENED.items() if key != "readOnlyRootFilesystem"}
)
"""`HARDENED` for programs that write to their root file system; what the Pod Security Standard ``restricted`` requires
of a container."""


def service_account(namespace: str, name: str) -> dict[str, str]:
    """Return a ServiceAccount as the subject of a binding."""
    return {"kind": "ServiceAccount", "name": name, "namespace": namespace}


def role(
    name: str,
    rules: list[dict[str, Any]],
    *,
    account: tuple[str, str],
    namespace: str,
    labels: Mapping[str, str],
) -> tuple[Manifest, ...]:
    """Return a Role with ``rules`` in ``namespace``, bound to ServiceAccount ``account`` (namespace and name)."""
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
    """Return a Role with ``rules`` in ``namespace`` of ``cluster``, bound to ``subject``."""
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
    """Return the ClusterRoleBinding of ``subject`` to ClusterRole ``role`` in ``cluster``."""
    return manifest(
        f"{RBAC}/v1",
        "ClusterRoleBinding",
        name,
        cluster=cluster,
        roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
        subjects=[dict(subject)],
    )


def unprivileged(user: int) -> dict[str, Any]:
    """Return the security context of a pod whose containers run as ``user``, and as the group of the same number."""
    return {
        "runAsNonRoot": True,
        "runAsUser": user,
        "runAsGroup": user,
        "seccompProfile": {"type": "RuntimeDefault"},
    }


def pod(account: str, containers: list[dict[str, Any]], **further: Any) -> dict[str, Any]:
    """Return the spec of an unprivileged pod that runs ``containers`` once as ServiceAccount ``account``."""
    return {
        "restartPolicy": "Never",
        "serviceAccountName": account,
        **further,
        "securityContext": unprivileged(_USER),
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
    suspend: bool = False,
) -> Manifest:
    """Return the CronJob that runs ``job`` (a Job spec) at ``schedule``. Runs never overlap.

    A run that cannot start within ``late_seconds`` is skipped. With None, late runs always start. With ``suspend``, the
    CronJob is only a template for Jobs.
    """
    spec = {
        "schedule": schedule,
        "timeZone": time_zone,
        **given(suspend=suspend or None),
        **given(startingDeadlineSeconds=late_seconds),
        "concurrencyPolicy": "Forbid",
        "successfulJobsHistoryLimit": 1,
        "failedJobsHistoryLimit": 3,
        "jobTemplate": {"spec": dict(job)},
    }
    return manifest("batch/v1", "CronJob", name, namespace=namespace, labels=labels, cluster=cluster, spec=spec)


def bucket_variables(endpoint: str, secret: str, keys: tuple[str, str]) -> list[dict[str, Any]]:
    """Return the variables with which rclone reaches the S3-compatible store at ``endpoint``.

    ``keys`` are the keys of the Secret with the access key and its secret.
    """
    settings = {"PROVIDER": "Other", "ENDPOINT": endpoint, "NO_CHECK_BUCKET": "true"}
    login = zip(("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"), keys, strict=True)
    return [
        *({"name": f"RCLONE_S3_{name}", "value": value} for name, value in settings.items()),
        *(
            {"name": f"RCLONE_S3_{name}", "valueFrom": {"secretKeyRef": {"name": secret, "key": key}}}
            for name, key in login
        ),
    ]


def upload(
    image: str, mount: Mapping[str, Any], target: str, endpoint: str, secret: str, keys: tuple[str, str]
) -> dict[str, Any]:
    """Return the container that copies all files of a volume to ``target``, a bucket with a folder, by rclone.

    Args:
        image: image of rclone.
        mount: mount of the volume.
        target: bucket and folder.
        endpoint: URL of the S3-compatible store.
        secret: Secret with the key pair of the store.
        keys: keys of the Secret with the access key and its secret.
    """
    return {
        "name": "upload",
        "image": image,
        "command": ["rclone"],
        "args": ["copy", mount["mountPath"], f":s3:{target}"],
        "env": bucket_variables(endpoint, secret, keys),
        "volumeMounts": [{**mount, "readOnly": True}],
    }


def address_request(pool: str, address: Address | str) -> dict[str, str]:
    """Return the annotations by which a Service requests ``address`` in the address ``pool`` of MetalLB.

    An empty ``address`` requests any address of the pool.
    """
    return {"metallb.io/address-pool": pool, "metallb.io/loadBalancerIPs": str(address)}


def service_at(
    name: str, address: str, selector: Mapping[str, str], ports: list[dict[str, Any]], *, namespace: str, metallb: str
) -> tuple[Manifest, ...]:
    """Return a Service with a fixed address in the management network, with its address pool in ``metallb``."""
    return (
        manifest(
            "metallb.io/v1beta1",
            "IPAddressPool",
            name,
            namespace=metallb,
            spec={"addresses": [f"{address}/32"], "autoAssign": False},
        ),
        manifest("metallb.io/v1beta1", "L2Advertisement", name, namespace=metallb, spec={"ipAddressPools": [name]}),
        manifest(
            "v1",
            "Service",
            name,
            namespace=namespace,
            annotations=address_request(name, address),
            spec={
                "type": "LoadBalancer",
                "selector": dict(selector),
                # This policy preserves the client address, by which the services identify a host.
                "externalTrafficPolicy": "Local",
                "ports": ports,
            },
        ),
    )
