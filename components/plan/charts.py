"""Which charts of the version vector a region needs, and what in its data asks for each."""

from __future__ import annotations

from components.plan.fabrics import connected
from components.plan.pools import DataPath, clusters, tenant_file
from components.render import infiniband, kamaji_etcd, kube_ovn
from components.render.dpus import HBN_CHART, OVN_CHART
from components.render.region import region_operators
from components.render.storage import storage_drivers
from components.render.tenant_network import on_dpus
from components.render.vm_offering import vm_operators
from components.specs.environment import Environment
from components.specs.loader import REGION
from components.specs.region import ControlPlaneBackend
from components.specs.tenant_network import Isolation

DataPlace = tuple[str, DataPath]
"""File, and path of a value in it."""


def uses_dpf(environment: Environment) -> bool:
    """Tell whether the DPUs of a region isolate its VPCs; a region without VPCs is ready for one that wants it."""
    vpcs = [vpc for tenant in environment.tenants for vpc in tenant.vpcs]
    return not vpcs or any(on_dpus(vpc) for vpc in vpcs)


def needed_charts(environment: Environment) -> dict[str, DataPlace]:
    """Return the charts that ``environment`` installs, by name, each with the first value that asks for it."""
    region = environment.region
    operators = [operator.chart for operator in region_operators(region, dpf=uses_dpf(environment))]
    needed: dict[str, DataPlace] = dict.fromkeys(operators, (REGION, ("region",)))
    needed |= dict.fromkeys((HBN_CHART, OVN_CHART), (REGION, ("dpus",)))
    if region.control_planes.backend is ControlPlaneBackend.KAMAJI and region.control_planes.dedicated:
        needed[kamaji_etcd.CHART] = (REGION, ("control_planes", "dedicated"))
    for index, entry in enumerate(region.storage):
        for driver in storage_drivers((entry,)):
            needed.setdefault(driver.chart, (REGION, ("storage", index, "driver")))
    for placed in clusters(environment):
        if connected(environment, placed):
            needed.setdefault(infiniband.CHART, (placed.file, placed.path))
    for tenant in environment.tenants:
        file = tenant_file(tenant)
        for index, vpc in enumerate(tenant.vpcs):
            if vpc.isolation is Isolation.KUBE_OVN:
                needed.setdefault(kube_ovn.CHART, (file, ("vpcs", index, "isolation")))
        for operator in vm_operators(public=True) if tenant.vms else ():
            needed.setdefault(operator.chart, (file, ("vms",)))
    return needed
