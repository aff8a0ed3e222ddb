"""Deployments of the management cluster that read a cluster's kubeconfig only when their pods start."""

from components.lookups.network.dns import has_names
from components.lookups.network.fabrics import connected, infiniband
from components.lookups.pools import PlacedCluster, has_autoscaling
from components.render.network.infiniband import daemon_on
from components.render.pools.cluster_autoscaler import CHART as AUTOSCALER
from components.render.region.dns import CHART as DNS
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse


def readers_of(environment: Environment, placed: PlacedCluster) -> tuple[str, ...]:
    """Return the names of the Deployments for ``placed``; empty without any.

    The charts name a Deployment like the release (CA:charts/cluster-autoscaler/templates/_helpers.tpl,
    EDNS:charts/external-dns/templates/_helpers.tpl, ``fullname``).
    """
    functions = any(kind.port_use is PortUse.FUNCTIONS for kind in connected(environment, placed))
    fabrics = infiniband(environment, placed.vpc) if functions else ()
    charts = {AUTOSCALER: has_autoscaling(placed), DNS: has_names(environment, placed)}
    return (*(name for name, exists in charts.items() if exists), *(daemon_on(fabric.name) for fabric in fabrics))
