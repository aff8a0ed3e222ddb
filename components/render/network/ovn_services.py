"""OVN for VPCs on DPUs: four services of two charts, as upstream deploys them (tech preview there).

Two run once a region, in the management cluster: OVN's databases, and what writes VPCs into them. Two run on the DPUs
of each VPC: OVN's controller, and what connects the DPU to OVN. Every part of both charts is off unless its value turns
it on (DPF:docs/public/user-guides/zero-trust/use-cases/vpc).
"""

from __future__ import annotations

from dataclasses import replace

from components.render.manifest import Json, Manifest
from components.render.network.dpus import NAMESPACE
from components.render.objects import given, manifest
from components.render.region.operators import Operator
from components.specs.base import Address, Network

OVN_CHART = "ovn-chart"
VPC_CHART = "dpf-vpc-ovn"
CHARTS = (OVN_CHART, VPC_CHART)
WRITER = "vpc-ovn-controller"
"""Release of what writes VPCs into the databases, and takes them out."""
CONTROLLER, NODE = "ovn-controller", "vpc-ovn-node"
SERVICES = {CONTROLLER: OVN_CHART, NODE: VPC_CHART}
"""Charts of the services on DPUs, by service."""
DATABASE_PORTS = (6641, 6642)
"""Ports of the pod with both databases, northbound and southbound, which are in plain TCP."""
POOL = "ovn-addresses"
"""Pool that each DPU takes its addresses from."""
BLOCK = 4
"""Addresses that each DPU takes of the pool, as many as upstream gives."""
_NORTHBOUND, _SOUTHBOUND = 30641, 30642
"""Node ports of both databases, by the chart's default."""
_TUNNELS_INDEX, _GATEWAY_INDEX = 1, 2
"""Places in a DPU's block: the first has the router's address in the block of the first DPU, and none may be that."""


def operators(*, ovn: bool) -> tuple[Operator, ...]:
    """Return what runs in the management cluster; nothing unless a VPC is isolated by ``ovn``."""
    databases = {
        "exposedPorts": {"ports": {"ovnnb": True, "ovnsb": True}},
        "management": {"ovnCentral": {"enabled": True}},
    }
    found = (
        Operator(chart=OVN_CHART, name="ovn-central", namespace=NAMESPACE, values=databases, awaited=False),
        Operator(
            chart=VPC_CHART,
            name=WRITER,
            namespace=NAMESPACE,
            values={"host": {"vpcOVNController": {"enabled": True}}},
            # DPF brings the kinds that it watches.
            depends_on=("dpf-operator",),
            awaited=False,
        ),
    )
    return found if ovn else ()


def northbound(central: Address) -> str:
    """Return the endpoint of the database that VPCs are written into."""
    return f"tcp:{central}:{_NORTHBOUND}"


def isolation_class(name: str, central: Address | None) -> Manifest:
    """Return the class of all VPCs on OVN, which goes before the controller that alone takes its finalizer off.

    NVIDIA/doca-platform:internal/vpc/ovn/controllers/isolationclass_controller.go
    """
    database = given(**{"ovn-nb-endpoint": central and northbound(central)})
    spec = {"provisioner": "ovn.vpc.dpu.nvidia.com", "parameters": {**database, "ovn-nb-reconnect-time": "5"}}
    found = manifest("vpc.dpu.nvidia.com/v1alpha1", "IsolationClass", name, spec=spec)
    return replace(found, after=(("HelmRelease", WRITER),))


def values(service: str, central: Address | None, pull_secrets: tuple[str, ...]) -> Json:
    """Return what ``service`` on DPUs is given."""
    pulled = given(imagePullSecrets=[{"name": name} for name in pull_secrets])
    if service == CONTROLLER:
        return {"dpu": {"ovnController": {"enabled": True, **pulled}}}
    endpoint = given(ovnSbEndpoint=central and f"tcp:{central}:{_SOUTHBOUND}")
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
    """Return the address of the router of the network that DPUs have addresses of OVN in: its first."""
    return network[1]
