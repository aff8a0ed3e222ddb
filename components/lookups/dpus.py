"""What the DPUs of a region run, as networks of tenants and the foundation need it."""

from __future__ import annotations

from components.render.backends import BORDERS
from components.render.network.dpus import HBN_CHART, HBN_IMAGE, DpuPlatform
from components.render.network.ovn_services import CHARTS
from components.render.network.tenant_network import on_dpus
from components.specs.environment import Environment
from components.specs.keys import domain_of


def uses_dpf(environment: Environment) -> bool:
    """Tell whether the DPUs of a region isolate its VPCs; a region without VPCs is ready for one that wants it."""
    vpcs = [vpc for tenant in environment.tenants for vpc in tenant.vpcs]
    return not vpcs or any(on_dpus(vpc) for vpc in vpcs)


def uses_ovn(environment: Environment) -> bool:
    """Tell whether OVN isolates a VPC of a region, or may: ``ovn_central`` and a network for its addresses are given.

    What runs for OVN stays when its last VPC goes, since its controller alone takes VPCs out of the databases: it goes
    by a later edit of the region.
    """
    dpus, network = environment.region.dpus, environment.region.networks.ovn
    ready = dpus.ovn_central is not None and network is not None and uses_dpf(environment)
    return ready or any(BORDERS[vpc.isolation].ovn for tenant in environment.tenants for vpc in tenant.vpcs)


def dpu_platform(environment: Environment) -> DpuPlatform:
    """Return what is the same for every VPC: DPU control, networks, pinned intents, charts."""
    region, versions, pins = environment.region, environment.versions, environment.image_pins
    charts = versions.installed(region.image_channel)
    return DpuPlatform(
        control=region.dpus,
        networks=region.networks,
        intents={domain_of(key): pins.dpu_intents[name] for key, name in pins.dpus.items()},
        hbn_chart=charts[HBN_CHART],
        hbn_image=next((tool for tool in versions.tools if tool.name == HBN_IMAGE), None),
        ovn_charts={name: charts[name] for name in CHARTS if name in charts},
    )
