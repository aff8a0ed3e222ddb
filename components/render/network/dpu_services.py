"""Services on DPUs: shared objects, and building blocks of VPCs.

A DPUDeployment defines the services on the DPUs of one VPC. DPUs of unassigned hosts have a DPUDeployment without a
connection to the host. If a region lists DPU clusters, each cluster has separate DPUDeployments and address pools,
because it allocates addresses independently and HBN requests a pool by name.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from components.render import labels as keys
from components.render.manifest import Json, Manifest
from components.render.network import nvue, ovn_services
from components.render.network.dpu_templates import templates
from components.render.network.dpus import NAMESPACE, DpuPlatform, named
from components.render.network.nvue_host import Vrf
from components.render.objects import given, manifest
from components.specs.base import Address, Network
from components.specs.network.dpus import DpuClusterSpec
from components.specs.region.versions import Chart

HBN = "hbn"
OVN = "ovn"
"""Name of the IsolationClass of OVN."""
OVN_UPLINK = "ovn-uplink"
UNASSIGNED = "unassigned"
"""DPUDeployment of the DPUs of hosts without a VPC."""
SERVICES = "svc.dpu.nvidia.com/v1alpha1"
_PORTS = ("p0", "p1")
_DEPLOYMENT_LABEL = "svc.dpu.nvidia.com/owned-by-dpudeployment"
_HBN_MEMORY = "6Gi"
"""Memory request of HBN upstream (DPF:docs/public/user-guides/zero-trust/use-cases/hbn)."""
_REVISIONS = 1000
"""Maximum number of revisions of services and chains that DPF keeps during an update of DPUs."""
_HBN_BRIDGE = "mybrhbn"
"""DPF's network that connects a service to the bridge of the service chain."""
Range = tuple[Address, Address]
"""First and last address of a range, both included."""


def render_services(platform: DpuPlatform, *, ovn: bool) -> tuple[Manifest, ...]:
    """Return the objects shared by all VPCs, and the objects of DPUs without a VPC. ``ovn``: OVN isolates a VPC."""
    return (
        *(uplink(port, {"interfaceType": "physical", "physical": {"interfaceName": port}}) for port in _PORTS),
        *(_loopbacks(platform, at) for at in platform.clusters),
        _service_template(HBN, platform.hbn_chart, _hbn_values(platform)),
        *(item for at in platform.clusters for item in _unassigned(platform, at)),
        *(_ovn(platform) if ovn else ()),
    )


def _loopbacks(platform: DpuPlatform, at: DpuClusterSpec) -> Manifest:
    pool = {"prefixSize": 32}
    return addresses(
        platform, at, named(nvue.LOOPBACK_POOL, at), platform.networks.dpu_loopbacks, [whole(at.loopbacks)], pool
    )


def _unassigned(platform: DpuPlatform, at: DpuClusterSpec) -> tuple[Manifest, Manifest]:
    name, free = named(UNASSIGNED, at), {"key": keys.TENANT_NETWORK, "operator": "DoesNotExist"}
    return (
        hbn_configuration(platform, at, name, None),
        deployment(
            platform, at, name, services=(HBN,), hosts={"matchExpressions": [free]}, switches=hbn_uplinks(platform)
        ),
    )


def deployment_selector(deployment: str) -> Json:
    """Return the label selector for nodes of ``deployment`` in the DPU cluster. DPF sets the label."""
    return {"matchLabels": {_DEPLOYMENT_LABEL: f"{NAMESPACE}_{deployment}"}}


def deployment_nodes(deployment: str) -> Json:
    """Return `deployment_selector` as a node selector with terms, which other fields of DPF's API require."""
    [(key, value)] = deployment_selector(deployment)["matchLabels"].items()
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}


def deployment(
    platform: DpuPlatform,
    at: DpuClusterSpec,
    name: str,
    *,
    services: Sequence[str],
    hosts: Json,
    switches: Sequence[Json],
) -> Manifest:
    """Return the DPUDeployment ``name`` (at most 20 characters): ``services`` on the DPUs of ``at`` in ``hosts``.

    A DPU is flashed only after the release of its maintenance hold, never while its host may run workload.

    A change of services holds all DPUs of the deployment until their hosts are drained, which can take weeks. By
    default, ``maxUnavailableDPUNodes`` held DPUs block all others of the region, and the tenth change deletes the
    services of DPUs that are still held for the first one (DPF:internal/provisioning/controllers/dpunodemaintenance,
    DPF:internal/dpuservice/controllers/dpudeployment_controller_dpuservice.go).
    """
    cluster, flashed = platform.selector(at), templates(platform.intents[name])
    nodes = {**hosts, **given(matchLabels={**hosts.get("matchLabels", {}), **cluster})}
    return manifest(
        SERVICES,
        "DPUDeployment",
        name,
        namespace=NAMESPACE,
        spec={
            "dpus": {
                "bfb": flashed.bfb_name,
                "flavor": flashed.flavor_name,
                "secureBoot": flashed.secure_boot,
                "nodeEffect": {"hold": True, "force": True},
                "dpuSetStrategy": {"type": "OnDelete"},
                "dpuSets": [
                    {"nameSuffix": "hosts", "dpuNodeSelector": nodes, **given(dpuClusterSelector=cluster)},
                ],
            },
            "services": {
                service: {"serviceTemplate": service, "serviceConfiguration": f"{name}-{service}"}
                for service in services
            },
            "serviceChains": {
                "switches": list(switches),
                "upgradePolicy": {"applyNodeEffect": True},
            },
            "revisionHistoryLimit": _REVISIONS,
        },
    )


def hbn_uplinks(platform: DpuPlatform) -> tuple[Json, ...]:
    """Return the switches that connect both ports of the DPU to HBN."""
    return tuple(
        switch(platform.control.uplink_mtu_bytes, interface_port(port), service_port(HBN, name))
        for port, name in zip(_PORTS, nvue.UPLINKS, strict=True)
    )


def switch(mtu_bytes: int, *ports: Json) -> Json:
    """Return the switch of a service chain between ``ports``, with an MTU of ``mtu_bytes``."""
    return {"serviceMTU": mtu_bytes, "ports": list(ports)}


def interface_port(name: str) -> Json:
    """Return the service chain port of the interface ``name``."""
    return {"serviceInterface": {"matchLabels": {keys.INTERFACE: name}}}


def service_port(service: str, interface: str) -> Json:
    """Return the service chain port of ``interface`` of ``service``."""
    return {"service": {"name": service, "interface": interface}}


def hbn_configuration(platform: DpuPlatform, at: DpuClusterSpec, name: str, vrf: Vrf | None) -> Manifest:
    """Return the configuration of HBN for the DPUDeployment ``name`` in ``at``."""
    requests = [_address_request("ip_lo", named(nvue.LOOPBACK_POOL, at))]
    if vrf is not None:
        # The DPU is the host's gateway and uses the gateway address of its prefix.
        requests.append(_address_request("ip_host", vrf.host_pool, allocateDefaultGateway=True))
    interfaces = (*nvue.UPLINKS, *(() if vrf is None else (nvue.HOST_INTERFACE,)))
    values = {
        # Each port of HBN is a scalable function of the DPU.
        "resources": {"memory": _HBN_MEMORY, "nvidia.com/bf_sf": len(interfaces)},
        "configuration": {"startupYAMLJ2": nvue.startup(platform.fabric, vrf)},
    }
    return manifest(
        SERVICES,
        "DPUServiceConfiguration",
        f"{name}-{HBN}",
        namespace=NAMESPACE,
        spec={
            "deploymentServiceName": HBN,
            "serviceConfiguration": {
                "serviceDaemonSet": {"annotations": {"k8s.v1.cni.cncf.io/networks": json.dumps(requests)}},
                "helmChart": {"values": values},
            },
            "interfaces": [{"name": interface, "network": _HBN_BRIDGE} for interface in interfaces],
            "upgradePolicy": {"applyNodeEffect": True},
        },
    )


def _address_request(interface: str, pool: str, **arguments: bool) -> dict[str, Any]:
    return {
        "name": "iprequest",
        "interface": interface,
        "cni-args": {"poolNames": [pool], "poolType": "cidrpool", **arguments},
    }


def uplink(name: str, spec: Mapping[str, Any]) -> Manifest:
    """Return the DPUServiceInterface ``name`` for all DPUs."""
    return manifest(
        SERVICES,
        "DPUServiceInterface",
        name,
        namespace=NAMESPACE,
        spec={"template": {"spec": {"template": {"metadata": {"labels": {keys.INTERFACE: name}}, "spec": dict(spec)}}}},
    )


def addresses(
    platform: DpuPlatform,
    at: DpuClusterSpec,
    name: str,
    network: Network,
    own: Sequence[Range],
    pool: Json,
    nodes: Json | None = None,
) -> Manifest:
    """Return the pool ``name`` with prefixes of ``network`` for DPUs of ``at``, limited to the ranges ``own``.

    Args:
        platform: DPU platform of the region.
        at: DPU cluster that allocates the prefixes.
        name: name of the pool.
        network: network of the pool. DPF does not allow the network to shrink.
        own: ranges of ``network`` for ``at``, in ascending order.
        pool: DPF's settings for the allocation of prefixes.
        nodes: node selector of the DPUs; None for all DPUs of the cluster.
    """
    others = [{"startIP": str(first), "endIP": str(last)} for first, last in _gaps(network, own)]
    spec = {
        "ipv4Network": {"network": str(network), **pool, **given(excludeRanges=others)},
        **given(nodeSelector=nodes, dpuClusterSelector=clusters_of(platform, at)),
    }
    return manifest(SERVICES, "DPUServiceIPAM", name, namespace=NAMESPACE, spec=spec)


def clusters_of(platform: DpuPlatform, at: DpuClusterSpec) -> Json | None:
    """Return the selector of ``at`` for objects that DPF copies to DPU clusters; None with a single DPU cluster."""
    selector = platform.selector(at)
    return {"matchLabels": selector} if selector else None


def whole(network: Network) -> Range:
    """Return the range of all addresses of ``network``."""
    return network.network_address, network.broadcast_address


def _gaps(network: Network, own: Sequence[Range]) -> Iterator[Range]:
    """Yield the ranges of ``network`` that are not in ``own``."""
    free, end = whole(network)
    for first, last in own:
        if free < first:
            yield free, first - 1
        free = last + 1
    if free <= end:
        yield free, end


def _hbn_values(platform: DpuPlatform) -> Json:
    """Return the HBN values common to all DPUDeployments. The service configuration contains all other values."""
    image = platform.hbn_image
    return given(
        image=given(repository=image and image.image, tag=image and image.tag),
        imagePullSecrets=[{"name": name} for name in platform.control.pull_secrets],
    )


def _service_template(service: str, chart: Chart, values: Json) -> Manifest:
    registry, _, name = chart.url.rpartition("/")
    return manifest(
        SERVICES,
        "DPUServiceTemplate",
        service,
        namespace=NAMESPACE,
        spec={
            "deploymentServiceName": service,
            "helmChart": {
                "source": {"repoURL": registry, "chart": name, "version": chart.version},
                **given(values=dict(values)),
            },
        },
    )


def _ovn(platform: DpuPlatform) -> tuple[Manifest, ...]:
    central, network = platform.control.ovn_central, platform.networks.ovn
    return (
        *(
            _service_template(service, platform.ovn_charts[chart], {})
            for service, chart in ovn_services.SERVICES.items()
            if chart in platform.ovn_charts
        ),
        *(() if network is None else (_ovn_addresses(network),)),
        uplink(OVN_UPLINK, {"interfaceType": "patch", "patch": {"peerBridge": "br-ovn-ext"}}),
        ovn_services.isolation_class(OVN, central),
    )


def _ovn_addresses(network: Network) -> Manifest:
    """Return the pool with a block for each DPU, for its tunnel endpoint and external gateway."""
    subnet = {
        "subnet": str(network),
        "gateway": str(ovn_services.router(network)),
        "perNodeIPCount": ovn_services.BLOCK,
    }
    return manifest(SERVICES, "DPUServiceIPAM", ovn_services.POOL, namespace=NAMESPACE, spec={"ipv4Subnet": subnet})
