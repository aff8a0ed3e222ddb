"""Nodes by IronCore metal: servers claimed across namespaces by label, an image booted from the network each time.

Nothing of a node outlives a boot, so there is no remediation by reboot: an unhealthy Machine is replaced at once and
its server returns to the pool. Ignition brings the join token, which Cluster API keeps valid until the first join only
(a node that reboots on its own after that is replaced by the health check).
"""

from __future__ import annotations

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
        # In the form that clusterctl asks for; the version takes the place of "latest".
        releases="https://github.com/ironcore-dev/cluster-api-provider-ironcore-metal/releases/latest/"
        "infrastructure-components.yaml",
        mislabelled="v0.2.0",
    ),
)
OPERATORS = (Operator(chart="ironcore-metal", namespace=NAMESPACE, depends_on=(CERT_MANAGER,)),)
"""Chart that has both operators, metal-operator and boot-operator."""


def infrastructure(control_plane: ControlPlane) -> Manifest:
    """Return the infrastructure of a cluster, which says where its control plane is.

    It has no failure domains: a server's is among the labels that a machine template selects by.
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
