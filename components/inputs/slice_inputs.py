"""Inputs of each slice of an environment, with resolved names and the numbers of the lock files."""

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar, assert_never

from components.inputs import (
    add_ons,
    admission,
    buckets,
    cluster_autoscaler,
    cluster_namespaces,
    engine,
    external_secrets,
    flux,
    hosted_control_plane,
    inventory,
    isolation,
    node_pool,
    region,
    storage,
    tenant_network,
    vm_offering,
)
from components.inputs.extensions.inputs import extension_inputs
from components.inputs.workloads import queues, serving, slurm
from components.lookups.charts import installed_inside
from components.lookups.control_planes import most_nodes_of
from components.lookups.network import dns
from components.lookups.pools import PlacedCluster, clusters
from components.lookups.slices import Slice, SliceKind
from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.render.concept import Concept, Made
from components.render.control_planes.cluster_access import ClusterAccessInput
from components.render.control_planes.request_priority import RequestPriorityInput
from components.render.fleet.delegation import DelegationInput
from components.specs.environment import Environment
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.engine import EngineSpec
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec

Subject = TypeVar("Subject")
_Makers: TypeAlias = tuple[Callable[[Environment, Subject], Iterable[Concept]], ...]


def _access(_environment: Environment, placed: PlacedCluster) -> Iterator[ClusterAccessInput]:
    """Yield the input of a cluster whose administrators authenticate with an identity provider; nothing for others."""
    cluster = placed.cluster
    if cluster.oidc is not None and cluster.oidc.admins is not None:
        yield ClusterAccessInput(name=cluster.name, cluster=cluster.name, admins=cluster.oidc.admins)


def request_priority(environment: Environment, placed: PlacedCluster) -> Iterator[RequestPriorityInput]:
    """Yield the request priority input of a cluster."""
    yield RequestPriorityInput(
        name=placed.cluster.name,
        cluster=placed.cluster.name,
        nodes=most_nodes_of(environment, placed.cluster),
        installed=tuple(installed_inside(environment, placed)),
    )


def pod_priorities(environment: Environment, placed: PlacedCluster) -> Iterator[PodPrioritiesInput]:
    """Yield the pod priorities of a cluster, in the order of the catalogue; nothing if the cluster lists none."""
    cluster = placed.cluster
    if cluster.pod_priorities:
        yield PodPrioritiesInput(
            name=cluster.name,
            cluster=cluster.name,
            priorities=tuple(
                priority for priority in environment.add_ons.pod_priorities if priority.name in cluster.pod_priorities
            ),
        )


def _delegation(environment: Environment, dns: FleetDnsSpec) -> Iterator[DelegationInput]:
    yield DelegationInput(name=environment.name, dns=dns, regions=environment.delegated)


_FOUNDATION: _Makers[RegionSpec] = (region.of_region, isolation.of_region, admission.of_region)
_INVENTORY: _Makers[str] = (inventory.of_hall,)
_TENANT: _Makers[TenantSpec] = (
    tenant_network.of_tenant,
    hosted_control_plane.of_tenant,
    node_pool.of_tenant,
    buckets.of_tenant,
)
_CLUSTER: _Makers[PlacedCluster] = (
    request_priority,
    admission.of_cluster,
    pod_priorities,
    add_ons.of_cluster,
    tenant_network.of_cluster,
    _access,
    storage.of_cluster,
    cluster_namespaces.of_cluster,
    buckets.of_cluster,
    vm_offering.of_cluster,
    dns.of_cluster,
    cluster_autoscaler.of_cluster,
    queues.of_cluster,
    serving.of_cluster,
    slurm.of_cluster,
    flux.of_cluster,
)
"""Functions that create the inputs of a cluster slice's components, in the order of application."""
_FLEET: _Makers[FleetDnsSpec] = (_delegation,)
_ENGINE: _Makers[EngineSpec] = (engine.of_region,)


def made(environment: Environment, part: Slice) -> tuple[Made[Concept], ...]:
    """Return the inputs of the components of ``part`` with their objects, in the order of application.

    Secrets from a store are first, because other objects refer to these Secrets; extension components are last. Each
    input is rendered once, on first use.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of an extension component fails.
    """
    concepts = (*_ours(environment, part), *extension_inputs(environment, part))
    items = tuple(map(Made, concepts))
    secrets = external_secrets.of_slice(environment, part, items)
    return (*map(Made, secrets), *items)


def inputs(environment: Environment, part: Slice) -> tuple[Concept, ...]:
    """Return the inputs of the components of ``part``, in the order of application.

    Raises:
        KeyError: as `made`.
        SpecError: as `made`.
    """
    return tuple(item.concept for item in made(environment, part))


def _ours(environment: Environment, part: Slice) -> tuple[Concept, ...]:
    match part.kind:
        case SliceKind.FOUNDATION:
            return _made(_FOUNDATION, environment, environment.region)
        case SliceKind.INVENTORY:
            return _made(_INVENTORY, environment, part.subject)
        case SliceKind.TENANT:
            [tenant] = (tenant for tenant in environment.tenants if tenant.tenant == part.subject)
            return _made(_TENANT, environment, tenant)
        case SliceKind.CLUSTER:
            [placed] = (placed for placed in clusters(environment) if placed.cluster.name == part.subject)
            return _made(_CLUSTER, environment, placed)
        case SliceKind.FLEET:
            return _made(_FLEET, environment, environment.fleet_dns) if environment.fleet_dns else ()
        case SliceKind.ENGINE:
            return _made(_ENGINE, environment, environment.region.engine) if environment.region.engine else ()
        case _:
            assert_never(part.kind)


def _made(makers: _Makers[Subject], environment: Environment, subject: Subject) -> tuple[Concept, ...]:
    return tuple(concept for maker in makers for concept in maker(environment, subject))
