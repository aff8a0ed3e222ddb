"""DPUs of a region under DPF, in zero trust: hosts can neither flash nor reconfigure them.

What DPF holds immutable (BFB, DPUFlavor) carries its content in its name and is retained, so that a change makes a
new object and a DPU still finds the one it was flashed from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render import nvue
from components.render.manifest import Manifest, Readiness
from components.render.objects import digest, given, manifest
from components.specs.catalog import Chart, DpuImage
from components.specs.dpus import ONLY, DpuClusterSpec, DpuControlSpec
from components.specs.region import NetworksSpec, RegistrySpec

NAMESPACE = "dpf-operator-system"
HBN_CHART = "dpf-hbn"
OVN_CHART = "dpf-ovn-vpc"
_HOST_PORTS = 2
_PROVISIONING = "provisioning.dpu.nvidia.com/v1alpha1"
_CLUSTER_SECONDS = 900


@dataclass(frozen=True, slots=True, kw_only=True)
class DpuPlatform:
    """What all DPUs of a region run; foundation and tenants derive the same names from it."""

    control: DpuControlSpec
    networks: NetworksSpec
    image: DpuImage
    virtual_functions: int
    """Most virtual functions that a host of the region gets."""
    registry: RegistrySpec | None
    hbn_chart: Chart
    ovn_chart: Chart

    @property
    def fabric(self) -> nvue.Fabric:
        """Return what host-based networking shares on all DPUs."""
        return nvue.Fabric(
            loopbacks=self.networks.dpu_loopbacks,
            asns=self.networks.asn,
            mtu_bytes=self.control.mtu_bytes,
            release=self.hbn_chart.version,
        )

    @property
    def clusters(self) -> tuple[DpuClusterSpec, ...]:
        """Return the DPU clusters."""
        return self.control.every(self.networks.dpu_loopbacks)

    def selector(self, at: DpuClusterSpec) -> dict[str, str]:
        """Return the labels that select ``at`` and the nodes of its DPUs; none where the region lists no clusters."""
        return {keys.DPU_CLUSTER: at.name} if self.control.clusters else {}

    @property
    def flavor_name(self) -> str:
        """Return the name of the flavor, which says what is in it."""
        return f"zero-trust-{digest(_flavor_spec(self), 10)}"


def named(name: str, at: DpuClusterSpec) -> str:
    """Return what ``name`` is called in the DPU cluster ``at``."""
    return name if at.name == ONLY else f"{name}-{at.name}"


def render_provisioning(platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return DPF's configuration, the image and flavor of DPUs, and the clusters they join."""
    return (
        _operator_config(platform),
        _bfb(platform.image),
        _flavor(platform),
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
            },
            "networking": {"controlPlaneMTU": 1500, "highSpeedMTU": control.mtu_bytes},
            "kamajiClusterManager": {"disable": False},
            "staticClusterManager": {"disable": True},
            # Without it a DPU that is flashed over Redfish never finds the API.
            "overrides": {"kubernetesAPIServerVIP": str(control.management_api), "kubernetesAPIServerPort": 6443},
        },
    )


def _bfb(image: DpuImage) -> Manifest:
    return manifest(
        _PROVISIONING,
        "BFB",
        image.version,
        namespace=NAMESPACE,
        retain=True,
        annotations={keys.SHA256: image.sha256},
        spec={
            "url": image.url,
            "fileName": f"{image.version}.bfb",
            "versions": {"bsp": image.bsp, "doca": image.doca, "uefi": image.uefi, "atf": image.atf},
        },
    )


def _flavor(platform: DpuPlatform) -> Manifest:
    spec = _flavor_spec(platform)
    return manifest(_PROVISIONING, "DPUFlavor", platform.flavor_name, namespace=NAMESPACE, retain=True, spec=spec)


def _flavor_spec(platform: DpuPlatform) -> dict[str, Any]:
    mtu = platform.control.mtu_bytes
    registry = None if platform.registry is None else {"registryEndpoint": f"https://{platform.registry.mirror}"}
    return {
        "dpuMode": "zero-trust",
        "bfcfgParameters": ["UPDATE_ATF_UEFI=yes", "UPDATE_DPU_OS=yes", "WITH_NIC_FW_UPDATE=yes"],
        "grub": {"kernelParameters": ["console=hvc0", "console=ttyAMA0", "net.ifnames=0", "biosdevname=0"]},
        "nvconfig": [
            {
                "device": "*",
                "parameters": [
                    "INTERNAL_CPU_MODEL=1",
                    "INTERNAL_CPU_OFFLOAD_ENGINE=0",
                    "LINK_TYPE_P1=ETH",
                    "LINK_TYPE_P2=ETH",
                    "SRIOV_EN=1",
                    f"NUM_OF_VFS={platform.virtual_functions}",
                ],
            }
        ],
        "hostNetworkInterfaceConfigs": [{"portNumber": port, "dhcp": True, "mtu": mtu} for port in range(_HOST_PORTS)],
        **given(containerdConfig=registry),
    }


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
