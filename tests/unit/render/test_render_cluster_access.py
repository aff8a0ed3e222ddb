"""Who administers a tenant cluster from its first day."""

from __future__ import annotations

from typing import Any

from components.render.cluster_access import ClusterAccessInput


def test_the_tenants_admin_group_is_bound_inside_its_cluster_under_the_name_kubernetes_sees(inputs_of: Any) -> None:
    [access] = inputs_of(ClusterAccessInput)
    [binding] = access.render()

    assert binding.cluster == "acme-train"
    assert binding.body == {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": "tenant-admins", "labels": {"app.kubernetes.io/managed-by": "jacquard"}},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "Group", "name": "acme-platform"}],
    }
