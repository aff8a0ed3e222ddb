"""Services on DPUs: what all share, and the parts that VPCs are made of.

A DPUDeployment is one service on the DPUs of one VPC; DPUs of free hosts have one that connects the host to nothing.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from components.render import labels as keys
from components.render import nvue
from components.render.dpus import NAMESPACE, DpuPlatform
from components.render.manifest import Json, Manifest
from components.render.objects import given, manifest
from components.specs.catalog import Chart

HBN = "hbn"
OVN = "ovn"
OVN_UPLINK = "ovn-uplink"
UNASSIGNED = "unassigned"
"""DPUDeployment of the DPUs whose hosts no VPC owns."""
SERVICES = "svc.dpu.nvidia.com/v1alpha1"
_PORTS = ("p0", "p1")
_DEPLOYMENT_LABEL = "svc.dpu.nvidia.com/owned-by-dpudeployment"
_HBN_BRIDGE = "mybrhbn"
"""Network of DPF that connects a service with the chain's bridge."""


def render_services(platform: DpuPlatform, *, ovn: bool) -> tuple[Manifest, ...]:
    """Return what DPUs of all VPCs share, and what runs on those of none; ``ovn`` when a VPC is isolated by OVN."""
    return (
        *(uplink(port, {"interfaceType": "physical", "physical": {"interfaceName": port}}) for port in _PORTS),
        addresses(nvue.LOOPBACK_POOL, {"network": str(platform.networks.dpu_loopbacks), "prefixSize": 32}),
        _service_template(HBN, platform.hbn_chart),
        hbn_configuration(platform, UNASSIGNED, None),
        deployment(
            platform,
            UNASSIGNED,
            service=HBN,
            hosts={"matchExpressions": [{"key": keys.TENANT_NETWORK, "operator": "DoesNotExist"}]},
            switches=hbn_uplinks(),
        ),
        *(_ovn(platform) if ovn else ()),
    )


def deployment_selector(deployment: str) -> Json:
    """Return what selects the nodes of the DPU cluster that belong to ``deployment``; DPF sets the label itself."""
    return {"matchLabels": {_DEPLOYMENT_LABEL: f"{NAMESPACE}_{deployment}"}}


def deployment_nodes(deployment: str) -> Json:
    """Return the same as ``deployment_selector`` in the other form of DPF's API, a node selector of terms."""
    [(key, value)] = deployment_selector(deployment)["matchLabels"].items()
    return {"nodeSelectorTerms": [{"matchExpressions": [{"key": key, "operator": "In", "values": [value]}]}]}


def deployment(
    platform: DpuPlatform, name: str, *, service: str, hosts: Json, switches: Sequence[Sequence[Json]]
) -> Manifest:
    """Return the DPUDeployment ``name`` (at most 20 characters): one service on the DPUs that ``hosts`` selects.

    A DPU is flashed only when somebody outside removes the hold: never while its host may have work.
    """
    return manifest(
        SERVICES,
        "DPUDeployment",
        name,
        namespace=NAMESPACE,
        spec={
            "dpus": {
                "bfb": platform.image.version,
                "flavor": platform.flavor_name,
                "secureBoot": True,
                "nodeEffect": {"hold": True},
                "dpuSetStrategy": {"type": "OnDelete"},
                "dpuSets": [{"nameSuffix": "hosts", "dpuNodeSelector": hosts}],
            },
            "services": {service: {"serviceTemplate": service, "serviceConfiguration": f"{name}-{service}"}},
            "serviceChains": {
                "switches": [{"serviceMTU": platform.control.mtu_bytes, "ports": list(ports)} for ports in switches],
                "upgradePolicy": {"applyNodeEffect": True},
            },
        },
    )


def hbn_uplinks() -> tuple[tuple[Json, Json], ...]:
    """Return the switches that connect both ports of the DPU with HBN."""
    return tuple(
        (interface_port(port), service_port(HBN, name)) for port, name in zip(_PORTS, nvue.UPLINKS, strict=True)
    )


def interface_port(name: str) -> Json:
    """Return the port of a service chain that is the interface ``name``."""
    return {"serviceInterface": {"matchLabels": {keys.INTERFACE: name}}}


def service_port(service: str, interface: str) -> Json:
    """Return the port of a service chain that is ``interface`` of ``service``."""
    return {"service": {"name": service, "interface": interface}}


def hbn_configuration(platform: DpuPlatform, name: str, vrf: nvue.Vrf | None) -> Manifest:
    """Return the configuration of HBN for the DPUDeployment ``name``."""
    requests = [_address_request("ip_lo", nvue.LOOPBACK_POOL)]
    if vrf is not None:
        # The DPU is the host's gateway, so it takes the gateway's address of its own prefix.
        requests.append(_address_request("ip_host", vrf.host_pool, allocateDefaultGateway=True))
    interfaces = (*nvue.UPLINKS, *(() if vrf is None else (nvue.HOST_INTERFACE,)))
    return manifest(
        SERVICES,
        "DPUServiceConfiguration",
        f"{name}-{HBN}",
        namespace=NAMESPACE,
        spec={
            "deploymentServiceName": HBN,
            "serviceConfiguration": {
                "serviceDaemonSet": {"annotations": {"k8s.v1.cni.cncf.io/networks": json.dumps(requests)}},
                "helmChart": {"values": {"configuration": {"startupYAMLJ2": nvue.startup(platform.fabric, vrf)}}},
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
    """Return the interface ``name`` that every DPU has."""
    return manifest(
        SERVICES,
        "DPUServiceInterface",
        name,
        namespace=NAMESPACE,
        spec={"template": {"spec": {"template": {"metadata": {"labels": {keys.INTERFACE: name}}, "spec": dict(spec)}}}},
    )


def addresses(name: str, network: Mapping[str, Any], nodes: Json | None = None) -> Manifest:
    """Return the pool ``name`` from which each DPU takes a prefix of ``network``: every DPU, or those of ``nodes``."""
    spec = {"ipv4Network": dict(network), **given(nodeSelector=nodes)}
    return manifest(SERVICES, "DPUServiceIPAM", name, namespace=NAMESPACE, spec=spec)


def _service_template(service: str, chart: Chart) -> Manifest:
    registry, _, name = chart.url.rpartition("/")
    return manifest(
        SERVICES,
        "DPUServiceTemplate",
        service,
        namespace=NAMESPACE,
        spec={
            "deploymentServiceName": service,
            "helmChart": {"source": {"repoURL": registry, "chart": name, "version": chart.version}},
        },
    )


def _ovn(platform: DpuPlatform) -> tuple[Manifest, ...]:
    central = given(**{"ovn-nb-endpoint": platform.control.ovn_central and f"tcp:{platform.control.ovn_central}:30641"})
    return (
        _service_template(OVN, platform.ovn_chart),
        uplink(OVN_UPLINK, {"interfaceType": "patch", "patch": {"peerBridge": "br-ovn-ext"}}),
        manifest(
            "vpc.dpu.nvidia.com/v1alpha1",
            "IsolationClass",
            OVN,
            spec={"provisioner": "ovn.vpc.dpu.nvidia.com", "parameters": {**central, "ovn-nb-reconnect-time": "5"}},
        ),
    )
