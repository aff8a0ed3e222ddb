"""Components of a stack and their dependencies.

Only components have dependencies. The children of a component wait with the component, so a few gates order the whole
stack: region, networks, control planes, pools, contents of clusters. Deletion has the reverse order, because hosts must
be released before they are removed from the inventory.
"""

import shlex
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import pulumi
from pulumi_command import local

from components.add_ons import AddOns, Flux, PodPriorities
from components.component import Component, ComponentArgs
from components.control_planes import ClusterAccess, ClusterNamespaces, HostedControlPlane, RequestPriority
from components.fleet import Delegation
from components.hosts import Inventory
from components.network import TenantNetwork
from components.pools import ClusterAutoscaler, NodePool
from components.region import Admission, ClusterDns, Engine, ExternalSecrets, Isolation, Region
from components.render.concept import Concept, Made
from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.extensions import ExtensionInput
from components.render.manifest import MANAGEMENT
from components.render.network.tenant_network import TenantNetworkInput
from components.render.pools.node_pool import NodePoolInput
from components.render.region.admission import AdmissionInput
from components.resources import Cluster, Need, done
from components.specs.region.region import RegionSpec
from components.storage import Buckets, ProvisionedBuckets, StorageCatalog
from components.vms import VmOffering
from components.workloads import Queues, Serving, Slurm
from stacks import kubeconfig
from stacks.commands import python
from stacks.probes import ReadinessCheck

KUBECONFIG_TIMEOUT_SECONDS = 900
_FRAMES = 8
"""Recorded frames of a call stack, including about five frames of the SDK."""
C = TypeVar("C", bound=Component[Any])
_REGION = (Region, Isolation, ExternalSecrets)
_INSIDE = (AddOns, StorageCatalog, ClusterNamespaces)
"""Components inside a cluster for which later components of the cluster wait."""


@contextmanager
def _short_traces() -> Iterator[None]:
    """Record only the innermost callers of each resource.

    The SDK records all callers, including frames of the interpreter with paths of this machine. With all of them, a
    fifth of the state is traces, and the engine writes the state twice for each operation.
    """
    sys.tracebacklimit = _FRAMES
    try:
        yield
    finally:
        del sys.tracebacklimit


class Extension(Component[ExtensionInput]):
    """Objects that an extension component of the user's repository adds to a slice."""

    INPUT = ExtensionInput


class Deployment:
    """Registration of the components of one stack."""

    def __init__(self, region: RegionSpec, kubeconfigs: Path, *, checking: bool = False) -> None:
        """Begin with the management cluster; set ``checking`` in an applying run, so that gates check live objects."""
        self._region = region
        self._checking = checking
        self._kubeconfigs = kubeconfigs
        self._clusters = {MANAGEMENT: self._cluster(MANAGEMENT, context=region.context)}
        self._made: dict[str, Component[Any]] = {}
        self._pools: dict[str, list[NodePool]] = {}

    @_short_traces()
    def add(self, made: Made[Concept]) -> None:
        """Register the component of ``made``; its dependencies are already registered or part of another stack.

        Raises:
            TypeError: there is no component for the type of the input.
        """
        concept = made.concept
        if type(concept) not in _ROWS:
            msg = f"{type(concept).__name__} '{concept.name}' has no component; give it a row in stacks/deploy.py"
            raise TypeError(msg)
        component, needs = _ROWS[type(concept)]
        after = pulumi.ResourceOptions(depends_on=[done(need) for need in needs(self, concept)])
        args = ComponentArgs(concept=concept, clusters=self._clusters, made=made)
        resource = component(concept.name, args, after)
        self._made[f"{component.__name__}/{concept.name}"] = resource
        if isinstance(resource, NodePool) and isinstance(concept, NodePoolInput):
            self._pools.setdefault(concept.cluster, []).append(resource)

    def export(self) -> None:
        """Export addresses and names for users; other stacks do not read these outputs."""
        pulumi.export("networks", {name: network.vni for name, network in self._of(TenantNetwork)})
        pulumi.export("control_planes", {name: plane.endpoint for name, plane in self._of(HostedControlPlane)})
        pulumi.export("storage_classes", {name: catalog.classes for name, catalog in self._of(StorageCatalog)})

    def _cluster(self, name: str, *needs: pulumi.Resource, context: str | None = None) -> Cluster:
        file = kubeconfig.path(self._kubeconfigs, name)
        return Cluster(
            name=name,
            kubeconfig=file,
            look=ReadinessCheck(name, file, context) if self._checking else None,
            identifier=f"{self._region.region}/{name}",
            context=context,
            depends_on=needs,
        )

    def all_of(self, *components: type[C]) -> list[Need]:
        """Return the registered components of the given classes, in order of registration."""
        return [resource for resource in self._made.values() if isinstance(resource, components)]

    def named(self, component: type[C], name: str) -> list[Need]:
        """Return the component of a class with ``name``; empty if another stack has the component."""
        resource = self._made.get(f"{component.__name__}/{name}")
        return [resource] if resource else []

    def reached(self, cluster: str) -> list[Need]:
        """Return the dependencies of objects inside ``cluster``: its kubeconfig, pools and add-ons."""
        if cluster not in self._clusters:
            command = f"stacks.kubeconfig {self._region.region} {cluster}"
            context = f" --context {shlex.quote(self._region.context)}" if self._region.context else ""
            fetched = local.Command(
                f"{cluster}-kubeconfig",
                **python(
                    create=f"{command} --timeout {KUBECONFIG_TIMEOUT_SECONDS}{context}", delete=f"{command} --forget"
                ),
                opts=pulumi.ResourceOptions(depends_on=[done(n) for n in self.named(HostedControlPlane, cluster)]),
            )
            self._clusters[cluster] = self._cluster(cluster, fetched)
        inner = (need for component in _INSIDE for need in self.named(component, cluster))
        return [*self._clusters[cluster].depends_on, *self._pools.get(cluster, []), *inner]

    def _of(self, component: type[C]) -> Iterator[tuple[str, C]]:
        for key, resource in self._made.items():
            if isinstance(resource, component):
                yield key.partition("/")[2], resource


def _nothing(_deployment: Deployment, _concept: Concept) -> Iterable[Need]:
    return ()


def _region(deployment: Deployment, _concept: Concept) -> Iterable[Need]:
    return deployment.all_of(*_REGION)


def _inside(deployment: Deployment, concept: Any) -> Iterable[Need]:
    return deployment.reached(concept.cluster)


def _region_or_inside(deployment: Deployment, concept: AdmissionInput) -> Iterable[Need]:
    return _region(deployment, concept) if concept.cluster == MANAGEMENT else _inside(deployment, concept)


def _region_or_cluster(deployment: Deployment, concept: TenantNetworkInput) -> Iterable[Need]:
    return _region(deployment, concept) if concept.cluster is None else deployment.reached(concept.cluster)


def _vpc_or_region(deployment: Deployment, concept: HostedControlPlaneInput) -> Iterable[Need]:
    # A VPC inside its cluster is created after the cluster, so the control plane depends on the region only.
    return deployment.named(TenantNetwork, concept.spec.vpc) or _region(deployment, concept)


def _halls_and_control_plane(deployment: Deployment, concept: NodePoolInput) -> Iterable[Need]:
    return [*deployment.all_of(Inventory), *deployment.named(HostedControlPlane, concept.cluster)]


def _all_reached(deployment: Deployment, concept: ExtensionInput) -> Iterable[Need]:
    inside = sorted({item.cluster for item in concept.objects} - {MANAGEMENT})
    return [*_region(deployment, concept), *(need for cluster in inside for need in deployment.reached(cluster))]


_Needs: TypeAlias = Callable[[Deployment, Any], Iterable[Need]]
WAITS_FOR: Mapping[type[Component[Any]], _Needs] = {
    Region: _nothing,
    Isolation: _region,
    Admission: _region_or_inside,
    ExternalSecrets: _region,
    Inventory: _region,
    TenantNetwork: _region_or_cluster,
    HostedControlPlane: _vpc_or_region,
    NodePool: _halls_and_control_plane,
    ProvisionedBuckets: _region,
    RequestPriority: _inside,
    PodPriorities: _inside,
    AddOns: _inside,
    ClusterAccess: _inside,
    StorageCatalog: _inside,
    ClusterNamespaces: _inside,
    Buckets: _inside,
    VmOffering: _inside,
    ClusterDns: _inside,
    ClusterAutoscaler: _inside,
    Queues: _inside,
    Serving: _inside,
    Slurm: _inside,
    Flux: _inside,
    Delegation: _region,
    Engine: _region,
    Extension: _all_reached,
}
"""Component and dependencies, by type of the component's input."""
_ROWS = {component.INPUT: (component, needs) for component, needs in WAITS_FOR.items()}
