"""VPC backend with OVN on each host's DPU: one logical router, one bridged network (tech preview upstream).

In DPF a virtual network and the network of an interface are immutable. The names of both therefore contain a content
hash.

The backend requires a single DPU cluster. OVN isolates VPCs without EVPN: VNI, ASN and route target of a VPC are not
used. Hosts announce no routes. The VPC is therefore not reachable from outside, and ``ingress`` has no effect.

Two services run on the DPUs, and two services run in the management cluster (``ovn_services``). As in upstream's guide,
one port of the DPU is connected, and OVN's tunnels of all VPCs share one broadcast domain of the fabric.
"""

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.namespaces import tenant_namespace
from components.render.network import dpu_services, ovn_services
from components.render.network.dpus import NAMESPACE, DpuPlatform
from components.render.network.vpc import Vpc
from components.render.objects import digest, manifest
from components.specs.network.tenant_network import Egress

_VPC_API = "vpc.dpu.nvidia.com/v1alpha1"


def render(vpc: Vpc, platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return the objects of ``vpc``, in the order in which they are applied."""
    network, [only] = _virtual_network(vpc), platform.clusters
    return (
        *(_service_configuration(vpc, platform, service) for service in ovn_services.SERVICES),
        dpu_services.deployment(
            platform,
            only,
            vpc.spec.name,
            services=tuple(ovn_services.SERVICES),
            hosts={"matchLabels": {keys.TENANT_NETWORK: vpc.spec.name}},
            switches=(
                dpu_services.switch(
                    platform.control.uplink_mtu_bytes,
                    dpu_services.interface_port("p0"),
                    dpu_services.interface_port(dpu_services.OVN_UPLINK),
                ),
            ),
        ),
        _vpc(vpc),
        network,
        _host_port(vpc, network.name),
    )


def _service_configuration(vpc: Vpc, platform: DpuPlatform, service: str) -> Manifest:
    control = platform.control
    values = ovn_services.values(service, control.ovn_central, control.pull_secrets)
    return manifest(
        dpu_services.SERVICES,
        "DPUServiceConfiguration",
        f"{vpc.spec.name}-{service}",
        namespace=NAMESPACE,
        spec={
            "deploymentServiceName": service,
            "serviceConfiguration": {"helmChart": {"values": values}},
            "upgradePolicy": {"applyNodeEffect": True},
        },
    )


def _vpc(vpc: Vpc) -> Manifest:
    return manifest(
        _VPC_API,
        "DPUVPC",
        vpc.spec.name,
        namespace=tenant_namespace(vpc.tenant),
        labels={keys.TENANT: vpc.tenant},
        spec={
            "tenant": vpc.tenant,
            "isolationClassName": dpu_services.OVN,
            "interNetworkAccess": False,
            "nodeSelector": dpu_services.deployment_selector(vpc.spec.name),
        },
    )


def _virtual_network(vpc: Vpc) -> Manifest:
    spec = {
        "vpcName": vpc.spec.name,
        "type": "Bridged",
        "externallyRouted": vpc.spec.egress is Egress.PUBLIC,
        "masquerade": True,  # Upstream supports only this mode.
        "bridgedNetwork": {"ipam": {"ipv4": {"dhcp": True, "subnet": str(vpc.numbers.hosts)}}},
    }
    return manifest(
        _VPC_API,
        "DPUVirtualNetwork",
        f"{vpc.spec.name}-{digest(spec, 10)}",
        namespace=tenant_namespace(vpc.tenant),
        labels={keys.TENANT: vpc.tenant},
        spec=spec,
    )


def _host_port(vpc: Vpc, network: str) -> Manifest:
    return manifest(
        dpu_services.SERVICES,
        "DPUServiceInterface",
        f"{network}-host",
        namespace=tenant_namespace(vpc.tenant),
        labels={keys.TENANT: vpc.tenant},
        spec={
            "template": {
                "spec": {
                    "nodeSelector": dpu_services.deployment_selector(vpc.spec.name),
                    "template": {
                        "spec": {"interfaceType": "pf", "pf": {"pfID": 0, "virtualNetwork": network}},
                    },
                }
            }
        },
    )
