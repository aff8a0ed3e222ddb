"""Charts of the version vector that a region requires, with the data fields that require them."""

from collections.abc import Iterator

from components.lookups.add_ons import add_ons, brings_network
from components.lookups.network.dpus import uses_dpf, uses_ovn
from components.lookups.network.fabrics import cutting, handed_out
from components.lookups.pools import DataPath, PlacedCluster, clusters, has_autoscaling, tenant_file
from components.render.add_ons import flux
from components.render.backends import CONTROL_PLANES, NETWORK_BACKENDS
from components.render.control_planes import kamaji_etcd
from components.render.network import kube_ovn, ovn_services, port_functions, rails
from components.render.network.dpus import HBN_CHART
from components.render.pools import cluster_autoscaler
from components.render.region import secret_store
from components.render.region.region import OPTIONAL, kamaji_data_stores, region_operators
from components.render.storage.storage import storage_drivers
from components.render.vms.vm_offering import VM_OPERATORS
from components.specs.environment import Environment
from components.specs.reading.loader import REGION

_PLAIN = (*VM_OPERATORS, flux.OPERATOR, rails.NV_IPAM)
"""Operators in tenants' clusters that are installed without values."""
DataPlace = tuple[str, DataPath]
"""Data file, and the path of a value in it."""


def needed_charts(environment: Environment) -> dict[str, DataPlace]:
    """Return the charts that ``environment`` installs, by name, each with the first data field that requires it."""
    region = environment.region
    operators = [operator.chart for operator in region_operators(region, dpf=uses_dpf(environment))]
    needed: dict[str, DataPlace] = dict.fromkeys(operators, (REGION, ("region",)))
    needed |= {operator.chart: (REGION, ("secrets", "vault")) for operator in secret_store.operators(region.secrets)}
    needed |= {item.chart: (REGION, path) for path, optional in OPTIONAL.items() for item in optional(region)}
    needed |= {HBN_CHART: (REGION, ("dpus",))}
    needed |= _of_data_stores(environment)
    for index, entry in enumerate(region.storage):
        for driver in storage_drivers((entry,)):
            needed.setdefault(driver.chart, (REGION, ("storage", index, "driver")))
    for chart, place in _of_clusters(environment):
        needed.setdefault(chart, place)
    for tenant in environment.tenants:
        file = tenant_file(tenant)
        for index, vpc in enumerate(tenant.vpcs):
            border = NETWORK_BACKENDS[vpc.isolation]
            for chart in (*border.charts, *(ovn_services.CHARTS if border.ovn else ())):
                needed.setdefault(chart, (file, ("vpcs", index, "isolation")))
        for operator in VM_OPERATORS if tenant.vms else ():
            needed.setdefault(operator.chart, (file, ("vms",)))
    for chart in ovn_services.CHARTS if uses_ovn(environment) else ():
        needed.setdefault(chart, (REGION, ("dpus", "ovn_central")))
    return needed


def without_values(environment: Environment) -> frozenset[str]:
    """Return the operator charts that are installed without values and can therefore be replaced by manifests."""
    region = region_operators(environment.region, dpf=uses_dpf(environment), ovn=uses_ovn(environment))
    every = (*region, *_PLAIN)
    return frozenset(operator.chart for operator in every) - {operator.chart for operator in every if operator.values}


def installed_inside(environment: Environment, placed: PlacedCluster) -> Iterator[tuple[str, str]]:
    """Yield the chart and namespace of each operator and add-on that is installed inside a cluster."""
    cluster, vms = placed.cluster, placed.tenant.vms
    for entry in add_ons(environment, placed):
        yield entry.chart, entry.namespace
    if brings_network(placed):
        yield kube_ovn.CHART, kube_ovn.NAMESPACE
    if handed_out(environment, placed):
        yield port_functions.CHART, port_functions.NAMESPACE
    if cutting(environment, placed):
        yield rails.NV_IPAM.chart, rails.NV_IPAM.namespace
    drivers = storage_drivers(tuple(spec for spec in environment.region.storage if spec.name in cluster.storage))
    machines = VM_OPERATORS if vms is not None and vms.cluster == cluster.name else ()
    handed_over = (flux.OPERATOR,) if cluster.flux else ()
    for operator in (*drivers, *machines, *handed_over):
        yield operator.chart, operator.namespace


def charts_inside(environment: Environment, placed: PlacedCluster) -> tuple[str, ...]:
    """Return the distinct charts that are installed inside a cluster, without those replaced by manifests."""
    delivered = {manifest.name for manifest in environment.versions.manifests} & {manifest.chart for manifest in _PLAIN}
    charts = dict.fromkeys(chart for chart, _ in installed_inside(environment, placed))
    return tuple(chart for chart in charts if chart not in delivered)


def _of_clusters(environment: Environment) -> Iterator[tuple[str, DataPlace]]:
    for placed in clusters(environment):
        if handed_out(environment, placed):
            yield port_functions.CHART, (placed.file, placed.path)
        if cutting(environment, placed):
            yield rails.NV_IPAM.chart, (placed.file, placed.path)
        if has_autoscaling(placed):
            yield cluster_autoscaler.CHART, (placed.file, (*placed.path, "pools"))
        if placed.cluster.flux:
            yield flux.OPERATOR.chart, (placed.file, (*placed.path, "flux"))
        for entry in add_ons(environment, placed):
            yield entry.chart, (placed.file, (*placed.path, "add_ons"))


def _of_data_stores(environment: Environment) -> dict[str, DataPlace]:
    control_planes = environment.region.control_planes
    kept = kamaji_data_stores(control_planes, dpf=uses_dpf(environment))
    shared = (kamaji_etcd.CHART,) if any(not store.is_existing for store in kept) else ()
    own = CONTROL_PLANES[control_planes.backend].dedicated_charts if control_planes.dedicated else ()
    return {
        **dict.fromkeys(shared, (REGION, ("control_planes", "data_stores"))),
        **dict.fromkeys(own, (REGION, ("control_planes", "dedicated"))),
    }
