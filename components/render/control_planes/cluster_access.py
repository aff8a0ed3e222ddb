"""Who may do what inside a tenant cluster from its first day: the group that its tenant calls administrators."""

from __future__ import annotations

from dataclasses import dataclass

from components.render.manifest import Manifest
from components.render.workloads import RBAC, cluster_binding


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterAccessInput:
    """The access to one cluster that its tenant's data gives."""

    name: str
    cluster: str
    admins: str
    """Group whose members may do everything, by the name that Kubernetes sees."""

    def render(self) -> tuple[Manifest, ...]:
        """Return the binding of the administrators; a binding's role is immutable, its subjects are not."""
        admins = {"apiGroup": RBAC, "kind": "Group", "name": self.admins}
        return (cluster_binding("tenant-admins", role="cluster-admin", subject=admins, cluster=self.cluster),)
