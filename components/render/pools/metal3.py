"""Nodes by Metal3: hosts are in the cluster's namespace, images are written to disk, remediation reboots first."""

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
        # Upstream documents its default of ten workers as unsafe, because two workers could claim the same host.
        flags={
            **bare_metal_controllers.PACE,
            "--metal3machine-concurrency": "1",
            # Address pools preallocate addresses by host name (node_addresses).
            "--enable-bmh-name-based-preallocation": "true",
        },
        # Otherwise the provider powers off each host that it releases, by `spec.online` of the BareMetalHost. It would
        # become the owner of this field, so that each later change of the host is rejected as a conflict, and the DPU
        # of a spare would have no power (CAPM3:baremetal/metal3machine_manager.go, Delete).
        variables={"CAPM3_FAST_TRACK": "true"},
    ),
)


def operators(metal: BareMetalSpec, watched: bare_metal_controllers.Watched) -> tuple[Operator, ...]:
    """Return the operators of a region: a single controller for all hosts, or shards with their watched namespaces."""
    ironic = Operator(
        chart=bare_metal_controllers.IRONIC_CHART,
        namespace=f"{bare_metal_controllers.IRONIC_CHART}-system",
        depends_on=(CERT_MANAGER,),
        flags=(bare_metal_controllers.OVERRIDES,),
    )
    return (ironic, *bare_metal_controllers.operators(metal, watched))


def infrastructure(control_plane: ControlPlane) -> Manifest:
    """Return the infrastructure object of a cluster, with the endpoint of its control plane."""
    name = control_plane.spec.name
    return manifest(
        API,
        "Metal3Cluster",
        name,
        namespace=name,
        labels=control_plane.labels,
        # Metal3 copies inventory labels from hosts to Nodes and removes other labels, so tenants cannot forge labels.
        annotations={"metal3.io/metal3-label-sync-prefixes": keys.DOMAIN},
        spec={
            "controlPlaneEndpoint": {"host": str(control_plane.vip), "port": API_PORT},
            "cloudProviderEnabled": False,
            **given(
                failureDomains=[{"name": domain, "controlPlane": False} for domain in control_plane.failure_domains]
            ),
        },
    )


def remediation(name: str, cluster: str, labels: dict[str, str], seconds: int) -> tuple[Manifest, ...]:
    """Return the remediation template that is used before an unhealthy node of a pool is replaced.

    Metal3 reboots the host, and a second time if the node is not ready ``seconds`` after it was powered off. If the
    second reboot fails as well, Metal3 marks the host as unhealthy and gives up. `failed_repairs` has Cluster API
    replace the Machine, on a spare host. Metal3 requires at least one retry, so a single reboot is not possible
    (metal3-io/cluster-api-provider-metal3:controllers/metal3remediation_controller.go).
    """
    template = manifest(
        API,
        "Metal3RemediationTemplate",
        name,
        namespace=cluster,
        labels=labels,
        spec={"template": {"spec": {"strategy": {"type": "Reboot", "retryLimit": 1, "timeoutSeconds": seconds}}}},
    )
    return (template,)
