"""Inputs of network isolation in the management cluster, including access to external services of tenants."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from components.lookups.network.dns import has_names
from components.lookups.network.dpus import uses_dpf
from components.lookups.network.fabrics import connected, infiniband
from components.lookups.pools import PlacedCluster, clusters, has_autoscaling
from components.render.control_planes.kamaji_etcd import endpoints
from components.render.namespaces import FREE_HOSTS, tenant_namespace
from components.render.region.isolation import ControlPlanePlace, IsolationInput
from components.render.region.operators import NAMESPACE as OPERATORS
from components.render.region.region import operator_places
from components.specs.base import DEDICATED
from components.specs.control_planes.hosted_control_plane import ClusterSpec, Events
from components.specs.environment import Environment
from components.specs.region.region import ControlPlanesSpec, RegionSpec

_HTTPS = 443


def of_region(environment: Environment, region: RegionSpec) -> Iterator[IsolationInput]:
    """Yield the single input of network isolation."""
    tenants = (tenant_namespace(tenant.tenant) for tenant in environment.tenants)
    yield IsolationInput(
        name=environment.name,
        home=OPERATORS,
        operators=operator_places(region, dpf=uses_dpf(environment)),
        control_planes=tuple(_control_planes(environment)),
        empty=(OPERATORS, FREE_HOSTS, *tenants),
        networks=region.networks,
        stores=tuple(
            endpoint
            for store in region.control_planes.data_stores
            for endpoint in store.endpoints or endpoints(store.name, store.members)
        ),
        hosts=len(environment.hosts),
    )


def _control_planes(environment: Environment) -> Iterator[ControlPlanePlace]:
    """Yield the control plane of each cluster, with the current data store instead of the declared one."""
    control_planes, dns = environment.region.control_planes, environment.region.dns
    for placed in clusters(environment):
        cluster = placed.cluster
        own = environment.image_pins.control_planes[cluster.name].data_store == DEDICATED
        yield ControlPlanePlace(
            cluster=cluster.name,
            address=environment.allocations.clusters[cluster.name].vip,
            replicas=cluster.control_plane.replicas,
            members=_members(control_planes, cluster) if own else 0,
            asks=tuple(sorted(set(_asked(cluster)))),
            saves=tuple(_saved(control_planes)) if own else (),
            fabrics=_fabrics(environment, placed),
            names=(dns.server, dns.port) if dns and has_names(environment, placed) else None,
            autoscales=has_autoscaling(placed),
        )


def _members(control_planes: ControlPlanesSpec, cluster: ClusterSpec) -> int:
    """Return the number of etcd pods of ``cluster``; some backends create only as many pods as replicas."""
    members = control_planes.dedicated.members if control_planes.dedicated else 0
    return max(members, cluster.control_plane.replicas) * (1 + (cluster.control_plane.events is Events.APART))


def _fabrics(environment: Environment, placed: PlacedCluster) -> int:
    return len(infiniband(environment, placed.vpc)) if connected(environment, placed) else 0


def _asked(cluster: ClusterSpec) -> Iterator[int]:
    """Yield the ports of external services. URLs of webhooks are in Secrets and are assumed to use HTTPS."""
    options = cluster.api_server
    audit = options.audit and options.audit.webhook_secret
    if cluster.oidc is not None:
        yield _port(cluster.oidc.issuer_url)
    if options.authentication_webhook or options.authorization_webhook or audit:
        yield _HTTPS


def _saved(control_planes: ControlPlanesSpec) -> Iterator[int]:
    if control_planes.dedicated and (backup := control_planes.dedicated.backup):
        yield from {_port(bucket.endpoint) for bucket in (backup, backup.second_bucket) if bucket}


def _port(url: str) -> int:
    return urlsplit(url).port or _HTTPS
