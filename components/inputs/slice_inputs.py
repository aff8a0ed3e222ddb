"""Inputs of each slice of an environment, with resolved names and the numbers of the lock files."""

from collections.abc import Callable, Iterable
from typing import TypeAlias, TypeVar, assert_never

from components.inputs import (
    add_ons,
    admission,
    buckets,
    cluster_access,
    cluster_autoscaler,
    cluster_namespaces,
    delegation,
    engine,
    external_secrets,
    flux,
    hosted_control_plane,
    inventory,
    isolation,
    node_pool,
    pod_priorities,
    region,
    request_priority,
    storage,
    tenant_network,
    vm_offering,
)
from components.inputs.extensions.inputs import extension_inputs
from components.inputs.workloads import queues, serving, slurm
from components.lookups.network import dns
from components.lookups.pools import PlacedCluster, clusters
from components.lookups.slices import Slice, SliceKind
from components.render.concept import Concept, Made
from components.specs.environment import Environment
from components.specs.fleet.fleet import FleetDnsSpec
from components.specs.region.engine import EngineSpec
from components.specs.region.region import RegionSpec
from components.specs.region.tenant import TenantSpec

Subject = TypeVar("Subject")
_Makers: TypeAlias = tuple[Callable[[Environment, Subject], Iterable[Concept]], ...]

_FOUNDATION: _Makers[RegionSpec] = (region.of_region, isolation.of_region, admission.of_region)
_INVENTORY: _Makers[str] = (inventory.of_hall,)
_TENANT: _Makers[TenantSpec] = (
    tenant_network.of_tenant,
    hosted_control_plane.of_tenant,
    node_pool.of_tenant,
    buckets.of_tenant,
)
_CLUSTER: _Makers[PlacedCluster] = (
    request_priority.of_cluster,
    admission.of_cluster,
    pod_priorities.of_cluster,
    add_ons.of_cluster,
    tenant_network.of_cluster,
    cluster_access.of_cluster,
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
_FLEET: _Makers[FleetDnsSpec] = (delegation.of_fleet,)
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
