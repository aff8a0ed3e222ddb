"""OVN for VPCs on DPUs: four services of two charts, deployed as in upstream's guide (tech preview upstream).

Two services run once per region, in the management cluster: OVN's databases, and the controller that writes VPCs to the
databases. Two services run on the DPUs of each VPC: OVN's controller, and the node agent that connects the DPU to OVN.
All services of both charts are disabled by default (DPF:docs/public/user-guides/zero-trust/use-cases/vpc).
"""

from components.render.manifest import Json, Manifest
from components.render.network.dpus import NAMESPACE
from components.render.objects import given, manifest
from components.render.region.operators import Operator
from components.specs.base import Address, Network
from components.specs.network.dpus import DpuControlSpec
from components.specs.struct import replace

OVN_CHART = "ovn-chart"
VPC_CHART = "dpf-vpc-ovn"
CHARTS = (OVN_CHART, VPC_CHART)
WRITER = "vpc-ovn-controller"
"""Release of the controller that creates and deletes VPCs in the databases."""
CONTROLLER, NODE = "ovn-controller", "vpc-ovn-node"
SERVICES = {CONTROLLER: OVN_CHART, NODE: VPC_CHART}
"""Chart of each service on DPUs, by service."""
POOL = "ovn-addresses"
"""Address pool of DPUs."""
BLOCK = 4
"""Number of addresses per DPU, as in upstream's guide."""
NORTHBOUND, SOUTHBOUND = 30641, 30642
"""Node ports of both databases (the chart's defaults), unencrypted TCP. Pods listen on ports 6641 and 6642."""
_CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
"""Label and taint of hosts of the management cluster's control plane
(DPF:docs/public/user-guides/zero-trust/prerequisites/system.md)."""
_TUNNELS_INDEX, _GATEWAY_INDEX = 1, 2
"""Indexes of addresses in a DPU's block. Index 0 is not used: in the first block it is the address of the router."""

_ON_CONTROL_PLANE = {"key": _CONTROL_PLANE, "operator": "Exists"}
_REPLICATED = {
    "enableHA": True,
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [_ON_CONTROL_PLANE]}]
            }
        }
    },
    "tolerations": [{**_ON_CONTROL_PLANE, "effect": "NoSchedule"}],
}
"""Chart values of replicated databases (DPF:docs/public/advanced-configuration/dpuservices/ovnvpc/ovn-ha-guide.md)."""


def operators(control: DpuControlSpec, *, ovn: bool) -> tuple[Operator, ...]:
    """Return the operators in the management cluster; empty unless ``ovn``, which means that OVN isolates a VPC."""
    databases = {
        "exposedPorts": {"ports": {"ovnnb": True, "ovnsb": True}},
        "management": {"ovnCentral": {"enabled": True, **(_REPLICATED if control.ovn_replicated else {})}},
    }
    installed = (
        Operator(chart=OVN_CHART, name="ovn-central", namespace=NAMESPACE, values=databases, awaited=False),
        Operator(
            chart=VPC_CHART,
            name=WRITER,
            namespace=NAMESPACE,
            values={"host": {"vpcOVNController": {"enabled": True}}},
            # DPF already installs these CRDs.
            depends_on=("dpf-operator",),
            awaited=False,
        ),
    )
    return installed if ovn else ()


def northbound(central: Address) -> str:
    """Return the endpoint of the northbound database, which contains the VPCs."""
    return f"tcp:{central}:{NORTHBOUND}"


def southbound(central: Address) -> str:
    """Return the endpoint of the southbound database, which contains the DPUs and their tunnel addresses."""
    return f"tcp:{central}:{SOUTHBOUND}"


def isolation_class(name: str, central: Address | None) -> Manifest:
    """Return the IsolationClass of all VPCs on OVN.

    Without the southbound endpoint, the controller never removes the entry of a DPU that was deleted or has another
    tunnel address: tunnels of other DPUs still end there (DPF:internal/vpc/ovn/controllers/topology_cleaner.go).

    The IsolationClass is deleted before its controller, because only the controller removes the finalizer
    (NVIDIA/doca-platform:internal/vpc/ovn/controllers/isolationclass_controller.go).
    """
    databases = {"ovn-nb-endpoint": northbound(central), "ovn-sb-endpoint": southbound(central)} if central else {}
    spec = {"provisioner": "ovn.vpc.dpu.nvidia.com", "parameters": {**databases, "ovn-nb-reconnect-time": "5"}}
    isolation = manifest("vpc.dpu.nvidia.com/v1alpha1", "IsolationClass", name, spec=spec)
    return replace(isolation, after=(("HelmRelease", WRITER),))


def values(service: str, central: Address | None, pull_secrets: tuple[str, ...]) -> Json:
    """Return the chart values of ``service`` on DPUs."""
    pulled = given(imagePullSecrets=[{"name": name} for name in pull_secrets])
    if service == CONTROLLER:
        return {"dpu": {"ovnController": {"enabled": True, **pulled}}}
    endpoint = given(ovnSbEndpoint=central and southbound(central))
    requests = {"vtep": _TUNNELS_INDEX, "gateway": _GATEWAY_INDEX}
    node = {
        "enabled": True,
        **given(initContainers=given(vpcOVNDpuProvisioner=given(env=endpoint))),
        "ipRequests": [
            {"name": name, "poolName": POOL, "allocateIPWithIndex": index} for name, index in requests.items()
        ],
        **pulled,
    }
    return {"dpu": {"vpcOVNNode": node}}


def router(network: Network) -> Address:
    """Return the first address of the OVN network of DPUs, which belongs to the router."""
    return network[1]
