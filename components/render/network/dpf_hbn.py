"""A VPC by EVPN on each host's DPU: one VRF, one VNI and one route target, in host-based networking (HBN).

Each VPC has a DPUDeployment of its own, so that a change of one VPC is no change of another, and a host that moves to
another VPC gets a freshly flashed DPU.

Who is reached is enforced here: an address is reached by the route that a host announces to its DPU, and the DPU takes
no routes but those to the VPC's own addresses, its public ones only with ``ingress: public``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.network import dpu_services
from components.render.network.dpu_services import Range
from components.render.network.dpus import NAMESPACE, DpuPlatform, named
from components.render.network.nvue import HOST_INTERFACE, Vrf
from components.render.network.vpc import Vpc, announced, imported, reach, verdicts
from components.render.objects import given, manifest
from components.specs.base import Network
from components.specs.network.dpus import DpuClusterSpec, DpuControlSpec
from components.specs.network.vpc_allocation import VpcAllocation

POINT_TO_POINT = 30
"""Prefix length of the link between DPU and host: the DPU's address, the host's, and the two ends."""
GATEWAY_INDEX, HOST_INDEX = 1, 2
"""Place of the DPU's address in the link, which is its host's gateway, and of the host's own."""


def render(vpc: Vpc, platform: DpuPlatform) -> tuple[Manifest, ...]:
    """Return the objects of ``vpc``, in the order they are applied: the same in each DPU cluster with hosts of it."""
    here = clusters_with(vpc.numbers, platform.control, platform.clusters)
    return tuple(item for at in here for item in _in_cluster(vpc, platform, at))


def clusters_with(
    numbers: VpcAllocation, control: DpuControlSpec, clusters: tuple[DpuClusterSpec, ...]
) -> tuple[DpuClusterSpec, ...]:
    """Return those of ``clusters`` that have hosts of the VPC with ``numbers``: all of a region that lists none."""
    return tuple(at for at in clusters if not control.clusters or at.name in numbers.linked)


def _in_cluster(vpc: Vpc, platform: DpuPlatform, at: DpuClusterSpec) -> tuple[Manifest, ...]:
    name = named(vpc.spec.name, at)
    return (
        dpu_services.addresses(
            platform,
            at,
            _host_pool(name),
            _around(vpc.numbers.of_kind("hosts")),
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
    """Return how DPUs take links, in the words of DPF: of those that the lock file gives each takes its own."""
    given_links = {dpu: str(link) for dpu, link in vpc.host_links.get(at.name, {}).items()}
    return {"prefixSize": POINT_TO_POINT, "gatewayIndex": GATEWAY_INDEX, **given(allocations=given_links)}


def _around(prefixes: Sequence[Network]) -> Network:
    """Return the smallest network that has ``prefixes`` in it.

    HBN asks for one pool by name, and DPF lets its network become wider, never smaller
    (DPF:internal/dpuservicechain/webhooks/dpuserviceipam_webhook.go). What is not the VPC's in it is excluded: no DPU
    gets a link that lies wholly there, and the others keep theirs (NVIPAM:pkg/ipam-controller/controllers/cidrpool).
    """
    found = prefixes[0]
    while not all(prefix.subnet_of(found) for prefix in prefixes):
        found = found.supernet()
    return found


def _links(numbers: VpcAllocation, at: DpuClusterSpec) -> Iterator[Range]:
    """Yield the addresses of links that DPUs of ``at`` have to hosts: all where the region lists no DPU clusters."""
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
        announced=announced(vpc),
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
