"""VPC backend with EVPN on each host's DPU: one VRF, one VNI and one route target, in host-based networking (HBN).

Each VPC has a separate DPUDeployment. A change of one VPC therefore does not affect other VPCs, and the DPU of a host
is flashed again when the host moves to another VPC.

This backend enforces reachability: an address is reachable through the route that a host announces to its DPU. The DPU
accepts only routes to addresses of the VPC. Public addresses are included only with ``ingress: public``.
"""

from collections.abc import Iterator, Sequence

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.network import dpu_services
from components.render.network.dpu_services import Range
from components.render.network.dpus import NAMESPACE, DpuPlatform, named
from components.render.network.nvue import HOST_INTERFACE, tracks_connections
from components.render.network.nvue_host import Vrf
from components.render.network.vpc import Vpc, announced, imported, most_routes, reach, verdicts
from components.render.objects import given, manifest
from components.specs.base import Network
from components.specs.network.dpus import DpuClusterSpec, DpuControlSpec
from components.specs.network.vpc_allocation import VpcAllocation

POINT_TO_POINT = 30
"""Prefix length of the link between DPU and host: two addresses, network address and broadcast address."""
GATEWAY_INDEX, HOST_INDEX = 1, 2
"""Indexes of addresses in the link: the DPU, which is the host's gateway, and the host."""


def render(vpc: Vpc, platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return the objects of ``vpc``, in apply order. Each DPU cluster with hosts of the VPC has the same objects."""
    clusters = clusters_with(vpc.numbers, platform.control, platform.clusters)
    return tuple(item for at in clusters for item in _in_cluster(vpc, platform, at))


def clusters_with(
    numbers: VpcAllocation, control: DpuControlSpec, clusters: tuple[DpuClusterSpec, ...]
) -> tuple[DpuClusterSpec, ...]:
    """Return the DPU clusters with hosts of the VPC of ``numbers``; all ``clusters`` if the region lists none."""
    return tuple(at for at in clusters if not control.clusters or at.name in numbers.linked)


def _in_cluster(vpc: Vpc, platform: DpuPlatform, at: DpuClusterSpec) -> tuple[Manifest, ...]:
    name = named(vpc.spec.name, at)
    return (
        dpu_services.addresses(
            platform,
            at,
            _host_pool(name),
            _enclosing(vpc.numbers.of_kind("hosts")),
            sorted(_links(vpc.numbers, at)),
            _pool(vpc, at),
            dpu_services.deployment_nodes(name),
        ),
        _host_port(platform, at, name),
        dpu_services.hbn_configuration(platform, at, name, _vrf(vpc, platform, name)),
        dpu_services.deployment(
            platform,
            at,
            name,
            services=(dpu_services.HBN,),
            hosts={"matchLabels": {keys.TENANT_NETWORK: vpc.spec.name}},
            switches=(
                *dpu_services.hbn_uplinks(platform),
                dpu_services.switch(
                    platform.control.mtu_bytes,
                    dpu_services.interface_port(_host_port_name(name)),
                    dpu_services.service_port(dpu_services.HBN, HOST_INTERFACE),
                ),
            ),
        ),
    )


def _pool(vpc: Vpc, at: DpuClusterSpec) -> Json:
    """Return DPF's settings for the allocation of links to DPUs, including static allocations of the lock file."""
    given_links = {dpu: str(link) for dpu, link in vpc.host_links.get(at.name, {}).items()}
    return {"prefixSize": POINT_TO_POINT, "gatewayIndex": GATEWAY_INDEX, **given(allocations=given_links)}


def _enclosing(prefixes: Sequence[Network]) -> Network:
    """Return the smallest network that contains ``prefixes``.

    HBN requests one pool by name. DPF allows the network of a pool to grow, never to shrink
    (DPF:internal/dpuservicechain/webhooks/dpuserviceipam_webhook.go). Addresses outside the VPC are excluded: no DPU
    gets a link entirely inside an excluded range, and other DPUs keep their links
    (NVIPAM:pkg/ipam-controller/controllers/cidrpool).
    """
    network = prefixes[0]
    while not all(prefix.subnet_of(network) for prefix in prefixes):
        network = network.supernet()
    return network


def _links(numbers: VpcAllocation, at: DpuClusterSpec) -> Iterator[Range]:
    """Yield the address ranges of the host links of ``at``; of all links if the region lists no DPU clusters."""
    for prefix, links in numbers.host_links.items():
        first, each = prefix.network_address, 1 << (prefix.max_prefixlen - POINT_TO_POINT)
        if not numbers.linked:
            yield dpu_services.whole(prefix)
        for part in links.get(at.name, ()):
            yield first + each * part.first, first + each * (part.last + 1) - 1


def _vrf(vpc: Vpc, platform: DpuPlatform, deployment: str) -> Vrf:
    numbers = vpc.numbers
    return Vrf(
        name=vpc.spec.name,
        vni=numbers.vni,
        asn=numbers.asn,
        target=numbers.route_target,
        host_pool=_host_pool(deployment),
        verdicts=verdicts(reach(vpc, platform.networks)),
        filters_received=vpc.group is not None,
        tracks=tracks_connections(platform.fabric.release),
        announced=announced(vpc),
        most_routes=most_routes(vpc),
        imported=imported(vpc, platform.networks),
    )


def _host_pool(deployment: str) -> str:
    return f"{deployment}-hosts"


def _host_port_name(deployment: str) -> str:
    return f"{deployment}-host"


def _host_port(platform: DpuPlatform, at: DpuClusterSpec, deployment: str) -> Manifest:
    name = _host_port_name(deployment)
    port = {"interfaceType": "pf", "pf": {"pfID": 0}}
    return manifest(
        dpu_services.SERVICES,
        "DPUServiceInterface",
        name,
        namespace=NAMESPACE,
        spec={
            **given(dpuClusterSelector=dpu_services.clusters_of(platform, at)),
            "template": {
                "spec": {
                    "nodeSelector": dpu_services.deployment_selector(deployment),
                    "template": {"metadata": {"labels": {keys.INTERFACE: name}}, "spec": port},
                }
            },
        },
    )
