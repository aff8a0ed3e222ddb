"""Nodes by IronCore metal: servers are claimed by label, independent of namespaces, and always boot from the network.

No state of a node survives a reboot. Remediation by reboot is therefore not possible: an unhealthy Machine is replaced
immediately and its server is released. Ignition contains the join token, which Cluster API renews only until the first
join. A node that reboots after its first join is replaced by the health check.
"""

from components.render.control_planes.control_plane import API_PORT, ControlPlane
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.providers import Provider
from components.render.region.operators import CERT_MANAGER, Operator

API = "infrastructure.cluster.x-k8s.io/v1alpha1"
MACHINE_TEMPLATE = (API, "IroncoreMetalMachineTemplate")
NAMESPACE = "ironcore-metal-system"
PROVIDERS = (
    Provider(
        role="infrastructure",
        name="ironcore-metal",
        namespace=NAMESPACE,
        release="ironcore_metal",
        # The URL has the format of clusterctl, and the version replaces "latest".
        releases="https://github.com/ironcore-dev/cluster-api-provider-ironcore-metal/releases/latest/"
        "infrastructure-components.yaml",
        mislabelled="v0.2.0",
    ),
)
OPERATORS = (Operator(chart="ironcore-metal", namespace=NAMESPACE, depends_on=(CERT_MANAGER,)),)
"""Chart with both operators, metal-operator and boot-operator."""


def infrastructure(control_plane: ControlPlane) -> Manifest:
    """Return the infrastructure object of a cluster, with the endpoint of its control plane.

    The object has no failure domains: machine templates select servers by a label with the failure domain.
    """
    name = control_plane.spec.name
    return manifest(
        API,
        "IroncoreMetalCluster",
        name,
        namespace=name,
        labels=control_plane.labels,
        spec={"controlPlaneEndpoint": {"host": str(control_plane.vip), "port": API_PORT}},
    )
