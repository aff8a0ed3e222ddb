"""Initial access to a tenant cluster: the group of the tenant's administrators."""

from components.render.manifest import Manifest
from components.render.platform_pods import RBAC, cluster_binding
from components.specs.struct import Struct


class ClusterAccessInput(Struct):
    """Access to one cluster, from the data of its tenant."""

    name: str
    cluster: str
    admins: str
    """Kubernetes name of the group of cluster administrators."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the ClusterRoleBinding of the administrators. Its role is immutable; its subjects can change."""
        admins = {"apiGroup": RBAC, "kind": "Group", "name": self.admins}
        return (cluster_binding("tenant-admins", role="cluster-admin", subject=admins, cluster=self.cluster),)
