"""Nodes by Metal3: hosts of the cluster's own namespace, an image written to disk, a reboot before a replacement."""

from __future__ import annotations

from components.render import labels as keys
from components.render.control_planes.control_plane import API_PORT, ControlPlane
from components.render.hosts import bare_metal_controllers
from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.render.providers import Provider
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.hosts.bare_metal import BareMetalSpec

API = "infrastructure.cluster.x-k8s.io/v1beta2"
MACHINE_TEMPLATE = (API, "Metal3MachineTemplate")
DATA_TEMPLATE = (API, "Metal3DataTemplate")
PROVIDERS = (
    Provider(
        role="ipam", name="metal3", namespace="metal3-ipam-system", release="metal3", flags=bare_metal_controllers.PACE
    ),
    Provider(
        role="infrastructure",
        name="metal3",
        namespace="capm3-system",
        release="metal3",
        # Upstream runs ten workers and calls more than one unsafe: two could claim one host.
        flags={
            **bare_metal_controllers.PACE,
            "--metal3machine-concurrency": "1",
            # By the names of hosts an address pool knows which address is whose (node_addresses).
            "--enable-bmh-name-based-preallocation": "true",
        },
    ),
)


def operators(metal: BareMetalSpec, watched: bare_metal_controllers.Watched) -> tuple[Operator, ...]:
    """Return the operators of a region: one controller for all hosts, or its shards with the namespaces of theirs."""
    ironic = Operator(
        chart=bare_metal_controllers.IRONIC_CHART,
        namespace=f"{bare_metal_controllers.IRONIC_CHART}-system",
        depends_on=(CERT_MANAGER,),
    )
    return (ironic, *bare_metal_controllers.operators(metal, watched))


def infrastructure(control_plane: ControlPlane) -> Manifest:
    """Return the infrastructure of a cluster, which says where its control plane is."""
    name = control_plane.spec.name
    return manifest(
        API,
        "Metal3Cluster",
        name,
        namespace=name,
        labels=control_plane.labels,
        # Inventory labels reach Nodes from the host and are taken off again there: tenants cannot forge them.
        annotations={"metal3.io/metal3-label-sync-prefixes": keys.DOMAIN},
        spec={
            "controlPlaneEndpoint": {"host": str(control_plane.vip), "port": API_PORT},
            "cloudProviderEnabled": False,
            **given(
                failureDomains=[{"name": domain, "controlPlane": False} for domain in control_plane.failure_domains]
            ),
        },
    )


def remediation(name: str, cluster: str, labels: dict[str, str]) -> tuple[Manifest, ...]:
    """Return what is tried before an unhealthy node of a pool is replaced."""
    template = manifest(
        API,
        "Metal3RemediationTemplate",
        name,
        namespace=cluster,
        labels=labels,
        # One reboot; after it Metal3 deletes the Machine and a spare takes its place.
        spec={"template": {"spec": {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": 900}}}},
    )
    return (template,)
