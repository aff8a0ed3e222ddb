"""DPUs of a region under DPF, in zero trust: hosts can neither flash nor reconfigure them.

What DPF holds immutable (BFB, DPUFlavor) carries its content in its name and is retained, so that a change makes a
new object and a DPU still finds the one it was flashed from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.render import labels as keys
from components.render.control_planes import kamaji
from components.render.manifest import Manifest, Readiness
from components.render.network import nvue
from components.render.network.dpu_templates import templates
from components.render.objects import given, manifest
from components.render.region.operators import CERT_MANAGER, Operator
from components.specs.network.dpus import ONLY, DpuClusterSpec, DpuControlSpec
from components.specs.pools.intents import DpuIntent
from components.specs.region.region import NetworksSpec
from components.specs.region.versions import Chart, Tool

NAMESPACE = "dpf-operator-system"
REPLICAS = 3
"""Replicas of a DPU cluster's control plane, as DPF says (doca-platform:internal/clustermanager/kamaji/handler.go)."""
HBN_CHART = "dpf-hbn"
HBN_IMAGE = "doca-hbn"
"""Name of HBN's image among the tools of the version vector."""
_BESIDE = (
    # It deploys services to DPUs. DPF looks for it in its own namespace, and asks nothing of these parts of it.
    Operator(
        chart="argo-cd",
        namespace=NAMESPACE,
        values={"applicationSet": {"replicas": 0}, "dex": {"enabled": False}, "notifications": {"enabled": False}},
    ),
    Operator(chart="node-feature-discovery", namespace=NAMESPACE),
    Operator(chart="maintenance-operator", namespace=NAMESPACE, depends_on=(CERT_MANAGER,)),
)
"""What DPF needs and does not bring since 25.7 (DPF:docs/public/getting-started/helm-prerequisites.md)."""
OPERATORS = (
    *_BESIDE,
    Operator(
        chart="dpf-operator",
        namespace=NAMESPACE,
        values={
            # DPUs come from the inventory, and no rule has to find any.
            "enableNodeFeatureRules": False,
            # It would ask for Secrets of an etcd that this chart brings, and ours does not come from it.
            "kamajiEtcdDefrag": {"enabled": False},
        },
        depends_on=(CERT_MANAGER, kamaji.CHART, *(one.release for one in _BESIDE)),
    ),
)
"""DPF, after what it needs."""
_PROVISIONING = "provisioning.dpu.nvidia.com/v1alpha1"
_CLUSTER_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class DpuPlatform:
    """What all DPUs of a region run; foundation and tenants derive the same names from it."""

    control: DpuControlSpec
    networks: NetworksSpec
    intents: Mapping[str, DpuIntent]
    """What the DPUs of each DPUDeployment are flashed from, by its name."""
    hbn_chart: Chart
    hbn_image: Tool | None
    """Image that HBN runs; the one that its chart names where the catalogue has none."""
    ovn_charts: Mapping[str, Chart]
    """Charts of OVN's services by name; empty where no VPC needs them."""

    @property
    def fabric(self) -> nvue.Fabric:
        """Return what host-based networking shares on all DPUs."""
        return nvue.Fabric(
            loopbacks=self.networks.dpu_loopbacks,
            asns=self.networks.asn,
            mtu_bytes=self.control.mtu_bytes,
            uplink_mtu_bytes=self.control.uplink_mtu_bytes,
            release=self._hbn_release,
        )

    @property
    def _hbn_release(self) -> str:
        """Return the release of HBN, with which its image's tag begins: its chart has versions of its own."""
        tag = self.hbn_image.tag if self.hbn_image else None
        return tag.partition("-")[0] if tag else self.hbn_chart.version

    @property
    def clusters(self) -> tuple[DpuClusterSpec, ...]:
        """Return the DPU clusters."""
        return self.control.every(self.networks.dpu_loopbacks)

    def selector(self, at: DpuClusterSpec) -> dict[str, str]:
        """Return the labels that select ``at`` and the nodes of its DPUs; none where the region lists no clusters."""
        return {keys.DPU_CLUSTER: at.name} if self.control.clusters else {}

    @property
    def in_use(self) -> tuple[DpuIntent, ...]:
        """Return the intents of DPUs, each once, in order of their names."""
        found = {intent.name: intent for intent in self.intents.values()}
        return tuple(found[name] for name in sorted(found))


def named(name: str, at: DpuClusterSpec) -> str:
    """Return what ``name`` is called in the DPU cluster ``at``."""
    return name if at.name == ONLY else f"{name}-{at.name}"


def render_provisioning(platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return DPF's configuration, the image and flavor of DPUs, and the clusters they join."""
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
        "dpfoperatorconfig",  # the only name that DPF looks for
        namespace=NAMESPACE,
        spec={
            "provisioningController": {
                # Hosts and DPUs come from the inventory, so DPF must not discover any.
                "installInterface": {"installViaRedfish": {"skipDPUNodeDiscovery": True}},
                "maxDPUParallelInstallations": 50,
                "maxUnavailableDPUNodes": 50,
                "osInstallTimeout": "45m",
                **given(registry=given(loadBalancerAddress=control.bfb_registry and f"http://{control.bfb_registry}")),
            },
            **given(imagePullSecrets=list(control.pull_secrets)),
            "networking": {"controlPlaneMTU": 1500, "highSpeedMTU": control.uplink_mtu_bytes},
            "kamajiClusterManager": {"disable": False},
            "staticClusterManager": {"disable": True},
            # Without it a DPU that is flashed over Redfish never finds the API.
            "overrides": {"kubernetesAPIServerVIP": str(control.management_api), "kubernetesAPIServerPort": 6443},
        },
    )


def _images(platform: DpuPlatform) -> Iterator[Manifest]:
    """Yield the images that DPUs are flashed from, each once."""
    for name, (sha256, spec) in {
        (made := templates(intent)).bfb_name: (intent.sha256, made.bfb) for intent in platform.in_use
    }.items():
        annotations = {keys.SHA256: sha256}
        yield manifest(_PROVISIONING, "BFB", name, namespace=NAMESPACE, retain=True, annotations=annotations, spec=spec)


def _flavors(platform: DpuPlatform) -> Iterator[Manifest]:
    """Yield the flavors of DPUs, each once."""
    for name, spec in {(made := templates(intent)).flavor_name: made.flavor for intent in platform.in_use}.items():
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
