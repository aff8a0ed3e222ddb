"""DPUs of a region managed by DPF in zero-trust mode: hosts can neither flash nor reconfigure them.

Names of immutable objects (BFB, DPUFlavor) contain a content hash, and these objects are retained. A change therefore
creates a new object and keeps the object that a DPU was flashed from.
"""

from collections.abc import Iterator, Mapping

from components.render import labels as keys
from components.render.control_planes import kamaji
from components.render.manifest import Manifest, Readiness
from components.render.memory_limits import OF_MANAGEMENT
from components.render.network import nvue
from components.render.network.dpu_templates import templates
from components.render.objects import given, manifest
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.network.dpus import ONLY, DpuClusterSpec, DpuControlSpec
from components.specs.pools.intents import DpuIntent
from components.specs.region.region import NetworksSpec
from components.specs.region.versions import Chart, Tool
from components.specs.struct import Struct

NAMESPACE = "dpf-operator-system"
REPLICAS = 3
"""Replicas of a DPU cluster's control plane in DPF (doca-platform:internal/clustermanager/kamaji/handler.go)."""
DPF_CHART, HBN_CHART = "dpf-operator", "dpf-hbn"
HBN_IMAGE = "doca-hbn"
"""Name of HBN's image in the tools of the version vector."""
_PREREQUISITES = (
    # Argo CD deploys services to DPUs. DPF requires Argo CD in DPF's namespace, without the disabled components.
    Operator(
        chart="argo-cd",
        namespace=NAMESPACE,
        values={"applicationSet": {"replicas": 0}, "dex": {"enabled": False}, "notifications": {"enabled": False}},
    ),
    Operator(chart="node-feature-discovery", namespace=NAMESPACE),
    Operator(
        chart="maintenance-operator",
        namespace=NAMESPACE,
        values={"operator": {"resources": {"limits": {"memory": f"{OF_MANAGEMENT}Mi"}}}},
        depends_on=(CERT_MANAGER,),
    ),
)
"""Prerequisites that DPF does not install since 25.7 (DPF:docs/public/getting-started/helm-prerequisites.md)."""
OPERATORS = (
    *_PREREQUISITES,
    Operator(
        chart=DPF_CHART,
        namespace=NAMESPACE,
        values={
            # The inventory defines all DPUs, so discovery rules are not needed.
            "enableNodeFeatureRules": False,
            # The job requires Secrets of the chart's etcd, which is not used.
            "kamajiEtcdDefrag": {"enabled": False},
        },
        depends_on=(CERT_MANAGER, kamaji.CHART, *(operator.release for operator in _PREREQUISITES)),
    ),
)
"""DPF and its prerequisites, in installation order."""
_PROVISIONING = "provisioning.dpu.nvidia.com/v1alpha1"
_CLUSTER_SECONDS = 900
INSTALLED_AT_ONCE = 50
"""Maximum number of DPUs of a region on which DPF installs an image in parallel."""


class DpuPlatform(Struct):
    """Settings for all DPUs of a region. The foundation and the tenants derive the same names from these settings."""

    control: DpuControlSpec
    networks: NetworksSpec
    intents: Mapping[str, DpuIntent]
    """Intent of the DPUs of each DPUDeployment, by name of the deployment."""
    hbn_chart: Chart
    hbn_image: Tool | None
    """Image of HBN; None for the default of its chart."""
    ovn_charts: Mapping[str, Chart]
    """Charts of OVN's services, by name; empty if no VPC uses OVN."""

    @property
    def fabric(self) -> nvue.Fabric:
        """Return the fabric settings of host-based networking, common to all DPUs."""
        return nvue.Fabric(
            loopbacks=self.networks.dpu_loopbacks,
            asns=self.networks.asn,
            mtu_bytes=self.control.mtu_bytes,
            uplink_mtu_bytes=self.control.uplink_mtu_bytes,
            release=hbn_release(self.hbn_chart, self.hbn_image),
        )

    @property
    def clusters(self) -> tuple[DpuClusterSpec, ...]:
        """Return the DPU clusters."""
        return self.control.every(self.networks.dpu_loopbacks)

    def selector(self, at: DpuClusterSpec) -> dict[str, str]:
        """Return the labels of ``at`` and of the nodes of its DPUs; empty if the region lists no DPU clusters."""
        return {keys.DPU_CLUSTER: at.name} if self.control.clusters else {}

    @property
    def in_use(self) -> tuple[DpuIntent, ...]:
        """Return the intents of DPUs without duplicates, sorted by name."""
        by_name = {intent.name: intent for intent in self.intents.values()}
        return tuple(by_name[name] for name in sorted(by_name))


def hbn_release(chart: Chart, image: Tool | None) -> str:
    """Return the release of HBN, the prefix of the image tag. The chart has separate versions."""
    tag = image.tag if image else None
    return tag.partition("-")[0] if tag else chart.version


def named(name: str, at: DpuClusterSpec) -> str:
    """Return the name of object ``name`` for DPU cluster ``at``; unchanged in a region with one DPU cluster."""
    return name if at.name == ONLY else f"{name}-{at.name}"


def render_provisioning(platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return DPF's configuration, the images and flavors of DPUs, and the DPU clusters."""
    return (
        _operator_config(platform),
        *_images(platform),
        *_flavors(platform),
        *(_dpu_cluster(platform, at) for at in platform.clusters),
    )


def _operator_config(platform: DpuPlatform) -> Manifest:
    control = platform.control
    return manifest(
        "operator.dpu.nvidia.com/v1alpha1",
        "DPFOperatorConfig",
        "dpfoperatorconfig",  # DPF does not accept other names.
        namespace=NAMESPACE,
        spec={
            "provisioningController": {
                # The inventory defines all hosts and DPUs, so DPF must not discover any.
                "installInterface": {"installViaRedfish": {"skipDPUNodeDiscovery": True}},
                "maxDPUParallelInstallations": INSTALLED_AT_ONCE,
                "maxUnavailableDPUNodes": INSTALLED_AT_ONCE,
                "osInstallTimeout": "60m",
                **given(registry=given(loadBalancerAddress=control.bfb_registry and f"http://{control.bfb_registry}")),
            },
            **given(imagePullSecrets=list(control.pull_secrets)),
            "networking": {"controlPlaneMTU": 1500, "highSpeedMTU": control.uplink_mtu_bytes},
            "kamajiClusterManager": {"disable": False},
            "staticClusterManager": {"disable": True},
            # Without this address, a DPU that is flashed over Redfish cannot reach the API server.
            "overrides": {"kubernetesAPIServerVIP": str(control.management_api), "kubernetesAPIServerPort": 6443},
        },
    )


def _images(platform: DpuPlatform) -> Iterator[Manifest]:
    """Yield the images of DPUs (BFB), without duplicates."""
    for name, (sha256, spec) in {
        (template := templates(intent)).bfb_name: (intent.sha256, template.bfb) for intent in platform.in_use
    }.items():
        annotations = {keys.SHA256: sha256}
        yield manifest(_PROVISIONING, "BFB", name, namespace=NAMESPACE, retain=True, annotations=annotations, spec=spec)


def _flavors(platform: DpuPlatform) -> Iterator[Manifest]:
    """Yield the flavors of DPUs, without duplicates."""
    flavors = {(template := templates(intent)).flavor_name: template.flavor for intent in platform.in_use}
    for name, spec in flavors.items():
        yield manifest(_PROVISIONING, "DPUFlavor", name, namespace=NAMESPACE, retain=True, spec=spec)


def _dpu_cluster(platform: DpuPlatform, at: DpuClusterSpec) -> Manifest:
    return manifest(
        _PROVISIONING,
        "DPUCluster",
        at.name,
        namespace=NAMESPACE,
        labels=platform.selector(at),
        readiness=Readiness(conditions=("jsonpath={.status.phase}=Ready",), timeout_seconds=_CLUSTER_SECONDS),
        spec={
            "type": "kamaji",
            "maxNodes": platform.control.max_dpus,
            "clusterEndpoint": {
                "keepalived": {
                    "interface": platform.control.vip_interface,
                    "vip": str(at.vip),
                    "virtualRouterID": at.virtual_router_id,
                }
            },
        },
    )
