"""Objects of a cluster whose nodes return: those that its nodes and their pods had before."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from tests.support.api_servers import steady_clients as steady
from tests.support.api_servers.node_processes import (
    ACCOUNT,
    FIRST_CONFIG,
    LEASES,
    NAMESPACE,
    PODS,
    SECRET,
    lease_body,
    node_body,
    pod_names,
)

LEADERS = (steady.MANAGER, steady.SCHEDULER)
"""Users with a leader election in the level of Kubernetes for it."""
_RBAC = "rbac.authorization.k8s.io"


def election(user: str) -> str:
    return f"/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/{user.rpartition(':')[2]}"


def shared() -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and body of the objects of the cluster."""
    space = f"/api/v1/namespaces/{NAMESPACE}"
    yield "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}}
    yield f"{space}/serviceaccounts", {"metadata": {"name": ACCOUNT}}
    yield f"{space}/configmaps", {"metadata": {"name": FIRST_CONFIG}, "data": {"ca.crt": "x" * 1100}}
    yield f"{space}/secrets", {"metadata": {"name": SECRET}, "data": {}}
    role = {"apiGroup": _RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    accounts = {"apiGroup": _RBAC, "kind": "Group", "name": "system:serviceaccounts"}
    yield f"/apis/{_RBAC}/v1/clusterrolebindings", {"metadata": {"name": "a"}, "roleRef": role, "subjects": [accounts]}
    for user in (*LEADERS, steady.OPERATOR):
        path, _, name = election(user).rpartition("/")
        yield path, lease_body(name)


def of_node(node: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield path and body of the objects of a node."""
    yield "/api/v1/nodes", {**node_body(node), "status": {"images": _images()}}
    yield LEASES, lease_body(node)
    yield "/apis/storage.k8s.io/v1/csinodes", {"metadata": {"name": node}, "spec": {"drivers": []}}
    token = {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}}
    sources = [token, {"configMap": {"name": FIRST_CONFIG, "items": [{"key": "ca.crt", "path": "ca.crt"}]}}]
    for name in pod_names(node, PODS):
        volumes = [
            {"name": "kube-api-access", "projected": {"sources": sources}},
            {"name": "registry", "secret": {"secretName": SECRET}},
        ]
        container = {"name": "main", "image": "registry.cloud.example/main:1"}
        spec = {"nodeName": node, "serviceAccountName": ACCOUNT, "volumes": volumes, "containers": [container]}
        yield f"/api/v1/namespaces/{NAMESPACE}/pods", {"metadata": {"name": name}, "spec": spec}


def _images() -> list[dict[str, Any]]:
    """Return images of a node, which are most of the size of a Node."""
    return [
        {"names": [f"registry.cloud.example/image-{number}@sha256:{'0' * 64}"], "sizeBytes": 10**9}
        for number in range(20)
    ]
