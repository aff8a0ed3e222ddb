"""A VPC by EVPN on each host's DPU: one VRF, one VNI and one route target, in host-based networking (HBN).

Each VPC has a DPUDeployment of its own, so that a change of one VPC is no change of another, and a host that moves to
another VPC gets a freshly flashed DPU.
"""

from __future__ import annotations

from components.render import dpu_services
from components.render import labels as keys
from components.render.dpus import NAMESPACE, DpuPlatform
from components.render.manifest import Manifest
from components.render.nvue import HOST_INTERFACE, Vrf
from components.render.objects import manifest
from components.render.vpc import Vpc
from components.specs.base import Network
from components.specs.tenant_network import Egress

POINT_TO_POINT = 30
"""Prefix length between DPU and host: the DPU's address, the host's, and the two ends."""


def render(vpc: Vpc, platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return the objects of ``vpc``, in the order they are applied."""
    name = vpc.spec.name
    network = {"network": str(vpc.numbers.hosts), "prefixSize": POINT_TO_POINT, "gatewayIndex": 1}
    return (
        dpu_services.addresses(_host_pool(vpc), network, dpu_services.deployment_nodes(name)),
        _host_port(vpc),
        dpu_services.hbn_configuration(platform, name, _vrf(vpc, platform)),
        dpu_services.deployment(
            platform,
            name,
            service=dpu_services.HBN,
            hosts={"matchLabels": {keys.TENANT_NETWORK: name}},
            switches=(
                *dpu_services.hbn_uplinks(),
                (
                    dpu_services.interface_port(_host_port_name(vpc)),
                    dpu_services.service_port(dpu_services.HBN, HOST_INTERFACE),
                ),
            ),
        ),
    )


def _vrf(vpc: Vpc, platform: DpuPlatform) -> Vrf:
    networks, numbers = platform.networks, vpc.numbers
    control_planes = tuple(Network(f"{address}/32") for address in vpc.control_planes)
    inside = (numbers.hosts, numbers.pods, numbers.services, numbers.load_balancers, networks.storage)
    return Vrf(
        name=vpc.spec.name,
        vni=numbers.vni,
        asn=numbers.asn,
        host_pool=_host_pool(vpc),
        permit=control_planes,
        deny=(networks.management, networks.bmc, networks.control_plane_vips, networks.dpu_loopbacks),
        reachable=None if vpc.spec.egress is Egress.PUBLIC else inside,
    )


def _host_pool(vpc: Vpc) -> str:
    return f"{vpc.spec.name}-hosts"


def _host_port_name(vpc: Vpc) -> str:
    return f"{vpc.spec.name}-host"


def _host_port(vpc: Vpc) -> Manifest:
    name = _host_port_name(vpc)
    port = {"interfaceType": "pf", "pf": {"pfID": 0}}
    return manifest(
        dpu_services.SERVICES,
        "DPUServiceInterface",
        name,
        namespace=NAMESPACE,
        spec={
            "template": {
                "spec": {
                    "nodeSelector": dpu_services.deployment_selector(vpc.spec.name),
                    "template": {"metadata": {"labels": {keys.INTERFACE: name}}, "spec": port},
                }
            }
        },
    )
