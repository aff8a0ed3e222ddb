"""The components of a stack, in the order they come up.

Edges run between components only, along what really waits for what. The children of a component wait with it, so that
a chain of a few gates orders everything: region, networks, control planes, pools, what is inside the clusters; and
the other way round on the way down, when hosts must be given back before they leave the inventory.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import pulumi
from pulumi_command import local

from components.add_ons import AddOns, AddOnsArgs
from components.buckets import Buckets, BucketsArgs
from components.cluster_access import ClusterAccess, ClusterAccessArgs
from components.cluster_namespaces import ClusterNamespaces, ClusterNamespacesArgs
from components.dns import ClusterDns, ClusterDnsArgs
from components.external_secrets import ExternalSecrets, ExternalSecretsArgs
from components.flux import Flux, FluxArgs
from components.hosted_control_plane import HostedControlPlane, HostedControlPlaneArgs
from components.inventory import Inventory, InventoryArgs
from components.isolation import Isolation, IsolationArgs
from components.node_pool import NodePool, NodePoolArgs
from components.pod_priorities import PodPriorities, PodPrioritiesArgs
from components.region import Region, RegionArgs
from components.render.add_ons.add_ons import AddOnsInput
from components.render.add_ons.flux import FluxInput
from components.render.add_ons.pod_priorities import PodPrioritiesInput
from components.render.concept import Concept
from components.render.control_planes.cluster_access import ClusterAccessInput
from components.render.control_planes.cluster_namespaces import ClusterNamespacesInput
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.control_planes.request_priority import RequestPriorityInput
from components.render.extensions import OwnInput
from components.render.hosts.inventory import InventoryInput
from components.render.manifest import MANAGEMENT
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.node_pool import NodePoolInput
from components.render.region.dns import ClusterDnsInput
from components.render.region.external_secrets import ExternalSecretsInput
from components.render.region.isolation import IsolationInput
from components.render.region.region import RegionInput
from components.render.storage.buckets import BucketsInput
from components.render.storage.storage import StorageCatalogInput
from components.render.vms.vm_offering import VmOfferingInput
from components.request_priority import RequestPriority, RequestPriorityArgs
from components.resources import Cluster, Need, done
from components.specs.region.region import RegionSpec
from components.storage import StorageCatalog, StorageCatalogArgs
from components.tenant_network import TenantNetwork, TenantNetworkArgs
from components.vm_offering import VmOffering, VmOfferingArgs
from stacks import kubeconfig
from stacks.commands import python
from stacks.extension_component import Own, OwnArgs
from stacks.probes import Looking

KUBECONFIG_TIMEOUT_SECONDS = 900
_Beside: TypeAlias = (
    RequestPriorityInput
    | PodPrioritiesInput
    | ClusterAccessInput
    | BucketsInput
    | VmOfferingInput
    | ClusterDnsInput
    | FluxInput
)
_Inside: TypeAlias = AddOnsInput | StorageCatalogInput | ClusterNamespacesInput | _Beside


class Deployment:
    """One stack of an environment while it is being put together."""

    def __init__(self, region: RegionSpec, kubeconfigs: Path, *, looking: bool = False) -> None:
        """Begin with the management cluster; ``looking`` when gates look at live objects, in a run that applies."""
        self._region = region
        self._looking = looking
        self._kubeconfigs = kubeconfigs
        self._clusters = {MANAGEMENT: self._cluster(MANAGEMENT, context=region.context)}
        self._regions: list[Region | Isolation | ExternalSecrets] = []
        self._halls: list[Inventory] = []
        self._networks: dict[str, TenantNetwork] = {}
        self._control_planes: dict[str, HostedControlPlane] = {}
        self._pools: dict[str, list[pulumi.Resource]] = {}
        self._add_ons: dict[str, AddOns] = {}
        self._namespaces: dict[str, ClusterNamespaces] = {}
        self._catalogs: dict[str, StorageCatalog] = {}

    def add(self, concept: Concept) -> None:
        """Register the component of ``concept``; what it waits for was added before, or is in another stack.

        Raises:
            TypeError: no component is made from it.
        """
        name, clusters = concept.name, self._clusters
        match concept:
            case RegionInput():
                self._regions.append(Region(name, RegionArgs(region=concept, clusters=clusters)))
            case IsolationInput():
                walls = IsolationArgs(isolation=concept, clusters=clusters)
                self._regions.append(Isolation(name, walls, _after(self._regions)))
            case ExternalSecretsInput():
                secrets = ExternalSecretsArgs(secrets=concept, clusters=clusters)
                # What refers to them comes after them, and goes before them.
                self._regions.append(ExternalSecrets(name, secrets, _after(self._regions)))
            case InventoryInput():
                hall = Inventory(name, InventoryArgs(inventory=concept, clusters=clusters), _after(self._regions))
                self._halls.append(hall)
            case TenantNetworkInput():
                network = TenantNetworkArgs(network=concept, clusters=clusters)
                after = _after(self._regions) if concept.cluster is None else self._inside(concept.cluster)
                self._networks[name] = TenantNetwork(name, network, after)
            case HostedControlPlaneInput():
                args = HostedControlPlaneArgs(control_plane=concept, clusters=clusters)
                # A VPC that its cluster makes comes after the cluster: nothing stands between that and the region.
                after = _after(_named(self._networks, concept.spec.vpc) or self._regions)
                self._control_planes[name] = HostedControlPlane(name, args, after)
            case NodePoolInput():
                after = _after([*self._halls, *_named(self._control_planes, concept.cluster)])
                pool = NodePool(name, NodePoolArgs(pool=concept, clusters=clusters), after)
                self._pools.setdefault(concept.cluster, []).append(pool)
            case (
                RequestPriorityInput()
                | PodPrioritiesInput()
                | AddOnsInput()
                | ClusterAccessInput()
                | ClusterNamespacesInput()
                | StorageCatalogInput()
                | BucketsInput()
                | VmOfferingInput()
                | ClusterDnsInput()
                | FluxInput()
            ):
                self._add_inside(concept)
            case OwnInput():
                Own(name, OwnArgs(own=concept, clusters=clusters), self._among(concept))
            case _:
                msg = f"{type(concept).__name__} '{name}' has no component; give it a case in stacks/deploy.py"
                raise TypeError(msg)

    def _add_inside(self, concept: _Inside) -> None:
        """Register what is inside one cluster; what comes later there waits for its add-ons, storage and namespaces."""
        name, clusters, after = concept.name, self._clusters, self._inside(concept.cluster)
        match concept:
            case AddOnsInput():
                self._add_ons[name] = AddOns(name, AddOnsArgs(add_ons=concept, clusters=clusters), after)
            case StorageCatalogInput():
                catalog = StorageCatalogArgs(catalog=concept, clusters=clusters)
                self._catalogs[name] = StorageCatalog(name, catalog, after)
            case ClusterNamespacesInput():
                spaces = ClusterNamespacesArgs(namespaces=concept, clusters=clusters)
                self._namespaces[name] = ClusterNamespaces(name, spaces, after)
            case _:
                _add_beside(concept, clusters, after)

    def export(self) -> None:
        """Export what a person asks a stack for: small and plain, since nothing reads it but people."""
        pulumi.export("networks", {name: network.vni for name, network in self._networks.items()})
        pulumi.export("control_planes", {name: plane.endpoint for name, plane in self._control_planes.items()})
        pulumi.export("storage_classes", {name: catalog.classes for name, catalog in self._catalogs.items()})

    def _cluster(self, name: str, *needs: pulumi.Resource, context: str | None = None) -> Cluster:
        file = kubeconfig.path(self._kubeconfigs, name)
        return Cluster(
            name=name,
            kubeconfig=file,
            look=Looking(name, file, context) if self._looking else None,
            identifier=f"{self._region.region}/{name}",
            context=context,
            depends_on=needs,
        )

    def _inside(self, cluster: str) -> pulumi.ResourceOptions:
        """Return the options of what is inside ``cluster``, which is reached from here on."""
        return _after(self._reached(cluster))

    def _among(self, own: OwnInput) -> pulumi.ResourceOptions:
        """Return the options of what may lie in several clusters: it follows the region, and all that reaches them."""
        inside = sorted({item.cluster for item in own.objects} - {MANAGEMENT})
        return _after([*self._regions, *(need for cluster in inside for need in self._reached(cluster))])

    def _reached(self, cluster: str) -> list[Need]:
        if cluster not in self._clusters:
            command = f"stacks.kubeconfig {self._region.region} {cluster}"
            context = f" --context {shlex.quote(self._region.context)}" if self._region.context else ""
            fetched = local.Command(
                f"{cluster}-kubeconfig",
                **python(
                    create=f"{command} --timeout {KUBECONFIG_TIMEOUT_SECONDS}{context}", delete=f"{command} --forget"
                ),
                opts=_after(_named(self._control_planes, cluster)),
            )
            self._clusters[cluster] = self._cluster(cluster, fetched)
        reached = self._clusters[cluster].depends_on
        inner = (self._add_ons, self._catalogs, self._namespaces)
        return [*reached, *self._pools.get(cluster, []), *(one for kind in inner for one in _named(kind, cluster))]


def _add_beside(concept: _Beside, clusters: Mapping[str, Cluster], after: pulumi.ResourceOptions) -> None:
    """Register what is inside one cluster and nothing else waits for."""
    name = concept.name
    match concept:
        case RequestPriorityInput():
            RequestPriority(name, RequestPriorityArgs(priority=concept, clusters=clusters), after)
        case PodPrioritiesInput():
            PodPriorities(name, PodPrioritiesArgs(priorities=concept, clusters=clusters), after)
        case ClusterAccessInput():
            ClusterAccess(name, ClusterAccessArgs(access=concept, clusters=clusters), after)
        case BucketsInput():
            Buckets(name, BucketsArgs(buckets=concept, clusters=clusters), after)
        case VmOfferingInput():
            VmOffering(name, VmOfferingArgs(offering=concept, clusters=clusters), after)
        case ClusterDnsInput():
            ClusterDns(name, ClusterDnsArgs(dns=concept, clusters=clusters), after)
        case FluxInput():
            Flux(name, FluxArgs(flux=concept, clusters=clusters), after)


def _named(resources: Mapping[str, pulumi.Resource], name: str) -> list[pulumi.Resource]:
    return [resources[name]] if name in resources else []


def _after(needs: Iterable[Need]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(depends_on=[done(need) for need in needs])
