"""Components of hosted control planes and of access to tenant clusters."""

import pulumi

from components.component import Component, Outputs
from components.render.concept import Made
from components.render.control_planes.cluster_access import ClusterAccessInput
from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput
from components.render.control_planes.control_plane import API_PORT
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.control_planes.request_priority import LEVEL, RequestPriorityInput


class HostedControlPlane(Component[HostedControlPlaneInput]):
    """Control plane of one tenant cluster, as pods of the management cluster. It is ready when its API responds."""

    INPUT = HostedControlPlaneInput
    endpoint: pulumi.Output[str]
    """URL of the API."""

    def _outputs(self, made: Made[HostedControlPlaneInput]) -> Outputs:
        return {"endpoint": f"https://{made.concept.vip}:{API_PORT}"}


class ClusterAccess(Component[ClusterAccessInput]):
    """RBAC of one tenant cluster for the groups in the tenant's data."""

    INPUT = ClusterAccessInput
    admins: pulumi.Output[str]
    """Group with cluster-admin."""

    def _outputs(self, made: Made[ClusterAccessInput]) -> Outputs:
        return {"admins": made.concept.admins}


class ClusterNamespaces(Component[ClusterNamespacesInput]):
    """Namespaces of a tenant's teams in one cluster, with quotas, roles and NetworkPolicies."""

    INPUT = ClusterNamespacesInput
    names: pulumi.Output[list[str]]
    """Names of the namespaces, in the order of the data."""

    def _outputs(self, made: Made[ClusterNamespacesInput]) -> Outputs:
        return {"names": [one.spec.name for one in made.concept.namespaces]}


class RequestPriority(Component[RequestPriorityInput]):
    """API priority and fairness of one tenant cluster."""

    INPUT = RequestPriorityInput
    level: pulumi.Output[str]
    """Name of the priority level reserved for the platform's agents."""

    def _outputs(self, made: Made[RequestPriorityInput]) -> Outputs:  # noqa: ARG002 - the same in every cluster
        return {"level": LEVEL}
