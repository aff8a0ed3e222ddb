"""DPU services of a region, as inputs of tenant networks and of the foundation."""

from components.render.backends import NETWORK_BACKENDS
from components.render.network.dpus import HBN_CHART, HBN_IMAGE, DpuPlatform, hbn_release
from components.render.network.nvue import tracks_connections
from components.render.network.ovn_services import CHARTS
from components.render.network.tenant_network import on_dpus
from components.specs.environment import Environment
from components.specs.keys import domain_of
from components.specs.region.versions import Chart, Tool


def uses_dpf(environment: Environment) -> bool:
    """Return whether DPUs isolate the VPCs of a region; True also for a region without VPCs."""
    vpcs = [vpc for tenant in environment.tenants for vpc in tenant.vpcs]
    return not vpcs or any(on_dpus(vpc) for vpc in vpcs)


def uses_ovn(environment: Environment) -> bool:
    """Return whether OVN isolates a VPC of a region, or is configured to: ``ovn_central`` and its network are set.

    OVN services outlive the last VPC, because only their controller removes VPCs from the databases. Unset
    ``ovn_central`` later to remove the services.
    """
    dpus, network = environment.region.dpus, environment.region.networks.ovn
    ready = dpus.ovn_central is not None and network is not None and uses_dpf(environment)
    return ready or any(NETWORK_BACKENDS[vpc.isolation].ovn for tenant in environment.tenants for vpc in tenant.vpcs)


def filters_track_connections(environment: Environment) -> bool:
    """Return whether DPUs permit replies only for connections that a security group permits."""
    return tracks_connections(hbn_release(*_hbn(environment)))


def _hbn(environment: Environment) -> tuple[Chart, Tool | None]:
    versions = environment.versions
    image = next((tool for tool in versions.tools if tool.name == HBN_IMAGE), None)
    return versions.installed(environment.region.image_channel)[HBN_CHART], image


def dpu_platform(environment: Environment) -> DpuPlatform:
    """Return the input shared by all VPCs: DPU control, networks, pinned intents and charts."""
    region, versions, pins = environment.region, environment.versions, environment.image_pins
    charts, (chart, image) = versions.installed(region.image_channel), _hbn(environment)
    return DpuPlatform(
        control=region.dpus,
        networks=region.networks,
        intents={domain_of(key): pins.dpu_intents[name] for key, name in pins.dpus.items()},
        hbn_chart=chart,
        hbn_image=image,
        ovn_charts={name: charts[name] for name in CHARTS if name in charts},
    )
