"""All objects of a slice, as plain data: what components register, policies judge and golden files hold."""

from __future__ import annotations

from typing import assert_never

from components.plan.inputs import Input, inputs
from components.plan.slices import Slice
from components.render.cluster_access import ClusterAccessInput, render_cluster_access
from components.render.hosted_control_plane import HostedControlPlaneInput, render_hosted_control_plane
from components.render.inventory import InventoryInput, render_inventory
from components.render.manifest import Rendered
from components.render.node_pool import NodePoolInput, render_node_pool
from components.render.region import RegionInput, render_region
from components.render.storage import StorageCatalogInput, render_storage_catalog
from components.render.tenant_network import TenantNetworkInput, render_tenant_network
from components.render.vm_offering import VmOfferingInput, render_vm_offering
from components.specs.environment import Environment


def manifests(environment: Environment, part: Slice) -> tuple[Rendered, ...]:
    """Return what ``part`` of ``environment`` holds, in the order it is applied.

    Raises:
        KeyError: the lock files do not fit the data; ``components.plan.checks`` says where.
    """
    return tuple(item for concept in inputs(environment, part) for item in render(concept))


def render(concept: Input) -> tuple[Rendered, ...]:
    """Return the objects of one component."""
    match concept:
        case RegionInput():
            rendered: tuple[Rendered, ...] = render_region(concept)
        case InventoryInput():
            rendered = render_inventory(concept)
        case TenantNetworkInput():
            rendered = render_tenant_network(concept)
        case HostedControlPlaneInput():
            rendered = render_hosted_control_plane(concept)
        case NodePoolInput():
            rendered = render_node_pool(concept)
        case ClusterAccessInput():
            rendered = render_cluster_access(concept)
        case StorageCatalogInput():
            rendered = render_storage_catalog(concept)
        case VmOfferingInput():
            rendered = render_vm_offering(concept)
        case _:
            assert_never(concept)
    return rendered
